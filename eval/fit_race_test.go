//go:build race

package eval_test

// halvings is small here: the detector wants each path, not the figures.
const halvings = 1

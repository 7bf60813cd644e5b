//go:build !race

package eval_test

// halvings is how often the questions of a pool are halved at random.
const halvings = 50

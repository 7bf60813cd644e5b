//go:build !race

package linker_test

const raceEnabled = false

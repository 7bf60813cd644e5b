//go:build !race

package attack

// Race says that the race detector is on.
const Race = false

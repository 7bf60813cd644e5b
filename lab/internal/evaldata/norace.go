//go:build !race

package evaldata

// Race says that the race detector is on.
const Race = false

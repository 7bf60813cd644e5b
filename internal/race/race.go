//go:build race

// Package race tells tests whether the race detector watches them.
package race

// Enabled says that the race detector is on. It makes tests ten times as slow and
// wants each path taken, not each figure held: those that measure a lot measure
// less then.
const Enabled = true

// Package evalbounds has the bounds of a statement that package eval runs, where the program sets none.
package evalbounds

import "time"

// Rows of a result and Timeout of a statement are the bounds of the recorded verdicts. Bytes leaves room for every
// honest result and bounds a single statement.
const (
	Rows    = 200_000
	Timeout = 10 * time.Second
	Bytes   = 64 << 20
)

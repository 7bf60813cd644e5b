package duckdb_test

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestPayloads runs the statements of the data set.
func TestPayloads(t *testing.T) {
	e := engine()
	e.Payloads = slices.DeleteFunc(attack.Payloads(t, "duckdb"), func(p exectest.Payload) bool {
		return evaldata.Race && p.Expect == exectest.Survive // the race detector takes memory and time of its own
	})
	exectest.Payloads(t, e)
}

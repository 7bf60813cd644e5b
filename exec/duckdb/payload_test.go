package duckdb_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
)

// TestPayloads runs the statements of the data set.
func TestPayloads(t *testing.T) {
	e := engine()
	e.Payloads = attack.Payloads(t, "duckdb")
	exectest.Payloads(t, e)
}

package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/evaldata"
)

// TestPayloads runs every hostile and every harmless statement of the data set.
func TestPayloads(t *testing.T) {
	e := engine()
	for _, p := range evaldata.Payloads(t) {
		if p.Engine == "sqlite" {
			e.Payloads = append(e.Payloads, exectest.Payload{
				Name: p.ID, SQL: p.Text, Why: p.Why, Expect: exectest.Expectation(p.Expect), Rows: p.Rows,
				Policy: exec.Policy{DenyColumns: p.Policy.DenyColumns, DenyTables: p.Policy.DenyTables},
			})
		}
	}
	exectest.Payloads(t, e)
}

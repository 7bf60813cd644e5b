package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
)

// TestPayloads runs every hostile and every harmless statement of the data set.
func TestPayloads(t *testing.T) {
	e := engine()
	e.Payloads = attack.Payloads(t, "sqlite")
	exectest.Payloads(t, e)
}

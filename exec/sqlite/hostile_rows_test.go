package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
)

// TestHostileRows runs the hostile statements under rules about rows, fenced after an error and always.
func TestHostileRows(t *testing.T) {
	for _, fence := range []string{"", "always"} {
		n := exectest.Rows(t, engine(), exectest.RowsOf{Fence: fence, Script: "ANALYZE;\n"}, attack.Rows()...)
		if t.Logf("%d of %d statements are answered", n, len(attack.Rows())); n < 150 {
			t.Errorf("only %d", n)
		}
	}
}

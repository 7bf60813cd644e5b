package dialecttest

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// Scan is a statement and the tables that its plan reads whole.
type Scan struct {
	SQL  string
	Want string // as [exec.Plan.Scans] has them, with spaces between them; "": none
}

// Scans tests what [exec.Plan.Scans] says of each statement in db.
func Scans(t *testing.T, db *exec.DB, scans []Scan) {
	t.Helper()
	for _, scan := range scans {
		plan, err := db.Explain(t.Context(), scan.SQL)
		var names []string
		for _, table := range plan.Scans() {
			names = append(names, table.String())
		}
		if got := strings.Join(names, " "); got != scan.Want || err != nil {
			t.Errorf("%s scans %q, want %q: %v", scan.SQL, got, scan.Want, err)
		}
	}
}

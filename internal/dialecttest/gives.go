package dialecttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// Gives runs statements. A case is a reason, the statement, and a part of its rows or of its error as text.
func Gives(t testing.TB, db *exec.DB, cases [][3]string) {
	t.Helper()
	for _, c := range cases {
		why, text, want := c[0], c[1], c[2]
		table, err := db.Query(t.Context(), text)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(table.Rows)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s gives %.300s, want %s", why, text, got, want)
		}
	}
}

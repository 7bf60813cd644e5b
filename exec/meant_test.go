package exec_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestMeant: the finding about a text that no row has names the nearest stored texts, once the table was profiled.
func TestMeant(t *testing.T) {
	db := openShop(exec.Config{})
	detail := func(sql string) string {
		for _, f := range testutil.Value(db.Examine(t.Context(), sql))(t).Findings {
			if f.Rule == checks.Absent {
				return f.Detail
			}
		}
		return ""
	}
	const none = "customers.country holds none of the texts it is compared with"
	golden.Equal(t, none, detail("SELECT name FROM customers WHERE country = 'peru'"), "before")
	snap := testutil.Value(db.Snapshot(t.Context()))(t)
	testutil.Value(db.Profiled(t.Context(), snap, snap.Schema))(t)
	for _, tt := range []struct{ why, sql, want string }{
		{"another case", "SELECT name FROM customers WHERE country = 'peru'", none + ". Did you mean Peru?"},
		{"a letter", "SELECT name FROM customers WHERE country IN ('Perru', 'x')", none + ". Did you mean Peru?"},
		{"nothing is near", "SELECT name FROM customers WHERE country = 'Chile'", none},
	} {
		golden.Equal(t, tt.want, detail(tt.sql), tt.why)
	}
}

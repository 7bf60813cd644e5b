package trino_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestInstead: an error names what to write, and the guard takes that. No Trino runs it here.
func TestInstead(t *testing.T) {
	db := newServer().open(t, exec.Config{})
	dialecttest.Advised(t, db)
	dialecttest.Instead(t, db, [][2]string{
		{"SELECT * FROM sqlite_master", "those of the schema"},
		{"SELECT * FROM information_schema.tables", "those of the schema"},
		{"SELECT * FROM memory.information_schema.columns", "those of the schema"},
		{"SELECT * FROM pg_catalog.pg_tables", "those of the schema"},
		{"SELECT * FROM system.runtime.queries", "those of the schema"},
		{"SELECT * FROM pragma_table_info('users')", "those of the schema"},
		{"SHOW TABLES", "those of the schema"},
		{"SELECT n FROM generate_series(1, 5) AS t(n)", "UNNEST(sequence"},
		{"SELECT n FROM seq_1_to_5", "UNNEST(sequence"},
	},
		"SELECT date_format(d, '%Y'), now(), if(a > 1, 1, 2), year(d), listagg(a, ',') WITHIN GROUP (ORDER BY a) FROM users",
	)

	for text, why := range map[string]string{
		"SELECT id FROM users FOR VERSION AS OF 7": "a version of rows is not the server's",
		"SELECT spy(id) FROM users":                "nothing is known to write instead",
		"SELECT current_user":                      "the reason says all",
	} {
		var refused *exec.RefusedError
		_, err := db.Query(t.Context(), text)
		if !errors.As(err, &refused) || strings.Contains(refused.Detail, "write ") ||
			strings.Contains(refused.Detail, "told") {
			t.Errorf("%s: %s: %v", why, text, err)
		}
	}
}

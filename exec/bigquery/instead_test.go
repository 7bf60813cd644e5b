package bigquery_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestInstead: an error names what to write, and the guard takes that. The service does not run it here.
func TestInstead(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{}, exec.Config{})
	dialecttest.Advised(t, db, "isnull", "timestamp_add", "timestamp_sub")
	dialecttest.Instead(t, db, [][2]string{
		{"SELECT * FROM sqlite_master", "those of the schema"},
		{"SELECT * FROM suite_data.__TABLES__", "those of the schema"},
		{"SELECT * FROM INFORMATION_SCHEMA.TABLES", "those of the schema"},
		{"SELECT * FROM suite_data.INFORMATION_SCHEMA.COLUMNS", "those of the schema"},
		{"SELECT * FROM pragma_table_info('t')", "those of the schema"},
		{"SHOW TABLES", "those of the schema"},
		{"SELECT @@dataset_id", "variables"},
		{"SELECT n FROM generate_series(1, 5) AS n", "GENERATE_ARRAY"},
		{"SELECT n FROM seq_1_to_5", "GENERATE_ARRAY"},
	})

	said := ""
	f.before = func(call, _ string) *refusal {
		if call == "dry" {
			return invalid("%s", said)
		}
		return nil
	}
	for _, test := range []struct{ why, said, want string }{
		{"the service knows no such function", "Function not found: ISNULL at [1:8]",
			"ISNULL at [1:8]: write IFNULL(a, b), or a IS NULL"},
		{"a part that a function lacks", "TIMESTAMP_ADD does not support the MONTH date part at [1:8]",
			"[1:8]: write DATE_ADD(DATE(t), INTERVAL 1 MONTH)"},
		{"a column may have any name", "Unrecognized name: version at [1:8]", "version at [1:8]"},
		{"a sequence that is not numeric", "Syntax error: Illegal escape sequence: \\d at [1:8]", "\\d at [1:8]"},
	} {
		said = test.said
		if _, err := db.Query(t.Context(), "SELECT a FROM t"); err == nil || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.why, err, test.want)
		}
	}
}

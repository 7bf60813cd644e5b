package mysqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/mysqlite"
)

func TestFunctions(t *testing.T) {
	db := testutil.Value(mysqlite.Open(":memory:"))(t)
	defer db.Close()
	for expression, want := range map[string]string{
		"YEAR('2004-05-06 10:00:00')":               "2004",
		"MONTH('2004-05-06')":                       "5",
		"QUARTER('2004-12-06')":                     "4",
		"ifnull(DAY(NULL), 'none')":                 "none",
		"DATEDIFF('2004-03-01', '2004-02-28')":      "2",
		"DATE_FORMAT('2004-05-06', '%Y-%m')":        "2004-05",
		"IF(1 > 2, 'a', 'b') || IF(NULL, 'a', 'b')": "bb",
		"LEFT('Zürich', 2)":                         "Zü",
		"SUBSTRING_INDEX('a b c', ' ', -1)":         "c",
		"CEIL(1.2) + MOD(7, 4)":                     "5.0",
	} {
		var got string
		if err := db.QueryRow("SELECT CAST(" + expression + " AS TEXT)").Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", expression, got, err, want)
		}
	}
}

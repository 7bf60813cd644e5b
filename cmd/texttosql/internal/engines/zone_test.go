package engines_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// TestZone: the prompt says in which zone the session is, and an instant is cut into months of that zone and shown in
// it. In UTC it says nothing.
func TestZone(t *testing.T) {
	const instant = "2024-01-01 02:00:00" // in UTC; in New York it is still December
	for _, test := range []struct {
		engine, options, create, statement string
		says                               string // in the prompt; "": nothing of zones
		month, shown                       string
	}{
		{"postgres", "&timezone=America/New_York", "CREATE TABLE seen(at timestamptz); INSERT INTO seen VALUES ('" + instant +
			"+00')",
			"SELECT date_trunc('month', at), at FROM seen", "Times with a time zone are in America/New_York",
			"December 2023", "2023-12-31 21:00:00-05:00"},
		{"postgres", "&timezone=UTC", "CREATE TABLE seen(at timestamptz); INSERT INTO seen VALUES ('" + instant + "+00')",
			"SELECT date_trunc('month', at), at FROM seen", "", "January 2024", "2024-01-01 02:00:00Z"},
		{"mariadb", "&time_zone=%27-05%3A00%27", "SET time_zone = '+00:00'; CREATE TABLE seen(at TIMESTAMP); " +
			"INSERT INTO seen VALUES ('" + instant + "')",
			"SELECT CAST(DATE_FORMAT(at, '%Y-%m-01') AS DATE), at FROM seen", "TIMESTAMP, NOW() and CURRENT_DATE are in -05:00",
			"December 2023", "2023-12-31 21:00:00"},
		{"mariadb", "&time_zone=%27-05%3A00%27&parseTime=true&loc=Asia%2FTokyo",
			"SET time_zone = '+00:00'; CREATE TABLE seen(at TIMESTAMP); INSERT INTO seen VALUES ('" + instant + "')",
			"SELECT CAST(DATE_FORMAT(at, '%Y-%m-01') AS DATE), at FROM seen", "are in -05:00", "December 2023",
			"2023-12-31 21:00:00"},
		{"mariadb", "&time_zone=%27%2B00%3A00%27", "SET time_zone = '+00:00'; CREATE TABLE seen(at TIMESTAMP); " +
			"INSERT INTO seen VALUES ('" + instant + "')",
			"SELECT CAST(DATE_FORMAT(at, '%Y-%m-01') AS DATE), at FROM seen", "", "January 2024", "2024-01-01 02:00:00"},
	} {
		t.Run(test.engine+test.options, func(t *testing.T) {
			r := remotes[test.engine]
			base := r.dsn
			r.dsn = func(port int, database string) string { return base(port, database) + test.options }
			r.open(t, test.create).Close()
			pool := testutil.Value(sql.Open(r.driver,
				r.dsn(r.server.Get(t).Port, fmt.Sprint("school", remoteDatabases.Load()))))(t)
			defer pool.Close()
			script := always(test.statement)
			e := testutil.Value(texttosql.New(pool, script, texttosql.WithDialect(r.dialect), texttosql.WithSamples(1)))(t)
			res := testutil.Value(e.Ask(t.Context(), "In which month was it seen?"))(t)
			prompt := script.Requests()[0].Messages[1].Text
			if test.says != "" && !strings.Contains(prompt, test.says) || test.says == "" &&
				strings.Contains(prompt, "are in ") {
				t.Errorf("the prompt does not say %q:\n%s", test.says, prompt)
			}
			row := res.Rows.Rows[0]
			if month, at := res.Rows.Types[0].Format(row[0]), (result.Type{}).Format(row[1]); month != test.month ||
				at != test.shown {
				t.Errorf("shown as %s and %s, want %s and %s", month, at, test.month, test.shown)
			}
		})
	}
}

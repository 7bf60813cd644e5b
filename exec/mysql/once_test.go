package mysql_test

import (
	"database/sql"
	"strings"
	"testing"

	driverpkg "github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/mysql"
)

// TestOnce: an examination parses a statement once, and the server prepares it once. It was three times each.
func TestOnce(t *testing.T) {
	_, dsn := open(t, people, "")
	connector, err := driverpkg.MySQLDriver{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	faults := &exectest.Faults{Connector: connector}
	pool := sql.OpenDB(faults)
	t.Cleanup(func() { pool.Close() })
	var parsed int
	counted := exectest.Change(mysql.Dialect{}, exectest.Changes{
		Read: func(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
			parsed++
			return read()
		},
	})
	for _, c := range []struct {
		policy exec.Policy
		sql    string
		parsed int
		events []string // that have the statement, or are about it
		why    string
	}{
		{exec.Policy{}, "SELECT name FROM users", 1,
			[]string{"prepare S", "prepare EXPLAIN FORMAT=JSON S", "run EXPLAIN FORMAT=JSON S", "run S", "query SHOW WARNINGS LIMIT 5"}, ""},
		{exec.Policy{DenyColumns: []string{"users.password"}}, "SELECT name FROM users", 1,
			[]string{"exec SET @@session.optimizer_trace = 'enabled=on'", "prepare S", "exec SET @@session.optimizer_trace = 'enabled=off'",
				"prepare EXPLAIN FORMAT=JSON S", "run EXPLAIN FORMAT=JSON S", "run S", "query SHOW WARNINGS LIMIT 5"}, "the trace"},
		{exec.Policy{}, `SELECT "name" FROM users`, 2,
			[]string{"prepare S", "prepare SELECT `name` FROM users", "prepare EXPLAIN FORMAT=JSON S", "run EXPLAIN FORMAT=JSON S", "prepare S", "run S",
				"query SHOW WARNINGS LIMIT 5"}, "another one is prepared between, to see whether it is meant"},
	} {
		db, err := exec.New(pool, counted, exec.Config{Policy: c.policy})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Query(t.Context(), "SELECT 1"); err != nil { // reads the catalog
			t.Fatal(err)
		}
		var events []string
		parsed = 0
		faults.Fail(func(event string) error {
			switch {
			case strings.Contains(event, "FROM users"), strings.HasPrefix(event, "exec SET @@session.optimizer_trace = "), strings.Contains(event, "WARNINGS"):
				events = append(events, strings.Replace(event, c.sql, "S", 1))
			}
			return nil
		})
		_, err = db.Examine(t.Context(), c.sql)
		faults.Fail(nil)
		if diff := cmp.Diff(c.events, events); err != nil || parsed != c.parsed || diff != "" {
			t.Errorf("%s (%s): parsed %d times, want %d; %v\n%s", c.sql, c.why, parsed, c.parsed, err, diff)
		}
	}
}

package selectstar

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// TestWithout: a star becomes the columns that may be read; what is not plain stays refused.
func TestWithout(t *testing.T) {
	users, orders := []schema.Column{{Name: "id"}, {Name: "name"}},
		schema.Table{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "order"}}}
	s := Schemas{
		&schema.Schema{Tables: []schema.Table{{Name: "users", Columns: users}, orders}},
		[]string{"users.password_hash", "users_old.password", "users.password_hash"},
	}
	for _, tt := range []struct{ why, sql, want string }{
		{"a star", "SELECT * FROM users WHERE id = 1", `SELECT "id", "name" FROM users WHERE id = 1`},
		{"the star of an alias", "select u.*, o.id from users AS u join orders o on o.id = u.id",
			`select "u"."id", "u"."name", o.id from users AS u join orders o on o.id = u.id`},
		{"both", "SELECT * FROM users, orders",
			`SELECT "users"."id", "users"."name", "orders"."id", "orders"."order" FROM users, orders`},
		{"a product is no star", "SELECT *, 2 * 3 FROM users ORDER BY 1, 2",
			`SELECT "id", "name", 2 * 3 FROM users ORDER BY 1, 2`},
		{"a count is no star", "SELECT count(*) FROM users", ""},
		{"merged columns", "SELECT * FROM users JOIN orders USING (id)", ""},
		{"a query inside", "SELECT * FROM (SELECT * FROM users)", ""},
		{"two queries", "SELECT * FROM users UNION SELECT 1, 2, 3", ""},
		{"another table", "SELECT * FROM secrets", ""},
		{"nothing", "", ""},
	} {
		got, left, ok := Without(sqlite.Dialect{}.Language(), s, tt.sql)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
		if ok && !slices.Equal(left, []string{"users.password_hash"}) {
			t.Errorf("%s: left %v", tt.why, left)
		}
	}
}

// TestRun: a star that was refused runs on the connections that there are, not beside them.
func TestRun(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "s.sqlite")))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec("CREATE TABLE users (id INTEGER, name TEXT, tenant INTEGER, salary INTEGER, " +
		"password_hash TEXT); INSERT INTO users VALUES (1, 'Ann', 7, 9, 'x'), (2, 'Bo', 8, 9, 'y')"))(t)
	deny := exec.Policy{DenyColumns: []string{"users.salary"}}
	rules := exec.Policy{Rows: map[string]string{"users": "tenant = :tenant"}}
	const hidden = "users.password_hash is left out: its name looks like that of a secret"
	for _, tt := range []struct {
		name   string
		policy exec.Policy
		held   bool // another statement has the only connection
		rows   int  // 0: the star stays refused
		told   string
	}{
		{"a free connection", exec.Policy{}, false, 2, hidden},
		{"no free connection", exec.Policy{}, true, 0, ""},
		{"a denied column is not named", deny, false, 2, hidden},
		{"the rows of a scope", rules, false, 1, hidden},
	} {
		db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: tt.policy,
			Limits: exec.Limits{Connections: 1}}))(t)
		if tt.policy.Scoped() {
			db = testutil.Value(db.For(&exec.Scope{Key: "acme", Params: map[string]any{"tenant": 7}}, nil))(t)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		rows, told, err := Run(ctx, db, "SELECT * FROM users", func(sql string) (*result.Table, error) {
			rows, err := db.Query(ctx, sql)
			if tt.held && Refused(err) {
				other := testutil.Value(db.Runner(exec.Bounds{}))(t)
				testutil.Value(other.Query(t.Context(), "SELECT 1"))(t)
				t.Cleanup(func() { other.Close() })
				time.AfterFunc(200*time.Millisecond, cancel)
			}
			return rows, err
		})
		cancel()
		if tt.rows == 0 && !Refused(err) || tt.rows > 0 && (err != nil || len(rows.Rows) != tt.rows) || told != tt.told {
			t.Errorf("%s: %v %v %q", tt.name, rows, err, told)
		}
	}
}

// FuzzWithout: no statement breaks it.
func FuzzWithout(f *testing.F) {
	s := Schemas{Readable: &schema.Schema{Tables: []schema.Table{{Name: "u", Columns: []schema.Column{{Name: "id"}}}}}}
	f.Add("SELECT a.* FROM main.u AS a")
	f.Fuzz(func(_ *testing.T, sql string) { Without(sqlite.Dialect{}.Language(), s, sql) })
}

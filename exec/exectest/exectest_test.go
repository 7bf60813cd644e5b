package exectest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// engine is SQLite, broken or not.
func engine(d exec.Dialect) Engine {
	return Engine{
		Dialect: d,
		Open: func(t testing.TB, script string) Database {
			file := filepath.Join(t.TempDir(), "test.db")
			pool, err := sql.Open("sqlite3", file)
			if err == nil {
				_, err = pool.Exec(script)
			}
			testutil.OK(t, cmp.Or(err, pool.Close()))
			return Database{User: ConnectorOf(t, "sqlite3", file)}
		},
		State: func(ctx context.Context, conn *sql.Conn) (string, error) {
			state := ""
			for _, pragma := range []string{"query_only", "cache_size", "busy_timeout"} {
				value := 0
				if err := conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&value); err != nil {
					return "", err
				}
				state += fmt.Sprint(pragma, " ", value, "\n")
			}
			_, denied := conn.ExecContext(ctx, "EXPLAIN CREATE TABLE authorized(a)")
			return state + fmt.Sprint(denied), nil
		},
		Endless:   "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
		InProcess: true,
		Deadline:  300 * time.Millisecond,
		Fault:     errors.New("disk I/O error: injected"),
	}
}

// Each dialect breaks one rule. A suite that lets one of them pass shows nothing.
func TestConformanceFindsBrokenDialects(t *testing.T) {
	names := map[string]func(testing.TB, Engine) error{}
	for _, p := range parts() {
		names[p.name] = p.check
	}
	open := func(ctx context.Context, conn *sql.Conn, open func() (exec.GuardedConn, error)) (exec.GuardedConn, error) {
		o, err := open()
		if err == nil {
			o.Conn = naked{o.Conn, conn}
		}
		return o, err
	}
	policy := func(p exec.Policy) func(*exec.GuardConfig) { return func(c *exec.GuardConfig) { c.Policy = p } }
	type rows = func() (*exec.Rows, error)
	run := func(fails func(s *exec.Statement, err error) error) func(context.Context, *exec.Statement, exec.Bounds,
		rows) (*exec.Rows, error) {
		return func(_ context.Context, s *exec.Statement, _ exec.Bounds, run rows) (*exec.Rows, error) {
			rows, err := run()
			if failed := fails(s, err); failed != nil {
				return nil, failed
			}
			return rows, nil
		}
	}
	never := 0
	for _, test := range []struct {
		why, part, want string
		broken          Changes
	}{
		{"it guards nothing", "payloads", "DELETE", Changes{Open: open}},
		{"it forgets what is denied", "policy", "password",
			Changes{Config: policy(exec.Policy{}), Catalog: func(c *exec.Catalog) { c.Relations = nil }}},
		{"it leaves its guard on", "state", "not authorized", Changes{Close: func(bool, func(bool) error) error {
			return nil
		}}},
		{"it always drops", "state", "cost the connection", Changes{Close: func(_ bool, close func(bool) error) error {
			return close(true)
		}}},
		{"its last word is always blame", "faults", "blamed", Changes{Run: run(func(_ *exec.Statement, err error) error {
			if err != nil {
				err = &exec.InvalidError{Message: err.Error()}
			}
			return err
		})}},
		{"its version never changes", "version", "version", Changes{Version: func(string) string { return "1" }}},
		{"its version always changes", "inspect", "changes all the time", Changes{Version: func(string) string {
			never++
			return fmt.Sprint(never)
		}}},
		{"it has no keys", "inspect", "parent", Changes{Catalog: func(c *exec.Catalog) {
			for i := range c.Schema.Tables {
				c.Schema.Tables[i].ForeignKeys = nil
			}
		}}},
		{"its plans are empty", "plans", "plan",
			Changes{Explain: func(*exec.Statement, func() (exec.Plan, error)) (exec.Plan, error) {
				return exec.Plan{}, nil
			}}},
		{"its samples differ", "samples", "differ", Changes{Sample: func(s *exec.RowSample) {
			if never++; never%2 == 0 && len(s.Rows) > 0 {
				s.Rows = s.Rows[1:]
			}
		}}},
		{"it quotes badly", "names", "column called", Changes{Language: func(l *exec.Language) {
			l.QuoteName = func(name string) string { return `"` + name + `"` }
		}}},
		{"it gives no time", "limits", "time", Changes{Run: run(func(s *exec.Statement, err error) error {
			if strings.Contains(s.SQL(), "RECURSIVE") {
				return errors.New("interrupted")
			}
			return err
		})}},
		{"its catalog is always old", "once", "changes all the time", Changes{
			Confirm: func(*exec.Statement, func() (guard.EngineReport, error)) (guard.EngineReport, error) {
				return guard.EngineReport{}, guard.ErrStale
			},
		}},
	} {
		t.Run(test.why, func(t *testing.T) {
			err := names[test.part](t, engine(Change(sqlite.Dialect{}, test.broken)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s finds %v, want an error about %s", test.part, err, test.want)
			}
		})
	}
}

// naked lets everything pass.
type naked struct {
	exec.Conn
	conn *sql.Conn
}

func (n naked) Read(context.Context, *exec.Statement) (*guard.Names, error) {
	return &guard.Names{}, nil
}

func (n naked) Confirm(context.Context, *exec.Statement) (guard.EngineReport, error) {
	return guard.EngineReport{}, nil
}

func (n naked) Run(ctx context.Context, s *exec.Statement, _ exec.Bounds) (*exec.Rows, error) {
	rows, err := n.conn.QueryContext(ctx, s.SQL())
	return &exec.Rows{Rows: rows}, err
}

// TestPayloadExpectations: a statement that does not do what is expected is named.
func TestPayloadExpectations(t *testing.T) {
	e := engine(sqlite.Dialect{})
	for _, test := range []struct {
		payload Payload
		want    string
	}{
		{Payload{Name: "p1", SQL: "SELECT a FROM t", Expect: "refuse"}, "p1: answered with 5 rows"},
		{Payload{Name: "p2", SQL: "SELECT a FROM t", Expect: "accept", Rows: 4}, "p2: 5 rows of 1 columns, want 4"},
		{Payload{Name: "p3", SQL: "SELECT abs(-9223372036854775808)", Expect: "refuse"}, "p3: not refused before it ran"},
		{Payload{Name: "p4", SQL: "DELETE FROM t", Expect: "accept"}, "p4: exec: refused"},
		{Payload{Name: "p5", SQL: "SELECT 1"}, "p5: unknown expectation"},
		{Payload{Name: "p6", SQL: "SELECT a FROM t", Expect: "accept", Rows: 5}, ""},
		{Payload{Name: "p7", SQL: e.Endless, Expect: "survive"}, ""},
		{Payload{Name: "p8", SQL: "SELECT password FROM users", Expect: "refuse", Policy: dbtest.DenyColumn}, ""},
	} {
		err := checkPayloads(t, e, []Payload{test.payload})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.payload.Name, err, test.want)
		}
	}
}

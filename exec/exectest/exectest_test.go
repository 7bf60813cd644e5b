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
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// broken is SQLite with one rule of the contract broken.
type broken struct {
	sqlite.Dialect
	guard   func(exec.GuardConfig) exec.GuardConfig
	hold    func(exec.Guard, context.Context, *sql.Conn, time.Duration) (exec.Held, error)
	held    func(exec.Held) exec.Held
	version func(string) string
	inspect func(*schema.Schema)
	plan    func(*exec.Plan)
	sample  func(*exec.RowSample)
	quote   func(string) string
}

func (b broken) Guard(c exec.GuardConfig) (exec.Guard, error) {
	if b.guard != nil {
		c = b.guard(c)
	}
	g, err := b.Dialect.Guard(c)
	return brokenGuard{g, b}, err
}

func (b broken) Version(ctx context.Context, q exec.Queryer) (string, error) {
	v, err := b.Dialect.Version(ctx, q)
	if b.version != nil {
		v = b.version(v)
	}
	return v, err
}

func (b broken) Inspect(ctx context.Context, q exec.Queryer) (*schema.Schema, error) {
	s, err := b.Dialect.Inspect(ctx, q)
	if b.inspect != nil && err == nil {
		b.inspect(s)
	}
	return s, err
}

func (b broken) Explain(ctx context.Context, q exec.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	p, err := b.Dialect.Explain(ctx, q, s)
	if b.plan != nil {
		b.plan(&p)
	}
	return p, err
}

type runner = func(context.Context, string, int) (*result.Table, error)

func (b broken) SampleRows(ctx context.Context, run runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	s, err := b.Dialect.SampleRows(ctx, run, t, o)
	if b.sample != nil {
		b.sample(&s)
	}
	return s, err
}

func (b broken) Quote(name string) string {
	if b.quote != nil {
		return b.quote(name)
	}
	return b.Dialect.Quote(name)
}

type brokenGuard struct {
	exec.Guard
	broken broken
}

func (g brokenGuard) Hold(ctx context.Context, c *sql.Conn, timeout time.Duration) (h exec.Held, err error) {
	if g.broken.hold != nil {
		h, err = g.broken.hold(g.Guard, ctx, c, timeout)
	} else {
		h, err = g.Guard.Hold(ctx, c, timeout)
	}
	if err == nil && g.broken.held != nil {
		h = g.broken.held(h)
	}
	return h, err
}

// heldWith is a held connection with some methods of its own.
type heldWith struct {
	exec.Held
	release  func(exec.Held, bool) error
	query    func(exec.Held, context.Context, *sqltext.Statement, exec.Bounds) (*sql.Rows, error)
	classify func(error) error
}

func (h heldWith) Release(drop bool) error {
	if h.release != nil {
		return h.release(h.Held, drop)
	}
	return h.Held.Release(drop)
}

func (h heldWith) Query(ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
	if h.query != nil {
		return h.query(h.Held, ctx, s, b)
	}
	return h.Held.Query(ctx, s, b)
}

func (h heldWith) Classify(err error) error {
	if h.classify != nil {
		return h.classify(err)
	}
	return h.Held.Classify(err)
}

func with(h heldWith) func(exec.Held) exec.Held {
	return func(held exec.Held) exec.Held { h.Held = held; return h }
}

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
			if err = cmp.Or(err, pool.Close()); err != nil {
				t.Fatal(err)
			}
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
	open := func(g exec.Guard, ctx context.Context, c *sql.Conn, timeout time.Duration) (exec.Held, error) {
		h, err := g.Catalog(ctx, c, timeout)
		return heldWith{Held: h, query: func(_ exec.Held, ctx context.Context, s *sqltext.Statement, _ exec.Bounds) (*sql.Rows, error) {
			return c.QueryContext(ctx, s.SQL())
		}}, err
	}
	never := 0
	for _, test := range []struct {
		why, part, want string
		broken          broken
	}{
		{"it guards nothing", "payloads", "DELETE", broken{hold: open}},
		{"it has no policy", "policy", "password", broken{guard: func(c exec.GuardConfig) exec.GuardConfig { c.Policy = exec.Policy{}; return c }}},
		{"nor for its names", "policy_names", "pasword", broken{guard: func(c exec.GuardConfig) exec.GuardConfig { c.Policy = exec.Policy{}; return c }}},
		{
			"a denied table is told from an absent one", "denied_is_absent", "users",
			broken{guard: func(c exec.GuardConfig) exec.GuardConfig {
				c.Policy = exec.Policy{DenyColumns: []string{"users.password"}}
				return c
			}},
		},
		{"it leaves its guard on", "state", "not authorized", broken{held: with(heldWith{release: func(exec.Held, bool) error { return nil }})}},
		{"it always drops", "state", "cost the connection", broken{held: with(heldWith{release: func(h exec.Held, _ bool) error { return h.Release(true) }})}},
		{"its last word is always blame", "faults", "blamed", broken{held: with(heldWith{
			query: func(h exec.Held, ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
				rows, err := h.Query(ctx, s, b)
				if err != nil {
					err = &exec.InvalidError{Message: err.Error()}
				}
				return rows, err
			},
		})}},
		{"its version never changes", "version", "version", broken{version: func(string) string { return "1" }}},
		{"its version always changes", "inspect", "read again", broken{version: func(string) string { never++; return fmt.Sprint(never) }}},
		{"it has no keys", "inspect", "parent", broken{inspect: func(s *schema.Schema) {
			for i := range s.Tables {
				s.Tables[i].ForeignKeys = nil
			}
		}}},
		{"its plans are empty", "plans", "plan", broken{plan: func(p *exec.Plan) { *p = exec.Plan{} }}},
		{"its samples differ", "samples", "differ", broken{sample: func(s *exec.RowSample) {
			if never++; never%2 == 0 && len(s.Rows) > 0 {
				s.Rows = s.Rows[1:]
			}
		}}},
		{"it quotes badly", "names", "column called", broken{quote: func(name string) string { return `"` + name + `"` }}},
		{"it gives no time", "limits", "time", broken{held: with(heldWith{
			query: func(h exec.Held, ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
				if strings.Contains(s.SQL(), "RECURSIVE") {
					return nil, errors.New("interrupted")
				}
				return h.Query(ctx, s, b)
			},
		})}},
	} {
		t.Run(test.why, func(t *testing.T) {
			err := names[test.part](t, engine(test.broken))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s finds %v, want an error about %s", test.part, err, test.want)
			}
		})
	}
}

// TestPayloadExpectations: a statement that does not do what is expected is named.
func TestPayloadExpectations(t *testing.T) {
	e := engine(sqlite.Dialect{})
	for _, test := range []struct {
		payload Payload
		want    string
	}{
		{Payload{Name: "p1", SQL: "SELECT a FROM t", Expect: Refuse}, "p1: answered with 5 rows"},
		{Payload{Name: "p2", SQL: "SELECT a FROM t", Expect: Accept, Rows: 4}, "p2: 5 rows of 1 columns, want 4"},
		{Payload{Name: "p3", SQL: "SELECT abs(-9223372036854775808)", Expect: Refuse}, "p3: not refused before it ran"},
		{Payload{Name: "p4", SQL: "DELETE FROM t", Expect: Accept}, "p4: exec: refused"},
		{Payload{Name: "p5", SQL: "SELECT 1"}, "p5: unknown expectation"},
		{Payload{Name: "p6", SQL: "SELECT a FROM t", Expect: Accept, Rows: 5}, ""},
		{Payload{Name: "p7", SQL: e.Endless, Expect: Survive}, ""},
		{Payload{Name: "p8", SQL: "SELECT password FROM users", Expect: Refuse, Policy: DenyColumn}, ""},
	} {
		err := checkPayloads(t, e, []Payload{test.payload})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.payload.Name, err, test.want)
		}
	}
}

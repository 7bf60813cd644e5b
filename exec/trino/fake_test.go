package trino_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	driverpkg "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/sqltext"
)

// userError is one of the server about a statement.
func userError(name, message string) error {
	return &driverpkg.ErrTrino{Message: message, ErrorName: name, ErrorType: "USER_ERROR"}
}

func denied(text string) error {
	return userError("PERMISSION_DENIED", "Access Denied: "+text)
}

// server is a Trino of few words, and the connector of its driver. Its tables are in memory.shop.
type server struct {
	headers map[string]string   // of the DSN
	silent  bool                // the driver's HTTP client traces nothing
	tables  map[string][]string // that the user may see, views too
	views   map[string]string   // definitions
	opaque  map[string]bool     // views whose definitions the user may not see
	denied  map[string]bool     // columns that the server refuses: "users.password"
	reads   map[string]string   // tables of a statement, where its text does not tell: "users orders"

	mu      sync.Mutex
	version int
	sent    []string
	headed  []map[string]string // the headers of sent
}

func newServer() *server {
	return &server{
		headers: map[string]string{"X-Trino-User": "ann", "X-Trino-Catalog": "memory", "X-Trino-Schema": "shop",
			"X-Trino-Session": "a=1,hive.b=x%2Cy"},
		tables: map[string][]string{
			"users": {"id", "name", "password"}, "orders": {"id", "user_id"}, "names": {"id", "name"}, "logins": {"id", "p"},
			"again": {"p"},
		},
		views: map[string]string{
			"names": "SELECT id, name FROM users", "logins": "SELECT id, password p FROM users", "again": "SELECT p FROM logins",
		},
		denied: map[string]bool{"users.password": true},
	}
}

// open is a DB on the server.
func (s *server) open(t *testing.T, c exec.Config) *exec.DB {
	t.Helper()
	pool := sql.OpenDB(s)
	t.Cleanup(func() { pool.Close() })
	return dbtest.NewDB(t, pool, trino.Dialect{}, c)
}

// count is how many of the statements sent match a pattern.
func (s *server) count(pattern string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.sent {
		if regexp.MustCompile(pattern).MatchString(text) {
			n++
		}
	}
	return n
}

func (s *server) forget() { s.mu.Lock(); s.sent, s.headed = nil, nil; s.mu.Unlock() }

// inputs are the tables of a text, those under views for the views.
func (s *server) inputs(text string) (out []string) {
	if reads, ok := s.reads[text]; ok {
		return strings.Fields(reads)
	}
	for _, ref := range sqltext.Trino().Parse(text).Tables() {
		switch definition, view := s.views[ref.Name]; {
		case view:
			out = append(out, s.inputs(definition)...)
		case ref.Base():
			out = append(out, strings.ToLower(ref.Name))
		}
	}
	return out
}

var probed = regexp.MustCompile(`^EXPLAIN \(TYPE VALIDATE\) SELECT "?(\w+)"? FROM "memory"\."shop"\."(\w+)"$`)

// answer is what the server says to a text.
func (s *server) answer(text string, headers map[string]string) (rows [][]driver.Value, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.headed = append(s.sent, text), append(s.headed, headers)
	row := func(values ...driver.Value) { rows = append(rows, values) }
	names := func() []string {
		var out []string
		for name := range s.tables {
			out = append(out, name)
		}
		slices.Sort(out)
		return out
	}()
	inner := strings.TrimPrefix(text, "EXPLAIN (TYPE IO, FORMAT JSON) ")
	probe := probed.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "SELECT current_user"):
		null := func(name string) driver.Value {
			if v, ok := headers[name]; ok {
				return v
			}
			return nil
		}
		row("ann", null("X-Trino-Catalog"), null("X-Trino-Schema"))
	case strings.HasPrefix(text, "SELECT to_hex(checksum"):
		row("AB", int64(s.version))
	case strings.Contains(text, "information_schema.tables"):
		for _, name := range names {
			kind := "BASE TABLE"
			if s.views[name] != "" {
				kind = "VIEW"
			}
			if s.views[name] != "" && !s.opaque[name] {
				row(int64(0), "shop", name, int64(-1), s.views[name], nil, nil, nil, nil)
			}
			row(int64(0), "shop", name, int64(0), kind, nil, nil, nil, nil)
			for i, column := range s.tables[name] {
				row(int64(0), "shop", name, int64(i+1), column, "varchar", nil, "YES", nil)
			}
		}
	case strings.Contains(text, "system.metadata"):
		return nil, denied("Cannot select from table")
	case strings.HasPrefix(text, "EXPLAIN (TYPE VALIDATE) CREATE"):
		return nil, denied("Cannot create table memory.shop.texttosql_writes")
	case probe != nil && s.denied[probe[2]+"."+probe[1]]:
		return nil, denied("Cannot select from columns [" + probe[1] + "] in table or view " + probe[2])
	case probe != nil && s.denied[probe[2]]:
		return nil, denied("Cannot select from table memory.shop." + probe[2])
	case probe != nil && probe[1] != "1" && !slices.Contains(s.tables[probe[2]], probe[1]):
		return nil, userError("COLUMN_NOT_FOUND", "line 1:32: Column '"+probe[1]+"' cannot be resolved")
	case probe != nil && s.tables[probe[2]] == nil:
		return nil, userError("TABLE_NOT_FOUND", "line 1:32: Table 'memory.shop."+probe[2]+"' does not exist")
	case inner != text:
		var plan struct {
			Inputs []any `json:"inputTableColumnInfos"`
		}
		plan.Inputs = []any{}
		for _, name := range s.inputs(inner) {
			if s.tables[name] == nil && s.reads[inner] == "" {
				return nil, userError("TABLE_NOT_FOUND", "line 1:46: Table 'memory.shop."+name+"' does not exist")
			}
			plan.Inputs = append(plan.Inputs, map[string]any{"table": map[string]any{
				"catalog": "memory", "schemaTable": map[string]string{"schema": "shop", "table": name},
			}})
		}
		raw, _ := json.Marshal(plan)
		row(string(raw))
	case strings.HasPrefix(text, "EXPLAIN (TYPE LOGICAL"):
		row(`{"name": "Output", "descriptor": {"columnNames": "[a]"}, "estimates": [{"outputRowCount": 7.0, "cpuCost": "NaN"}], "children": [
			{"name": "ScanFilter", "descriptor": {"table": "memory:7", "filterPredicate": "(a = 's3cret')"}, "estimates": [{"outputRowCount": 9.0, "cpuCost": 60.5}]}]}`)
	default:
		row("one")
	}
	return rows, nil
}

func (s *server) Connect(context.Context) (driver.Conn, error) { return fakeConn{s}, nil }
func (s *server) Driver() driver.Driver                        { return nil }

type fakeConn struct{ *server }

func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (fakeConn) Close() error                        { return nil }
func (fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }
func (c fakeConn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return fakeStmt{c.server, text}, nil
}

type fakeStmt struct {
	*server
	text string
}

func (fakeStmt) Close() error                               { return nil }
func (fakeStmt) NumInput() int                              { return -1 }
func (fakeStmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (fakeStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, driver.ErrSkip }

func (s fakeStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	headers := map[string]string{}
	for name, value := range s.headers {
		headers[name] = value
	}
	for _, arg := range args {
		if arg.Name != "" {
			headers[arg.Name] = arg.Value.(string)
		}
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && !s.silent {
		for range 2 { // the first request did not reach the server
			for name, value := range headers {
				trace.WroteHeaderField(strings.ToLower(name), []string{value})
			}
		}
		trace.WroteHeaders()
		trace.WroteHeaderField("X-Trino-Session", []string{"of=another request"})
	}
	rows, err := s.answer(s.text, headers)
	if err != nil {
		return nil, fmt.Errorf("trino: query failed: %w", err)
	}
	return &fakeRows{rows}, nil
}

type fakeRows struct{ rows [][]driver.Value }

func (r *fakeRows) Columns() (names []string) {
	if len(r.rows) > 0 {
		for i := range r.rows[0] {
			names = append(names, fmt.Sprint("c", i))
		}
	}
	return names
}

func (*fakeRows) Close() error { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

package trino

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// conn is a connection under guard.
type conn struct {
	*pool
	conn       *sql.Conn
	place      string
	at         home   // where unqualified names are looked for
	properties string // of the session of its statements
	doubt      bool   // read the version from the server, even if it is cached
}

// home is the catalog and the schema in which names without them are looked for, in lower case.
type home struct{ catalog, schema string }

// arguments are those that the driver sends as headers of a statement. They say all that decides what its names mean: a
// transaction that a caller left open is not used, and functions without a schema are built-in ones.
func (c *conn) arguments(at home) []any {
	return append(c.dialect.identity(), []any{
		sql.Named(catalogHeader, at.catalog), sql.Named(schemaHeader, at.schema), sql.Named(pathHeader, "system.builtin"),
		sql.Named(sessionHeader, c.properties), sql.Named(transactionHeader, "NONE"),
	}...)
}

// each runs a text of the guard's own and calls row for each of its rows.
func (c *conn) each(ctx context.Context, text string, row func(scan func(...any) error) error) error {
	return guard.QueryEach(ctx, c.conn, text, row, c.arguments(c.at)...)
}

// text runs a text of the guard's own whose one value is a text.
func (c *conn) text(ctx context.Context, at home, text string) (value string, err error) {
	var found sql.NullString
	err = guard.QueryEach(ctx, c.conn, text, func(scan func(...any) error) error {
		return scan(&found)
	}, c.arguments(at)...)
	return found.String, classify(err)
}

// Run implements exec.Conn. Preparing a text sends nothing to the server.
func (c *conn) Run(ctx context.Context, s *exec.Statement, _ exec.Bounds) (*exec.Rows, error) {
	rows, statement, err := guard.Query(ctx, c.conn, s.SQL(), append(slices.Clip(s.Args), c.arguments(c.at)...)...)
	return &exec.Rows{Rows: rows, Statement: statement, Convert: converter, Type: typeOf}, err
}

func (c *conn) Close(drop bool) error {
	if !drop {
		return nil
	}
	return guard.Discard(c.conn)
}

// bound writes the arguments of a statement of ours into its text: EXPLAIN takes none.
func bound(s *sqltext.Statement, args []any) string {
	text, out, from := s.SQL(), "", 0
	for t := range s.Tokens() {
		if t.Kind != sqltext.Placeholder || len(args) == 0 {
			continue
		}
		value := "NULL"
		switch v := args[0].(type) {
		case string:
			value = literal(v)
		case []byte:
			value = fmt.Sprintf("X'%X'", v)
		case int64:
			value = strconv.FormatInt(v, 10)
		case float64:
			value = strconv.FormatFloat(v, 'E', -1, 64)
		}
		out, from, args = out+text[from:t.Pos]+value, t.Pos+len(t.Text), args[1:]
	}
	return out + text[from:]
}

// version is the version of what connections at a place see.
type version struct {
	place, text string
	asked       time.Time
	believed    time.Duration
}

// Version implements exec.Conn. It is a checksum of all columns of the catalogs, with schema, table, place, type,
// default, NOT NULL and comment. Trino has no cheaper way to detect a changed column. It costs one statement: as little
// as any other if the catalogs answer from memory, otherwise as much as reading their metadata. So the result is reused
// for five times the time that it took, between one second and one minute, unless a statement names something unknown.
func (c *conn) Version(ctx context.Context) (string, error) {
	c.mu.Lock()
	v := c.version
	c.mu.Unlock()
	if !c.doubt && v.place == c.place && time.Since(v.asked) < v.believed {
		return v.text, nil
	}
	v = version{place: c.place, asked: time.Now()}
	const columns = "table_catalog, table_schema, table_name, column_name, ordinal_position, data_type, column_default, " +
		`is_nullable, "comment"`
	query := "SELECT to_hex(checksum(ROW(" + columns + "))), count(*) FROM (" +
		c.everywhere("columns", func(int) string { return columns }) + ")"
	err := c.each(ctx, query, func(scan func(...any) error) error {
		var sum sql.NullString
		var n int64
		err := scan(&sum, &n)
		v.text = fmt.Sprintf("%s-%d", strings.ToLower(sum.String), n)
		return err
	})
	if err != nil {
		return "", err
	}
	v.believed = min(max(5*time.Since(v.asked), time.Second), believed)
	c.doubt = false
	c.mu.Lock()
	if c.version.text != "" && c.version.text != v.text {
		c.answers = nil
	}
	c.version = v
	c.mu.Unlock()
	return v.text, nil
}

// everywhere writes a query on one table of each information_schema. columns returns the columns for a catalog number.
func (c *conn) everywhere(table string, columns func(catalog int) string) string {
	var parts []string
	for i, name := range c.dialect.catalogs(c.at.catalog) {
		parts = append(parts,
			fmt.Sprintf("SELECT %s FROM %s.information_schema.%s WHERE table_schema <> 'information_schema'",
				columns(i), quote(name), table))
	}
	return strings.Join(parts, " UNION ALL ")
}

// explainPrefix turns a statement into one that returns its plan.
const explainPrefix = "EXPLAIN (TYPE LOGICAL, FORMAT JSON) "

// Explain implements exec.Conn with EXPLAIN (TYPE LOGICAL, FORMAT JSON). It returns a row for each step, without the
// conditions, because conditions of views and of the server's access rules may contain stored values. It starts with a
// row for each table, because some connectors do not name their tables in a plan.
//
// EngineCost is the CPU cost of all steps that the server can estimate; 0 if it can estimate none.
func (c *conn) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	text, err := c.text(ctx, c.at, explainPrefix+bound(s.Statement, s.Args))
	if err != nil {
		return exec.Plan{}, err
	}
	p := exec.Plan{Rows: []exec.PlanRow{}}
	for i, read := range s.Catalog.Reads(s.Names) {
		name := schema.TableName{Schema: read.Relation.Schema, Name: read.Relation.Name}
		p.Rows = append(p.Rows, exec.PlanRow{ID: i + 1, Detail: "reads " + name.String(), Scans: []schema.TableName{name}})
	}
	var root step
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return exec.Plan{}, fmt.Errorf("trino: reading a plan: %w", err)
	}
	root.add(&p, 0)
	return p, nil
}

// step is one object of the JSON. An estimate is a number, or "NaN".
type step struct {
	Name       string
	Descriptor map[string]string
	Estimates  []struct{ OutputRowCount, CPUCost any }
	Children   []step
}

// add adds a step and those below it.
func (s step) add(p *exec.Plan, parent int) {
	detail := s.Name
	for _, key := range []string{"distribution", "keys", "partitioning", "table", "type"} {
		if value := s.Descriptor[key]; value != "" {
			detail += " " + key + "=" + value
		}
	}
	id := len(p.Rows) + 1
	p.Rows = append(p.Rows, exec.PlanRow{ID: id, Parent: parent, Detail: detail})
	for i, e := range s.Estimates {
		cost, _ := e.CPUCost.(float64)
		p.EngineCost += cost
		if i == 0 && s.Name == "Output" {
			p.EngineRows, _ = e.OutputRowCount.(float64)
		}
	}
	for _, child := range s.Children {
		child.add(p, id)
	}
}

// believed is how long the guard reuses the server's answers about the session, a view or a denied column.
const believed = time.Minute

// pool holds what the guard of one DB learns from its connections.
type pool struct {
	dialect Dialect
	config  exec.GuardConfig

	mu      sync.Mutex
	version version
	answers map[string]any // the server's answers about the session, views and denied columns
	since   time.Time      // of answers
}

// session holds the settings that the DSN makes for each statement. The driver resets a connection to it before
// database/sql returns the connection, so all connections of the pool have the same session.
type session struct {
	user       string
	at         home
	properties []string // of the header, as the driver writes them
}

// The headers with which a client sends its session to the server. An argument with such a name replaces the header.
const (
	sessionHeader     = "X-Trino-Session"
	pathHeader        = "X-Trino-Path"
	userHeader        = "X-Trino-User"
	catalogHeader     = "X-Trino-Catalog"
	schemaHeader      = "X-Trino-Schema"
	transactionHeader = "X-Trino-Transaction-Id"
)

// open puts the guard on a connection. Each statement of Trino carries its session with it, so nothing is changed that
// would have to be put back.
func (p *pool) open(ctx context.Context, sqlConn *sql.Conn, timeout time.Duration) (exec.GuardedConn, error) {
	if p.dialect.AsUser && p.dialect.user == "" {
		return exec.GuardedConn{}, guard.Refuse("scope", "the question has no scope")
	}
	s, err := remembered(p, "session", func() (session, error) { return askSession(ctx, sqlConn, p.dialect) })
	if err != nil {
		return exec.GuardedConn{}, err
	}
	place := fmt.Sprintf("%q %q %q", s.user, s.at.catalog, s.at.schema)
	c := &conn{pool: p, conn: sqlConn, place: place, at: s.at, properties: strings.Join(limits(s.properties, timeout),
		",")}
	return exec.GuardedConn{Conn: c, Place: place}, nil
}

// askSession reads user, catalog and schema from the server. The session properties come from the headers of that
// request: SHOW SESSION hides some, and does not distinguish the properties of the DSN from those that the server sets
// by itself, which this user may not be allowed to set.
func askSession(ctx context.Context, conn *sql.Conn, d Dialect) (session, error) {
	var s session
	var sent headers
	var catalog, schema sql.NullString
	err := guard.QueryEach(httptrace.WithClientTrace(ctx, sent.trace()), conn,
		"SELECT current_user, current_catalog, current_schema",
		func(scan func(...any) error) error { return scan(&s.user, &catalog, &schema) }, d.identity()...)
	sent.mu.Lock()
	defer sent.mu.Unlock()
	s.at = home{strings.ToLower(catalog.String), strings.ToLower(schema.String)}
	s.properties = sent.values[sessionHeader]
	unplaced := sent.values != nil && (sent.values[catalogHeader] == nil || sent.values[schemaHeader] == nil)
	switch {
	case err == nil && d.user != "" && s.user != d.user:
		return s, &exec.UnguardedError{Reason: "the server takes the user " + d.user + " for " + s.user,
			Remedy: "let it take X-Trino-User as it is"}
	case err != nil && !unplaced: // to a question without both the server may answer with an error
		return s, err
	case s.at.catalog == "" || s.at.schema == "":
		return s, &exec.UnguardedError{
			Reason: "the connection has no catalog or no schema",
			Remedy: "name both in the DSN: https://user@host:8443?catalog=hive&schema=shop",
		}
	case s.at.catalog == "system" || !visible(s.at.schema, ""):
		return s, &exec.UnguardedError{
			Reason: "the catalog and schema of the connection, " + s.at.catalog + "." + s.at.schema + ", are the server's own",
			Remedy: "name others in the DSN",
		}
	case sent.values == nil:
		return s, &exec.UnguardedError{
			Reason: "the HTTP client of the driver does not tell which session properties it sends (net/http/httptrace)",
			Remedy: "open the pool with github.com/trinodb/trino-go-client, and give it a client that sends with " +
				"net/http.Transport",
		}
	}
	return s, nil
}

// headers are the headers of the first request of a statement.
type headers struct {
	mu     sync.Mutex
	values map[string][]string
	whole  bool
}

func (h *headers) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteHeaderField: func(key string, values []string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.values == nil {
				h.values = map[string][]string{}
			}
			key = http.CanonicalHeaderKey(key)
			for _, value := range values {
				if !h.whole && !slices.Contains(h.values[key], value) { // a request that is sent again writes them again
					h.values[key] = append(h.values[key], value)
				}
			}
		},
		WroteHeaders: func() { h.mu.Lock(); h.whole = true; h.mu.Unlock() },
	}
}

// runTime is the session property that ends a statement. Queueing and planning count, and EXPLAIN is a statement too.
const runTime = "query_max_run_time"

// leastTime is the shortest time limit of a statement on the server. The server checks about once a second, and
// planning a new statement takes seconds. For a shorter time-out, the context makes the driver end the statement.
const leastTime = 5 * time.Second

// limits returns the session properties for statements that take timeout at most. properties are those the connection
// has; a lower limit among them stays.
func limits(properties []string, timeout time.Duration) []string {
	most := max(timeout, leastTime)
	var out []string
	for _, p := range strings.Split(strings.Join(properties, ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if name != runTime {
			if p != "" {
				out = append(out, p)
			}
		} else if d, ok := duration(value); ok && d < most {
			most = d
		}
	}
	return append(out, fmt.Sprintf("%s=%dms", runTime, most.Milliseconds()))
}

// duration reads a duration as the server writes it: 1.50m, 100d.
func duration(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * float64(24*time.Hour)), err == nil && n > 0 && n < 1e5
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// remembered returns a cached answer to a question that is at most one minute old, and otherwise asks it. An error is
// not cached.
func remembered[T any](p *pool, question string, ask func() (T, error)) (T, error) {
	p.mu.Lock()
	if p.answers == nil || time.Since(p.since) > believed {
		p.answers, p.since = map[string]any{}, time.Now()
	}
	answers := p.answers
	known, ok := answers[question].(T)
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	answer, err := ask()
	if err == nil {
		p.mu.Lock()
		answers[question] = answer
		p.mu.Unlock()
	}
	return answer, err
}

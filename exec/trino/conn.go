package trino

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// conn is a connection under guard.
type conn struct {
	*pool
	conn       *sql.Conn
	place      string
	at         home   // where unqualified names are looked for
	properties string // of the session of its statements
	doubt      bool   // the server is asked for the version, whatever is remembered
}

// home is the catalog and the schema in which names without them are looked for, in lower case.
type home struct{ catalog, schema string }

// arguments are those that the driver sends as headers of a statement. They say all that decides what its names mean: a
// transaction that a caller left open is not used, and functions without a schema are built-in ones.
func (c *conn) arguments(at home) []any {
	return []any{
		sql.Named(catalogHeader, at.catalog), sql.Named(schemaHeader, at.schema), sql.Named(pathHeader, "system.builtin"),
		sql.Named(sessionHeader, c.properties), sql.Named(transactionHeader, "NONE"),
	}
}

// each runs a text of the guard's own and calls row for each of its rows.
func (c *conn) each(ctx context.Context, text string, row func(scan func(...any) error) error) error {
	return guard.Each(ctx, c.conn, text, row, c.arguments(c.at)...)
}

// text runs a text of the guard's own whose one value is a text.
func (c *conn) text(ctx context.Context, at home, text string) (value string, err error) {
	var found sql.NullString
	err = guard.Each(ctx, c.conn, text, func(scan func(...any) error) error { return scan(&found) }, c.arguments(at)...)
	return found.String, classify(err)
}

// Run implements exec.Conn. To prepare a text asks the server nothing.
func (c *conn) Run(ctx context.Context, s *exec.Statement, _ exec.Bounds) (*exec.Rows, error) {
	rows, statement, err := guard.Query(ctx, c.conn, s.SQL(), append(slices.Clip(s.Args), c.arguments(c.at)...)...)
	return &exec.Rows{Rows: rows, Statement: statement, Convert: converter}, err
}

// Close implements exec.Conn.
func (c *conn) Close(drop bool) error {
	if !drop {
		return nil
	}
	return guard.Drop(c.conn)
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

// version is that of what connections at a place see.
type version struct {
	place, text string
	asked       time.Time
	believed    time.Duration
}

// Version implements exec.Conn: a checksum of all columns of the catalogs, with schema, table, place, type, default, NOT
// NULL and comment. Trino has nothing cheaper that would show a changed column. It costs one statement, as little as any
// other one where the catalogs answer from memory, and as much as their metadata costs where they do not. So it is
// believed five times as long as it took, from a second to a minute, unless a statement names what is not known.
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

// everywhere writes a query on one table of each information_schema. columns are those of the catalog of that number.
func (c *conn) everywhere(table string, columns func(catalog int) string) string {
	var parts []string
	for i, name := range c.dialect.catalogs(c.at.catalog) {
		parts = append(parts, fmt.Sprintf("SELECT %s FROM %s.information_schema.%s WHERE table_schema <> 'information_schema'",
			columns(i), quote(name), table))
	}
	return strings.Join(parts, " UNION ALL ")
}

// explainPrefix makes of a statement one that tells its plan.
const explainPrefix = "EXPLAIN (TYPE LOGICAL, FORMAT JSON) "

// Explain implements exec.Conn: what EXPLAIN (TYPE LOGICAL, FORMAT JSON) says, a row for each step, without its
// conditions, since those of views and of the server's access rules may hold stored values. In front is a row for each
// table, because some connectors give theirs no names in a plan.
//
// EngineCost is the CPU cost of all steps that the server can estimate; 0 where it can estimate none.
func (c *conn) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	text, err := c.text(ctx, c.at, explainPrefix+bound(s.Statement, s.Args))
	if err != nil {
		return exec.Plan{}, err
	}
	p := exec.Plan{Rows: []exec.PlanRow{}}
	for i, read := range s.Catalog.Reads(s.Names) {
		p.Rows = append(p.Rows, exec.PlanRow{ID: i + 1, Detail: "reads " + read.Relation.Schema + "." + read.Relation.Name})
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

package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// remedy is the advice for a handle that cannot be guarded.
const remedy = "open the file with duckdb.Open of github.com/texttosql/texttosql/exec/duckdb, " +
	"which makes a handle that only reads and reaches no file"

// Guard returns the guard of a DB. See the package comment for what it does.
func (Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	return func(ctx context.Context, conn *sql.Conn, _ time.Duration) (exec.GuardedConn, error) {
		h := &held{conn: conn, added: c.Policy.AllowFunctions, allows: c.Policy.AllowsTable}
		version := ""
		err := h.look(ctx, c.Unwrap)
		if err == nil {
			version, err = h.Version(ctx)
		}
		if err != nil {
			return exec.GuardedConn{}, errors.Join(err, h.Close(!errors.As(err, new(*exec.UnguardedError))))
		}
		return exec.GuardedConn{Conn: h, Place: h.made.place, Version: version, EndUse: h.endUse}, nil
	}, nil
}

// held is a connection under guard.
type held struct {
	conn  *sql.Conn
	made  *made
	added []string // functions that the policy adds

	allows func(in, table string) bool // whether the policy allows a table

	begun bool // a transaction of ours is open
	lost  bool // the connection is not used again
}

// look refuses a connection that cannot be guarded. Nobody can change the settings from Open, so look only checks what
// others may have left.
func (h *held) look(ctx context.Context, unwrap func(any) any) error {
	var on *conn
	foreign := ""
	err := h.conn.Raw(func(dc any) error {
		if unwrap != nil {
			dc = unwrap(dc)
		}
		switch c := dc.(type) {
		case *conn:
			h.made, on = c.made, c
		case *duckdb.Conn:
			foreign = "the handle was opened by the driver itself, so it may write, read files and change its settings"
		default:
			foreign = fmt.Sprintf("the driver connection %T is not of this package", dc)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case foreign != "":
		return &exec.UnguardedError{Reason: foreign, Remedy: remedy}
	case !on.touched:
		return nil
	}
	if err := h.begin(ctx); err != nil {
		if isOpenTransaction(err) {
			return &exec.UnguardedError{
				Reason: "a transaction is open on the connection, which its caller began and did not end",
				Remedy: "commit it or roll it back before the connection goes back to the pool",
			}
		}
		return err
	}
	defer h.rollback()
	fit := false
	err = h.each(ctx,
		`SELECT system.main.current_schema() = 'main' AND NOT EXISTS (FROM system.main.duckdb_tables() WHERE temporary)
		AND NOT EXISTS (FROM system.main.duckdb_views() WHERE temporary AND NOT internal)`,
		func(scan func(...any) error) error { return scan(&fit) })
	if err == nil && fit && !on.macros {
		on.touched = false
		return nil
	}
	if err == nil {
		err = &exec.UnguardedError{
			Reason: "the connection has temporary tables, views or macros, or another schema than main",
			Remedy: "drop them, or give the SDK a handle of its own",
		}
	}
	return err
}

// ours marks a context for statements of the guard.
func ours(ctx context.Context) context.Context { return context.WithValue(ctx, guarded{}, true) }

// each runs a query of ours.
func (h *held) each(ctx context.Context, query string, row func(scan func(...any) error) error, args ...any) error {
	return guard.QueryEach(ours(ctx), h.conn, query, row, args...)
}

// none reads no rows.
func none(func(...any) error) error { return nil }

// begin opens a transaction that only reads.
func (h *held) begin(ctx context.Context) error {
	if h.begun {
		return nil
	}
	err := h.each(ctx, "BEGIN TRANSACTION READ ONLY", none)
	h.begun = err == nil
	return err
}

// rollback ends it.
func (h *held) rollback() {
	if !h.begun {
		return
	}
	h.begun = false
	lost := true // also where the driver panics
	defer func() { h.lost = h.lost || lost }()
	lost = h.each(context.Background(), "ROLLBACK", none) != nil
}

// Version implements exec.Conn. A database that is open for reading does not change, so its version is read once for
// each handle. The files under its views may disappear.
func (h *held) Version(ctx context.Context) (string, error) {
	h.made.mu.Lock()
	defer h.made.mu.Unlock()
	if h.made.version == "" {
		err := h.each(ctx, "SELECT system.main.current_setting('TimeZone')", func(scan func(...any) error) error {
			return scan(&h.made.zone)
		})
		if err != nil {
			return "", err
		}
		if h.made.version, err = h.identities(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s-%d", h.made.version, len(h.made.gone)), nil
}

func (h *held) Read(ctx context.Context, s *exec.Statement) (*guard.Names, error) {
	tree, err := h.tree(ctx, s.SQL())
	if err != nil {
		return nil, err
	}
	w := walker{facts: s.Catalog.Own.(*facts), arguments: len(s.Args) > 0, added: s.Size.Added}
	return w.names(tree)
}

// Confirm implements exec.Conn: the engine compiles the statement and returns its plan.
func (h *held) Confirm(ctx context.Context, s *exec.Statement) (guard.EngineReport, error) {
	if absent := s.Names.Absent; len(absent) > 0 { // the engine might look for a file of that name
		message := "Table with name " + absent[0] + " does not exist!"
		for _, why := range h.made.left {
			if strings.HasPrefix(schema.FoldCase(why), "the file "+schema.FoldCase(absent[0])+".") {
				message += " (" + why + ")"
			}
		}
		return guard.EngineReport{}, &exec.InvalidError{Fault: "schema", Message: message, Name: absent[0]}
	}
	steps, err := h.plan(ctx, s)
	if err != nil {
		if isGone(err) {
			h.rollback() // DuckDB takes no other statement of the transaction
			h.made.lost(firstLine(err))
		}
		return guard.EngineReport{}, err
	}
	var seen guard.EngineReport
	err = s.Catalog.Own.(*facts).scans(steps, &seen)
	return seen, err
}

// Run implements exec.Conn. The driver builds the whole result before its first row, so the statement is wrapped in one
// that stops after the wanted rows.
func (h *held) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	if err := h.begin(ctx); err != nil {
		return nil, err
	}
	columns, err := h.describe(ctx, s)
	if err != nil {
		return nil, err
	}
	zone, zoneName := h.made.location()
	rows, statement, err := guard.Query(ours(ctx), h.conn, columns.around(s.SQL(), b.Rows+1), s.Args...)
	return &exec.Rows{
		Rows: rows, Statement: statement,
		Convert: func(i int, _ *sql.ColumnType) func(any) (any, error) { return converter(columns[i].kind, zone) },
		Type:    func(i int, _ *sql.ColumnType) result.Type { return typeOf(columns[i].kind, zoneName) },
	}, err
}

// column is one of a result: its name, and its type as DuckDB names it.
type column struct{ name, kind string }

type columns []column

// describe returns the columns of a statement without running it.
func (h *held) describe(ctx context.Context, s *exec.Statement) (out columns, err error) {
	text := s.SQL()
	if shows(s.Statement) {
		text = "FROM (" + text + "\n)"
	}
	err = h.each(ctx, "DESCRIBE "+text, func(scan func(...any) error) error {
		var c column
		var unused any
		err := scan(&c.name, &c.kind, &unused, &unused, &unused, &unused)
		out = append(out, c)
		return err
	}, s.Args...)
	return out, err
}

// shows reports whether a statement is DESCRIBE or SUMMARIZE, for which DESCRIBE does not exist.
func shows(s *sqltext.Statement) bool {
	for t := range s.Tokens() {
		if t.Kind == sqltext.Word {
			return slices.Contains([]string{"describe", "desc", "summarize"}, schema.FoldCase(t.Text))
		}
	}
	return false
}

// around returns a statement that wraps text and returns its first rows. It converts to text the values that the driver
// would change. DuckDB keeps the row order of text by default (preserve_insertion_order).
func (c columns) around(text string, rows int) string {
	inner, outer := make([]string, len(c)), make([]string, len(c))
	for i, column := range c {
		inner[i] = fmt.Sprintf("c%d", i)
		outer[i] = inner[i]
		if kind := asText(column.kind); kind != column.kind {
			outer[i] = "CAST(" + inner[i] + " AS " + kind + ")"
		}
		outer[i] += " AS " + language.Quote(column.name)
	}
	// The text may end in a comment.
	return fmt.Sprintf("SELECT %s FROM (%s\n) AS stored(%s) LIMIT %d", strings.Join(outer, ", "), text,
		strings.Join(inner, ", "), rows)
}

// endUse implements exec.GuardedConn.EndUse.
func (h *held) endUse(context.Context) (bool, error) {
	if !h.lost {
		h.rollback()
	}
	return !h.lost, nil
}

func (h *held) Close(drop bool) error {
	fit := false
	defer func() {
		if !fit { // also where the driver panics
			_ = guard.Discard(h.conn)
		}
	}()
	if drop || h.lost {
		return nil
	}
	h.rollback()
	fit = !h.lost
	return nil
}

// step is one operator of the physical plan.
type step struct {
	Name     string         `json:"name"`
	Children []step         `json:"children"`
	Info     map[string]any `json:"extra_info"`
}

// texts returns the texts of a step under a name: one or several.
func (s step) texts(name string) []string {
	if text := str(s.Info[name]); text != "" {
		return []string{text}
	}
	return texts(s.Info[name])
}

// plan returns the engine's plan of a statement and reads it once. For a plan the engine runs only constant
// expressions.
func (h *held) plan(ctx context.Context, s *exec.Statement) ([]step, error) {
	if steps, ok := s.Names.Own.([]step); ok {
		return steps, nil
	}
	if err := h.begin(ctx); err != nil {
		return nil, err
	}
	var kind, raw string
	err := h.each(ctx, "EXPLAIN (FORMAT JSON) "+s.SQL(), func(scan func(...any) error) error { return scan(&kind, &raw) },
		s.Args...)
	if err != nil {
		return nil, err
	}
	var steps []step
	if err := json.Unmarshal([]byte(raw), &steps); err != nil {
		return nil, guard.Refuse("guard", "the engine's plan cannot be read")
	}
	s.Names.Own = steps
	return steps, nil
}

// Explain implements exec.Conn: each row is an operator with all details from DuckDB. DuckDB reports no cost;
// EngineRows is its estimate for the outermost operator that has one.
func (h *held) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	steps, err := h.plan(ctx, s)
	if err != nil {
		return exec.Plan{}, err
	}
	p := exec.Plan{Rows: []exec.PlanRow{}}
	s.Catalog.Own.(*facts).addRows(&p, steps, 0)
	return p, nil
}

// addRows adds operators of one parent, and their children.
func (f *facts) addRows(p *exec.Plan, steps []step, parent int) {
	for _, s := range steps {
		detail := strings.TrimSpace(s.Name)
		for _, name := range slices.Sorted(maps.Keys(s.Info)) {
			if text := s.texts(name); len(text) > 0 {
				detail += fmt.Sprintf(" | %s: %s", name, strings.Join(text, ", "))
			}
		}
		if n, err := strconv.ParseFloat(str(s.Info["Estimated Cardinality"]), 64); err == nil && p.EngineRows == 0 {
			p.EngineRows = n
		}
		row := exec.PlanRow{ID: len(p.Rows) + 1, Parent: parent, Detail: strings.ReplaceAll(detail, "\n", " ")}
		if r := f.scanned(s); r != nil && str(s.Info["Type"]) != "Index Scan" {
			row.Scans = []schema.TableName{{Schema: r.Schema, Name: r.Name}}
		}
		p.Rows = append(p.Rows, row)
		f.addRows(p, s.Children, row.ID)
	}
}

// scans records what a plan reads, and refuses a plan that reads a denied column. It is the engine's own report, in
// addition to the names in the tree.
func (f *facts) scans(steps []step, seen *guard.EngineReport) error {
	for _, s := range steps {
		if r := f.scanned(s); r != nil {
			seen.Relations = append(seen.Relations, r)
			for _, read := range append(s.texts("Projections"), s.texts("Filters")...) {
				first, _, _ := strings.Cut(read, ".")
				if r.Denies(read) || r.Denies(first) || slices.ContainsFunc(namesIn(read), r.Denies) {
					return guard.Refuse("column", "the engine would read a column of %s that may not be read", r.Name)
				}
			}
		}
		if err := f.scans(s.Children, seen); err != nil {
			return err
		}
	}
	return nil
}

// scanned is the table that an operator reads; nil: none.
func (f *facts) scanned(s step) *guard.Relation {
	for _, table := range s.texts("Table") {
		for _, r := range f.relations {
			if !r.View && schema.EqualFold(table, f.database+"."+r.Schema+"."+r.Name) {
				return r
			}
		}
	}
	return nil
}

// namesIn are the words of a text that may be names.
func namesIn(text string) (names []string) {
	for t := range language.Text.Parse(text).Tokens() {
		if t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
			names = append(names, language.Text.Value(t))
		}
	}
	return names
}

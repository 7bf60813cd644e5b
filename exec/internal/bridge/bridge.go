// Package bridge lets a dialect of the port before serve the port of exec. Such a dialect has the life of a statement to
// itself: it judges a statement each time that it is asked about it. It goes with the last of them.
package bridge

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Queryer reads rows.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Engine is what a dialect of the port before has beside its guard. Each q is a connection that is held by Guard.Catalog.
type Engine interface {
	DefaultSchema(ctx context.Context, q Queryer) (string, error)
	Version(ctx context.Context, q Queryer) (string, error)
	Inspect(ctx context.Context, q Queryer) (*schema.Schema, error)
	Explain(ctx context.Context, q Queryer, s *sqltext.Statement) (exec.Plan, error)
}

// Warner looks for settings of a database that weaken its guard.
type Warner interface {
	Warnings(ctx context.Context, q Queryer) ([]trace.Warning, error)
}

// Guard makes connections fit for text that a model wrote.
type Guard interface {
	Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (Held, error)
	Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (Held, error)
}

// Held is a connection under guard.
type Held interface {
	Queryer
	Query(ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error)
	Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error)
	Classify(err error) error
	Release(drop bool) error
}

// What a Held may be beside that; see exec.Rows and exec.Finisher.
type (
	Converter interface {
		Converter(column *sql.ColumnType) func(value any) (any, error)
	}
	StatementWarner interface {
		StatementWarnings(ctx context.Context) ([]string, error)
	}
	Stopper interface{ Stop(tooLarge bool) bool }
)

// Open makes the exec.Open of a dialect.
func Open(e Engine, l exec.Language, c exec.GuardConfig, g Guard) exec.Open {
	return func(ctx context.Context, sc *sql.Conn, timeout time.Duration) (exec.Opened, error) {
		held, err := g.Hold(ctx, sc, timeout)
		if err != nil {
			return exec.Opened{}, err
		}
		o := conn{e, l, c, g, sc, timeout, held}
		if f, ok := held.(exec.Finisher); ok {
			return exec.Opened{Conn: finisher{o, f}}, nil
		}
		return exec.Opened{Conn: o}, nil
	}
}

type conn struct {
	engine   Engine
	language exec.Language
	config   exec.GuardConfig
	guard    Guard
	conn     *sql.Conn
	timeout  time.Duration
	held     Held
}

type finisher struct {
	conn
	exec.Finisher
}

// looking runs f on the connection as it is held for the catalog.
func (c conn) looking(ctx context.Context, f func(q Held) error) (err error) {
	q, err := c.guard.Catalog(ctx, c.conn, c.timeout)
	if err != nil {
		return err
	}
	whole := false
	defer func() {
		if rerr := q.Release(!whole); err == nil {
			err = rerr
		}
	}()
	err = f(q)
	whole = true
	return err
}

func (c conn) Version(ctx context.Context) (version string, err error) {
	err = c.looking(ctx, func(q Held) error {
		version, err = c.engine.Version(ctx, q)
		return err
	})
	return version, err
}

func (c conn) Catalog(ctx context.Context) (*exec.Catalog, error) {
	out := &exec.Catalog{}
	err := c.looking(ctx, func(q Held) (err error) {
		if out.Version, err = c.engine.Version(ctx, q); err != nil {
			return err
		}
		if out.Schema, err = c.engine.Inspect(ctx, q); err != nil {
			return err
		}
		if w, ok := c.engine.(Warner); ok {
			if out.Warnings, err = w.Warnings(ctx, q); err != nil {
				return err
			}
		}
		out.Schema.Default, err = c.engine.DefaultSchema(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range out.Schema.Tables {
		t := &out.Schema.Tables[i]
		if err := c.relation(ctx, out, t); err != nil {
			return nil, err
		}
	}
	for _, entries := range [][]string{c.config.Policy.AllowTables, c.config.Policy.DenyTables} {
		for _, entry := range entries {
			placeholder(out, entry, "")
		}
	}
	for _, entry := range c.config.Policy.DenyColumns {
		i := strings.LastIndexByte(entry, '.')
		placeholder(out, entry[:max(i, 0)], entry[i+1:])
	}
	return out, nil
}

// placeholder is a relation that an entry of the policy may name and the schema does not have, as a view that is broken:
// the guard of the dialect has looked the entries up.
func placeholder(out *exec.Catalog, table, column string) {
	in, name := "", table
	if i := strings.LastIndexByte(table, '.'); i >= 0 {
		in, name = table[:i], table[i+1:]
	}
	unquoted := strings.NewReplacer(`"`, "")
	out.Relations = append(out.Relations, guard.NewRelation(unquoted.Replace(in), unquoted.Replace(name), []string{unquoted.Replace(column)}))
}

// relation adds a table. The guard of the dialect says what of a view and of generated columns may be read.
func (c conn) relation(ctx context.Context, out *exec.Catalog, t *schema.Table) error {
	in := out.Schema.SchemaOf(t)
	var names []string
	denied := ""
	for _, column := range t.Columns {
		names = append(names, column.Name)
		if !c.config.Policy.AllowsColumn(in, t.Name, column.Name) {
			denied = column.Name
		}
	}
	r := guard.NewRelation(in, t.Name, names)
	r.View = t.Kind == schema.View
	out.Relations = append(out.Relations, r)
	if !c.config.Policy.Restricts() || !c.config.Policy.AllowsTable(in, t.Name) {
		return nil
	}
	look := func(expression string) (refused *exec.RefusedError, err error) {
		from := schema.TableName{Schema: in, Name: t.Name}.Quoted(c.language)
		_, err = c.held.Analyze(ctx, c.language.Text.Parse("SELECT "+expression+" FROM "+from))
		if errors.As(err, &refused) || errors.As(err, new(*exec.InvalidError)) {
			return refused, nil
		}
		return nil, err
	}
	if t.Kind != schema.BaseTable {
		refused, err := look("1")
		if refused != nil {
			r.Refused = refused
		}
		return err
	}
	for _, column := range t.Columns {
		if column.Generated && denied != "" {
			refused, err := look(c.language.Quote(t.Name) + "." + c.language.Quote(column.Name))
			if err != nil {
				return err
			}
			if refused != nil {
				out.Flows = append(out.Flows, guard.Flow{From: r, Column: denied, To: r, As: column.Name})
			}
		}
	}
	return nil
}

func (conn) Read(context.Context, *exec.Statement) (*guard.Names, error) { return &guard.Names{}, nil }

func (c conn) Confirm(ctx context.Context, s *exec.Statement) (guard.Seen, error) {
	if len(s.Args) > 0 { // Run judges it
		return guard.Seen{}, nil
	}
	a, err := c.held.Analyze(ctx, s.Statement)
	if err != nil {
		return guard.Seen{}, err
	}
	seen := guard.Seen{Reads: []guard.Read{}, Functions: a.Functions, Inexact: a.Inexact}
	for _, t := range a.Tables {
		seen.Reads = append(seen.Reads, guard.Read{Relation: guard.NewRelation(t.Schema, t.Table, nil), Columns: t.Columns})
	}
	return seen, nil
}

func (c conn) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	return c.engine.Explain(ctx, c.held, s.Statement)
}

func (c conn) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	var rows *sql.Rows
	var err error
	if len(s.Args) > 0 {
		rows, err = c.held.QueryContext(ctx, s.SQL(), s.Args...)
	} else {
		rows, err = c.held.Query(ctx, s.Statement, b)
	}
	if err != nil {
		return nil, err
	}
	out := &exec.Rows{Rows: rows, Classify: c.held.Classify}
	if v, ok := c.held.(Converter); ok {
		out.Convert = v.Converter
	}
	if w, ok := c.held.(StatementWarner); ok {
		out.Warnings = w.StatementWarnings
	}
	if st, ok := c.held.(Stopper); ok {
		out.Stop = st.Stop
	}
	return out, nil
}

func (c conn) Close(drop bool) error { return c.held.Release(drop) }

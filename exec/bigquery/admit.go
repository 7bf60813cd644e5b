package bigquery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// admitted is a statement that may run.
type admitted struct {
	text  string
	when  time.Time
	named *named
	dry   *bigquery.QueryStatistics // nil: tabledata.list answers it
}

// The dry run of a statement is good for its next use by the same session, which checks, plans and runs it.
const dryRunAge = 10 * time.Second

// Query implements the held connection.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
	a, err := h.admit(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	var args any = job{timeout: h.timeout, rows: b.Rows + 1}
	if a.dry == nil {
		args = a.named.listing
	}
	return h.run(ctx, a.text, args)
}

// run runs a statement. It is prepared for a driver that panics: database/sql would lose the connection of a query.
func (h *held) run(ctx context.Context, text string, args ...any) (rows *sql.Rows, err error) {
	h.close()
	if h.statement, err = h.conn.PrepareContext(ctx, text); err == nil {
		h.rows, err = h.statement.QueryContext(ctx, args...)
	}
	return h.rows, h.Classify(err)
}

// close ends the last statement.
func (h *held) close() {
	if h.rows != nil {
		h.rows.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.rows, h.statement = nil, nil
}

// QueryContext implements the held connection.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	a, err := h.admit(ctx, h.guard.text().Parse(text), args)
	if err != nil {
		return nil, withArguments(err, args)
	}
	rows, err := h.run(ctx, a.text, append([]any{job{timeout: h.timeout, rows: 2}}, args...)...)
	return rows, withArguments(err, args)
}

func (g *guard) text() sqltext.Dialect { return Dialect{}.Text() }

// withArguments makes the error about a value that is none of a column's type one of running: the text is right.
func withArguments(err error, args []any) error {
	var invalid *exec.InvalidError
	if len(args) > 0 && errors.As(err, &invalid) && invalid.Fault == exec.FaultCompile {
		return &exec.InvalidError{Fault: exec.FaultRun, Message: invalid.Message}
	}
	return err
}

// Analyze implements the held connection.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	a, err := h.admit(ctx, s, nil)
	if err != nil {
		return exec.Analysis{}, err
	}
	return a.named.analysis(), nil
}

// admit decides on a statement. It runs nothing.
func (h *held) admit(ctx context.Context, s *sqltext.Statement, args []any) (admitted, error) {
	if h.last.text == s.SQL() && len(args) == 0 && time.Since(h.last.when) < dryRunAge {
		return h.last, nil
	}
	n, err := read(s, h.guard.added, len(args) > 0)
	if err != nil {
		return admitted{}, err
	}
	absent, err := h.guard.open(ctx, h.service, n, 0)
	if err != nil {
		return admitted{}, unblamed(err)
	}
	if err := h.guard.permit(n, absent); err != nil {
		return admitted{}, err
	}
	a := admitted{text: s.SQL(), when: time.Now(), named: n}
	if l := n.listing; l != nil && strings.HasPrefix(s.SQL(), listingMark) && len(n.tables) == 1 && n.tables[0].meta.Type == bigquery.RegularTable {
		l.table = n.tables[0].ref
		return a, nil
	}
	if a.dry, err = h.service.dryRun(ctx, a.text, args); err != nil {
		return admitted{}, h.classify(err, exec.FaultCompile)
	}
	if err := h.verify(ctx, a); err != nil {
		return admitted{}, err
	}
	if absent != "" {
		return admitted{}, noTable(absent)
	}
	if len(args) == 0 {
		h.last = a
	}
	return a, nil
}

// mostViews is how deep views may be made of views; the service allows as many.
const mostViews = 16

// open finds the tables of n, and those under its views. absent is a name that no table has.
func (g *guard) open(ctx context.Context, c *connector, n *named, depth int) (absent string, err error) {
	age := c.config.Refresh
	if len(g.config.Policy.DenyColumns) > 0 {
		age = min(age, strictAge)
	}
	var refs []ref
	var at []int // sources of refs
	for i, s := range n.sources {
		if s.names == nil {
			continue
		}
		r, ok := c.resolve(s.names)
		switch {
		case ok:
			refs, at = append(refs, r), append(at, i)
		case !s.maybe:
			absent = strings.Join(s.names, ".")
			if !g.config.Policy.Restricts() {
				return "", &exec.RefusedError{Reason: exec.ReasonTable, Detail: absent + " is in no dataset of the Config"}
			}
		}
	}
	if len(refs) > mostTables {
		return "", &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: fmt.Sprintf("it names %d tables; at most %d are allowed", len(refs), mostTables)}
	}
	found, err := g.each(ctx, c, refs, age)
	if err != nil {
		return "", err
	}
	n.tables = nil
	for k, t := range found {
		s := &n.sources[at[k]]
		switch {
		case t == nil && !s.maybe && absent == "":
			absent = strings.Join(s.names, ".")
		case t != nil:
			s.Relation = t.reads
			if !slices.Contains(n.tables, t) {
				n.tables = append(n.tables, t)
			}
		}
	}
	for i, t := range n.tables {
		if t.view == nil {
			continue
		}
		if depth == mostViews {
			return "", &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: "its views are nested too deep"}
		}
		under := &named{sources: slices.Clone(t.view.sources), mentions: t.view.mentions, natural: t.view.natural, functions: t.view.functions}
		for k, s := range under.sources {
			if len(s.names) == 2 { // in the view's project
				under.sources[k].names = append([]string{t.project}, s.names...)
			}
		}
		switch missing, err := g.open(ctx, c, under, depth+1); {
		case err != nil:
			return "", fmt.Errorf("%w, in the view %s", err, t.name)
		case missing != "":
			copied := *t
			copied.refused, n.tables[i] = noTable(t.name), &copied
		default:
			copied := *t
			copied.view, n.tables[i] = under, &copied
		}
	}
	return absent, nil
}

func noTable(name string) error {
	return &exec.RefusedError{Reason: exec.ReasonTable, Detail: name + " is no table that may be read"}
}

// permit refuses what a policy does not allow. With something hidden, an absent table has the words of a denied one.
func (g *guard) permit(n *named, absent string) error {
	if absent != "" && g.config.Policy.Restricts() {
		return noTable(absent)
	}
	for _, s := range n.sources { // by the names of the statement
		for _, t := range n.tables {
			if s.Relation == t.reads && !t.allowed {
				return noTable(strings.Join(s.names, "."))
			}
		}
	}
	for _, t := range n.tables {
		if t.refused != nil {
			return t.refused
		}
		if t.view != nil {
			if err := g.permit(t.view, ""); err != nil {
				return err
			}
		}
	}
	if denied := n.reads().Denied(); denied != nil {
		return denied
	}
	return nil
}

// reads is n for what decides on columns.
func (n *named) reads() *reads.Statement {
	s := &reads.Statement{Natural: n.natural, Call: func(string) bool { return false }}
	for _, source := range n.sources {
		s.Sources = append(s.Sources, source.Source)
	}
	for _, m := range n.mentions {
		if m.Star && len(m.Path) == 1 && n.inRecord(m.Path) { // of a record, which an alias may be called like
			s.Refs = append(s.Refs, reads.Ref{Path: m.Path})
		}
		switch {
		case len(m.except) > 0 && (len(m.Path) == 0 || n.isRow(m.Path[0])):
			s.Refs = append(s.Refs, n.without(m)...)
			continue
		case !m.Star && len(m.Path) == 1 && n.isRow(m.Path[0]):
			s.Refs = append(s.Refs, reads.Ref{Path: m.Path, Star: true}) // whatever columns the row has
		case !m.Star && len(m.Path) > 1 && n.inRecord(m.Path[:len(m.Path)-1]):
			s.Refs = append(s.Refs, reads.Ref{Path: m.Path[len(m.Path)-1:]})
		}
		s.Refs = append(s.Refs, m.Ref)
	}
	return s
}

// isRow reports whether a name alone is that of a table in a FROM, so that it means its whole row.
func (n *named) isRow(name string) bool {
	return slices.ContainsFunc(n.sources, func(s source) bool { return s.Relation != nil && schema.EqualFold(s.Alias, name) })
}

// inRecord reports whether some part of a path is a column, so that the path goes on inside of a record.
func (n *named) inRecord(path []string) bool {
	return slices.ContainsFunc(n.sources, func(s source) bool { return s.Relation != nil && slices.ContainsFunc(path, s.Relation.Has) })
}

// without are the columns of a star that leaves some out.
func (n *named) without(m mention) (out []reads.Ref) {
	for _, s := range n.sources {
		if s.Relation == nil || len(m.Path) == 0 && s.Select != m.Select || len(m.Path) > 0 && !schema.EqualFold(s.Alias, m.Path[0]) {
			continue
		}
		for _, t := range n.tables {
			if t.reads != s.Relation {
				continue
			}
			for _, c := range t.columns {
				if !slices.ContainsFunc(m.except, func(name string) bool { return schema.EqualFold(name, c.path[0]) }) {
					for _, part := range c.path {
						out = append(out, reads.Ref{Path: []string{s.Alias, part}})
					}
				}
			}
		}
	}
	return out
}

// verify looks at what the service said of a statement.
func (h *held) verify(ctx context.Context, a admitted) error {
	if a.dry.StatementType != "SELECT" {
		return &exec.RefusedError{Reason: exec.ReasonStatement, Detail: fmt.Sprintf("the service takes it for %q, and no SELECT", a.dry.StatementType), Writes: true}
	}
	if most := h.service.config.MaxBytesBilled; a.dry.TotalBytesProcessed > most {
		return tooManyBytes(most)
	}
	for _, t := range a.dry.ReferencedTables {
		if t.TableID == "" || a.named.has(ref{dataset{t.ProjectID, t.DatasetID}, t.TableID}) {
			continue
		}
		// One that the statement does not name, as the service's own choice of a materialized view is.
		r, ok := h.service.resolve([]string{t.ProjectID, t.DatasetID, t.TableID})
		if ok {
			found, err := h.guard.get(ctx, h.service, r, strictAge)
			if err != nil {
				return unblamed(err)
			}
			if found != nil && found.allowed && !found.reads.Hides() {
				continue
			}
		}
		if h.guard.config.Policy.Restricts() {
			return noTable("something that the service reads for this statement")
		}
		return noTable(t.ProjectID + "." + t.DatasetID + "." + t.TableID)
	}
	return nil
}

// has reports whether n, or a view of n, names a table.
func (n *named) has(r ref) bool {
	return slices.ContainsFunc(n.tables, func(t *table) bool { return t.ref == r || t.view != nil && t.view.has(r) })
}

// analysis is what n reads, with what lies under its views.
func (n *named) analysis() exec.Analysis {
	columns := map[ref]map[string]bool{}
	functions := map[string]bool{}
	tables := map[ref]*table{}
	var add func(n *named)
	add = func(n *named) {
		maps.Copy(functions, n.functions)
		found := n.reads().Columns()
		for _, t := range n.tables {
			if tables[t.ref] = t; columns[t.ref] == nil {
				columns[t.ref] = map[string]bool{}
			}
			for _, read := range found {
				if read.Relation != t.reads {
					continue
				}
				for _, c := range t.columns {
					if slices.ContainsFunc(c.path, func(part string) bool { return slices.Contains(read.Columns, schema.Fold(part)) }) {
						columns[t.ref][c.name] = true
					}
				}
			}
			if t.view != nil {
				add(t.view)
			}
		}
	}
	add(n)
	a := exec.Analysis{Kind: "select", Tables: []exec.TableRead{}, Functions: slices.AppendSeq([]string{}, maps.Keys(functions)), Inexact: true}
	slices.Sort(a.Functions)
	for r, t := range tables {
		a.Tables = append(a.Tables, exec.TableRead{Schema: t.schema, Table: t.name, Columns: slices.Sorted(maps.Keys(columns[r]))})
	}
	slices.SortFunc(a.Tables, func(a, b exec.TableRead) int {
		if a.Schema != b.Schema {
			return strings.Compare(a.Schema, b.Schema)
		}
		return strings.Compare(a.Table, b.Table)
	})
	return a
}

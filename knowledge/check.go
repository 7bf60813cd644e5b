package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/result"
)

// querier runs a reading statement; *exec.DB is one.
type querier interface {
	Query(ctx context.Context, sql string) (*result.Table, error)
}

// The kinds of a Fault.
const (
	faultTable        = "table"        // it cannot be read
	faultColumn       = "column"       // it is not there, or its expression does not run
	faultKey          = "key"          // rows share its values
	faultRelationship = "relationship" // the columns of To are no key, or a table or column is missing
	faultMetric       = "metric"       // it does not compile or does not run
	faultTerm         = "term"         // its expression does not compile or does not run
	faultVerified     = "verified"     // the statement does not run
)

// Fault is one claim of a model that does not hold in the database.
type Fault struct {
	Kind   string `json:"kind"`             // "table", "column", "key", "relationship", "metric", "term" or "verified"
	Name   string `json:"name"`             // the table, table.column, relationship, metric, word or query
	Detail string `json:"detail,omitempty"` // one line for a person
	// Columns has the columns of a key.
	Columns  []string `json:"columns,omitempty"`
	Rows     int64    `json:"rows,omitempty"`     // for a key or the To of a relationship: the rows with values in it
	Distinct int64    `json:"distinct,omitempty"` // the different values of these rows
}

// String returns the fault as one line.
func (f Fault) String() string { return f.Kind + " " + f.Name + ": " + f.Detail }

// Check compares the model with a database, in the SQL of the dialect (see [Model.Compile]). It reads each table and
// column, counts each key and the To of each relationship, and runs each metric, term and verified query. Later
// checks do not use claims that proved wrong. The faults come in the order of the model.
//
// It runs one or two statements for each table, key, relationship, metric, term and verified query. The error comes
// from ctx, from a database that does not respond, or from a dialect that Compile does not support. db is an
// *exec.DB, or a program's own type.
func (m Model) Check(ctx context.Context, db querier, dialect string) ([]Fault, error) {
	d, ok := dialects[dialect]
	if !ok {
		_, err := m.Compile(Request{}, dialect)
		return nil, err
	}
	if _, err := db.Query(ctx, "SELECT 1"); err != nil { // no fault of the model
		return nil, fmt.Errorf("knowledge: asking the database: %w", err)
	}
	k := &checker{ctx: ctx, db: db, dialect: dialect, m: m, c: &compiler{m: &m, g: newGraph(&m), d: d}}
	for i := range m.Tables {
		k.table(i)
	}
	for i := range m.Relationships {
		k.relationship(&m.Relationships[i])
	}
	sound := m.Without(k.faults)
	k.m, k.c = sound, &compiler{m: &sound, g: newGraph(&sound), d: d}
	for _, metric := range m.Metrics {
		if metric.Unsupported != "" {
			continue
		}
		sql, err := sound.Compile(Request{Metrics: []string{metric.Name}}, dialect)
		k.runs(faultMetric, metric.Name, sql, err)
	}
	for _, t := range m.Terms {
		if t.Expr != "" {
			sql, err := k.term(t)
			k.runs(faultTerm, strings.Join(t.Words, ", "), sql, err)
		}
	}
	for _, v := range m.VerifiedQueries {
		sql, err := sound.Statement(v, nil, dialect)
		k.runs(faultVerified, cmp.Or(v.Name, v.Question), sql, err)
	}
	return k.faults, ctx.Err()
}

type checker struct {
	ctx     context.Context
	db      querier
	dialect string
	m       Model
	c       *compiler
	faults  []Fault
}

// fault adds a fault and returns it for the caller to complete.
func (k *checker) fault(kind, name, format string, args ...any) *Fault {
	k.faults = append(k.faults, Fault{Kind: kind, Name: name, Detail: fmt.Sprintf(format, args...)})
	return &k.faults[len(k.faults)-1]
}

// runs adds a fault if a statement does not compile or does not run.
func (k *checker) runs(kind, name, sql string, err error) {
	if err == nil && k.ctx.Err() == nil {
		_, err = k.db.Query(k.ctx, sql)
	}
	if err != nil && k.ctx.Err() == nil {
		k.fault(kind, name, "%v", err)
	}
}

// read writes a statement over the rows of one table; items are written by the query's own columns.
func (k *checker) read(table int, items func(q *query) []string) (string, error) {
	q := k.c.query(table)
	return q.selected(items(q), nil)
}

// table checks a table, its columns and its keys.
func (k *checker) table(i int) {
	t := &k.m.Tables[i]
	if slices.ContainsFunc(k.m.Tables[:i], func(other Table) bool { return strings.EqualFold(other.Name, t.Name) }) {
		k.fault(faultTable, t.Name, "another table has the name")
		return
	}
	sql, err := k.read(i, func(*query) []string { return []string{"COUNT(*)"} })
	before := len(k.faults)
	if k.runs(faultTable, t.Name, sql, err); len(k.faults) > before {
		return
	}
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	if t.Time != "" {
		names = append(names, t.Time)
	}
	stored := k.stored(t)
	for _, name := range names {
		k.column(i, name, stored)
	}
	for _, key := range t.Keys {
		rows, distinct, err := k.count(i, key)
		columns := strings.Join(key, ", ")
		if err != nil {
			k.fault(faultKey, t.Name, "%s: %v", columns, err).Columns = key
		} else if rows != distinct {
			f := k.fault(faultKey, t.Name, "%s is not a key: %d rows, %d different values", columns, rows, distinct)
			f.Columns, f.Rows, f.Distinct = key, rows, distinct
		}
	}
}

// stored are the columns of a table as the database spells them; nil: it does not tell.
func (k *checker) stored(t *Table) []string {
	if t.isQuery() {
		return nil
	}
	rows, err := k.db.Query(k.ctx, "SELECT * FROM "+k.c.d.path(cmp.Or(t.Source, t.Name))+" WHERE 1 = 0")
	if err != nil {
		return nil
	}
	return rows.Columns
}

// column checks that a column can be read, and is spelled as the database spells it.
func (k *checker) column(table int, name string, stored []string) {
	t := &k.m.Tables[table]
	full := t.Name + "." + name
	if !t.isComputed(name) && len(stored) > 0 && !slices.Contains(stored, name) {
		i := slices.IndexFunc(stored, func(s string) bool { return strings.EqualFold(s, name) })
		switch {
		case i < 0:
			k.fault(faultColumn, full, "the database has no such column")
			return
		case k.dialect == "postgres":
			k.fault(faultColumn, full, "the database spells it %s", stored[i])
			return
		}
	}
	sql, err := k.read(table, func(q *query) []string { return []string{"COUNT(" + q.column(q.nodes[0], name) + ")"} })
	k.runs(faultColumn, full, sql, err)
}

// count counts the rows with values in all the columns, and their different values.
func (k *checker) count(table int, columns []string) (rows, distinct int64, err error) {
	q := k.c.query(table)
	var names, filled []string
	for _, c := range columns {
		names = append(names, q.column(q.nodes[0], c))
		filled = append(filled, names[len(names)-1]+" IS NOT NULL")
	}
	from, err := q.from()
	if err != nil {
		return 0, 0, err
	}
	from += " WHERE " + strings.Join(filled, " AND ")
	counts := [2]int64{}
	for i, sql := range []string{
		"SELECT COUNT(*) FROM " + from,
		"SELECT COUNT(*) FROM (SELECT DISTINCT " + strings.Join(names, ", ") + " FROM " + from + ") AS d",
	} {
		if counts[i], err = k.number(sql); err != nil {
			return 0, 0, err
		}
	}
	return counts[0], counts[1], nil
}

// number runs a statement of one number.
func (k *checker) number(sql string) (int64, error) {
	rows, err := k.db.Query(k.ctx, sql)
	if err != nil {
		return 0, err
	}
	n, ok := rows.Rows[0][0].(int64)
	if !ok {
		return 0, fmt.Errorf("knowledge: a count that is no whole number: %v", rows.Rows[0][0])
	}
	return n, nil
}

// relationship checks that both tables are there and that the columns of To are a key. If not, it tells how many rows
// of From have no partner, too.
func (k *checker) relationship(r *Relationship) {
	from, to := k.m.table(r.From), k.m.table(r.To)
	switch {
	case from < 0:
		k.fault(faultRelationship, r.label(), "the model has no table %s", r.From)
	case to < 0:
		k.fault(faultRelationship, r.label(), "the model has no table %s", r.To)
	case len(r.On) == 0:
		k.fault(faultRelationship, r.label(), "it compares no columns")
	default:
		rows, distinct, err := k.count(to, r.columns(1))
		if err == nil && rows == distinct {
			_, _, err = k.count(from, r.columns(0)) // its columns are there
		}
		if err != nil {
			k.fault(faultRelationship, r.label(), "%v", err)
		} else if rows != distinct {
			f := k.fault(faultRelationship, r.label(), "%s of %s is not a key: %d rows, %d different values%s",
				strings.Join(r.columns(1), ", "), r.To, rows, distinct, k.alone(from, to, r))
			f.Rows, f.Distinct = rows, distinct
		}
	}
}

// alone tells how many rows of From have no partner.
func (k *checker) alone(from, to int, r *Relationship) string {
	q, inner := k.c.query(from), k.c.query(to)
	var on []string
	for _, pair := range r.On {
		on = append(on, inner.column(inner.nodes[0], pair[1])+" = "+q.column(q.nodes[0], pair[0]))
	}
	outer, err := q.from()
	partner, err2 := inner.from()
	if err != nil || err2 != nil {
		return ""
	}
	all, err := k.number("SELECT COUNT(*) FROM " + outer)
	partner = "SELECT COUNT(*) FROM " + outer + " WHERE NOT EXISTS (SELECT 1 FROM " + partner + " WHERE " +
		strings.Join(on, " AND ") + ")"
	single, err2 := k.number(partner)
	if err != nil || err2 != nil {
		return ""
	}
	return fmt.Sprintf("; %d of %d rows of %s have no partner", single, all, r.From)
}

// term writes a statement that uses the expression of a term: as a condition, or as a column if it is one.
func (k *checker) term(t Term) (string, error) {
	c := &compiler{m: k.c.m, g: k.c.g, d: k.c.d}
	e, err := c.condition("", t.Expr)
	if err != nil {
		return "", err
	}
	targets, err := c.targets("", e)
	if err != nil {
		return "", err
	}
	if len(targets) == 0 {
		return "", invalid("", "%q names no column", t.Expr)
	}
	base, r, ways := c.g.finest(targets)
	if r != reached {
		return "", &RequestError{Reason: reasonAmbiguous, Name: c.named(targets[0]), Ways: ways}
	}
	q := c.query(base)
	if column, ok := e.alone(); ok {
		return q.selected([]string{"COUNT(" + q.column(q.node(c.g.ways(base, targets[0])[0]), column.name) + ")"}, nil)
	}
	c.conditions = []expression{e}
	return q.selected([]string{"COUNT(*)"}, nil)
}

// Without returns the model without the items in faults. It drops tables with the items that refer to them, and keys
// with the relationships that need them. It also drops columns, relationships, metrics, terms and verified queries.
// Metrics, terms and queries that need a removed item stay; [Model.Compile] refuses them.
func (m Model) Without(faults []Fault) Model {
	bad := func(kind, name string) bool {
		return slices.ContainsFunc(faults, func(f Fault) bool { return f.Kind == kind && f.Name == name })
	}
	out := m
	out.Tables = nil
	for _, t := range m.Tables {
		if bad(faultTable, t.Name) {
			continue
		}
		t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool {
			return bad(faultColumn, t.Name+"."+c.Name)
		})
		t.Keys = slices.DeleteFunc(slices.Clone(t.Keys), func(key []string) bool { return isFaulty(faults, t.Name, key) })
		if bad(faultColumn, t.Name+"."+t.Time) {
			t.Time = ""
		}
		out.Tables = append(out.Tables, t)
	}
	out.Relationships = slices.DeleteFunc(slices.Clone(m.Relationships), func(r Relationship) bool {
		return bad(faultRelationship, r.label()) || bad(faultTable, r.From) || bad(faultTable, r.To) ||
			isFaulty(faults, r.To, r.columns(1))
	})
	out.Metrics = slices.DeleteFunc(slices.Clone(m.Metrics), func(x Metric) bool { return bad(faultMetric, x.Name) })
	out.Terms = slices.DeleteFunc(slices.Clone(m.Terms), func(x Term) bool {
		return bad(faultTerm, strings.Join(x.Words, ", "))
	})
	out.VerifiedQueries = slices.DeleteFunc(slices.Clone(m.VerifiedQueries), func(v VerifiedQuery) bool {
		return bad(faultVerified, v.Name) || v.Name == "" && bad(faultVerified, v.Question)
	})
	return out
}

// isFaulty reports whether a fault names just these columns of a table as a key.
func isFaulty(faults []Fault, table string, columns []string) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		same := len(f.Columns) == len(columns) && !slices.ContainsFunc(columns, func(c string) bool {
			return !containsFold(f.Columns, c)
		})
		return f.Kind == faultKey && strings.EqualFold(f.Name, table) && same
	})
}

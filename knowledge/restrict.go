package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Restrict returns the part of the model that names only tables and columns of s, for example of the schema that a
// policy allows. It leaves out tables that s does not have, with their relationships. It also leaves out columns that
// s does not have, with everything whose expression names them. Doubtful items are left out too. Instructions stay,
// because they are prose.
func (m Model) Restrict(s *schema.Schema) Model {
	w := within{s: s, m: &Model{Instructions: m.Instructions}}
	for _, t := range m.Tables {
		if t, ok := w.table(t); ok {
			w.m.Tables = append(w.m.Tables, t)
		}
	}
	for _, r := range m.Relationships {
		if w.columns(r.From, r.columns(0)) && w.columns(r.To, r.columns(1)) {
			w.m.Relationships = append(w.m.Relationships, r)
		}
	}
	w.metrics(m.Metrics)
	for _, t := range m.Terms {
		if t.Expr == "" || w.allows(t.Expr) {
			w.m.Terms = append(w.m.Terms, t)
		}
	}
	for _, v := range m.VerifiedQueries {
		if w.verified(v) {
			w.m.VerifiedQueries = append(w.m.VerifiedQueries, v)
		}
	}
	return *w.m
}

// within is what is kept of a model.
type within struct {
	s *schema.Schema
	m *Model
}

// stored is the table of the schema that t reads; nil: there is none, or a query reads several.
func (w *within) stored(t *Table) *schema.Table {
	if t.isQuery() {
		return nil
	}
	of, name, _ := words.CutLast(cmp.Or(t.Source, t.Name), ".")
	found, _ := w.s.Lookup(of, name)
	return found
}

// table leaves out of a table what may not be read; false: all of it.
func (w *within) table(t Table) (Table, bool) {
	if t.isQuery() {
		return t, w.query(t.Source)
	}
	stored := w.stored(&t)
	if stored == nil || t.Where != "" && !w.inside(&t, t.Where) {
		return t, false
	}
	all := t
	allowed := func(name string) bool { return w.column(&all, name) }
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return !allowed(c.Name) })
	t.Keys = slices.DeleteFunc(slices.Clone(t.Keys), func(key []string) bool {
		return slices.ContainsFunc(key, func(c string) bool { return !allowed(c) })
	})
	if t.Time != "" && !allowed(t.Time) {
		t.Time = ""
	}
	return t, true
}

// column reports whether a column of a table may be read: it is stored, or made of stored ones.
func (w *within) column(t *Table, name string) bool {
	if t.isComputed(name) {
		return w.inside(t, t.column(name).Expr)
	}
	if t.isQuery() {
		return true // the query may be read
	}
	stored := w.stored(t)
	if stored == nil {
		return false
	}
	_, ok := stored.Column(name)
	return ok
}

// inside reports whether an expression names stored columns of its table only.
func (w *within) inside(t *Table, expr string) bool {
	e, err := parse(sqltext.SQLite(), expr)
	return err == nil && !slices.ContainsFunc(e, func(it item) bool {
		switch it.kind {
		case itemColumn:
			own := it.qualifier == "" || strings.EqualFold(it.qualifier, t.Name)
			plain := Table{Name: t.Name, Source: t.Source} // what it names is stored, not computed
			return !own || !w.column(&plain, it.name)
		}
		return it.kind > itemCall
	})
}

// columns reports whether a table that was kept has the columns.
func (w *within) columns(table string, names []string) bool {
	i := w.m.table(table)
	return i >= 0 && !slices.ContainsFunc(names, func(c string) bool { return !w.column(&w.m.Tables[i], c) })
}

// allows reports whether all that an expression names was kept.
func (w *within) allows(expr string) bool {
	e, err := parse(sqltext.SQLite(), expr)
	if err != nil {
		return false
	}
	g := newGraph(w.m)
	return !slices.ContainsFunc(e, func(it item) bool {
		switch it.kind {
		case itemMetric:
			_, ok := w.m.metric(it.name)
			return !ok
		case itemColumn, itemRows:
			t, ok := g.target(it.qualifier)
			return !ok || it.kind == itemColumn && !w.column(&w.m.Tables[t.table], it.name)
		}
		return false
	})
}

// metrics keeps those that name nothing else, once those that they name are kept.
func (w *within) metrics(all []Metric) {
	left := slices.Clone(all)
	for again := true; again; {
		again = false
		left = slices.DeleteFunc(left, func(x Metric) bool {
			if x.Unsupported != "" || !w.allows(x.Expr) || x.Where != "" && !w.allows(x.Where) {
				return false
			}
			w.m.Metrics = append(w.m.Metrics, x)
			again = true
			return true
		})
	}
	order := func(x Metric) int { return slices.IndexFunc(all, func(y Metric) bool { return y.Name == x.Name }) }
	slices.SortStableFunc(w.m.Metrics, func(a, b Metric) int { return order(a) - order(b) })
	for i := range w.m.Metrics {
		x := &w.m.Metrics[i]
		if x.GroupBy != nil {
			x.GroupBy = slices.DeleteFunc(slices.Clone(x.GroupBy), func(c string) bool {
				column, _, _ := strings.Cut(c, "@")
				return !w.allows(column)
			})
		}
	}
}

// query reports whether a statement names stored tables and columns only.
func (w *within) query(sql string) bool { return readable(sql, w.s.Lookup) }

// verified reports whether all that a verified query names may be read.
func (w *within) verified(v VerifiedQuery) bool {
	if !v.Logical {
		return w.query(v.SQL)
	}
	return readable(v.SQL, func(_, name string) (*schema.Table, bool) {
		i := w.m.table(name)
		if i < 0 {
			return nil, false
		}
		t := &schema.Table{Name: name}
		for _, column := range w.m.logicalColumns(i) {
			t.Columns = append(t.Columns, schema.Column{Name: column})
		}
		return t, true
	})
}

// readable reports whether a statement names only tables that find has, and columns of them. A column must be of a
// table that it may belong to, or be the name of an item, behind the items and the conditions.
func readable(sql string, find func(schema, table string) (*schema.Table, bool)) bool {
	statement := sqltext.SQLite().Parse(sql)
	absent := func(r sqlshape.TableRef) bool {
		_, ok := find(r.Schema, r.Name)
		return r.Base() && !ok
	}
	if slices.ContainsFunc(statement.Tables(), absent) {
		return false
	}
	selects := statement.Selects()
	return !slices.ContainsFunc(statement.Columns(), func(c sqlshape.ColumnRef) bool {
		has := slices.ContainsFunc(owners(statement, c), func(r sqlshape.TableRef) bool {
			t, ok := find(r.Schema, r.Name)
			if ok {
				_, ok = t.Column(c.Column)
			}
			return r.Base() && ok
		})
		return !has && (c.Qualifier != "" || !aliased(selects, c.Column))
	})
}

// owners are the tables that a column may belong to: that of its qualifier, those of the queries around it, or all
// where one of these reads another query.
func owners(s *sqltext.Statement, c sqlshape.ColumnRef) (tables []sqlshape.TableRef) {
	if c.Table != "" && c.Qualifier != "" {
		return []sqlshape.TableRef{{Schema: c.Schema, Name: c.Table}}
	}
	for _, q := range s.Selects() {
		if q.Has(c.Pos) {
			tables = append(tables, q.Tables...)
		}
	}
	if len(tables) == 0 || slices.ContainsFunc(tables, func(r sqlshape.TableRef) bool { return !r.Base() }) {
		return s.Tables()
	}
	return tables
}

// aliased reports whether an item of the outermost list has a name, which no item and no condition takes for a column.
func aliased(selects []sqlshape.Select, name string) (found bool) {
	for i, q := range selects {
		texts := []string{q.From, q.Where}
		for _, item := range q.Items {
			found = found || i == 0 && item.Alias == name
			texts = append(texts, item.Text)
		}
		for _, text := range texts {
			columns := sqltext.SQLite().Parse("SELECT 1 WHERE " + text).Columns()
			if slices.ContainsFunc(columns, func(c sqlshape.ColumnRef) bool {
				return c.Qualifier == "" && schema.EqualFold(c.Column, name)
			}) {
				return false
			}
		}
	}
	return found
}

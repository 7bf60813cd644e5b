package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Text returns the part of a prompt for SQL that shows the model. It has the instructions, and the terms, metrics and
// columns whose name or synonym the question contains with all its words. Tables and columns are spelled as in s and
// quoted by q; a nil q leaves them as in the model. The text has at most tokens tokens; left names the items that did
// not fit. All of the model's texts become comments of one line. Text returns "" if it has nothing to show.
func (m Model) Text(s *schema.Schema, q schema.Quoter, question string, tokens int) (text string, left []string) {
	asked := stems(question)
	w, sp := writer{room: tokens}, speller{model: &m, schema: s, quoter: q}
	for _, line := range m.Instructions {
		w.line("an instruction", prompttext.Comment(line))
	}
	for _, t := range m.Terms {
		if touches(asked, t.Words) {
			t.Expr = sp.expression(t.Expr)
			w.line("term "+t.Words[0], m.termLine(t))
		}
	}
	for _, x := range m.Metrics {
		if x.Unsupported == "" && touches(asked, x.called()) {
			x.Expr, x.Where = sp.expression(x.Expr), sp.expression(x.Where)
			w.line("metric "+x.Name, "metric "+m.metricLine(x))
		}
	}
	for _, t := range m.Tables {
		for _, c := range t.Columns {
			says := c.Description != "" || c.Expr != ""
			if says && touches(asked, append([]string{spaced(c.Name)}, c.Synonyms...)) {
				w.line("column "+t.Name+"."+c.Name, sp.columnLine(t, c))
			}
		}
	}
	return w.b.String(), w.left
}

// Menu returns the part of a prompt for a [Request] that shows the choices. It has the metrics, the tables that may
// group each metric, and the columns of these tables, from s and from the model. It also has the terms that the
// question touches, and the instructions. Metrics that the question touches come first. The text has at most tokens
// tokens; left names the items that did not fit. Menu returns "" if the model has no metric that can be compiled.
func (m Model) Menu(s *schema.Schema, question string, tokens int) (text string, left []string) {
	asked, g := stems(question), newGraph(&m)
	w := writer{room: tokens}
	for _, line := range m.Instructions {
		w.line("an instruction", "note: "+prompttext.Comment(line))
	}
	metrics := slices.DeleteFunc(slices.Clone(m.Metrics), func(x Metric) bool { return x.Unsupported != "" })
	slices.SortStableFunc(metrics, func(a, b Metric) int {
		return overlap(asked, b.called()) - overlap(asked, a.called())
	})
	var tables []int
	shown := 0
	for _, x := range metrics {
		reached := m.reachedBy(g, x)
		var names []string
		for _, t := range reached {
			names = append(names, m.qualifiers(g, t, reached)...)
		}
		by := "by columns of " + strings.Join(names, ", ")
		if x.GroupBy != nil {
			by = "by " + strings.Join(x.GroupBy, ", ")
		}
		if !w.line("metric "+x.Name, "metric "+m.metricLine(x)+" ("+by+")") {
			continue
		}
		shown++
		for _, t := range reached {
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	if shown == 0 {
		return "", w.left
	}
	for _, t := range m.Terms {
		if touches(asked, t.Words) {
			w.line("term "+t.Words[0], m.termLine(t))
		}
	}
	for _, t := range tables {
		w.line("table "+m.Tables[t].Name, "columns of "+strings.Join(m.qualifiers(g, t, tables), ", ")+": "+
			strings.Join(m.allColumns(s, t), ", "))
	}
	return w.b.String(), w.left
}

// writer writes lines within a number of tokens.
type writer struct {
	b    strings.Builder
	room int
	left []string
}

func (w *writer) line(name, text string) bool {
	n := prompttext.EstimateTokens(text) + 1
	if n > w.room {
		w.left = append(w.left, name)
		return false
	}
	w.room -= n
	w.b.WriteString("- " + text + "\n")
	return true
}

// called are the names of a metric, as people say them.
func (x *Metric) called() []string { return append([]string{spaced(x.Name)}, x.Synonyms...) }

func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

func (m *Model) metricLine(x Metric) string {
	line := prompttext.Comment(x.Name) + " = " + prompttext.Comment(x.Expr)
	if x.Where != "" {
		line += " where " + prompttext.Comment(x.Where)
	}
	return line + about(x.Subject)
}

func (m *Model) termLine(t Term) string {
	line := fmt.Sprintf("%q means ", prompttext.Comment(strings.Join(t.Words, ", ")))
	return line + prompttext.Comment(strings.Trim(t.Expr+": "+t.Description, ": "))
}

// speller writes names of the model in the form that a prompt uses for the database's names.
type speller struct {
	model  *Model
	schema *schema.Schema
	quoter schema.Quoter // nil: as the model has them
	own    string        // the table of columns without a qualifier; "": unknown
}

// expression spells the columns of an expression. One that cannot be read stays as it is.
func (sp speller) expression(expr string) string {
	if sp.quoter == nil {
		return expr
	}
	out, err := Rename(expr, sp.column)
	if err != nil {
		return expr
	}
	return out
}

// column spells one column; table is "" if it has no qualifier.
func (sp speller) column(table, name string) string {
	stored, _ := sp.model.Stored(sp.schema, Table{Name: cmp.Or(table, sp.own)}.ColumnName(name))
	if name != "*" {
		name = sp.name(name, stored.Column)
	}
	if table == "" {
		return name
	}
	return sp.name(table, stored.Table.Name) + "." + name
}

// name spells a name, which the database may have in another case.
func (sp speller) name(name, stored string) string {
	switch {
	case sp.quoter == nil:
		return name
	case !strings.EqualFold(name, stored):
		return sp.quoter.Quote(name)
	case sp.quoter.Quote(name) == name && sp.quoter.Quote(stored) == stored:
		return name
	}
	return sp.quoter.Quote(stored)
}

func (sp speller) columnLine(t Table, c Column) string {
	line := prompttext.Comment(sp.column(t.Name, c.Name))
	if sp.own = t.Name; t.isComputed(c.Name) {
		line += " = " + prompttext.Comment(sp.expression(c.Expr))
	}
	return line + about(c.Subject)
}

func about(a Subject) string {
	line := ""
	if a.Description != "" {
		line = ": " + prompttext.Comment(a.Description)
	}
	if len(a.Synonyms) > 0 {
		line += "; also called " + prompttext.Comment(strings.Join(a.Synonyms, ", "))
	}
	return line
}

// reachedBy returns the tables whose columns may group a metric: the tables that all its aggregates reach.
func (m *Model) reachedBy(g *graph, x Metric) []int {
	c := &compiler{m: m, g: g, d: dialects["sqlite"]}
	if c.metric(x.Name, nil) != nil || c.bases() != nil {
		return nil
	}
	var reachable []int
	for t := range m.Tables {
		if !slices.ContainsFunc(c.aggregates, func(a *aggregate) bool { return len(g.shortest(a.base, t)) == 0 }) {
			reachable = append(reachable, t)
		}
	}
	return reachable
}

// qualifiers returns the names that a request may use for a table: its own name if only one way leads there,
// otherwise the relationships.
func (m *Model) qualifiers(g *graph, table int, from []int) []string {
	ways := 1
	for _, t := range from {
		ways = max(ways, len(g.shortest(t, table)))
	}
	names := []string{prompttext.Comment(m.Tables[table].Name)}
	if ways > 1 {
		names = nil
	}
	for _, r := range m.Relationships {
		if r.Name != "" && m.table(r.To) == table && slices.Contains(from, m.table(r.From)) {
			names = append(names, prompttext.Comment(r.Name))
		}
	}
	return names
}

// allColumns returns the model's columns of a table, then its other stored columns.
func (m *Model) allColumns(s *schema.Schema, table int) []string {
	t := &m.Tables[table]
	var names []string
	for _, c := range t.Columns {
		names = append(names, prompttext.Comment(c.Name))
	}
	if stored := (&within{s: s, m: m}).stored(t); stored != nil {
		for _, c := range stored.Columns {
			if !containsFold(names, c.Name) && prompttext.NameFault(c.Name) == "" {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// Words returns the words that people use for each table of s, by the table's index. These are the names and synonyms
// of the model's tables and columns, and of the terms and metrics whose expressions read them.
func (m Model) Words(s *schema.Schema) map[int]string {
	w, g := within{s: s, m: &m}, newGraph(&m)
	texts := map[int]string{}
	say := func(table int, said ...string) {
		if t := w.stored(&m.Tables[table]); t != nil {
			i := slices.IndexFunc(s.Tables, func(x schema.Table) bool { return x.Schema == t.Schema && x.Name == t.Name })
			texts[i] += spaced(strings.Join(said, " ")) + " "
		}
	}
	for i, t := range m.Tables {
		say(i, append([]string{t.Name, t.Description}, t.Synonyms...)...)
		for _, c := range t.Columns {
			say(i, append([]string{c.Name}, c.Synonyms...)...)
		}
	}
	for _, x := range m.Metrics {
		for _, t := range m.tablesOf(g, x.Expr+" "+x.Where, 0) {
			say(t, x.called()...)
		}
	}
	for _, t := range m.Terms {
		for _, at := range m.tablesOf(g, t.Expr, 0) {
			say(at, t.Words...)
		}
	}
	return texts
}

// tablesOf returns the tables that an expression names, including the tables of its metrics.
func (m *Model) tablesOf(g *graph, expr string, depth int) (tables []int) {
	e, _ := parse(dialects["sqlite"].text, expr)
	for _, it := range e {
		x, ok := m.metric(it.name)
		switch t, found := g.target(it.qualifier); {
		case it.kind == itemMetric && ok && depth < maxDepth:
			tables = append(tables, m.tablesOf(g, x.Expr, depth+1)...)
		case (it.kind == itemColumn || it.kind == itemRows) && found:
			tables = append(tables, t.table)
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

// stems are the words of a text in their basic form.
func stems(text string) map[string]bool {
	found := map[string]bool{}
	for _, w := range words.Of(text) {
		found[words.Stem(w)] = true
	}
	return found
}

// touches reports whether all words of one of the phrases were asked.
func touches(asked map[string]bool, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		all := stems(p)
		for w := range all {
			if !asked[w] {
				return false
			}
		}
		return len(all) > 0
	})
}

// overlap counts the words of the best of the phrases that were asked.
func overlap(asked map[string]bool, phrases []string) (most int) {
	for _, p := range phrases {
		n := 0
		for w := range stems(p) {
			if asked[w] && !words.IsPlain(w) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

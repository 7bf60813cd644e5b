package knowledge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Text is what a prompt for SQL shows of the model: the instructions, and the terms, metrics and columns whose name or
// synonym stands in the question with all its words. It takes at most so many tokens; left names what did not fit. Every
// text of the model passes schema.Comment. "" if nothing is to be shown.
func (m Model) Text(question string, tokens int) (text string, left []string) {
	asked := stems(question)
	w := writer{room: tokens}
	for _, line := range m.Instructions {
		w.line("an instruction", schema.Comment(line))
	}
	for _, t := range m.Terms {
		if touches(asked, t.Words) {
			w.line("term "+t.Words[0], m.termLine(t))
		}
	}
	for _, x := range m.Metrics {
		if x.Unsupported == "" && touches(asked, x.called()) {
			w.line("metric "+x.Name, "metric "+m.metricLine(x))
		}
	}
	for _, t := range m.Tables {
		for _, c := range t.Columns {
			says := c.Description != "" || c.Expr != ""
			if says && touches(asked, append([]string{spaced(c.Name)}, c.Synonyms...)) {
				w.line("column "+t.Name+"."+c.Name, m.columnLine(t, c))
			}
		}
	}
	return w.b.String(), w.left
}

// Menu is what a prompt for a [Request] shows: the metrics, the tables that each may be grouped by, the columns of these
// tables (those that s has, and those of the model), the terms that the question touches, and the instructions. Metrics
// that the question touches come first. It takes at most so many tokens; left names what did not fit. "" if the model has no
// metric that can be compiled.
func (m Model) Menu(s *schema.Schema, question string, tokens int) (text string, left []string) {
	asked, g := stems(question), newGraph(&m)
	w := writer{room: tokens}
	for _, line := range m.Instructions {
		w.line("an instruction", "note: "+schema.Comment(line))
	}
	metrics := slices.DeleteFunc(slices.Clone(m.Metrics), func(x Metric) bool { return x.Unsupported != "" })
	slices.SortStableFunc(metrics, func(a, b Metric) int { return overlap(asked, b.called()) - overlap(asked, a.called()) })
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
		w.line("table "+m.Tables[t].Name, "columns of "+strings.Join(m.qualifiers(g, t, tables), ", ")+": "+strings.Join(m.allColumns(s, t), ", "))
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
	n := schema.EstimateTokens(text) + 1
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
	line := schema.Comment(x.Name) + " = " + schema.Comment(x.Expr)
	if x.Where != "" {
		line += " where " + schema.Comment(x.Where)
	}
	return line + about(x.About)
}

func (m *Model) termLine(t Term) string {
	line := fmt.Sprintf("%q means ", schema.Comment(strings.Join(t.Words, ", ")))
	return line + schema.Comment(strings.Trim(t.Expr+": "+t.Description, ": "))
}

func (m *Model) columnLine(t Table, c Column) string {
	line := schema.Comment(t.Name) + "." + schema.Comment(c.Name)
	if t.isComputed(c.Name) {
		line += " = " + schema.Comment(c.Expr)
	}
	return line + about(c.About)
}

func about(a About) string {
	line := ""
	if a.Description != "" {
		line = ": " + schema.Comment(a.Description)
	}
	if len(a.Synonyms) > 0 {
		line += "; also called " + schema.Comment(strings.Join(a.Synonyms, ", "))
	}
	return line
}

// reachedBy are the tables by whose columns a metric may be grouped: those that all its aggregates reach.
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

// qualifiers are the names by which a request reads a table: its own where one way leads there, else the relationships.
func (m *Model) qualifiers(g *graph, table int, from []int) []string {
	ways := 1
	for _, t := range from {
		ways = max(ways, len(g.shortest(t, table)))
	}
	names := []string{schema.Comment(m.Tables[table].Name)}
	if ways > 1 {
		names = nil
	}
	for _, r := range m.Relationships {
		if r.Name != "" && m.table(r.To) == table && slices.Contains(from, m.table(r.From)) {
			names = append(names, schema.Comment(r.Name))
		}
	}
	return names
}

// allColumns are those of the model, then the other stored ones.
func (m *Model) allColumns(s *schema.Schema, table int) []string {
	t := &m.Tables[table]
	var names []string
	for _, c := range t.Columns {
		names = append(names, schema.Comment(c.Name))
	}
	if stored := (&within{s: s, m: m}).stored(t); stored != nil {
		for _, c := range stored.Columns {
			if !containsFold(names, c.Name) && schema.NameFault(c.Name) == "" {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// Words returns, for each table of s by its place, the words by which people speak of it: the names and synonyms of the
// model's tables and columns, and those of the terms and metrics whose expressions read them.
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

// tablesOf are the tables that an expression names, those of its metrics included.
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

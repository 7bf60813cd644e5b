package testsuite

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/sqltext"
)

// witness is what a row of the joined tables of a gold must hold to be in its
// result, as far as comparisons of columns with literals tell.
type witness struct {
	tables     []int // of the database; those that lead to others first
	conditions []condition
	havings    []having
}

// condition is a comparison of a column with literals.
type condition struct {
	table, column int
	op            string
	literals      []any
}

// witnesses reads the comparisons of golds, those of aggregates included. Golds
// without any are left out, and so are equal ones.
func witnesses(d *database, golds []Gold) []witness {
	text := sqltext.SQLite()
	var list []witness
	seen := map[string]bool{}
	for _, g := range golds {
		if key := text.Normalize(g.SQL); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		w := witness{}
		for _, ref := range text.Tables(g.SQL) {
			if i := d.number(ref); i >= 0 && !slices.Contains(w.tables, i) {
				w.tables = append(w.tables, i)
			}
		}
		for _, c := range text.Comparisons(g.SQL) {
			if cond, ok := d.condition(c); ok {
				w.conditions = append(w.conditions, cond)
			}
		}
		w.havings = d.havings(g.SQL)
		if len(w.conditions)+len(w.havings) == 0 {
			continue
		}
		slices.SortStableFunc(w.tables, func(a, b int) int { return d.reach(b, w.tables) - d.reach(a, w.tables) })
		list = append(list, w)
	}
	return list
}

func (d *database) number(ref sqltext.TableRef) int {
	if !ref.Base() {
		return -1
	}
	return slices.IndexFunc(d.tables, func(t *table) bool { return strings.EqualFold(t.def.Name, ref.Name) })
}

// reach counts the tables of a list to which references lead from table i.
func (d *database) reach(i int, list []int) int {
	seen := map[*table]bool{d.tables[i]: true}
	queue := []*table{d.tables[i]}
	n := 0
	for len(queue) > 0 {
		for _, ref := range queue[0].refs {
			if to := ref.to; !seen[to] {
				seen[to] = true
				queue = append(queue, to)
				if slices.Contains(list, slices.Index(d.tables, to)) {
					n++
				}
			}
		}
		queue = queue[1:]
	}
	return n
}

// condition finds the column of a comparison.
func (d *database) condition(c sqltext.Comparison) (condition, bool) {
	table, col := d.find(c.ColumnRef)
	if table < 0 {
		return condition{}, false
	}
	cond := condition{table: table, column: col, op: c.Op}
	column := &d.tables[table].columns[col]
	for _, lit := range c.Literals {
		if lit.Kind == sqltext.QuotedName && d.hasColumn(lit.Value, c.Scope) {
			return condition{}, false // SQLite takes "x" for a column where there is one
		}
		if v := column.stored(lit); v != nil {
			cond.literals = append(cond.literals, v)
		}
	}
	return cond, len(cond.literals) > 0
}

func (d *database) hasColumn(name string, scope []sqltext.TableRef) bool {
	return slices.ContainsFunc(scope, func(ref sqltext.TableRef) bool {
		i := d.number(ref)
		return i >= 0 && d.tables[i].index(name) >= 0
	})
}

// stored returns a literal as the column would hold it, nil for what it cannot.
func (c *column) stored(lit sqltext.Literal) any {
	if lit.Kind == sqltext.Blob {
		return nil
	}
	n, isNumber := parseNumber(lit.Value)
	switch {
	case c.kind == fixed && isNumber && lit.Kind == sqltext.Number: // a key, to find rows by
		return n
	case c.kind == fixed, c.text:
		return lit.Value
	case !isNumber:
		return nil
	}
	return c.fitting(n)
}

// fitting returns a number as the column would hold it: among whole ones it is
// rounded; nil where it does not fit.
func (c *column) fitting(n any) any {
	f, ok := n.(float64)
	switch {
	case !ok || c.decimal:
		return n
	case math.Abs(f) >= 1<<62:
		return nil
	}
	return int64(math.Round(f))
}

func parseNumber(text string) (any, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f, true
	}
	return nil, false
}

// plant puts rows into the replica that golds and their neighbours look for.
//
// For half of the golds, in random order, it follows references from a random
// row through the tables of the gold and writes the literals into the row of
// each, so that all of its comparisons hold at once. A second joined row gets
// one value beside its border: the literal itself, one unit more or less, text
// in another case or with a blank behind it. Where HAVING compares an aggregate
// of a column, groups get its literal and the next value.
func (v *variation) plant(list []witness, r random) {
	p := planter{variation: v, changed: map[[2]int]int{}, deleted: map[int]int{}, looked: map[*reference]map[string][]any{}}
	for _, i := range r.order(len(list)) {
		w := &list[i]
		if !r.happens(.5) {
			continue
		}
		p.write(w, p.joined(w, r), -1, r)
		if r.happens(.5) {
			p.write(w, p.joined(w, r), -1, r)
		}
		if len(w.conditions) > 0 {
			p.write(w, p.joined(w, r), r.below(len(w.conditions)), r)
		}
		for _, h := range w.havings {
			for _, by := range []int{0, 1} { // both sides of the border
				rows := p.joined(w, r)
				p.write(w, rows, -1, r)
				p.gather(w, h, rows, by, r)
			}
		}
	}
	for ti, t := range v.tables {
		v.done(Operation{Operator: "delete", Table: t.def.Name, Detail: "for a count of the golds", Changed: p.deleted[ti]})
		for ci := range t.columns {
			v.done(Operation{
				Operator: "witness", Table: t.def.Name, Columns: []string{t.columns[ci].Name}, Changed: p.changed[[2]int{ti, ci}],
			})
		}
	}
}

type planter struct {
	*variation
	changed map[[2]int]int // cells by table and column
	deleted map[int]int    // rows by table
	looked  map[*reference]map[string][]any
}

// joined returns a row for each table of w: one joined row where references
// connect them. Rows are nil for empty tables.
func (p *planter) joined(w *witness, r random) map[int][]any {
	rows := make(map[int][]any, len(w.tables))
	for len(rows) < len(w.tables) {
		next, row := -1, []any(nil)
		for _, i := range w.tables {
			if _, ok := rows[i]; ok {
				continue
			}
			if found, ok := p.linked(w, i, rows, r); ok {
				next, row = i, found
				break
			}
		}
		if next < 0 { // the first, or one that nothing connects
			next = w.tables[slices.IndexFunc(w.tables, func(i int) bool { _, ok := rows[i]; return !ok })]
			if candidates := p.candidates(w, next); len(candidates) > 0 {
				row = pick(r, candidates)
			}
		}
		rows[next] = row
	}
	return rows
}

// linked returns the row of table i that belongs to rows found before.
func (p *planter) linked(w *witness, i int, rows map[int][]any, r random) ([]any, bool) {
	t := p.tables[i]
	for j, known := range p.tables {
		row := rows[j]
		if row == nil {
			continue
		}
		for _, ref := range known.refs {
			if ref.to != t {
				continue
			}
			if key, ok := keyOf(row, ref.cols); ok {
				if target := p.targets(ref)[key]; target != nil {
					return target, true
				}
			}
		}
		for _, ref := range t.refs {
			if ref.to != known {
				continue
			}
			key, ok := keyOf(row, ref.refCols)
			if !ok {
				continue
			}
			var children [][]any
			for _, child := range p.candidates(w, i) {
				if k, ok := keyOf(child, ref.cols); ok && k == key {
					children = append(children, child)
				}
			}
			if len(children) > 0 {
				return pick(r, children), true
			}
			if len(t.rows) > 0 && !ref.isKey() && !t.frozen {
				child := pick(r, t.rows)
				ref.set(child, row)
				p.changed[[2]int{i, ref.cols[0]}]++
				return child, true
			}
		}
	}
	return nil, false
}

// targets returns the rows that a reference may point at, by key. Keys do not
// change any more when rows are planted.
func (p *planter) targets(ref *reference) map[string][]any {
	if p.looked[ref] == nil {
		p.looked[ref] = make(map[string][]any, len(ref.to.rows))
		for _, row := range ref.to.rows {
			if key, ok := keyOf(row, ref.refCols); ok {
				p.looked[ref][key] = row
			}
		}
	}
	return p.looked[ref]
}

// candidates returns the rows of table i in which the conditions hold that
// cannot be made to hold, because they are about a key; all rows if there are
// none.
func (p *planter) candidates(w *witness, i int) [][]any {
	t := p.tables[i]
	rows := t.rows
	for _, c := range w.conditions {
		if c.table != i || c.op != "=" && c.op != "IN" {
			continue
		}
		if col := &t.columns[c.column]; !col.isKey() && !col.foreign {
			continue
		}
		var holding [][]any
		for _, row := range rows {
			if slices.ContainsFunc(c.literals, func(lit any) bool { return sameValue(row[c.column], lit) }) {
				holding = append(holding, row)
			}
		}
		if len(holding) > 0 {
			rows = holding
		}
	}
	return rows
}

func sameValue(a, b any) bool {
	ka, _ := keyOf([]any{a}, []int{0})
	kb, _ := keyOf([]any{b}, []int{0})
	return ka == kb
}

// write makes the conditions of w hold in rows, but for the one numbered beside,
// which gets a neighbour.
func (p *planter) write(w *witness, rows map[int][]any, beside int, r random) {
	for n, c := range w.conditions {
		row := rows[c.table]
		if row == nil {
			continue
		}
		t := p.tables[c.table]
		col := &t.columns[c.column]
		value := c.satisfying(col, r)
		if n == beside {
			value = c.neighbour(col, r)
		}
		switch {
		case value == nil, t.frozen, col.isKey(), col.Generated, col.kind == fixed && !col.foreign:
		case col.foreign:
			p.point(c, row, value)
		case !sameValue(row[c.column], value):
			row[c.column] = value
			p.changed[[2]int{c.table, c.column}]++
		}
	}
}

// point lets a reference of one column point at the row with that key, if there
// is one.
func (p *planter) point(c condition, row []any, value any) {
	for _, ref := range p.tables[c.table].refs {
		if len(ref.cols) != 1 || ref.cols[0] != c.column || ref.isKey() {
			continue
		}
		key, _ := keyOf([]any{value}, []int{0})
		if target := p.targets(ref)[key]; target != nil && !sameValue(row[c.column], value) {
			ref.set(row, target)
			p.changed[[2]int{c.table, c.column}]++
		}
	}
}

// satisfying returns a value with which the condition holds, nil for no opinion.
func (c condition) satisfying(col *column, r random) any {
	lit := pick(r, c.literals)
	switch c.op {
	case "=", "IN", "IS", "<=", ">=", "BETWEEN", "<=>":
		return lit
	case ">":
		return col.moved(lit, +1, r)
	case "<":
		return col.moved(lit, -1, r)
	case "LIKE", "ILIKE", "GLOB":
		return matching(lit, c.op)
	}
	return nil
}

// neighbour returns a value at or beside a literal.
func (c condition) neighbour(col *column, r random) any {
	lit := pick(r, c.literals)
	text, isText := lit.(string)
	if isText && col.kind != date {
		if c.op == "LIKE" || c.op == "ILIKE" || c.op == "GLOB" || strings.HasPrefix(c.op, "NOT ") {
			text, _ = matching(text, c.op).(string)
		}
		return pick(r, []any{strings.ToUpper(text), strings.ToLower(text), text + " ", text + "s", "x" + text, text})
	}
	return pick(r, []any{lit, col.moved(lit, +1, r), col.moved(lit, -1, r)})
}

// moved returns the value one unit above (+1) or below (-1): a day, one, or one
// in the last decimal. nil for text that is no date.
func (c *column) moved(value any, by int, r random) any {
	switch v := value.(type) {
	case int64:
		if c.decimal && c.scale > 0 && r.happens(.5) {
			return c.rounded(float64(v) + float64(by)*math.Pow10(-c.scale))
		}
		if v == math.MaxInt64 || v == math.MinInt64 {
			return value
		}
		return v + int64(by)
	case float64:
		if c.decimal && r.happens(.5) {
			return c.rounded(v + float64(by)*math.Pow10(-c.scale))
		}
		return v + float64(by)
	case string:
		for _, layout := range dateLayouts {
			if _, err := time.Parse(layout, v); err == nil {
				return shifted(v, layout, by)
			}
		}
	}
	return nil
}

// matching returns the shortest text that a pattern matches.
func matching(pattern any, op string) any {
	text, ok := pattern.(string)
	if !ok {
		return nil
	}
	if strings.HasSuffix(op, "GLOB") {
		return strings.NewReplacer("*", "", "?", "a").Replace(text)
	}
	return strings.NewReplacer("%", "", "_", "a").Replace(text)
}

package testsuite

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

// witness is the conditions that a row of the joined tables of a gold must meet to be in its result, as far as
// comparisons of columns with literals tell.
type witness struct {
	tables     []int // numbers of tables; a table whose references lead to others stands before them
	conditions []condition
}

// condition is a comparison of a column with literals.
type condition struct {
	table, column int
	op            string
	literals      []any
}

// witnesses reads the comparisons of golds. Golds without any are left out, and so are repeated golds.
func witnesses(d *database, golds []Gold) []witness {
	text := sqltext.SQLite()
	var list []witness
	seen := map[string]bool{}
	for _, g := range golds {
		if key := text.Parse(g.SQL).Normalize(); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		w := witness{}
		for _, ref := range text.Parse(g.SQL).Tables() {
			if i := d.number(ref); i >= 0 && !slices.Contains(w.tables, i) {
				w.tables = append(w.tables, i)
			}
		}
		for _, c := range text.Parse(g.SQL).Comparisons() {
			if cond, ok := d.condition(c); ok {
				w.conditions = append(w.conditions, cond)
			}
		}
		if len(w.conditions) == 0 {
			continue
		}
		slices.SortStableFunc(w.tables, func(a, b int) int { return d.reach(b, w.tables) - d.reach(a, w.tables) })
		list = append(list, w)
	}
	return list
}

func (d *database) number(ref sqlshape.TableRef) int {
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
func (d *database) condition(c sqlshape.Comparison) (condition, bool) {
	table, col := d.find(c.ColumnRef)
	if table < 0 {
		return condition{}, false
	}
	cond := condition{table: table, column: col, op: c.Op}
	column := &d.tables[table].columns[col]
	for _, lit := range c.Literals {
		if lit.Kind == sqlshape.QuotedName && d.hasColumn(lit.Value, c.Scope) {
			return condition{}, false // SQLite takes "x" for a column where there is one
		}
		if v := column.stored(lit); v != nil {
			cond.literals = append(cond.literals, v)
		}
	}
	return cond, len(cond.literals) > 0
}

// find returns the table and column that a reference names, or -1.
func (d *database) find(c sqlshape.ColumnRef) (table, column int) {
	for _, ref := range c.Scope {
		if c.Table != "" && !strings.EqualFold(ref.Name, c.Table) {
			continue
		}
		if i := d.number(ref); i >= 0 {
			if j := d.tables[i].index(c.Column); j >= 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

func (d *database) hasColumn(name string, scope []sqlshape.TableRef) bool {
	return slices.ContainsFunc(scope, func(ref sqlshape.TableRef) bool {
		i := d.number(ref)
		return i >= 0 && d.tables[i].index(name) >= 0
	})
}

// stored returns a literal as the column would hold it, nil if the column cannot hold it.
func (c *column) stored(lit sqlshape.Literal) any {
	if lit.Kind == sqlshape.Blob {
		return nil
	}
	n, isNumber := parseNumber(lit.Value)
	switch {
	case c.kind == fixed && isNumber && lit.Kind == sqlshape.Number: // a key finds rows
		return n
	case c.kind == fixed, c.text:
		return lit.Value
	case !isNumber:
		return nil
	}
	return c.fitting(n)
}

// fitting returns a number as the column would hold it: rounded in a column of whole numbers, nil if it does not fit.
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

// satisfying returns a value with which the condition holds, nil if it knows none.
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

// moved returns the value one unit above (+1) or below (-1): a day, one, or one in the last decimal. nil for text that
// is no date.
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

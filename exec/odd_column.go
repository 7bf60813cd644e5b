package exec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

// counting are functions whose value depends on the rows alone.
var counting = []string{"COUNT", "SUM", "TOTAL", "ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE"}

// bare looks for a column beside an aggregate that is neither grouped nor aggregated and is not the same in all rows of
// a group. Beside one MIN or MAX SQLite defines it; other engines refuse it.
func (o *suspicion) bare() (string, bool) {
	if !o.run.db.language.Backticks {
		return "", false
	}
	for _, s := range o.selects {
		var aggregates, plain []string
		for _, item := range s.Items {
			aggregates = append(aggregates, item.Aggregates...)
			if item.Column != "" && !groupedBy(s, item) {
				plain = append(plain, item.Text)
			}
		}
		extreme := len(aggregates) == 1 && (aggregates[0] == "MIN" || aggregates[0] == "MAX")
		if len(s.GroupBy) == 0 && len(aggregates) == 0 || extreme || len(s.Tables) == 0 {
			continue
		}
		group := ""
		if len(s.GroupBy) > 0 {
			group = " GROUP BY " + strings.Join(s.GroupBy, ", ")
			if slices.ContainsFunc(s.GroupBy, func(g string) bool { return strings.Trim(g, "0123456789") == "" }) {
				continue // by the place of an item
			}
		}
		for _, column := range plain {
			groups := "SELECT min(" + column + ") AS least, max(" + column + ") AS most FROM " + s.From + where(s.Where) + group
			if o.some("SELECT 1 FROM (" + groups + ") AS odd_groups WHERE least <> most") {
				return "", true
			}
		}
	}
	return "", false
}

// where is a clause, "" for none.
func where(conditions string) string {
	if conditions == "" {
		return ""
	}
	return " WHERE " + conditions
}

// groupedBy reports whether a SELECT groups by the item.
func groupedBy(s sqlshape.Select, item sqlshape.SelectItem) bool {
	return slices.ContainsFunc(s.GroupBy, func(g string) bool {
		_, name, qualified := strings.Cut(g, ".")
		return strings.EqualFold(g, item.Text) || strings.EqualFold(g, item.Alias) || strings.EqualFold(g, item.Column) ||
			qualified && strings.EqualFold(strings.Trim(name, "\"`[]"), item.Column)
	})
}

// nullInList looks for NOT IN and <> ALL over a query that gives a NULL, and over a list with one.
func (o *suspicion) nullInList() (string, bool) {
	tokens := slices.Collect(o.Statement.Tokens())
	word := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return strings.ToUpper(tokens[i].Text)
	}
	for i := range tokens {
		isIn := word(i) == "IN" && (word(i-1) == "NOT" || o.negated(tokens, i)) || word(i) == "ALL" &&
			(word(i-1) == "<>" || word(i-1) == "!=")
		if !isIn || word(i+1) != "(" {
			continue
		}
		at := slices.IndexFunc(o.selects, func(s sqlshape.Select) bool {
			return i+2 < len(tokens) && s.Pos == tokens[i+2].Pos
		})
		if at < 0 && listsNull(tokens[i+2:]) || at >= 0 && !o.selects[at].Compound && o.givesNull(o.selects[at]) {
			return "", true
		}
	}
	return "", false
}

// listsNull reports whether NULL stands in the list that begins with tokens.
func listsNull(tokens []sqltext.Token) bool {
	for _, t := range tokens {
		if t.Text == ")" {
			break
		}
		if strings.EqualFold(t.Text, "NULL") {
			return true
		}
	}
	return false
}

// negated reports whether a NOT stands in front of the operand of the IN at token i: NOT x IN (…), NOT (x IN (…)).
func (o *suspicion) negated(tokens []sqltext.Token, i int) bool {
	for i--; i >= 0 && (tokens[i].Kind != sqltext.Word || i > 0 && tokens[i-1].Text == "." || i+1 < len(tokens) &&
		tokens[i+1].Text == "."); i-- {
	}
	if i >= 0 && !strings.EqualFold(tokens[i].Text, "NOT") {
		for i--; i >= 0 && tokens[i].Text == "("; i-- {
		}
	}
	return i >= 0 && strings.EqualFold(tokens[i].Text, "NOT")
}

// givesNull reports whether a query has a row with a NULL. Its columns get names of ours.
func (o *suspicion) givesNull(s sqlshape.Select) bool {
	var names, isNull []string
	for i := range s.Items {
		name := "odd_" + string(rune('a'+i%26))
		names, isNull = append(names, name), append(isNull, name+" IS NULL")
	}
	if len(names) == 0 || len(names) > 26 {
		return false
	}
	with := strings.TrimSpace(o.with)
	if with == "" {
		with = "WITH "
	} else {
		with += ", "
	}
	t := o.ask(with+"odd_list("+strings.Join(names, ", ")+") AS ("+s.Text+") SELECT 1 FROM odd_list WHERE "+
		strings.Join(isNull, " OR ")+" LIMIT 1", 1)
	return t != nil && len(t.Rows) > 0
}

// told finds figures and sentences: a number of four digits or more, or several words.
var told = regexp.MustCompile(`\d{4}|\d[.,]\d|\pL+\s+\pL+\s+\pL+`)

// yesNo is an answer to whether there is something.
var yesNo = regexp.MustCompile(`(?i)^['"]?(?:yes|no|true|false|y|n|[01])['"]?$`)

// constant looks for an answer that reads tables and shows nothing of them.
func (o *suspicion) constant() (string, bool) {
	main := slices.IndexFunc(o.selects, func(s sqlshape.Select) bool { return !s.Nested })
	if main < 0 {
		return "", false
	}
	items := 0
	for _, s := range o.selects[main:] {
		if s.Nested {
			continue
		}
		for _, item := range s.Items {
			if items++; !o.isConstant(s, item, 0) {
				return "", false
			}
		}
	}
	tables := slices.ContainsFunc(o.selects, func(s sqlshape.Select) bool { return len(s.Tables) > 0 })
	return "", items > 0 && tables
}

// isConstant reports whether an item of a SELECT shows nothing that is stored.
func (o *suspicion) isConstant(s sqlshape.Select, item sqlshape.SelectItem, depth int) bool {
	upper := strings.ToUpper(item.Text)
	switch {
	case item.Star, item.Text == "", depth > 8:
		return false
	case item.Column != "": // of a derived table or of WITH, whose item may be constant
		for _, inner := range o.selects {
			for _, x := range inner.Items {
				if inner.Nested && strings.EqualFold(x.Alias, item.Column) && s.From != "" && inner.Pos != s.Pos {
					return o.isConstant(inner, x, depth+1)
				}
			}
		}
		return false
	case strings.HasPrefix(upper, "CASE"):
		return constantCase(item.Text)
	case strings.Contains(upper, "EXISTS"), slices.ContainsFunc(counting, func(f string) bool {
		return strings.Contains(upper, f+"(") || strings.Contains(upper, f+" (")
	}):
		return false
	}
	from := strings.Index(o.SQL[s.Pos:], item.Text) + s.Pos
	return !slices.ContainsFunc(o.columns, func(c sqlshape.ColumnRef) bool {
		return c.Pos >= from && c.Pos < from+len(item.Text)
	}) &&
		!yesNo.MatchString(item.Text)
}

var caseValue = regexp.MustCompile(`(?i)(?:THEN|ELSE)\s+('[^']*'|[\d.]+|\S+)`)

// constantCase reports whether the values of a CASE are figures or sentences. Names of classes, and yes and no, are
// none.
func constantCase(text string) bool {
	values := caseValue.FindAllStringSubmatch(text, -1)
	for _, v := range values {
		if value := v[1]; value[0] != '\'' && (value[0] < '0' || value[0] > '9') && !strings.EqualFold(value, "NULL") {
			return false
		}
	}
	return slices.ContainsFunc(values, func(v []string) bool { return told.MatchString(v[1]) })
}

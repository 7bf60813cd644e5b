package doubt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

var howMany = compile(`(?i)\b(?:how many|number of|count of)\s+(?:(?:the|our|all|of|different|distinct|unique|
		active|new)\s+)*((?:\pL+\s+)?\pL+)`)

// counted looks for a count of something else than the things that the question counts: rows of a join, a
// column without a
// value in some rows, equal names.
func (h *held) counted() string {
	nouns := h.countedNouns()
	switch {
	case len(nouns) == 0:
		return ""
	case !slices.Contains(h.outline.Aggregates, "COUNT"):
		return h.addsUp(nouns)
	}
	of := slices.IndexFunc(h.Schema.Tables, func(t schema.Table) bool {
		return nouns[0] == nounOf(t.Name)
	})
	if of < 0 {
		return h.countsKeys(nouns[0])
	}
	t := &h.Schema.Tables[of]
	for i := range h.tokens {
		if h.word(i) != "COUNT" || h.word(i+1) != "(" {
			continue
		}
		if detail := h.countAt(i, t); detail != "" {
			return detail
		}
	}
	return ""
}

// countedNouns are the words that the question counts, as stems: one, or two.
func (h *held) countedNouns() []string {
	if m := howMany.FindStringSubmatch(h.Question.Text); m != nil {
		return words.Stems(m[1])
	}
	return nil
}

// addsUp looks for a sum of what the things have in the place of their number: SUM(payload) for the number of trucks.
func (h *held) addsUp(nouns []string) string {
	if len(h.selects) != 1 || !slices.Equal(h.outline.Aggregates, []string{"SUM"}) {
		return ""
	}

	i := slices.IndexFunc(h.tokens, func(t sqltext.Token) bool { return strings.EqualFold(t.Text, "SUM") })
	if i < 0 || h.word(i+2) == "CASE" {
		return ""
	}
	home, column := h.home(h.columnBehind(h.tokens[i].Pos))
	if home == nil || nounOf(home.Name) != nouns[0] || isYesOrNo(column) || numbering.MatchString(column.Name) ||
		slices.ContainsFunc(words.Stems(column.Name), func(w string) bool { return h.says(w) }) {
		return ""
	}
	return fmt.Sprintf("The question asks for the number of %s, the statement adds up %s.", home.Name, column.Name)
}

// numbering are columns that hold numbers of things.
var numbering = compile(`(?i)quantit|qty|count|num|units?|pieces|copies|amount|total`)

// countsKeys looks for a COUNT of keys of things that have no table of their name: of waiter_id for waiters.
func (h *held) countsKeys(noun string) string {
	for i := range h.tokens {
		if h.word(i) != "COUNT" || h.word(i+1) != "(" || h.word(i+2) == "DISTINCT" || h.word(i+2) == "*" {
			continue
		}
		home, column := h.home(h.columnBehind(h.tokens[i+1].Pos))
		if home == nil || refersTo(home, column.Name) == "" || !slices.Contains(words.Stems(column.Name), noun) {
			continue
		}
		if sql := h.countsDistinct(column.Name); sql != "" && h.differs(sql) {
			return fmt.Sprintf("The question counts every %s once, the statement counts each as often as it stands in %s.", noun, home.Name)
		}
	}
	return ""
}

// countAt looks at the COUNT at token i, in a question for the number of rows of t.
func (h *held) countAt(i int, t *schema.Table) string {
	if h.word(i+2) == "*" {
		return cmp.Or(h.countsJoin(i, t), h.countsOther(i, t))
	}
	c := h.columnBehind(h.tokens[i+1].Pos)
	home, column := h.home(c)
	if home == nil {
		return ""
	}
	isDistinct := h.word(i+2) == "DISTINCT"
	switch {
	case home == t && isDistinct && personal.MatchString(column.Name) && len(t.PrimaryKey) == 1 &&
		!h.related(column.Name):
		end := i + 3
		for h.word(end+1) == "." {
			end += 2
		}
		if h.differs(h.replaced(map[int]string{end: h.quoted(t.PrimaryKey[0])})) {
			return fmt.Sprintf("The statement counts each %s once, and several %s share one.", column.Name, t.Name)
		}
	case home == t && !isDistinct && !column.NotNull && !slices.Contains(t.PrimaryKey, column.Name) &&
		refersTo(t, column.Name) == "" && len(h.tables) == 1 &&
		!slices.ContainsFunc(words.OfName(column.Name), h.related):
		by := map[int]string{i + 2: "*"}
		for j := i + 3; h.word(j) != ")" && j < len(h.tokens); j++ {
			by[j] = ""
		}
		if h.differs(h.replaced(by)) {
			return fmt.Sprintf("The statement counts only %s with a value in %s.", t.Name, column.Name)
		}
	case home != t && !isDistinct && refersTo(home, column.Name) == t.Name:
		if sql := h.countsDistinct(column.Name); sql != "" && h.differs(sql) {
			return fmt.Sprintf("The question counts %s, the statement counts each as often as it stands in %s.",
				t.Name, home.Name)
		}
	}
	return ""
}

// countsJoin looks for a COUNT(*) of the question's things over a join that repeats them.
func (h *held) countsJoin(i int, t *schema.Table) string {
	s := h.selects[0]
	if len(h.selects) != 1 || len(s.Tables) < 2 || len(s.GroupBy) > 0 || len(t.PrimaryKey) != 1 {
		return ""
	}
	at := slices.IndexFunc(s.Tables, func(r sqlshape.TableRef) bool { return strings.EqualFold(r.Name, t.Name) })
	if at < 0 {
		return ""
	}
	name := s.Tables[at].Alias
	if name == "" {
		name = s.Tables[at].Name
	}
	if h.differs(h.replaced(map[int]string{i + 2: "DISTINCT " + h.quoted(name) + "." + h.quoted(t.PrimaryKey[0])})) {
		return fmt.Sprintf("The question counts %s, the statement counts the rows of a join that repeats them.",
			t.Name)
	}
	return ""
}

// countsOther looks for a COUNT(*) of the rows of another table, which refer to the question's things several times.
func (h *held) countsOther(i int, t *schema.Table) string {
	if len(h.selects) != 1 || len(h.tables) != 1 || h.tables[0] == t || len(h.selects[0].GroupBy) > 0 {
		return ""
	}

	other := h.tables[0]
	if slices.Contains(h.countedNouns(), nounOf(other.Name)) {
		return "" // customer orders
	}
	for _, k := range other.ForeignKeys {
		if k.RefTable == t.Name && len(k.Columns) == 1 &&
			h.differs(h.replaced(map[int]string{i + 2: "DISTINCT " + h.quoted(k.Columns[0])})) {
			return fmt.Sprintf("The question counts %s, the statement counts each as often as it stands in %s.", t.Name, other.Name)
		}
	}
	return ""
}

// outer looks for a COUNT(*) by the rows of a table that a LEFT JOIN keeps: it counts one where there is no partner.
func (h *held) outer() string {
	if len(h.selects) != 1 || len(h.selects[0].Tables) != 2 || len(h.selects[0].GroupBy) == 0 {
		return ""
	}

	s := h.selects[0]
	kept, known := h.Schema.Lookup(s.Tables[0].Schema, s.Tables[0].Name)
	joined, both := h.Schema.Lookup(s.Tables[1].Schema, s.Tables[1].Name)
	if !known || !both || !strings.HasPrefix(s.Joined[1], "LEFT") || len(joined.PrimaryKey) == 0 || !h.groupsByRow(kept) {
		return ""
	}
	key := h.quoted(cmp.Or(s.Tables[1].Alias, s.Tables[1].Name)) + "." + h.quoted(joined.PrimaryKey[0])
	for i := range h.tokens {
		counts := h.word(i) == "COUNT" && h.word(i+1) == "(" && h.word(i+2) == "*"
		if counts && h.differs(h.replaced(map[int]string{i + 2: key})) {
			return fmt.Sprintf("The statement counts a row of %s without %s as one.", kept.Name, joined.Name)
		}
	}
	return ""
}

// groupsByRow reports whether each group is one row of a table: by its key, or by the name of a thing.
func (h *held) groupsByRow(t *schema.Table) bool {
	from := strings.LastIndex(h.upper, "GROUP BY")
	return slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool {
		home, column := h.home(c)
		keyed := home == t && (len(t.PrimaryKey) == 1 && t.PrimaryKey[0] == column.Name || personal.MatchString(column.Name))
		return keyed && c.Pos > from
	})
}

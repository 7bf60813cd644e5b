package doubt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

var howMany = compile(`(?i)\b(?:how many|number of|count of)\s+(?:(?:the|our|all|of|different|distinct|unique|
		active|new)\s+)*((?:\pL+\s+)?\pL+)`)

// counted looks for a count of something else than the things that the question counts: rows of a join, a column
// without a value in some rows, equal names.
func (h held) counted() string {
	nouns, qualified := h.countedNouns()
	switch {
	case len(nouns) == 0 || len(howMany.FindAllString(h.Text, 2)) > 1:
		return ""
	case !slices.Contains(h.Aggregates, "COUNT"):
		return h.addsUp(nouns[0])
	}
	of := slices.IndexFunc(h.Schema.Tables, func(t schema.Table) bool { return nouns[0] == nounOf(t.Name) })
	if h.anyTable(func(t *schema.Table) bool { return slices.Contains(nouns[1:], nounOf(t.Name)) }) {
		return "" // customer orders
	}
	for _, i := range h.places("COUNT", "(") {
		detail := ""
		switch {
		case of < 0:
			detail = h.countsKeys(i, nouns[0])
		case h.word(i+2) == "*":
			detail = cmp.Or(h.countsJoin(i, &h.Schema.Tables[of]), h.countsOther(i, &h.Schema.Tables[of]))
		default:
			detail = h.countsColumn(i, &h.Schema.Tables[of], qualified)
		}
		if detail != "" {
			return detail
		}
	}
	return ""
}

// noAdjective are words that may stand before a noun and say nothing about which of its things are counted.
var noAdjective = words.Set("a an any by each every for from her his in its per that their this with")

// plainCount is what follows the noun in a question for all of its things.
var plainCount = compile(`(?i)^\s*(?:(?:are|is|do|does|have|has|we|us|you|they|there|exist|exists|in|on|total|all|the|our|
	database|overall|altogether|now|currently)\b\s*)*[?.!]*\s*$`)

// countedNouns are the words that the question counts, as stems: one, or two. An adjective before the noun of a table
// is left out: "female customers", but not "items customers". qualified: words say which of the things are counted, and
// no condition of the statement does.
func (h held) countedNouns() (nouns []string, qualified bool) {
	m := howMany.FindStringSubmatchIndex(h.Text)
	if m == nil {
		return nil, false
	}
	counted, rest := h.Text[m[2]:m[3]], h.Text[m[3]:]
	nouns = words.Stems(counted)
	first, second, two := strings.Cut(counted, " ")
	isPlural := strings.HasSuffix(first, "s") && !strings.HasSuffix(first, "ss")
	named := func(noun string) bool {
		return slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return noun == nounOf(t.Name) })
	}
	everything := len(h.selects) > 0 && h.selects[0].Where == ""
	switch {
	case !two || len(nouns) != 2:
		return nouns, everything && !plainCount.MatchString(rest)
	case isPlural: // what they do, behind them
		qualified = everything && !plainCount.MatchString(second+rest)
		if !strings.HasSuffix(second, "s") {
			nouns = nouns[:1]
		}
	case !noAdjective[nouns[0]] && !named(nouns[0]) && named(nouns[1]):
		return nouns[1:], everything
	}
	return nouns, qualified
}

// addsUp looks for a sum of what the things have in the place of their number: SUM(payload) for the number of trucks.
func (h held) addsUp(noun string) string {
	at := h.places("SUM")
	if len(at) == 0 || !h.single || !slices.Equal(h.Aggregates, []string{"SUM"}) {
		return ""
	}

	c := h.columnBehind(h.tokens[at[0]].Pos)
	if h.word(at[0]+2) == "CASE" || c.of == nil || nounOf(c.of.Name) != noun || isYesOrNo(c.known) ||
		numbering.MatchString(c.Column) || named(c.known.Name, h.stems...) {
		return ""
	}
	return tell("The question asks for the number of %s, the statement adds up %s.", c.of.Name, c.known.Name)
}

// numbering are columns that hold numbers of things.
var numbering = compile(`(?i)quantit|qty|count|num|units?|pieces|copies|amount|total`)

// countsKeys looks for a COUNT of keys of things that have no table of their name: of waiter_id for waiters.
func (h held) countsKeys(i int, noun string) string {
	if h.word(i+2) == "DISTINCT" || h.word(i+2) == "*" {
		return ""
	}
	c := h.columnBehind(h.tokens[i].Pos)
	if c.of == nil || !named(c.known.Name, noun) ||
		refersTo(c.of, c.Column) == "" && !(textual.MatchString(c.known.Type) && h.single && nounOf(c.known.Name) == noun &&
			!h.asks(differing, ofKinds)) ||
		!h.differs(h.countsDistinct(c.Column)) {
		return ""
	}
	return tell("The question counts every %s once, the statement counts each as often as it stands in %s.",
		noun, c.of.Name)
}

// countsColumn looks at the COUNT of a column, in a question for the number of rows of t. An adjective of the question
// may be what a value in the column means: paid_on of settled invoices.
func (h held) countsColumn(i int, t *schema.Table, qualified bool) string {
	c := h.columnBehind(h.tokens[i].Pos)
	if c.of == nil {
		return ""
	}
	switch isDistinct := h.word(i+2) == "DISTINCT"; {
	case c.of == t && isDistinct && personal.MatchString(c.Column) && len(t.PrimaryKey) == 1 && !h.related(c.Column):
		if h.changes(h.lastPart(i+3), h.quoted(t.PrimaryKey[0])) {
			return tell("The statement counts each %s once, and several %s share one.", c.known.Name, t.Name)
		}
	case c.of == t && !isDistinct && !qualified && !c.known.NotNull && !isKey(t, c.known.Name) && len(h.tables) == 1 &&
		!slices.ContainsFunc(words.OfName(c.known.Name), h.related):
		by := map[int]string{i + 2: "*"}
		for j := i + 3; h.word(j) != ")" && j < len(h.tokens); j++ {
			by[j] = ""
		}
		if h.differs(h.replaced(by)) {
			return tell("The statement counts only %s with a value in %s.", t.Name, c.known.Name)
		}
	case c.of == t && !isDistinct && len(h.tables) > 1 && slices.Equal(t.PrimaryKey, []string{c.known.Name}) &&
		h.single && len(h.selects[0].GroupBy) == 0 && h.differs(h.countsDistinct(c.Column)):
		return countsJoined(t)
	case c.of != t && !isDistinct && refersTo(c.of, c.Column) == t.Name && h.differs(h.countsDistinct(c.Column)):
		return countsOften(t, c.of)
	case c.of != t && !isDistinct && c.keys():
		return h.countsOther(i, t)
	}
	return ""
}

// countsOften tells that a statement counts the rows of another table.
func countsOften(t, in *schema.Table) string {
	return tell("The question counts %s, the statement counts each as often as it stands in %s.", t.Name, in.Name)
}

// countsJoin looks for a COUNT(*) of the question's things over a join that repeats them.
func (h held) countsJoin(i int, t *schema.Table) string {
	s := h.selects[0]
	if !h.single || len(s.Tables) < 2 || len(s.GroupBy) > 0 || len(t.PrimaryKey) != 1 {
		return ""
	}
	at := slices.IndexFunc(s.Tables, func(r sqlshape.TableRef) bool { return strings.EqualFold(r.Name, t.Name) })
	if at < 0 || !h.changes(i+2, "DISTINCT "+h.columnOf(s.Tables[at], t.PrimaryKey[0])) {
		return ""
	}
	return countsJoined(t)
}

// countsJoined tells that a statement counts the rows of a join.
func countsJoined(t *schema.Table) string {
	return tell("The question counts %s, the statement counts the rows of a join that repeats them.", t.Name)
}

// columnOf is a column of a table as a statement writes it that reads the table.
func (h held) columnOf(ref sqlshape.TableRef, name string) string {
	return h.quoted(cmp.Or(ref.Alias, ref.Name)) + "." + h.quoted(name)
}

// ofKinds finds what was done with things of which there are kinds: products that were sold may be counted by piece.
var ofKinds = compile(`\b(?:was|were|been|being|get|got) (?:\pL+ )?(?:sold|bought|sent|\pL+ed)\b|
		\b(?:do|does|did|have|has|had) (?:\pL+ ){1,4}(?:sell|sold|buy|bought|order|purchase|prescribe|ship|deliver|rent|
		borrow|use|send|sent|\pL+ed)\b`)

// countsOther looks for a COUNT in the select list of the rows of another table, which refer to the question's things
// several times.
func (h held) countsOther(i int, t *schema.Table) string {
	if !h.single || slices.Contains(h.tables, t) || (len(h.tables) > 1 || len(h.GroupBy) > 0) && h.asks(ofKinds) {
		return ""
	}
	for _, ref := range h.selects[0].Tables {
		other := h.table(ref)
		if other == nil || nounOf(other.Name) == nounOf(t.Name) || ref.Pos < h.tokens[i].Pos {
			continue
		}
		for _, k := range other.ForeignKeys {
			if k.RefTable != t.Name || len(k.Columns) != 1 {
				continue
			}
			by := map[int]string{i + 2: "DISTINCT " + h.columnOf(ref, k.Columns[0])}
			for j := i + 3; j < len(h.tokens) && h.word(j) != ")"; j++ {
				by[j] = ""
			}
			if h.differs(h.replaced(by)) {
				return countsOften(t, other)
			}
		}
	}
	return ""
}

// outer looks for a COUNT(*) by the rows of a table that a LEFT JOIN keeps: it counts one where there is no partner.
func (h held) outer() string {
	if !h.single || len(h.selects[0].Tables) != 2 || len(h.selects[0].GroupBy) == 0 {
		return ""
	}

	s := h.selects[0]
	kept, joined := h.table(s.Tables[0]), h.table(s.Tables[1])
	if kept == nil || joined == nil || !strings.HasPrefix(s.Joined[1], "LEFT") || len(joined.PrimaryKey) == 0 ||
		!h.groupsByRow(kept) {
		return ""
	}
	for _, i := range h.places("COUNT", "(", "*") {
		if h.changes(i+2, h.columnOf(s.Tables[1], joined.PrimaryKey[0])) {
			return tell("The statement counts a row of %s without %s as one.", kept.Name, joined.Name)
		}
	}
	return ""
}

// groupsByRow reports whether each group is one row of a table: by its key, or by the name of a thing.
func (h held) groupsByRow(t *schema.Table) bool {
	return slices.ContainsFunc(h.groups(), func(c mention) bool {
		return c.of == t && (c.keys() || personal.MatchString(c.Column))
	})
}

package doubt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

var (
	joining = compile(`(?i)\s+(?:INNER\s+)?JOIN\s+$`)
	nextOne = compile(`(?i)\s(?:INNER|LEFT|RIGHT|FULL|CROSS|NATURAL)?\s*JOIN\s|,`)
	// implies finds words that may ask for a row of another table without its name: "customers who bought".
	implies = compile(`\b(?:who|that|which) (?:(?:have|has|had|did|do|does|ever|already|actually|also|
		currently) )*(\pL+)|\b(\pL{2,}ed|sold|bought|sent|paid|won|held|given|taken|made|seen|used|busy)\b`)
	states = words.Set("is are was were be been live lives come comes")
)

// needless looks for a joined table that the question does not name and the statement does not use, and whose join
// drops or repeats rows.
func (h held) needless() string {
	outer := slices.IndexFunc(h.selects, func(s sqlshape.Select) bool { return !s.Nested })
	if outer < 0 || len(h.GroupBy)+len(h.SetOps) > 0 || h.evidence != "" || h.Star {
		return ""
	}
	s := h.selects[outer]
	for i, ref := range s.Tables {
		t := h.table(ref)
		if t == nil || i == 0 || h.speaksOf(t) {
			continue
		}
		begin, end, alone := h.joinOf(s, ref)
		if alone && !h.usesOutside(ref, end) && h.differs(h.sql[:begin]+" "+h.sql[end:]) {
			return tell("The join with %s, which the question does not name, drops or repeats rows.", t.Name)
		}
	}
	return ""
}

// joinOf returns where the join of a table begins and ends; alone is false where it is not joined by one condition of
// its own.
func (h held) joinOf(s sqlshape.Select, ref sqlshape.TableRef) (begin, end int, alone bool) {
	before := joining.FindStringIndex(h.sql[:ref.Pos])
	if before == nil || before[0] < s.Tables[0].Pos {
		return 0, 0, false
	}
	// The same text may stand in a string or a nested query, too: the last one that begins in front of the tables is it.
	first := s.Text[:min(len(s.Text), s.Tables[0].Pos-s.Pos+len(s.From))]
	at := strings.LastIndex(first, s.From)
	end = s.Pos + at + len(s.From)
	if at < 0 || end <= ref.Pos {
		return 0, 0, false
	}

	if next := nextOne.FindStringIndex(h.sql[ref.Pos:end]); next != nil {
		end = ref.Pos + next[0]
	}
	on := strings.ToUpper(h.sql[ref.Pos:end])
	return before[0], end, strings.Contains(on, " ON ") && !strings.Contains(on, " AND ") // it filters by its join
}

// usesOutside reports whether a column of a table stands in front of its join or behind the end of it.
func (h held) usesOutside(ref sqlshape.TableRef, end int) bool {
	return h.anyMention(func(c mention) bool {
		of := strings.EqualFold(c.Qualifier, ref.Alias) || strings.EqualFold(c.Qualifier, ref.Name) ||
			c.Qualifier == "" && c.Table == ""
		return of && (c.Pos < ref.Pos || c.Pos > end)
	})
}

// speaksOf reports whether a question may speak of a table: by a word of its name or of its columns, or by a verb that
// no column explains.
func (h held) speaksOf(t *schema.Table) bool {
	others := except(h.tables, func(o *schema.Table) bool { return o == t })
	own := except(h.stems, func(w string) bool { return byNoun(others, w) != nil })
	name, parts := strings.ToLower(t.Name), words.Stems(t.Name)
	if slices.ContainsFunc(own, func(w string) bool {
		return len(w) >= 4 && strings.Contains(name, w) || // countrylanguage
			slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(w, part[:min(4, len(part))]) })
	}) {
		return true
	}
	own = except(own, func(w string) bool {
		return general[w] || slices.ContainsFunc(others, func(o *schema.Table) bool { return anyColumn(o, naming(w)) })
	})
	return anyColumn(t, naming(own...)) || slices.ContainsFunc(implies.FindAllStringSubmatch(h.asked, -1),
		func(m []string) bool { return !h.explains(m[1] + m[2]) })
}

// explains reports whether a verb is one of a state, or a column of the statement begins like it.
func (h held) explains(verb string) bool {
	return states[verb] || h.anyMention(func(c mention) bool {
		return slices.ContainsFunc(words.Stems(c.Column), func(w string) bool {
			return strings.HasPrefix(verb, w[:min(3, len(w))])
		})
	})
}

// doesNot finds a denial of the verb: "countries that do not speak English", and not "orders that are not shipped".
var doesNot = compile(`\b(?:do|does|did|have|has|had)(?: not|n['’]t)\b|\bwithout\b|\bnever\b|\b(?:have|has|had|
		with) no\b|\bfor (?:which|whom)\b.*\bnot\b`)

// doesOnly finds what somebody does with one kind of thing only.
var doesOnly = compile(`\b(?:who|that|which)(?: ha(?:s|ve|d))? (?:only|exclusively|always) (?:ever )?\pL+|
		\bwho \pL+ (?:only|exclusively) `)

var opposites = words.Pairs("<> = != = = <>")

// besides looks for things of which the question denies a value and that have it beside another one: countries that do
// not speak English, by one language that is not English. It looks for others in the same way where the question says
// only.
func (h held) besides() string {
	only := h.asks(doesOnly)
	if !h.single || len(h.Aggregates)+len(h.GroupBy) > 0 || !only && !h.asks(doesNot) {
		return ""
	}
	for _, c := range h.constant {
		t := c.column.of
		owned := func(o *schema.Table) bool { // several may belong to one
			return h.showsTable(o) && (refersToTable(t, o) ||
				only && h.anyTable(func(by *schema.Table) bool { return refersToTable(by, o) }))
		}
		if opposites[c.op] == "" || (c.op == "=") != only || t == nil || !h.named(c.text) || h.showsTable(t) ||
			!h.anyTable(owned) {
			continue
		}
		with, shown := h.run("%s", h.replaced(map[int]string{c.opAt: opposites[c.op]})), h.shown()
		switch {
		case with == nil || shown == nil || !shareRow(with, shown):
		case c.op == "=":
			return tell("The question says only %s, and rows of the answer have others, too.", c.text)
		default:
			return tell("The question denies %s, and rows of the answer have it beside others.", c.text)
		}
	}
	return ""
}

// showsTable reports whether the outer select list has a column of a table.
func (h held) showsTable(t *schema.Table) bool {
	return h.Star || h.shows(func(c mention) bool { return c.of == t })
}

// shows reports whether a column of the outer select list is such as this.
func (h held) shows(such func(mention) bool) bool {
	return len(h.selects) > 0 && len(h.selects[0].Tables) > 0 && h.anyMention(func(c mention) bool {
		return c.Pos < h.selects[0].Tables[0].Pos && such(c)
	})
}

// shareRow reports whether a row stands in both tables.
func shareRow(a, b *result.Table) bool {
	seen := map[string]bool{}
	for _, row := range a.Rows {
		seen[fmt.Sprint(row)] = true
	}
	return slices.ContainsFunc(b.Rows, func(row []any) bool { return seen[fmt.Sprint(row)] })
}

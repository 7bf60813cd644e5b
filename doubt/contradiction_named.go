package doubt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// plain are words that values share with other words of questions.
var plain = words.Set("all other new old none yes no true false unknown total number name first last high low " +
	"open may will order type date both main top best day month year and the of in for with value status active " +
	"general standard normal current a i to")

// value compares the stored values that the question names with the values by which the statement compares
// their column.
func (h *held) value() string {
	if h.Values == nil {
		return ""
	}
	for _, v := range h.Values.Named(h.Question.Text + currencyCodes(h.asked)) {
		isHome := func(t *schema.Table) bool { return t.Schema == v.Schema && t.Name == v.Table }
		at := slices.IndexFunc(h.tables, isHome)
		if at < 0 && h.lacksTable(v) {
			return fmt.Sprintf("The question says %s, and the statement does not.", v.Value)
		}
		if at < 0 || h.writesText(v.Value) {
			continue
		}
		t := h.tables[at]
		other, compared := h.comparedWith(t, v.Column)
		switch {
		case compared && other == "" && h.pairs(t, v):
			return fmt.Sprintf("The question says %s, and the statement does not.", v.Value)
		case compared && other != "" && !h.denied(v.Value):
			return fmt.Sprintf("The question says %s, the statement %s.", v.Value, other)
		case !compared && h.misses(t, v):
			return fmt.Sprintf("The question says %s, and the statement does not.", v.Value)
		}
	}
	return ""
}

// lacksTable reports whether the question puts a value beside the name of its table, "the Toys category", and the
// statement has neither that nor a key in its place.
func (h *held) lacksTable(v contradict.Stored) bool {
	noun, value := nounOf(v.Table), strings.ToLower(v.Value)
	beside := h.hasPhrase(value+" "+noun) || h.hasPhrase(noun+" "+value)
	if !beside || !strings.Contains(h.Question.Text, v.Value) || h.writesText(v.Value) {
		return false
	}
	return !slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool {
		t, column := h.home(c)
		return slices.Contains(words.Stems(c.Column), noun) || t != nil && refersTo(t, column.Name) == v.Table
	})
}

// pairs reports whether the question puts a value beside another one of its column, which is all that the statement takes:
// "urgent or high".
func (h *held) pairs(t *schema.Table, v contradict.Stored) bool {
	value := strings.ToLower(v.Value)
	return slices.ContainsFunc(h.constant, func(c constant) bool {
		home, column := h.home(c.column)
		if home != t || !strings.EqualFold(column.Name, v.Column) || !c.equal() {
			return false
		}

		other := strings.ToLower(c.text)
		return slices.ContainsFunc([]string{" or ", " and ", ", "}, func(join string) bool {
			return h.hasPhrase(value+join+other) || h.hasPhrase(other+join+value)
		})
	})
}

// denied reports whether the question says that it wants others than a value: "bookings that were not kept".
func (h *held) denied(value string) bool {
	before, _, found := strings.Cut(h.asked, strings.ToLower(value))
	return found && denial.MatchString(before)
}

var denial = compile(`(?:\b(?:not|never|non|other than|except|excluding|outside|outside of)|
		n['’]t)[ -](?:\pL+ )?$`)

// currencyCodes are the codes of currencies that a question names in words.
func currencyCodes(asked string) (codes string) {
	for _, word := range currencies.FindAllStringSubmatch(asked, -1) {
		codes += " " + currencyCode[word[1]]
	}
	return codes
}

var (
	currencies   = compile(`\b(euro|dollar|franc|yen|sterling)s?\b`)
	currencyCode = map[string]string{"euro": "EUR", "dollar": "USD", "franc": "CHF", "yen": "JPY", "sterling": "GBP"}
)

// writesText reports whether a text stands in a string of the statement, or is one part of it, or its words
// are names there.
func (h *held) writesText(value string) bool {
	value = strings.ToLower(value)
	for _, c := range h.constant {
		text := strings.ToLower(strings.Trim(c.text, "%_ "))
		if !c.number && text != "" && (strings.Contains(text, value) || strings.Contains(value, text) &&
			len(text) >= 3) {
			return true
		}
	}
	stems := stemsOf(value)
	for _, c := range h.columns {
		if slices.ContainsFunc(words.Stems(c.Column), func(w string) bool { return slices.Contains(stems, w) }) {
			return true
		}
	}
	return slices.ContainsFunc(h.tables, func(t *schema.Table) bool {
		return slices.ContainsFunc(words.Stems(t.Name), func(w string) bool { return slices.Contains(stems, w) })
	})
}

// comparedWith returns a text with which the statement compares a column and which the question does not name.
// compared says
// that it compares the column with something.
func (h *held) comparedWith(t *schema.Table, column string) (other string, compared bool) {
	for _, c := range h.constant {
		home, found := h.home(c.column)
		if home != t || !strings.EqualFold(found.Name, column) || c.op == "" {
			continue
		}
		compared = true
		if c.equal() && !c.number && !h.named(c.text) && other == "" {
			other = strings.Trim(c.text, "%")
		}
	}
	return other, compared
}

// misses reports whether a value that the question names belongs to a filter that the statement lacks: the
// column holds few
// values, no other text of the table stands for it, and the word is no usual one.
func (h *held) misses(t *schema.Table, v contradict.Stored) bool {
	c, ok := t.Column(v.Column)
	value := strings.ToLower(v.Value)
	if !ok || c.Profile == nil || c.Profile.Distinct < 2 || c.Profile.Distinct > 60 || h.uses(t, v.Column) ||
		len(v.Value) < 2 || strings.HasSuffix(value, "ing") && strings.Contains(h.asked, value+" for ") {
		return false
	}
	beside := slices.ContainsFunc(words.OfName(v.Column), func(w string) bool { return h.hasPhrase(value + " " + w) })
	if plain[value] && !beside {
		return false
	}
	for _, x := range h.constant {
		if home, _ := h.home(x.column); home == t && !x.number && x.equal() && !h.named(x.text) {
			return false
		}
	}
	stems := stemsOf(v.Value)
	names := func(t *schema.Table) bool {
		return slices.ContainsFunc(words.Stems(t.Name), func(w string) bool { return slices.Contains(stems, w) })
	}
	columns := func(t *schema.Table) bool {
		return slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
			return slices.ContainsFunc(words.Stems(c.Name), func(w string) bool { return slices.Contains(stems, w) })
		})
	}
	anyTable := slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return names(&t) })
	return !anyTable && !slices.ContainsFunc(h.tables, columns)
}

// code compares a value that the question names in a table of names with the key by which the statement picks
// one of them:
// Spain and 'FR'.
func (h *held) code() string {
	if h.Values == nil {
		return ""
	}
	keys := h.keyConstants()
	if len(keys) == 0 {
		return ""
	}
	for _, v := range h.Values.Named(h.Question.Text) {
		for _, c := range keys[strings.ToLower(v.Table)] {
			names, ok := h.Schema.Lookup(v.Schema, v.Table)
			if !ok || slices.Contains(h.tables, names) || len(names.PrimaryKey) != 1 {
				break
			}
			key := h.run("SELECT " + h.quoted(names.PrimaryKey[0]) + " FROM " + h.quotedTable(names) + " WHERE " + h.quoted(v.Column) + " = " + literal(v.Value))
			if key != nil && len(key.Rows) == 1 && !h.writesConstant(fmt.Sprint(key.Rows[0][0])) && !strings.EqualFold(fmt.Sprint(key.Rows[0][0]), c.text) {
				return fmt.Sprintf("The question says %s, which is %v; the statement says %s.", v.Value,
					key.Rows[0][0], c.text)
			}
		}
	}
	return ""
}

// keyConstants returns the constants that the question does not name and that a foreign key equals, by the table that the key
// refers to, in lower case.
func (h *held) keyConstants() map[string][]constant {
	var list map[string][]constant
	for _, c := range h.constant {
		t, column := h.home(c.column)
		if t == nil || c.op != "=" || h.named(c.text) {
			continue
		}
		if of := strings.ToLower(refersTo(t, column.Name)); of != "" {
			if list == nil {
				list = map[string][]constant{}
			}
			list[of] = append(list[of], c)
		}
	}
	return list
}

// inNames reports whether a word of a text is one of the name of a table or a column.
func (a answer) inNames(text string) bool {
	return a.Values != nil && slices.ContainsFunc(stemsOf(text), a.Values.InNames)
}

// general are words of names that say nothing about which column it is.
var general = words.Set("id name date time at on in of the no number code type value is has key text day year " +
	"flag by to for a an and all total amount count")

// column looks for a column that the question names while the statement takes its sibling: shipped_at and ordered_at.
func (h *held) column() string {
	for _, c := range h.columns {
		t, used := h.home(c)
		if t == nil || !h.decides(c) || h.stillNull(c) {
			continue
		}
		for i := range t.Columns {
			other := &t.Columns[i]
			untaxed := taxed.MatchString(other.Name) && withoutTax.MatchString(h.asked)
			if h.uses(t, other.Name) || !siblings(t, used, other) || untaxed {
				continue
			}
			named, mine := without(words.Stems(other.Name), words.Stems(used.Name)),
				without(words.Stems(used.Name), words.Stems(other.Name))
			if len(named) == 0 || !h.allNamed(named) || slices.ContainsFunc(mine, h.knows) || h.inConstants(named) {
				continue
			}
			return fmt.Sprintf("The question says %s, the statement takes %s and not %s.", strings.Join(named,
				" "), used.Name, other.Name)
		}
	}
	return ""
}

// knows reports whether the question or its evidence has this word.
func (h *held) knows(stem string) bool { return slices.Contains(h.known, stem) }

// stillNull reports whether a column says that something has not ended: removed_on IS NULL, for what is installed.
func (h *held) stillNull(c sqlshape.ColumnRef) bool {
	rest := h.upper[min(len(h.upper), c.Pos):]
	return ended.MatchString(c.Column) && compile(`^(?:\w+\.)?\w+ IS NULL\b`).MatchString(rest)
}

// decides reports whether a mention decides about rows or figures: it is compared, joined, grouped by or aggregated.
func (h *held) decides(c sqlshape.ColumnRef) bool {
	if c.Operand {
		return true
	}
	i, _ := slices.BinarySearchFunc(h.tokens, c.Pos, func(t sqltext.Token, pos int) int { return t.Pos - pos })
	if c.Qualifier != "" && i < len(h.tokens) {
		for h.word(i+1) == "." {
			i += 2
		}
	}
	for i--; h.word(i) == "." || h.word(i) == strings.ToUpper(c.Qualifier) && c.Qualifier != ""; i-- {
	}
	return i > 0 && h.word(i) == "(" && h.tokens[i-1].Kind == sqltext.Word ||
		slices.ContainsFunc(h.selects, func(s sqlshape.Select) bool {
			return s.Has(c.Pos) && slices.ContainsFunc(s.GroupBy, func(g string) bool {
				return strings.EqualFold(g, c.Column) || strings.EqualFold(g, c.Qualifier+"."+c.Column)
			})
		})
}

// siblings reports whether two columns of a table are easily taken for each other: both hold times, both refer
// to one table,
// or they have one type and a word in common, or are figures of one word.
func siblings(t *schema.Table, a, b *schema.Column) bool {
	if a.Name == b.Name {
		return false
	}
	at, bt := refersTo(t, a.Name), refersTo(t, b.Name)
	if at != "" || bt != "" {
		return at == bt
	}
	if timed(a.Name, a.Type) || timed(b.Name, b.Type) {
		return timed(a.Name, a.Type) && timed(b.Name, b.Type)
	}
	aw, bw := words.Stems(a.Name), words.Stems(b.Name)
	return strings.EqualFold(a.Type, b.Type) && (slices.ContainsFunc(aw, func(w string) bool {
		return w != "id" &&
			slices.Contains(bw, w)
	}) || len(aw) == 1 && len(bw) == 1 && realType.MatchString(a.Type))
}

var realType = compile(`(?i)REAL|DOUBLE|FLOAT|DEC|NUMERIC|MONEY`)

// refersTo is the table to which a column refers; "" for none.
func refersTo(t *schema.Table, column string) string {
	for _, k := range t.ForeignKeys {
		if len(k.Columns) == 1 && strings.EqualFold(k.Columns[0], column) {
			return k.RefTable
		}
	}
	return ""
}

// without returns the words of a that neither b has nor are general.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) || general[w] })
}

// allNamed reports whether the question itself has all of these words.
func (h *held) allNamed(list []string) bool {
	return !slices.ContainsFunc(list, func(w string) bool {
		return !h.says(w) && !slices.ContainsFunc(h.stems, func(s string) bool {
			return len(w) > 4 && len(s) > 4 && w[:5] == s[:5] && !nameOfTable(h.tables, s)
		})
	})
}

// nameOfTable reports whether a word is one of the name of a table.
func nameOfTable(tables []*schema.Table, stem string) bool {
	return slices.ContainsFunc(tables, func(t *schema.Table) bool {
		return slices.Contains(words.Stems(t.Name),
			stem)
	})
}

// inConstants reports whether one of words stands in a constant or in a name of the statement.
func (h *held) inConstants(list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		return slices.ContainsFunc(h.constant, func(c constant) bool { return strings.Contains(strings.ToLower(c.text), w) }) ||
			slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool { return slices.Contains(words.Stems(c.Column), w) }) ||
			slices.ContainsFunc(h.tables, func(t *schema.Table) bool { return slices.Contains(words.Stems(t.Name), w) })
	})
}

// flag looks for a column of yes and no that the question names and the statement does not read.
func (h *held) flag() string {
	for _, t := range h.tables {
		for i := range t.Columns {
			c := &t.Columns[i]
			named := without(words.Stems(c.Name), nil)
			if len(named) != 1 || !isFlag(c) && !isYesOrNoText(c) || h.uses(t, c.Name) || h.inConstants(named) {
				continue
			}
			if h.says(named[0], "in"+named[0], "un"+named[0], "non"+named[0]) &&
				!h.Question.Has(named[0]+" in/on/since/during/for/within/at/until/last/this/from/between/by") {
				return fmt.Sprintf("The question says %s, and the statement does not read %s.", named[0], c.Name)
			}
		}
	}
	return ""
}

// isFlag reports whether a column holds yes and no.
func isFlag(c *schema.Column) bool { return strings.Contains(strings.ToUpper(c.Type), "BOOL") }

var (
	// careful are columns and values by which people leave out rows that do not count.
	careful = compile(`(?i)delet|remov|archiv|terminat|scrap|retire|active|enabled|valid|void|cancel|refund|
		status|state|test|churn|closed|end|left|current|discontinu|expire|draft|is_|until|_to$`)
	usual = compile(`(?i)^(?:done|complete[d]?|active|valid|current|final|posted|confirmed|enabled|approved|
		live|closed|success\w*|finished|y|yes|true|t|a|1)$`)
	// vague are words that may stand for any bound.
	vague = compile(`(?i)\b(?:high|higher|low|lower|large|larger|small|smaller|big|bigger|old|older|young|
		younger|new|newer|long|longer|short|shorter|heavy|cheap|expensive|adults?|minors?|children|seniors?|
		teen\w*|good|bad|well|poor|rich|popular|frequent\w*|recent\w*|many|few|often|rare\w*|several|multiple|
		most|above|below|over|under|top|normal|abnormal|over-?due|late|early|more|less|excellent|fail\w*|
		pass\w*|severe|warm|hot|cold|fast|slow|at least|not|no|without|never|only|any|some|exists?|ha[sd]|have|
		having|zero|free|positive|negative|percent\w*|ratio|share|rate|age|aged|centur\w*|decade)\b`)
	timeWords = compile(`(?i)\b(?:(?:19|20)\d\d\w*|today|yester\w*|now|current\w*|ago|since|until|till|
		recent\w*|last|past|next|previous|this|days?|dates?|weeks?|months?|quarters?|years?|daily|weekly|
		monthly|yearly|annual\w*|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|
		when|before|after|during|born|age[ds]?|old\w*|young\w*|adults?|minors?|children|seniors?|new\w*|overdue|
		over-due|late\w*|early|earlie\w*|season|spring|summer|autumn|fall|winter|century|decades?|upcoming|
		still|future|period|time\w*|hours?|morning|afternoon|evening|night|expir\w*|active|open|due|no longer|
		former\w*|q[1-4]|h[12])\b`)
)

// unasked looks for a condition with a constant that nothing in the question stands for.
func (h *held) unasked() string {
	if len(h.Earlier) > 0 {
		return ""
	}
	hasNumber := strings.ContainsAny(h.asked+h.evidence, "0123456789") ||
		h.Question.Has("#", "a dozen", "hundred", "half", "both", "once", "twice")
	for _, c := range h.constant {
		t, column := h.home(c.column)
		if t == nil || c.op == "" || strings.HasPrefix(c.op, "NOT") || c.op == "<>" || c.op == "!=" ||
			careful.MatchString(column.Name) && usual.MatchString(c.text) {
			continue
		}
		if h.word(c.at-1) == "LIMIT" || h.inCase(c.at) {
			continue
		}
		isTime := statedTime.MatchString(c.text) && (!c.number && len(c.text) > 4 || h.yearly(c))
		switch {
		case isTime:
			today := h.Now.Format("2006-01-02")
			said := timeWords.MatchString(h.asked+" "+h.evidence) || hasNumber && c.op != "=" // drivers over 40
			if !said && !strings.HasPrefix(c.text, today) {
				return fmt.Sprintf("The statement keeps %s %s %s, which the question does not say.", column.Name,
					c.op, c.text)
			}
		case c.number && !timed(column.Name, column.Type) && !isKey(t, column.Name):
			zero := sameNumber(c.text, "0") || sameNumber(c.text, "1")
			if !zero && !hasNumber && !vague.MatchString(h.asked+" "+h.evidence) {
				return fmt.Sprintf("The statement keeps %s %s %s, which the question does not say.", column.Name,
					c.op, c.text)
			}
		case !c.number && (c.op == "=" || c.op == "IN"):
			if h.unexplained(column, c.text) && !(denies.MatchString(h.asked) && h.listsOthers(c.column)) {
				return fmt.Sprintf("The statement keeps only %s, which the question does not say.", c.text)
			}
		}
	}
	return ""
}

// isKey reports whether a column is a key, or refers to one.
func isKey(t *schema.Table, column string) bool {
	return refersTo(t, column) != "" || slices.Contains(t.PrimaryKey, column)
}

// inCase reports whether a token stands in a CASE.
func (h *held) inCase(at int) bool {
	depth := 0
	for i := 0; i < at; i++ {
		switch h.word(i) {
		case "CASE":
			depth++
		case "END":
			depth--
		}
	}
	return depth > 0
}

// unexplained reports whether nothing in the question stands for a text: neither a word of it, nor a word that
// names neither
// a table nor a column and may be another name for it.
func (h *held) unexplained(column *schema.Column, text string) bool {
	if len(text) <= 3 || h.named(text) || strings.Contains(text, "_") ||
		slices.ContainsFunc(words.Stems(column.Name), func(w string) bool { return !general[w] && h.says(w) }) {
		return false
	}
	for _, w := range unmarked(tokenize(h.timeless)) {
		stem := words.Stem(w.text)
		if len(stem) <= 2 || slices.Contains(h.Question.language.Common, w.text) || idle[stem] ||
			h.inNames(stem) || h.verbOf(stem) {
			continue
		}
		return false
	}
	return strings.TrimSpace(h.Question.Evidence) == ""
}

// idle are words of questions that filter nothing.
var idle = words.Set("place placed make made write wrote written issue issued have get got record recorded exist " +
	"all together currently there do we our us total number total sum overall different distinct per each " +
	"any had got out was who be by at on as an its her his she can way may per and are let see put did via the " +
	"many much sell sold take took taken happen happened book booked create created come came store stored register " +
	"registered receive received send sent ask asked open opened cost costs pay worth average mean")

// verbOf reports whether a word begins like the name of a table or a column.
func (h *held) verbOf(stem string) bool {
	return slices.ContainsFunc(h.tables, func(t *schema.Table) bool {
		has := func(name string) bool {
			return slices.ContainsFunc(words.Stems(name), func(w string) bool {
				return len(w) >= 4 &&
					len(stem) >= 4 && w[:4] == stem[:4]
			})
		}
		return has(t.Name) || slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return has(c.Name) })
	})
}

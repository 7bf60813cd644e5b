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
var plain = words.Set(`all other new old none yes no true false unknown total number name first last high low
	open may will order type date both main top best day month year and the of in for with value status active
	general standard normal current a i to`)

// value compares the stored values that the question names with the values by which the statement compares their
// column.
func (h held) value() string {
	if h.Values == nil {
		return ""
	}
	for _, v := range h.Values.Named(h.Text + currencyCodes(h.asked)) {
		t, _ := h.Schema.Lookup(v.Schema, v.Table)
		isRead := slices.Contains(h.tables, t)
		other, compared := h.comparedWith(t, v.Column)
		switch {
		case !isRead && h.lacksTable(v):
			return lack(v.Value)
		case !isRead || h.writesText(v.Value):
		case compared && other != "" && !h.denied(v.Value):
			return differ(v.Value, other)
		case compared && other == "" && h.pairs(t, v), !compared && h.misses(t, v):
			return lack(v.Value)
		}
	}
	return ""
}

// lacksTable reports whether the question puts a value beside the name of its table, "the Toys category", and the
// statement has neither that nor a key in its place.
func (h held) lacksTable(v contradict.Stored) bool {
	noun, value := nounOf(v.Table), strings.ToLower(v.Value)
	beside := h.hasPhrase(value+" "+noun) || h.hasPhrase(noun+" "+value)
	return beside && strings.Contains(h.Text, v.Value) && !h.writesText(v.Value) &&
		!h.anyMention(func(c mention) bool { return named(c.Column, noun) || refersTo(c.of, c.Column) == v.Table })
}

// pairs reports whether the question puts a value beside another one of its column, which is all that the statement
// takes: "urgent or high".
func (h held) pairs(t *schema.Table, v contradict.Stored) bool {
	value := strings.ToLower(v.Value)
	return h.anyConstant(func(c constant) bool {
		other := strings.ToLower(c.text)
		return c.equal() && c.column.is(t, v.Column) &&
			slices.ContainsFunc([]string{" or ", " and ", ", "}, func(join string) bool {
				return h.hasPhrase(value+join+other) || h.hasPhrase(other+join+value)
			})
	})
}

// denied reports whether the question says that it wants others than a value: "bookings that were not kept".
func (h held) denied(value string) bool {
	before, _, _ := strings.Cut(h.asked, strings.ToLower(value))
	return denial.MatchString(before)
}

var denial = compile(`(?:\b(?:not|never|non|other than|except|excluding|outside|outside of)|
		n['’]t)[ -](?:\pL+ )?(?:the )?$`)

// currencyCodes are the codes of currencies that a question names in words.
func currencyCodes(asked string) (codes string) {
	for _, word := range currencies.FindAllStringSubmatch(asked, -1) {
		codes += " " + currencyCode[word[1]]
	}
	return codes
}

var (
	currencies   = compile(`\b(euro|dollar|franc|yen|sterling)s?\b`)
	currencyCode = words.Pairs("euro EUR dollar USD franc CHF yen JPY sterling GBP")
)

// writesText reports whether a text stands in a string of the statement, or is one part of it, or its words are names
// there.
func (h held) writesText(value string) bool {
	value = strings.ToLower(value)
	for _, c := range h.constant {
		text := strings.ToLower(strings.Trim(c.text, "%_ "))
		if !c.number && text != "" && (strings.Contains(text, value) || strings.Contains(value, text) && len(text) >= 3) {
			return true
		}
	}
	return h.inNamesHere(stemsOf(value))
}

// inNamesHere reports whether one of words stands in a name of a table or a column of the statement.
func (h held) inNamesHere(stems []string) bool {
	return h.anyMention(func(c mention) bool { return named(c.Column, stems...) && !h.isAlias(c) }) ||
		h.anyTable(func(t *schema.Table) bool { return named(t.Name, stems...) })
}

// comparedWith returns a text with which the statement compares a column and which the question does not name. compared
// says that it compares the column with something.
func (h held) comparedWith(t *schema.Table, column string) (other string, compared bool) {
	for _, c := range h.constant {
		if !c.column.is(t, column) {
			continue
		}
		compared = true
		if other == "" && h.unnamed(c) {
			other = strings.Trim(c.text, "%")
		}
	}
	return other, compared
}

// unnamed reports whether the statement keeps the rows with a text that the question does not name.
func (h held) unnamed(c constant) bool { return c.equal() && !c.number && !h.named(c.text) }

// misses reports whether a value that the question names belongs to a filter that the statement lacks: the column holds
// few values, no other text of the table stands for it, and the word is no usual one.
func (h held) misses(t *schema.Table, v contradict.Stored) bool {
	c, ok := t.Column(v.Column)
	value := strings.ToLower(v.Value)
	if !ok || h.uses(t, v.Column) || idle[value] && slices.ContainsFunc(verbs.FindAllStringSubmatch(h.asked, -1),
		func(m []string) bool { return m[1] == value }) || profileOf(c).Distinct < 2 || profileOf(c).Distinct > 60 ||
		len(v.Value) < 2 || strings.HasSuffix(value, "ing") && strings.Contains(h.asked, value+" for ") {
		return false
	}
	beside := slices.ContainsFunc(words.OfName(v.Column), func(w string) bool { return h.hasPhrase(value + " " + w) })
	if plain[value] && !beside ||
		h.anyConstant(func(x constant) bool { return x.column.of == t && h.unnamed(x) }) {
		return false
	}
	names := naming(stemsOf(v.Value)...)
	return !slices.ContainsFunc(h.Schema.Tables, func(t schema.Table) bool { return names(t.Name) }) &&
		!h.anyTable(func(t *schema.Table) bool { return anyColumn(t, names) })
}

// verbs finds what somebody does: "that received gifts".
var verbs = compile(`\b(?:who|that|which|have|has|had|we|they) (\pL+)`)

// code compares a value that the question names in a table of names with the key by which the statement picks one of
// them: Spain and 'FR'.
func (h held) code() string {
	keys := except(h.constant, func(c constant) bool {
		return c.op != "=" || refersTo(c.column.of, c.column.Column) == "" || h.named(c.text)
	})
	if h.Values == nil || len(keys) == 0 {
		return ""
	}
	for _, v := range h.Values.Named(h.Text) {
		names, ok := h.Schema.Lookup(v.Schema, v.Table)
		if !ok || slices.Contains(h.tables, names) || len(names.PrimaryKey) != 1 {
			continue
		}
		for _, c := range keys {
			if !strings.EqualFold(refersTo(c.column.of, c.column.Column), v.Table) {
				continue
			}
			t := h.run("SELECT %s FROM %s WHERE %s = %s", h.quoted(names.PrimaryKey[0]), h.quotedTable(names),
				h.quoted(v.Column), h.literal(v.Value))
			if key := fmt.Sprint(valueOf(t)); valueOf(t) != nil && !h.writesConstant(key) && !strings.EqualFold(key, c.text) {
				return tell("The question says %s, which is %s; the statement says %s.", v.Value, key, c.text)
			}
		}
	}
	return ""
}

// inNames reports whether a word of a text is one of the name of a table or a column.
func (a answer) inNames(text string) bool {
	return a.Values != nil && slices.ContainsFunc(stemsOf(text), a.Values.InNames)
}

// general are words of names that say nothing about which column it is.
var general = words.Set(`id name date time at on in of the no number code type value is has key text day year
	flag by to for a an and all total amount count`)

// column looks for a column that the question names while the statement takes its sibling: shipped_at and ordered_at.
func (h held) column() string {
	for _, c := range h.columns {
		if c.of == nil || !h.decides(c) || // or it has not ended: removed_on IS NULL, for what is installed
			ended.MatchString(c.Column) && isNull.MatchString(h.upper[min(len(h.upper), c.Pos):]) {
			continue
		}
		for i := range c.of.Columns {
			other := &c.of.Columns[i]
			untaxed := taxed.MatchString(other.Name) && h.asks(withoutTax)
			if h.uses(c.of, other.Name) || !siblings(c.of, c.known, other) || untaxed {
				continue
			}
			theirs, mine := words.Stems(other.Name), words.Stems(c.known.Name)
			named := without(theirs, mine)
			said := func(w string) bool { return slices.Contains(h.known, w) || h.says(w+"ed") }
			if len(named) > 0 && h.allNamed(named) && !slices.ContainsFunc(without(mine, theirs), said) &&
				(!h.inConstants(named) || c.ofTime() && h.timed(named)) {
				return tell("The question says %s, the statement takes %s and not %s.", strings.Join(named, " "),
					c.known.Name, other.Name)
			}
		}
	}
	return ""
}

// whenDone is what was done at a time: shipped in May.
var whenDone = compile(`(?i)\b(\pL+) (?:in|on|during|since|before|after|between|until) (?:early |late |the |last |this )*
	(?:\d|q[1-4]\b|<month>\b|(?:day|week|month|quarter|year)\b)`)

// timed reports whether the question says when something was done, by one of words as stems.
func (h held) timed(list []string) bool {
	return slices.ContainsFunc(whenDone.FindAllStringSubmatch(h.asked, -1), func(m []string) bool {
		return slices.Contains(list, words.Stem(m[1]))
	})
}

var isNull = compile(`^(?:\w+\.)?\w+ IS NULL\b`)

// decides reports whether a mention decides about rows or figures: it is compared, joined, grouped by or aggregated.
func (h held) decides(c mention) bool {
	if c.Operand || slices.ContainsFunc(h.selects, func(s sqlshape.Select) bool {
		return s.Has(c.Pos) && slices.ContainsFunc(s.GroupBy, c.writes)
	}) {
		return true
	}
	at := h.tokenAt(c.Pos)
	return at > 1 && h.word(at-1) == "(" && h.tokens[at-2].Kind == sqltext.Word
}

// siblings reports whether two columns of a table are easily taken for each other: both hold times, both refer to one
// table, or they have one type and a word in common, or are figures of one word.
func siblings(t *schema.Table, a, b *schema.Column) bool {
	at, bt := refersTo(t, a.Name), refersTo(t, b.Name)
	isTime := timed(a.Name, a.Type)
	switch {
	case at != bt:
		return false
	case at != "":
		return true
	case isTime != timed(b.Name, b.Type):
		return false
	case isTime:
		return true
	}
	aw, bw := words.Stems(a.Name), words.Stems(b.Name)
	return strings.EqualFold(a.Type, b.Type) && (share(except(aw, func(w string) bool { return w == "id" }), bw) ||
		len(aw) == 1 && len(bw) == 1 && realType.MatchString(a.Type))
}

var realType = compile(`(?i)REAL|DOUBLE|FLOAT|DEC|NUMERIC|MONEY`)

// refersTo is the table to which a column refers; "" for none.
func refersTo(t *schema.Table, column string) string {
	if t == nil {
		return ""
	}
	for _, k := range t.ForeignKeys {
		if len(k.Columns) == 1 && strings.EqualFold(k.Columns[0], column) {
			return k.RefTable
		}
	}
	return ""
}

// isKey reports whether a column is a key, or refers to one.
func isKey(t *schema.Table, column string) bool {
	return refersTo(t, column) != "" || slices.Contains(t.PrimaryKey, column)
}

// without returns the words of a that neither b has nor are general.
func without(a, b []string) []string {
	return except(a, func(w string) bool { return slices.Contains(b, w) || general[w] })
}

// allNamed reports whether the question itself has all of these words. A word like one of them counts unless a name of
// the statement explains it: shipped_at is not what "shipping country" means.
func (h held) allNamed(list []string) bool {
	others := except(h.stems, func(s string) bool { return h.inNamesHere([]string{s}) })
	return len(except(list, func(w string) bool { return h.says(w, w+"ed") || alike(others, w, 5, 5) })) == 0
}

// inConstants reports whether one of words stands in a constant or in a name of the statement.
func (h held) inConstants(list []string) bool {
	return h.inNamesHere(list) || slices.ContainsFunc(list, func(w string) bool {
		return h.anyConstant(func(c constant) bool { return strings.Contains(strings.ToLower(c.text), w) })
	})
}

// sayable are types of columns that say yes and no, and the names of those that count nothing: no goals.
var sayable = compile(`(?i)BOOL|TEXT|CHAR|ENUM|INT.* .*[^s]$`)

// flag looks for a column of yes and no that the question names and the statement does not read.
func (h held) flag() string {
	for _, t := range h.tables {
		for i := range t.Columns {
			c := &t.Columns[i]
			named := without(words.Stems(c.Name), nil)
			if len(named) == 1 && h.omits(t, c, named[0]) {
				return tell("The question says %s, and the statement does not read %s.", named[0], c.Name)
			}
			if len(named) != 1 || !isYesOrNo(c) || !sayable.MatchString(c.Type+" "+c.Name) || h.uses(t, c.Name) ||
				h.inConstants(named) || slices.Contains(h.language.Common, named[0]) { // no_show
				continue
			}
			if h.says(named[0], "in"+named[0], "un"+named[0], "non"+named[0]) &&
				!h.Has("most/least/more/less/how "+named[0],
					named[0]+" in/on/since/during/for/within/at/until/last/this/from/between/by/or") {
				return tell("The question says %s, and the statement does not read %s.", named[0], c.Name)
			}
		}
	}
	return ""
}

// omits reports whether the question asks for things by what was done to them, paid bills or unpaid ones, and the
// statement has no condition on a state at all.
func (h held) omits(t *schema.Table, c *schema.Column, done string) bool {
	return timed(c.Name, c.Type) && profileOf(c).Nulls > 0 && len(h.tables) == 1 && h.single && !h.writes(" NULL") &&
		!h.inNamesHere([]string{done}) && h.Has("un"+done, done+" "+nounOf(t.Name)+"*") &&
		!h.anyConstant(func(c constant) bool { return c.op != "" && !c.column.ofTime() })
}

var (
	// careful are columns and values by which people leave out rows that do not count.
	careful = compile(`(?i)delet|remov|archiv|terminat|scrap|retire|active|enabled|valid|void|cancel|refund|
		status|state|test|churn|closed|end|left|current|discontinu|expire|draft|is_|until|_to$`)
	usual = compile(`(?i)^(?:done|complete[d]?|active|valid|current|final|posted|confirmed|enabled|approved|
		live|closed|succe\w*|finished|received|settled|delivered|fulfilled|processed|accepted|verified|y|yes|true|t|a|1)$`)
	// vague are words that may stand for any bound.
	vague = compile(`(?i)\b(?:high|higher|low|lower|large|larger|small|smaller|big|bigger|old|older|young|
		younger|new|newer|long|longer|short|shorter|heavy|cheap|expensive|adults?|minors?|children|seniors?|
		teen\w*|good|bad|well|poor|rich|popular|frequent\w*|recent\w*|many|few|often|rare\w*|several|multiple|
		most|above|below|over|under|top|normal|abnormal|over-?due|late|early|more|less|excellent|fail\w*|
		pass\w*|severe|warm|hot|cold|fast|slow|at least|not|no|without|never|only|any|some|exists?|ha[sd]|have|
		having|zero|free|positive|negative|percent\w*|ratio|share|rate|age|aged|centur\w*|decade|half|both|
		second|third|fourth|fifth|\pL+days?)\b`)
	timeWords = compile(`(?i)\b(?:(?:19|20)\d\d\w*|today|yester\w*|now|current\w*|ago|since|until|till|
		recent\w*|last|past|next|previous|this|\pL*days?|
		christmas|easter|eve|dates?|weeks?|months?|quarters?|years?|daily|weekly|
		monthly|yearly|annual\w*|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|
		when|before|after|during|born|age[ds]?|old\w*|young\w*|adults?|minors?|children|seniors?|new\w*|overdue|
		over-due|late\w*|early|earlie\w*|season|spring|summer|autumn|fall|winter|century|decades?|upcoming|
		still|future|period|time\w*|hours?|morning|afternoon|evening|night|expir\w*|active|open|due|no longer|
		former\w*|q[1-4]|h[12]|[ymqw]td)\b`)
)

// unasked looks for a condition with a constant that nothing in the question stands for.
func (h held) unasked() string {
	if len(h.Earlier) > 0 {
		return ""
	}
	known := h.asked + " " + h.evidence
	hasNumber := strings.ContainsAny(known, "0123456789") || h.asks(anyNumber)
	for _, c := range h.constant {
		column := c.column.known
		if column == nil || c.drops() || careful.MatchString(column.Name) && usual.MatchString(c.text) || h.inCase(c.at) {
			continue
		}
		said := true
		switch {
		case statedTime.MatchString(c.text) && (!c.number && len(c.text) > 4 || h.yearly(c)):
			said = len(h.times) > 0 || timeWords.MatchString(known) || hasNumber && c.op != "=" || // drivers over 40
				strings.HasPrefix(c.text, h.Now.Format("2006-01-02"))
		case c.number && !c.column.ofTime() && !isKey(c.column.of, column.Name):
			said = apart(c.text, "0") == 0 || apart(c.text, "1") == 0 || hasNumber || vague.MatchString(known)
		case !c.number && (c.op == "=" || c.op == "IN"):
			if h.unexplained(column, c.text) && !(h.asks(denies) && h.listsOthers(c.column)) {
				return tell("The statement keeps only %s, which the question does not say.", c.text)
			}
		}
		if !said {
			return tell("The statement keeps %s %s %s, which the question does not say.", column.Name, c.op, c.text)
		}
	}
	return ""
}

// inCase reports whether a token stands in a CASE.
func (h held) inCase(at int) bool {
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

// unexplained reports whether nothing in the question stands for a text: neither a word of it, nor a word that names
// neither a table nor a column and may be another name for it.
func (h held) unexplained(column *schema.Column, text string) bool {
	if len(text) <= 3 || h.named(text) || h.spells(text) || strings.Contains(text, "_") || h.evidence != "" ||
		share(without(words.Stems(column.Name), nil), h.stems) {
		return false
	}
	return !slices.ContainsFunc(unmarked(tokenize(h.timeless)), func(w token) bool {
		stem := words.Stem(w.text)
		return len(stem) > 2 && !slices.Contains(h.language.Common, w.text) && !idle[stem] &&
			!h.inNames(stem) &&
			!h.anyTable(func(t *schema.Table) bool { return isLike(t, stem) })
	})
}

// spells reports whether the question has the initials of a text: US for United States.
func (h held) spells(text string) bool {
	letters := ""
	for _, w := range words.Of(text) {
		letters += strings.ToUpper(w[:1])
	}
	return len(letters) > 1 && words.Spelled(h.Text, letters)
}

// idle are words of questions that filter nothing.
var idle = words.Set(`place placed make made write wrote written issue issued have get got record recorded exist
	all together currently there do we our us total number total sum overall different distinct per each
	any had got out was who be by at on as an its her his she can way may per and are let see put did via the
	many much sell sold take took taken happen happened book booked create created come came store stored register
	registered receive received send sent ask asked open opened cost costs pay worth average mean`)

// isLike reports whether a word begins like the name of a table or of one of its columns.
func isLike(t *schema.Table, word string) bool {
	has := func(name string) bool { return alike(words.Stems(name), word, 4, 4) }
	return has(t.Name) || anyColumn(t, has)
}

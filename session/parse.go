package session

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Parse reads a correction as a person writes it in English, and resolves it. It looks for the names that the schema has
// and then for one of these forms around them, in this order:
//
//	join     A.x = B.y; use A.x = B.y; A.x is the key to B.y; join A.x with B.y; join A and B on A.x = B.y; join A and B using x
//	column   u means T.c; u is T.c; u = T.c; by u I mean T.c; map u to T.c; use T.c for u
//	table    use table X; use the X table; it is X; select X not Y, Z; do not use Y; without the table Y; not Y, X;
//	         Y is wrong, use X; swap Y for X; use X instead of Y; prefer X over Y; table X
//	other    natural language: everything else, as it is
//
// Names may be dotted, hyphenated or quoted as in SQL. Each word of a form is one of a list: a text with another word in it
// is natural language. What is said behind a form is kept as Text; where it could turn the form around ("… is wrong", "…
// or …", a question mark), all of it is natural language. Negation never selects.
//
// An error is a *CorrectionError: the text is empty or longer than 500 characters, or it is one of the forms as a whole
// and names something that the schema does not have. What it says of other tables is the error's Held.
func Parse(text string, s *schema.Schema) (Correction, error) {
	text, err := clean("text", text, maxText)
	if err != nil {
		return Correction{}, err
	}
	p := &parser{schema: s, text: text, tokens: lex(text)}
	for len(p.tokens) > 0 && p.mark(len(p.tokens)-1, ".", "!", ",", ";") {
		p.tokens = p.tokens[:len(p.tokens)-1]
	}
	if n := len(p.tokens); n > 0 && !p.mark(n-1, "?") {
		p.write()
		for _, form := range []func(*parser) (Correction, int, error){(*parser).join, (*parser).column, (*parser).table} {
			switch c, end, err := form(p); {
			case err != nil:
				return Correction{}, err
			case c.Kind != "":
				c.Text = p.rest(end)
				return c.Resolve(s)
			}
		}
	}
	return Correction{Kind: CorrectText, Text: text}.Resolve(s)
}

// Mentions reports whether a text names a table of s, or a column behind its table.
func Mentions(text string, s *schema.Schema) bool {
	p := &parser{schema: s, text: text, tokens: lex(text)}
	p.write()
	return slices.ContainsFunc(p.items, func(it item) bool { return it.table != nil || it.code == "C" })
}

// The words of the forms.
var (
	courtesy = words.Set(`please thanks thank you ok okay well sorry actually hi but so then`)
	// What says nothing between the words of a form, and what may stand behind the last of them.
	filler   = words.Set(`the a an please thanks ok okay well sorry actually hi so then both here now again`)
	trailing = words.Set(`instead here now again there too`)
	refusing = words.Set(`not never don't dont shouldn't mustn't cannot can't avoid stop`)
	leaving  = words.Set(`without exclude excluding except ignore skip no`) // only with the word table
	// A join, tables or a column may be followed by a mark or by one of these words. Behind another word the text says
	// something else ("A.x = B.y is wrong", "u means A.x or B.y").
	following = words.Set(`because since as for please thanks so instead rather when where only with in and not on by if here now`)
	reasons   = words.Set(`because since as please thanks instead`)
	// Behind tables: what is said of them, and what limits a rejection.
	stating = words.Set(`or is isn't was wasn't are aren't does doesn't has seems looks must should shall can could will would may might ought needs unless`)
	bounded = words.Set(`alone only if when where until except without together twice`)
	// Words that turn around what stands before them, of several languages.
	turning = words.Set(`wrong incorrect never nicht kein keine falsch pas ne jamais faux não nunca niet geen ikke inte nie не нет 不 不是 没有 ない`)
	// Words that begin a question, and words that no meaning is given by "is", "=" and "should be".
	questions = words.Set(`is are was were why what which who how where does did should could would can`)
	nouns     = words.Set(`column field table right correct proper wrong answer filter key join condition only of where and or with without`)
	pronouns  = words.Set(`it this that these those they there what which who how he she i you we one`)
)

// item is a word of a form: a name of the schema, what stands where a name should, or a word as it is.
type item struct {
	// code is T for a table that the text calls one, t for another one, a for one whose name a column has, too; C for a
	// column behind its table, K for such a name that is unknown; U for an unknown name that is quoted or called a table,
	// w for any other word that no form knows; "" for a word or mark of the forms.
	code     string
	table    *schema.TableName
	from, to int // its tokens
}

// parser reads the tokens of one text. Its methods take a place in tokens and return the place behind what they read.
type parser struct {
	schema *schema.Schema
	text   string
	tokens []token

	items  []item
	line   string // the items as the forms read them: "use T0 , not t1"
	starts []int  // of the items in line
}

// word returns the plain word at i in lower case; "": there is none.
func (p *parser) word(i int) string {
	if i < 0 || i >= len(p.tokens) || p.tokens[i].quoted || len(p.tokens[i].parts) != 1 {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(p.tokens[i].parts[0]), "’", "'")
}

func (p *parser) is(i int, any ...string) bool {
	w := p.word(i)
	return w != "" && slices.Contains(any, w)
}

func (p *parser) mark(i int, any ...string) bool {
	return i >= 0 && i < len(p.tokens) && p.tokens[i].parts == nil && slices.Contains(any, p.tokens[i].mark)
}

// pause reports whether a mark between parts of a sentence stands at i.
func (p *parser) pause(i int) bool { return p.mark(i, ",", ".", ";", ":", "!", "-", "–", "—") }

func (p *parser) end(i int) bool { return i >= len(p.tokens) }

// write finds the names in the tokens and writes the line that forms are looked for in.
func (p *parser) write() {
	for i := 0; !p.end(i); {
		w := p.word(i)
		named := p.is(i-1, "table", "tables") || p.mark(i-1, ":") && p.is(i-2, "table", "tables") ||
			p.is(i-1, "is", "called", "named") && p.is(i-2, "table")
		switch found, next := p.name(i); {
		case (w == "no" || w == "nope") && p.pause(i+1):
			i += 2
		case found != nil && (named || w == "" || !control[w]):
			it := item{"t", found, i, next}
			if p.is(next, "table", "tables") {
				it.code, it.to, next = "T", next+1, next+1
			} else if named {
				it.code = "T"
			} else if p.isColumn(found.Name) {
				it.code = "a"
			}
			p.items, i = append(p.items, it), next
		case p.dotted(i):
			it := item{code: "C", from: i, to: i + 1}
			if _, err := column(p.schema, columnOf(p.tokens[i].parts)); err != nil {
				it.code = "K"
			}
			if p.is(i+1, "column", "field") {
				it.to++
			}
			p.items, i = append(p.items, it), it.to
		default:
			it := item{code: p.unknown(i, named), from: i, to: i + 1}
			if it.code == "U" && p.is(i+1, "table", "tables") {
				it.to++
			}
			p.items, i = append(p.items, it), it.to
		}
	}
	// The word table says what the name beside it is, and is no word of a form then.
	p.items = slices.DeleteFunc(p.items, func(it item) bool {
		w := p.word(it.from)
		named := func(at int) bool {
			return slices.ContainsFunc(p.items, func(o item) bool { return strings.ContainsAny(o.code, "TU") && o.from == at })
		}
		switch {
		case it.table != nil || it.code != "":
			return false
		case w == "table" || w == "tables":
			return named(it.to) || p.mark(it.to, ":") && named(it.to+1)
		}
		return filler[w] || w == "instead" && !p.is(it.to, "of") ||
			p.mark(it.from, ":") && p.is(it.from-1, "table", "tables") || p.mark(it.from, "=") && p.mark(it.from-1, "=")
	})
	var b strings.Builder
	for n, it := range p.items {
		p.starts = append(p.starts, b.Len())
		switch {
		case it.code != "":
			b.WriteString(it.code + strconv.Itoa(n) + " ")
		case p.word(it.from) != "":
			b.WriteString(p.word(it.from) + " ")
		default:
			b.WriteString(p.text[p.tokens[it.from].from:p.tokens[it.from].to] + " ")
		}
	}
	p.line = b.String()
}

// name reads a table of the schema. Up to four words may be one name.
func (p *parser) name(i int) (found *schema.TableName, next int) {
	for n := min(4, len(p.tokens)-i); n > 1; n-- {
		words := p.tokens[i : i+n]
		if slices.ContainsFunc(words, func(t token) bool { return t.quoted || len(t.parts) != 1 }) {
			continue
		}
		if t, ok := p.schema.Lookup("", p.text[words[0].from:words[n-1].to]); ok {
			return new(t.TableName()), i + n
		}
	}
	if p.tokens[i].parts == nil {
		return nil, i
	}
	if t, err := table(p.schema, tableOf(p.tokens[i].parts)); err == nil {
		return new(t.TableName()), i + 1
	}
	return nil, i
}

// unknown is the code of a token that is no name of the schema.
func (p *parser) unknown(i int, named bool) string {
	w := p.word(i)
	switch {
	case p.tokens[i].parts == nil, vocabulary[w], w != "" && p.isColumn(w), w != "" && strings.Trim(w, "0123456789") == "":
		return ""
	case w == "", named:
		return "U"
	}
	if p.is(i+1, "table") && (strings.ContainsAny(w, "_0123456789") || len(p.fault(i).Like) > 0) { // "another table" is none
		return "U"
	}
	return "w"
}

// fault is the error of a token that names no table.
func (p *parser) fault(i int) *CorrectionError {
	_, err := table(p.schema, tableOf(p.tokens[i].parts))
	bad, _ := err.(*CorrectionError)
	return bad
}

// dotted reports whether a name of a column with its table stands at i, known or not.
func (p *parser) dotted(i int) bool {
	return !p.end(i) && len(p.tokens[i].parts) > 1 && (p.tokens[i].quoted || strings.Trim(p.tokens[i].parts[0], "0123456789") != "")
}

// isColumn reports whether a column has this name.
func (p *parser) isColumn(name string) bool {
	has := func(t schema.Table) bool { _, found := t.Column(name); return found }
	return p.schema != nil && slices.ContainsFunc(p.schema.Tables, has)
}

// follows reports whether a form may end at i: at the end of the text, before a word that allowed takes, or, with marks,
// before a mark. What turns the form around must not follow, unless it names another column instead.
func (p *parser) follows(i int, marks bool, allowed func(word string) bool) bool {
	at := i
	for p.mark(at, ",", ".", ";", ":", "!", "(", ")", "-", "–", "—") {
		at++
	}
	if p.end(at) {
		return true
	}
	if p.is(at, "or") || p.mark(at, "?") || p.is(at, "no") && p.is(at+1, "more", "longer") || !(marks && at > i) && !allowed(p.word(at)) {
		return false
	}
	for k := at; k < len(p.tokens); k++ {
		if p.dotted(k) {
			return true
		}
	}
	for k := at; k < len(p.tokens); k++ {
		if w := p.word(k); turning[w] || strings.HasSuffix(w, "n't") || w == "not" && k == len(p.tokens)-2 {
			return false
		}
	}
	return true
}

// past returns the place behind words and marks that say nothing behind a form.
func (p *parser) past(i int) int {
	for at := i; ; at++ {
		w := p.word(at)
		switch {
		case p.end(at):
			return at
		case w == "instead" && p.is(at+1, "of"), !trailing[w] && !courtesy[w] && !p.pause(at):
			if at > i && p.pause(at-1) {
				return i // the mark counts for what follows
			}
			return at
		}
	}
}

// rest returns what is said behind a form; "" if that is no more than courtesy.
func (p *parser) rest(i int) string {
	for w := p.word(i); !p.end(i) && (courtesy[w] || trailing[w] && !p.is(i+1, "of") || p.pause(i)); w = p.word(i) {
		i++
	}
	if p.end(i) {
		return ""
	}
	return strings.TrimSpace(p.text[p.tokens[i].from:p.tokens[len(p.tokens)-1].to])
}

// The parts of forms: a name, lists of names, and the words around them.
const (
	aName   = `[TtaUw]\d+` // of w the first one alone, since prose may go on behind it
	another = `[TtaU]\d+`
	means   = `(?:(?:column|field) )*(?P<column>[CK]\d+) `
	aList   = aName + `(?: (?:,|&|and|, and) ` + another + `)*`
	orList  = aName + `(?: (?:,|&|and|or|nor|, and|, or) ` + another + `)*`
	choose  = `select|choose|pick`
	verb    = choose + `|use|using|take|try|query|read|go|work|stick|switch|look|include`
	modal   = `i|i'd|you|we|it|it's|its|that|that's|should|must|need|needs|want|wanted|mean|meant|have|to|could|can|` +
		`always|only|just|said|asked|be|is|would|like|prefer`
	support = `used|called|named|asking|with|from|for|in|at|up|of|about|question|answer|right|correct|proper|table|` +
		`tables|one`
	wrongly = `(?:is|are|was|were) (?:wrong|incorrect|old|outdated|obsolete|deprecated|not right|not correct|not it|` +
		`not what i (?:mean|meant|want))(?: one| table| tables)?`
	rightly = `(?:is|are|was|were) (?:right|correct|better|what i (?:mean|meant|want|need))(?: one| table| tables)?`
	equal   = `=|equals|matches|references|refers to|points to|links to|goes with|belongs to|corresponds to|joins|` +
		`joins to|joins with|must equal|should equal|should match|` +
		`is (?:foreign )?key (?:to|of|for|into)|is (?:equal|linked|joined|related|connected|tied) (?:to|with)|is same as`
)

// tablePart is one part of a form of tables: what it selects is the group yes, what it rejects the group no.
type tablePart struct {
	form  *regexp.Regexp
	first bool // only at the beginning of the text, or behind a mark
	needs bool // another part has to select
}

var tableParts = []tablePart{
	{form: begins(`not (?P<no>` + aName + `) , (?P<yes>` + aName + `) $`), first: true},
	{form: begins(`(?:swap|exchange|replace|change|switch|trade)(?: from)? (?P<no>` + aList + `) ` +
		`(?:for|with|by|to|against) (?P<yes>` + aList + `) `), first: true},
	{form: begins(`(?P<no>` + another + `) should (?:be|have been) (?P<yes>` + another + `) `), first: true},
	{form: begins(`(?:(?:` + modal + `) )*prefer (?P<yes>` + aList + `) (?:over|to) (?P<no>` + aList + `) `), first: true},
	{form: begins(`(?P<yes>` + aList + `) (?:is|are|would be) better than (?P<no>` + aList + `) `), first: true},
	{form: begins(`(?P<no>` + aList + `) ` + wrongly + ` `), first: true, needs: true},
	{form: begins(`(?P<yes>` + aList + `) ` + rightly + ` `), first: true},
	{form: begins(`(?:(?:do|does|i|you|we|it|should|must|could|would|rather) )*` +
		`(?:not|never|don't|dont|shouldn't|mustn't|cannot|can't|avoid|stop)` +
		`(?: (?:` + verb + `|with|from|in|about|want|need|mean|be|to))* (?P<no>` + orList + `) `)},
	{form: begins(`(?:(?:instead|in place) of|(?:rather|other) than)(?: (?:` + verb + `|with|from))* (?P<no>` + orList + `) `)},
	{form: begins(`(?:(?:do|answer|try|go) |(?:do|answer) (?:it|this|that) |(?:try|once) (?:again|more) )?` +
		`(?:without|exclude|excluding|except|ignore|skip|no|forget|leave out|drop|remove)` +
		`(?: using)? (?P<no>[TU]\d+(?: (?:,|&|and|or|nor) [TtU]\d+)*) `), first: true},
	{form: begins(`leave (?P<no>[TtU]\d+) out `), first: true},
	{form: begins(`(?P<lead>(?:(?:` + verb + `|` + modal + `|` + support + `) )*)(?P<yes>` + aList + `) `)},
}

func begins(form string) *regexp.Regexp { return regexp.MustCompile(`^` + form) }

var (
	// What may stand before tables and between them.
	dismissed = begins(`(?:(?:can|could|would|will) you |(?:(?:no|that|that's|this|it|it's|is|was) )*(?:wrong|incorrect|not right|not it)(?: table| tables| one)? [,.;:!–—-] )`)
	between   = begins(`(?:(?:[,.;:!–—-]|and|but) )*`)

	joins = regexp.MustCompile(`^((?:(?:[Tt]\d+|[,:&(]|and|to|with|on|by|via|use|using|through|` +
		`join|joins|joined|link|connect|match|relate|tie|linked|connected|related|them|i|it|it's|that|they|you|we|` +
		`mean|meant|want|need|is|are|be|should|must|can|belong|together|right|correct|proper|condition|key|foreign|tables|table|have) )*)` +
		`([CK]\d+) (` + equal + `|with|to|and|on) ([CK]\d+) (?:\) )?(?:(?:is|are) (?:right|correct|join|key|condition|join condition) )?`)
	tying   = words.Set(`join link connect match relate tie`)
	shared  = begins(`(?:i mean |i meant |you should |you must )?join ([Tt]\d+) (?:and|with|to) ([Tt]\d+) (?:on|using|by|via) (?:\( )?(\S+) (?:\) )?`)
	purpose = words.Set(`to join for as`) // behind a join: "… to join"

	meanings = []*regexp.Regexp{
		begins(`(?P<term>.+?) (?:means|refers to|maps to|corresponds to|stands for|denotes|is short for|is stored in|` +
			`is kept in|is in|is called|comes from|:|→) ` + means),
		begins(`(?P<short>.+?) (?:is|are|=|should be) ` + means),
		begins(`map (?P<term>.+?) (?:to|onto) ` + means),
		begins(`(?:use|take|read|choose|pick) (?:(?:column|field) )*(?P<column>[CK]\d+) (?:for|as|when i say|if i say) (?P<last>.+) $`),
		begins(`(?:by|with) (?P<term>.+?) i (?:mean|meant) ` + means),
		begins(`(?:when|if|whenever|where) i (?:say|write|ask for|speak of|talk about) (?P<term>.+?)(?: ,)? ` +
			`i (?:mean|meant|want) ` + means),
		begins(`for (?P<term>.+?)(?: ,)? (?:use|take|read|choose) ` + means),
		begins(`i (?:mean|meant|want) (?P<column>[CK]\d+) (?:when|if|whenever|where) i (?:say|write|ask for) (?P<last>.+) $`),
		begins(`what i call (?P<term>.+?) is ` + means),
		begins(`(?:interpret|read|understand|treat|take) (?P<term>.+?) as ` + means),
		begins(`(?P<column>[CK]\d+) is (?:what i mean by|what i call|meant by) (?P<last>.+) $`),
	}
	// control are words that no table is called by, unless it stands in quotes or beside the word table.
	control = words.Set(strings.ReplaceAll(verb+"|"+modal, "|", " ") + ` not no never don't dont do does and or nor but as by with from for in at of about without if over than`)
	// vocabulary are the words of all forms, and of what may follow them. No other name is looked for in their place.
	vocabulary = vocabularyOf()
)

func vocabularyOf() map[string]bool {
	all := []*regexp.Regexp{dismissed, between, joins, shared}
	for _, p := range tableParts {
		all = append(all, p.form)
	}
	known := words.Set(`the a an please thanks sure also only`)
	for _, form := range append(all, meanings...) {
		for _, w := range regexp.MustCompile(`[a-z']+`).FindAllString(regexp.MustCompile(`\?P<\w+>|\\\w|\[[^\]]*\]`).ReplaceAllString(form.String(), " "), -1) {
			known[w] = true
		}
	}
	for _, set := range []map[string]bool{courtesy, filler, trailing, following, reasons, stating, bounded, turning, questions, pronouns} {
		maps.Copy(known, set)
	}
	return known
}

// indexes are the items that a matched text names.
func (p *parser) indexes(text string) (list []int) {
	for f := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(strings.TrimLeft(f, "TtaUwCK")); err == nil && n < len(p.items) && p.items[n].code != "" && strings.HasPrefix(f, p.items[n].code) {
			list = append(list, n)
		}
	}
	return list
}

// item is the one that a matched name is.
func (p *parser) item(name string) item { return p.items[p.indexes(name)[0]] }

// behind is the place behind the items that end before line[at:].
func (p *parser) behind(at int) int {
	n, _ := slices.BinarySearch(p.starts, at)
	if n == 0 {
		return 0
	}
	return p.items[n-1].to
}

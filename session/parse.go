package session

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Parse reads a correction as a person writes it in English, and resolves it. The forms, tried in this order:
//
//	join     A.x = B.y; use A.x = B.y; join A.x with B.y; join A and B on A.x = B.y; join A and B using x
//	table    use table X; select X not Y, Z; do not use Y; not Y, X; do not use Y, use X instead; use X instead of Y; table X
//	column   u means T.c; map u to T.c; use T.c for u
//	other    natural language: everything else, as it is
//
// Names may be dotted, hyphenated or quoted as in SQL. What is said behind a form is kept as Text; where it could turn
// the form around ("… is wrong", "… or …", a question mark), all of it is natural language. Negation never selects.
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
		for _, form := range []func(*parser) (Correction, int, error){(*parser).join, (*parser).table, (*parser).column} {
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

// The words of the forms.
var (
	courtesy = words.Set(`please thanks thank you ok okay well sorry actually hi but so then`)
	lead     = words.Set(`the a i mean meant want must should need needs to could can always just only is it's its correct right proper`)
	choosing = words.Set(`select choose pick use take try query read`)
	refusing = words.Set(`not never don't dont shouldn't mustn't cannot can't avoid`)
	leaving  = words.Set(`without exclude excluding except ignore skip no`) // only before the word table
	using    = words.Set(`use using select selecting choose pick take query read reading join joining include be`)
	// A join, tables or a column may be followed by a mark or by one of these words. Behind another word the text says
	// something else ("A.x = B.y is wrong", "u means A.x or B.y").
	following = words.Set(`because since as for please thanks so instead rather when where only with in and not on by if here now`)
	reasons   = words.Set(`because since as please thanks instead`)
	// Behind tables: what is said of them, and what limits a rejection.
	stating = words.Set(`or is isn't was wasn't are aren't does doesn't has seems looks must should shall can could will would may might ought needs unless`)
	bounded = words.Set(`alone only if when where until except without together twice`)
	// Words that turn around what stands before them, of several languages.
	turning = words.Set(`wrong incorrect never nicht kein keine falsch pas ne jamais faux não nunca niet geen ikke inte nie не нет 不 不是 没有 ない`)
)

// parser reads the tokens of one text. Its methods take a place in tokens and return the place behind what they read.
type parser struct {
	schema *schema.Schema
	text   string
	tokens []token
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
	return i < len(p.tokens) && p.tokens[i].parts == nil && slices.Contains(any, p.tokens[i].mark)
}

func (p *parser) end(i int) bool { return i >= len(p.tokens) }

// skip passes over words of some sets and marks between sentences.
func (p *parser) skip(i int, sets ...map[string]bool) int {
	for ; !p.end(i); i++ {
		w := p.word(i)
		if (w == "no" || w == "nope") && p.mark(i+1, ",", ".", ":", "!", "-", "–", "—") {
			continue
		}
		if !p.mark(i, ",", ".", ";", ":", "!", "-", "–", "—") && !slices.ContainsFunc(sets, func(s map[string]bool) bool { return w != "" && s[w] }) {
			break
		}
	}
	return i
}

// tableWord passes over "the table" and the like; named says that the word table stood there.
func (p *parser) tableWord(i int) (next int, named bool) {
	for p.is(i, "the", "only", "just", "any") {
		i++
	}
	if p.is(i, "table", "tables") {
		return i + 1, true
	}
	return i, false
}

// name reads a table of the schema. Up to four words may be one name.
func (p *parser) name(i int) (found schema.TableName, next int) {
	for n := min(4, len(p.tokens)-i); n > 1; n-- {
		words := p.tokens[i : i+n]
		if slices.ContainsFunc(words, func(t token) bool { return t.quoted || len(t.parts) != 1 }) {
			continue
		}
		if t, ok := p.schema.Lookup("", p.text[words[0].from:words[n-1].to]); ok {
			return t.TableName(), i + n
		}
	}
	if p.end(i) || p.tokens[i].parts == nil {
		return found, i
	}
	if t, err := table(p.schema, tableOf(p.tokens[i].parts)); err == nil {
		return t.TableName(), i + 1
	}
	return found, i
}

// names reads a list of tables, which ends at the first word that is none. The words of and stand between them.
func (p *parser) names(i int, and ...string) (found []schema.TableName, next int) {
	for at := i; ; {
		t, after := p.name(at)
		if after == at {
			return found, next
		}
		found, next = append(found, t), after
		for at = after; p.mark(at, ",", "&") || p.is(at, and...); at++ {
		}
		if at == after {
			return found, next
		}
	}
}

// dotted reports whether a name of a column with its table stands at i, known or not.
func (p *parser) dotted(i int) bool {
	return !p.end(i) && len(p.tokens[i].parts) > 1 && (p.tokens[i].quoted || strings.Trim(p.tokens[i].parts[0], "0123456789") != "")
}

// known returns the column at i. An error is nil unless the column is dotted and unknown.
func (p *parser) known(i int) (*schema.ColumnName, error) {
	if !p.dotted(i) {
		return nil, nil
	}
	return column(p.schema, columnOf(p.tokens[i].parts))
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

// rest returns what is said behind a form; "" if that is no more than courtesy.
func (p *parser) rest(i int) string {
	if i = p.skip(i, courtesy); p.end(i) || p.is(i, "instead") && p.end(i+1) {
		return ""
	}
	return strings.TrimSpace(p.text[p.tokens[i].from:p.tokens[len(p.tokens)-1].to])
}

// join reads the forms of a join.
func (p *parser) join() (Correction, int, error) {
	i := p.skip(0, courtesy, lead, words.Set("use using condition key"))
	joining := p.is(i, "join")
	var both []schema.TableName // of "join A and B on …"
	if joining {
		i = p.skip(i+1, words.Set("is condition key"))
		at, _ := p.tableWord(i)
		if list, next := p.names(at, "and"); next > 0 {
			if p.is(next, "with", "to") {
				at, _ = p.tableWord(next + 1)
				var more []schema.TableName
				more, next = p.names(at, "and")
				list = append(list, more...)
			}
			if len(list) == 2 && p.is(next, "on", "using", "by", "via") {
				both, i = list, next+1
			}
		}
	}
	open := p.mark(i, "(")
	if open {
		i++
	}
	end := i + 3
	switch {
	case p.mark(i+1, "=") && p.mark(i+2, "="):
		end = i + 4
	case p.mark(i+1, "="), joining && both == nil && p.is(i+1, "with", "to", "and", "on"):
	case len(both) == 2 && !p.end(i) && len(p.tokens[i].parts) == 1: // a column that both have
		c := schema.ColumnName{Table: both[0], Column: p.tokens[i].parts[0]}
		d := schema.ColumnName{Table: both[1], Column: c.Column}
		return p.joined(&c, &d, i+1, open)
	default:
		return Correction{}, 0, nil
	}
	if !p.dotted(i) || !p.dotted(end-1) {
		return Correction{}, 0, nil
	}
	left, right := columnOf(p.tokens[i].parts), columnOf(p.tokens[end-1].parts)
	return p.joined(&left, &right, end, open)
}

// joined is the join of two columns that ends at end. Names that are unknown are an error if nothing else is said.
func (p *parser) joined(left, right *schema.ColumnName, end int, open bool) (Correction, int, error) {
	if open && p.mark(end, ")") {
		end++
	}
	c := Correction{Kind: CorrectJoin, Join: &schema.Join{Left: *left, Right: *right}}
	a, err := column(p.schema, *left)
	b, err2 := column(p.schema, *right)
	if err == nil {
		err = err2
	}
	switch {
	case err != nil && p.end(end):
		return Correction{}, 0, err
	case err != nil || a.Table == b.Table || !p.follows(end, true, func(w string) bool { return following[w] }):
		return Correction{}, 0, nil
	}
	return c, end, nil
}

// table reads the forms of tables: parts that select and parts that reject, in any order.
func (p *parser) table() (Correction, int, error) {
	c := Correction{Kind: CorrectTable}
	end, sure, rejects := 0, true, false
	var unknown *CorrectionError
	for i := p.skip(0, courtesy, lead); ; i = p.skip(end, courtesy, lead, words.Set("and use")) {
		part := p.tablePart(i, end > 0, rejects)
		if part.err != nil && unknown == nil && (p.rejecting(part.end) || p.follows(part.end, false, func(w string) bool { return reasons[w] })) {
			unknown = part.err
		} else if part.names == nil {
			break
		} else if part.rejects {
			c.Rejected = append(c.Rejected, part.names...)
		} else {
			c.Tables = append(c.Tables, part.names...)
		}
		end, sure, rejects = part.end, part.sure, part.rejects
	}
	behind := p.word(p.skip(end))
	limits := stating[behind] || rejects && bounded[behind]
	allowed := func(w string) bool { return sure && !limits || reasons[w] }
	switch {
	case end == 0 || !p.follows(end, rejects && !limits, allowed):
		return Correction{}, 0, nil
	case unknown == nil:
		return c, end, nil
	case len(c.Tables)+len(c.Rejected) > 0:
		unknown.Held = &c
		unknown.Like = slices.DeleteFunc(unknown.Like, func(n string) bool {
			return slices.ContainsFunc(c.Rejected, func(t schema.TableName) bool { return t.String() == n })
		})
	}
	return Correction{}, 0, unknown
}

// tablePart is a list of tables with what is said of it.
type tablePart struct {
	names   []schema.TableName
	rejects bool
	sure    bool // it says that they are tables
	end     int
	err     *CorrectionError // a name stands there that is none of a table
}

// tablePart reads a part. more: others stand before it, rejects: the last of which rejects tables.
func (p *parser) tablePart(i int, more, rejects bool) (part tablePart) {
	start, verb := i, ""
	switch w := p.word(i); {
	case p.is(i, "do", "does") && p.is(i+1, "not"):
		part.rejects, i = true, i+2
	case p.is(i, "instead", "other", "rather") && p.is(i+1, "of", "than"):
		part.rejects, i = true, i+2
	case refusing[w]:
		part.rejects, i = true, i+1
	case leaving[w]:
		if _, named := p.tableWord(i + 1); named {
			part.rejects, i = true, i+1
		}
	}
	if part.rejects {
		for using[p.word(i)] {
			i++
		}
	} else if verb = p.word(i); choosing[verb] {
		i++
	}
	at, named := p.tableWord(i)
	if part.rejects && slices.ContainsFunc(p.tokens[i:at], func(t token) bool { return slices.Contains([]string{"only", "just"}, strings.ToLower(t.parts[0])) }) {
		return part // "do not use only orders" rejects nothing
	}
	if named && p.is(at, "is") || p.mark(at, ":") {
		at++
	}
	if part.names, part.end = p.names(at, "and"); part.rejects {
		part.names, part.end = p.names(at, "and", "or", "nor")
		if first, next := p.name(at); len(part.names) == 2 && !more && p.is(start, "not") && p.mark(next, ",") && p.end(part.end) {
			part.names, part.end = []schema.TableName{first}, next // "not A, B"
		}
	}
	switch {
	case part.names == nil:
		part.end, part.err = at+1, p.unknown(start, at, named, rejects && !part.rejects || more && part.rejects || p.rejecting(at+1))
		return part
	case !part.rejects && p.is(part.end, "instead") && !p.is(part.end+1, "of"):
		part.end++
	case !named && at == start && !p.end(part.end) && !p.rejecting(part.end): // tables alone
		part.names = nil
		return part
	}
	chosen := verb == "select" || verb == "choose" || verb == "pick"
	if !named && !chosen && slices.ContainsFunc(part.names, p.isColumn) {
		part.names = nil // "use country instead of city" may mean columns
		return part
	}
	part.sure = named
	return part
}

// unknown is the error of a name at a place where a table should stand, in a part that begins at start; nil where prose
// may stand there. Beside a part that means the contrary it has to be a table. Else, without the word table or quotes, it
// has to look like the name of one.
func (p *parser) unknown(start, at int, named, beside bool) *CorrectionError {
	if at >= len(p.tokens) || p.tokens[at].parts == nil {
		return nil
	}
	_, err := table(p.schema, tableOf(p.tokens[at].parts))
	bad, _ := err.(*CorrectionError)
	w := p.word(at)
	switch {
	case named, at > start && p.tokens[at].quoted:
		return bad
	case bad == nil, w == "", w == "instead", using[w], refusing[w], reasons[w], p.isColumn(schema.TableName{Name: w}):
		return nil
	case beside && !p.is(start, "not"), at > start && len(bad.Like) > 0:
		return bad
	}
	return nil
}

// rejecting reports whether a part that rejects tables stands behind i.
func (p *parser) rejecting(i int) bool {
	i = p.skip(i, words.Set("and but"))
	if !p.is(i, "not", "instead", "rather", "never") {
		return false
	}
	for i++; p.is(i, "of", "than") || using[p.word(i)]; i++ {
	}
	at, _ := p.tableWord(i)
	_, next := p.names(at)
	return next > 0
}

// isColumn reports whether a column has the name of a table.
func (p *parser) isColumn(t schema.TableName) bool {
	return slices.ContainsFunc(p.schema.Tables, func(other schema.Table) bool { _, has := other.Column(t.Name); return has })
}

// column reads the forms of a column.
func (p *parser) column() (Correction, int, error) {
	start := p.skip(0, courtesy)
	to, from, at := start, start, -1 // the term is tokens[from:to], the column stands at at
	end := 0
	switch {
	case p.is(start, "map"):
		for k := start + 2; k < len(p.tokens) && at < 0; k++ {
			if p.is(k, "to", "onto") {
				from, to, at = start+1, k, p.article(k+1)
			}
		}
		end = at + 1
	case p.is(start, "use"):
		k := p.article(start + 1)
		if p.dotted(k) && p.is(k+1, "for", "as") {
			at, from = k, k+2
			for to = from; !p.end(to) && p.tokens[to].parts != nil && !reasons[p.word(to)]; to++ {
			}
			end = to
		}
	default:
		for k := start + 1; k < len(p.tokens) && at < 0; k++ {
			switch {
			case p.is(k, "means"):
				to, at = k, p.article(k+1)
			case p.is(k, "refers", "maps", "corresponds") && p.is(k+1, "to"):
				to, at = k, p.article(k+2)
			case p.is(k, "i") && p.is(k+1, "mean", "meant") && p.is(start, "by", "with"):
				from, to, at = start+1, k, p.article(k+2)
			}
		}
		end = at + 1
	}
	if at < 0 || !p.dotted(at) || from >= to || to-from > 6 {
		return Correction{}, 0, nil
	}
	for k := from; k < to; k++ {
		if refusing[p.word(k)] || turning[p.word(k)] || strings.HasSuffix(p.word(k), "n't") {
			return Correction{}, 0, nil
		}
	}
	if p.is(from, "the", "a", "an") && to-from > 1 {
		from++
	}
	term := p.text[p.tokens[from].from:p.tokens[to-1].to]
	if to-from == 1 && p.tokens[from].quoted && len(p.tokens[from].parts) == 1 {
		term = p.tokens[from].parts[0]
	}
	name, err := p.known(at)
	switch {
	case err != nil && p.end(end):
		return Correction{}, 0, err
	case err != nil || !p.follows(end, true, func(w string) bool { return following[w] }):
		return Correction{}, 0, nil
	}
	return Correction{Kind: CorrectColumn, Term: term, Column: name}, end, nil
}

// article passes over "the column" and the like.
func (p *parser) article(i int) int {
	for p.is(i, "the", "column", "field") {
		i++
	}
	return i
}

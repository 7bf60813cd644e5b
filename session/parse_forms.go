package session

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// The parts of forms. Each ends with a blank.
const (
	aName   = `[TtaUw]\d+ `
	another = `[TtaU]\d+ ` // where prose may go on
	aList   = aName + `(?:(?:,|&|and|, and) ` + another + `)*`
	pair    = aName + `(?:(?:&|and) ` + another + `)*`
	orList  = aName + `(?:(?:&|and|or|nor) ` + another + `)*` // without commas: they could end what is refused
	mark    = `[,.;:!–—-] `
	end     = `(?:(?:instead|here|now|again|there|too) )*`

	verb = `(?:(?:use|using|take|try|query|read|work|stick|look|include|select|choose|pick) (?:(?:with|from|in|at|to) )?` +
		`|go (?:(?:with|to) )?|switch to )`
	lead = `(?:(?:(?:can|could|would|will) you |(?:i|you|we|it) (?:should|must|need to|have to|want to|want you to|would like to|would like you to) )?` +
		`(?:only |just |instead |have used |be using )*` + verb + `|(?:you|we|it) (?:should|must) (?:have used|be using) ` +
		`|(?:i|you|we|i'd) (?:need|want|wanted|mean|meant|said|like|would like|asked for|asked about) ` +
		`|(?:it's|that's|(?:it|that|this|question|answer|(?:right |correct |proper )?(?:table|one)) (?:is|should be|must be|should have been)) (?:about |in )?)` +
		`(?:(?:only|just|both) )?`
	refuse = `(?:(?:do not|don't|dont|never|not|avoid|stop|cannot|can't|(?:i|we) (?:do not|don't|dont|did not|didn't) (?:want|need|mean)|` +
		`(?:i|you|we|it) (?:(?:should|must|can|need) (?:not|never)|shouldn't|mustn't|cannot|can't)|it is not|it's not|that is not|that's not) ` +
		`(?:(?:to|be|ever|using|reading|taking|querying|want|need|mean|with|from|about|` + verb + `) ?)*` + orList +
		`|(?:(?:do|answer|try|go) (?:(?:it|this|that) )?|(?:try|once) (?:again|more) )?` +
		`(?:without|exclude|excluding|except|ignore|skip|no|forget|omit|leave out|drop|remove) (?:using )?[TU]\d+ (?:(?:&|and|or|nor) [TtU]\d+ )*` +
		`|leave [TtU]\d+ out )` + end
	refusals = refuse + `(?:(?:` + mark + `)?(?:(?:and|or|nor|but) )?` + refuse + `)*`
	instead  = `(?:(?:instead|in place) of|(?:rather|other) than) (?:` + verb + `|with |from )?` + orList
	wrongly  = `(?:(?:is|are|was|were) (?:wrong|incorrect|old|outdated|obsolete|deprecated|stale|empty|not right|not correct|not it|` +
		`not what i (?:mean|meant|want)) (?:(?:one|table|tables) )?|(?:looks|seems) (?:wrong|incorrect|old|outdated|stale|empty) )`
	rightly   = `(?:is|are|was|were) (?:right|correct|better|what i (?:mean|meant|want|need)) (?:(?:one|table|tables) )?`
	dismissed = `^(?:(?:(?:that's|that is|this is|it's|it is|it was|that was) )?(?:wrong|incorrect|not right|not it) (?:(?:table|one) )?[,.;!] )?`

	means = `(?:(?:column|field) )?(?P<column>[CK]\d+) $`
	equal = `=|equals|matches|references|refers to|points to|links to|goes with|belongs to|corresponds to|joins|joins to|joins with|` +
		`must equal|should equal|should match|is (?:foreign )?key (?:to|of|for|into)|is (?:equal|linked|joined|related|connected|tied) (?:to|with)|is same as`
	tie   = `(?:join|connect|link|match|relate|tie) `
	modal = `(?:(?:can|could|will|would) you |(?:i|you|we|they|it) (?:mean|meant|want|should|must|need to|have to|is|should be|must be) |it's )?`
	sides = `(?P<left>[CK]\d+) (?:` + equal +
		`) (?P<right>[CK]\d+) (?:\) )?(?:to join |(?:is|are) (?:(?:right|correct) )?(?:join|key|condition|join condition) )?$`
	on = `(?:(?:on|by|via|using|through|with|:) )?(?:\( )?`
)

// Texts that are forms of tables: yes are those to use, no those not to use.
var tableForms = forms(
	dismissed+`(?P<lead>`+lead+`|both )?(?P<yes>`+aList+`)`+end,
	`^(?P<no>`+refusals+`)`,
	dismissed+`(?P<lead>`+lead+`)?(?P<yes>`+aList+`)`+end+`(?P<no>(?:`+mark+`)?(?:but )?(?:`+refusals+`|`+instead+end+`))`,
	dismissed+`(?P<lead>`+lead+`)?(?P<yes>`+aList+`)`+end+`(?:, )?and (?P<no>(?:not|never) (?:(?:with|from|in|use) )?`+
		aName+`)`,
	dismissed+`(?P<no>`+refusals+`|`+instead+`)(?:`+mark+`)?(?:(?:and|but) )?(?P<lead>`+lead+`)(?P<yes>`+aList+`)`+end,
	dismissed+`(?P<no>`+refuse+`)(?:, )?but (?P<yes>`+aList+`)`+end,
	`^(?P<no>`+pair+`)`+wrongly+`(?:`+mark+`)(?:(?:so|please) )?(?P<lead>`+lead+`)(?P<yes>`+aList+`)`+end,
	`^(?P<no>`+pair+`)`+wrongly+`(?:`+mark+`|and |but )(?P<yes>`+another+`)`+rightly,
	dismissed+`(?P<lead>`+lead+`)(?P<yes>`+aList+`)`+end+mark+`(?P<no>`+another+`)`+wrongly,
	`^(?P<yes>`+pair+`)`+rightly+`(?:(?:`+mark+`|and |but )(?P<no>`+another+`)`+wrongly+`)?`,
	`^(?:swap|exchange|replace|change|switch|trade) (?:from )?(?P<no>`+pair+`)(?:for|with|by|to|against) (?P<yes>`+pair+
		`)`+end,
	`^(?P<no>`+another+`)should (?:be|have been) (?P<yes>`+another+`)`,
	`^(?:(?:i|we) would |(?:i|i'd|we|we'd) )?prefer (?P<yes>`+pair+`)(?:(?:over|to|to use|rather than|instead of) (?P<no>`+
		pair+`))?`,
	`^(?P<lead>`+lead+`)(?P<yes>`+pair+`)over (?P<no>`+pair+`)`,
	`^(?P<yes>`+pair+`)(?:is|are|would be) better than (?P<no>`+pair+`)`,
)

var joinForms = forms(
	dismissed+modal+`(?:(?:use|`+tie+`) )?(?:`+tie+
		`)?(?:(?:(?:them|tables) |[Tt]\d+ (?:(?:,|&|and|with|to) [Tt]\d+ )*)+(?:(?:are|is) )?)?`+
		`(?:(?:should be|must be) )?(?:(?:joined|linked|connected|related|matched|they belong together|belong together|joined together) )?`+on+sides,
	dismissed+`(?:(?:right|correct|proper|join|foreign) )*(?:join|key|condition|link) (?:(?:condition|key) )?(?:(?:is|should be|must be|:) )?`+on+sides,
	dismissed+modal+tie+`(?P<left>[CK]\d+) (?:with|to|and|on) (?P<right>[CK]\d+) `,
	dismissed+modal+
		`join (?P<left>[Tt]\d+) (?:and|with|to) (?P<right>[Tt]\d+) (?:on|using|by|via) (?:\( )?(?P<both>\S+) (?:\) )?`,
)

var columnForms = forms(
	`^(?P<term>.+?) (?:means|refers to|maps to|corresponds to|stands for|denotes|is short for|is stored in|is kept in|is in|is called|comes from|:|→) `+means,
	`^map (?P<term>.+?) (?:to|onto) `+means,
	`^(?:use|take|read|choose|pick) (?:(?:column|field) )?(?P<column>[CK]\d+) (?:for|as|when i say|if i say) (?P<term>.+) `,
	`^(?:by|with) (?P<term>.+?) i (?:mean|meant) `+means,
	`^(?:when|if|whenever|where) i (?:say|write|ask for|speak of|talk about) (?P<term>.+?)(?: ,)? i (?:mean|meant|want) `+
		means,
	`^for (?P<term>.+?)(?: ,)? (?:use|take|read|choose) `+means,
	`^i (?:mean|meant|want) (?P<column>[CK]\d+) (?:when|if|whenever|where) i (?:say|write|ask for) (?P<term>.+) `,
	`^what i call (?P<term>.+?) is `+means,
	`^(?:interpret|read|understand|treat|take) (?P<term>.+?) as `+means,
	`^(?P<column>[CK]\d+) is (?:what i mean by|what i call|meant by) (?P<term>.+) `,
	`^(?P<short>.+?) (?:is|are|=|should be) `+means,
)

// forms are texts as a whole.
func forms(list ...string) (all []*regexp.Regexp) {
	for _, form := range list {
		all = append(all, regexp.MustCompile(strings.TrimSuffix(form, "$")+"$"))
	}
	return all
}

// vocabulary are the words of the forms. No table is called by one, unless it stands in quotes or beside the word
// table.
var vocabulary = vocabularyOf(slices.Concat(tableForms, joinForms, columnForms))

func vocabularyOf(all []*regexp.Regexp) map[string]bool {
	known := words.Set(`the a an also another sure because has why how what who which where when whose maybe`)
	notation := regexp.MustCompile(`\?P<\w+>|\\\w|\[[^\]]*\]`)
	for _, form := range all {
		for _, w := range regexp.MustCompile(`[a-z']+`).FindAllString(notation.ReplaceAllString(form.String(), " "), -1) {
			known[w] = true
		}
	}
	return known
}

// join reads the forms of a join.
func (r *reader) join() (c Correction, err error) {
	m := r.match(joinForms)
	if m == nil {
		return c, nil
	}
	var sides [2]*schema.ColumnName
	for i, group := range []string{"left", "right"} {
		f := r.named(m[group])[0]
		name := columnOf(r.tokens[f.from].parts)
		if both := m["both"]; f.table != nil {
			said := r.fields[strings.Count(r.line[:both[0]], " ")]
			if said.to-said.from > 1 || len(r.tokens[said.from].parts) != 1 {
				return c, nil
			}
			name = schema.ColumnName{Table: *f.table, Column: r.tokens[said.from].parts[0]}
		}
		if sides[i], err = column(r.schema, name); err != nil {
			return c, err
		}
	}
	if sides[0].Table == sides[1].Table {
		return c, nil
	}
	return Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: *sides[0], Right: *sides[1]}}, nil
}

// What is no word of a user, and what "is", "=" and "should be" give no meaning to.
var (
	noTerms = words.Set(
		`not no never don't dont cannot avoid stop wrong incorrect neither nor hardly it this that these those they there what which who how he she i you we one`)
	leading  = words.Set(`the a an word words term name expression my please`) // before one
	noShorts = words.Set(
		`is are was were why where does did should could would can column field table right correct proper answer filter key join condition only of and or with without`)
)

// column reads the forms of a column.
func (r *reader) column() (Correction, error) {
	m := r.match(columnForms)
	if m == nil {
		return Correction{}, nil
	}
	group, short := m["short"]
	if !short {
		group = m["term"]
	}
	term, ok := r.term(group, short)
	if !ok {
		return Correction{}, nil
	}
	name, err := column(r.schema, columnOf(r.tokens[r.named(m["column"])[0].from].parts))
	return Correction{Kind: dialogue.CorrectColumn, Term: term, Column: name}, err
}

// term is the user's word in a group. short: no verb says that it is one.
func (r *reader) term(group [2]int, short bool) (string, bool) {
	first := strings.Count(r.line[:group[0]], " ")
	list := r.fields[first : first+len(strings.Fields(r.line[group[0]:group[1]]))]
	for len(list) > 1 && leading[r.word(list[0].from)] {
		list = list[1:]
	}
	from, to := list[0].from, list[len(list)-1].to
	if len(list) > 6 || short && len(list) > 3 {
		return "", false
	}
	for i := from; i < to; i++ {
		w := r.word(i)
		if r.tokens[i].parts == nil || r.dotted(i) || noTerms[w] || strings.HasSuffix(w, "n't") || short && noShorts[w] {
			return "", false
		}
	}
	if t := r.tokens[from]; to-from == 1 && t.quoted && len(t.parts) == 1 {
		return t.parts[0], true
	}
	return r.text[r.tokens[from].from:r.tokens[to-1].to], true
}

// wishes are leads that say what the user wants, which may be anything: "I want revenue, not orders".
var wishes = regexp.MustCompile(
	`^(?:(?:i|you|we|i'd) (?:need|want|mean|said|like|would like|asked)|it's|that's)|about $`)

// table reads the forms of tables.
func (r *reader) table() (c Correction, err error) {
	m := r.match(tableForms)
	if m == nil {
		return c, nil
	}
	yes, no := r.named(m["yes"]), r.named(m["no"])
	all := slices.Concat(yes, no)
	has := func(codes string) bool {
		return slices.ContainsFunc(all, func(f field) bool { return strings.Contains(codes, f.code) })
	}
	lead := r.line[m["lead"][0]:m["lead"][1]]
	chosen := strings.HasPrefix(lead, "select ") || strings.HasPrefix(lead, "choose ") || strings.HasPrefix(lead, "pick ")
	if has("a") && !has("TU") && !chosen { // "use country instead of city" may mean columns
		return c, nil
	}
	c.Kind = dialogue.CorrectTable
	c.Tables, c.Rejected = tablesOf(yes), tablesOf(no)
	both := len(yes) > 0 && len(no) > 0
	if both && wishes.MatchString(lead) && has("w") {
		return Correction{}, nil
	}
	// Beside a known table that is said otherwise of, any word is a name; alone in front of "not" it is not.
	contrast := both && len(c.Tables)+len(c.Rejected) > 0 &&
		(lead != "" || !strings.HasPrefix(r.line[m["no"][0]:], "not ") || m["no"][0] < m["yes"][0])
	for _, f := range all {
		if f.table != nil {
			continue
		}
		bad := r.fault(f.from)
		if f.code == "w" && !contrast && (lead == "" || len(bad.Like) == 0) {
			return Correction{}, nil // prose may stand in the place of such a name
		}
		if err == nil {
			err = bad
		}
	}
	return c, r.held(c, err)
}

func tablesOf(fields []field) (names []schema.TableName) {
	for _, f := range fields {
		if f.table != nil {
			names = append(names, *f.table)
		}
	}
	return names
}

// held adds the rest of the correction, which applies, to the error of an unknown table.
func (r *reader) held(c Correction, err error) error {
	bad, _ := err.(*CorrectionError)
	if bad == nil || len(c.Tables)+len(c.Rejected) == 0 {
		return err
	}
	bad.Held = &c
	bad.Like = slices.DeleteFunc(bad.Like, func(n string) bool {
		return slices.ContainsFunc(c.Rejected, func(t schema.TableName) bool { return t.String() == n })
	})
	return bad
}

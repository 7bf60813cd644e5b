package session

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Parse sets c to a correction in a person's English, and resolves it. A text in one of these forms, with names of the
// schema, becomes a typed correction:
//
//	join     A.x = B.y; use A.x = B.y; A.x is the key to B.y; join A.x with B.y; join A and B on A.x = B.y; join A and B using x
//	column   u means T.c; u is T.c; u = T.c; by u I mean T.c; map u to T.c; use T.c for u
//	table    use X; use the X table; it is X; use X, not Y; not Y but X; use X instead of Y; Y is wrong, use X; swap Y for X;
//	         prefer X over Y; do not use Y; without the table Y
//	other    natural language: everything else, as it is
//
// Names may be dotted, hyphenated or quoted as in SQL. A form is the whole text, except for courtesy ("please",
// "thanks") and a reason at its end ("because …"), which Text has. A text with other words next to a form is natural
// language. So is a list with commas after a negation ("not X, Y"), because it has two meanings.
//
// An error is a *CorrectionError. It reports a text that is empty or longer than 500 characters, or a form with a
// name that the schema does not have. The error's Held has the parts about other tables.
func (c *Correction) Parse(text string, s *schema.Schema) error {
	text, err := clean("text", text, maxText)
	if err != nil {
		return err
	}
	r := read(text, s)
	parsed := Correction{Kind: dialogue.CorrectText, Text: text}
	for _, form := range []func(*reader) (Correction, error){(*reader).join, (*reader).column, (*reader).table} {
		found, err := form(r)
		if err != nil {
			return err
		}
		if found.Kind != "" && r.explains(found) {
			parsed, parsed.Text = found, r.reason
			break
		}
	}
	*c, err = parsed.Resolve(s)
	return err
}

// Words at the beginning and the end of a text that say nothing, and articles.
var (
	courtesy = words.Set(`please thanks thank very much ok okay well sorry actually hi hello but so then`)
	denial   = words.Set(`no nope nah`) // before a mark, at the beginning
	articles = words.Set(`the a an please`)
	nouns    = words.Set(`table tables one ones`) // say that the name beside them is that of a table
	// Words that never name a table that the schema does not have.
	general = words.Set(
		`nothing none nobody anything everything all any result results answer answers count counts number numbers ` +
			`total totals figure figures query sql data`)
)

// field is a word of a text as the forms read it: a name of the schema, what stands where a name should, or a word as
// it is.
type field struct {
	// code is T for a table that the text calls one, t for another one, a for one whose name a column has, too; C for a
	// column behind its table, K for such a name that is unknown; U for an unknown name that is quoted or called a table,
	// w for any other word that no form knows; "" for a word or mark of the forms.
	code     string
	table    *schema.TableName
	from, to int // its tokens
}

// reader reads one text.
type reader struct {
	schema *schema.Schema
	text   string
	tokens []token
	reason string // behind "because"

	fields []field
	line   string // the fields as the forms read them: "use T1 , not t4 "
}

// read finds the names in a text.
func read(text string, s *schema.Schema) *reader {
	r := &reader{schema: s, text: text, tokens: lex(text)}
	r.trim()
	for i := 0; i < len(r.tokens); {
		f, skipped := r.field(i)
		if i = f.to; skipped {
			continue
		}
		said := f.code + strconv.Itoa(len(r.fields))
		if f.code == "" {
			said = text[r.tokens[f.from].from:r.tokens[f.from].to]
			if w := r.word(f.from); w != "" {
				said = w
			}
		}
		r.fields, r.line = append(r.fields, f), r.line+said+" "
	}
	return r
}

// trim takes courtesy and a reason from the ends of the text.
func (r *reader) trim() {
	r.trimEnd()
	for at := range r.tokens {
		if at > 0 && r.word(at) == "because" {
			r.reason = r.text[r.tokens[at].from:r.tokens[len(r.tokens)-1].to]
			r.tokens = r.tokens[:at]
			r.trimEnd()
			break
		}
	}
	for len(r.tokens) > 0 && (r.polite(0) || denial[r.word(0)] && r.mark(1, ",.;:!-–—") || r.mark(0, ",.;:!-–—")) {
		r.tokens = r.tokens[1:]
	}
}

func (r *reader) trimEnd() {
	for n := len(r.tokens); n > 0 && (r.polite(n-1) || r.word(n-1) == "you" && r.word(n-2) == "thank" ||
		r.mark(n-1, ".!,;")); n-- {
		r.tokens = r.tokens[:n-1]
	}
}

// polite reports whether a word of courtesy stands at i that is not a table.
func (r *reader) polite(i int) bool {
	named, _ := r.name(i)
	return courtesy[r.word(i)] && named == nil
}

// word returns the plain word at i in lower case; "": there is none.
func (r *reader) word(i int) string {
	if i < 0 || i >= len(r.tokens) || r.tokens[i].quoted || len(r.tokens[i].parts) != 1 {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(r.tokens[i].parts[0]), "’", "'")
}

// mark reports whether one of the marks stands at i.
func (r *reader) mark(i int, any string) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].parts == nil && strings.Contains(any, r.tokens[i].mark)
}

// field reads the field that begins at i. skipped: it says nothing.
func (r *reader) field(i int) (f field, skipped bool) {
	w, name := r.word(i), i
	if nouns[w] { // "table X", "table: X"
		for name++; r.mark(name, ":") || r.word(name) == "called" || r.word(name) == "named"; name++ {
		}
	}
	switch table, end := r.name(name); {
	case table != nil && (name > i || w == "" || !vocabulary[w]):
		f = field{"t", table, i, end}
		switch {
		case name > i || nouns[r.word(end)]:
			f.code = "T"
		case r.isColumn(table.Name):
			f.code = "a"
		}
	case name > i && name < len(r.tokens) && r.tokens[name].parts != nil && !vocabulary[r.word(name)]:
		f = field{code: "U", from: name, to: name + 1}
	case r.dotted(i):
		f = field{code: "C", from: i, to: i + 1}
		if _, err := column(r.schema, columnOf(r.tokens[i].parts)); err != nil {
			f.code = "K"
		}
		if r.word(f.to) == "column" || r.word(f.to) == "field" {
			f.to++
		}
		return f, false
	default:
		f = field{code: r.unknown(i), from: i, to: i + 1}
	}
	if f.code != "" && nouns[r.word(f.to)] {
		f.to++
	}
	takenBack := w != "please" && r.word(i-1) == "no" // "use orders, no the clients table"
	return f, articles[w] && !takenBack || r.mark(i, "=") && r.mark(i-1, "=")
}

// name reads a table of the schema. Up to four words may be one name.
func (r *reader) name(i int) (found *schema.TableName, end int) {
	for n := min(4, len(r.tokens)-i); n > 1; n-- {
		list := r.tokens[i : i+n]
		if slices.ContainsFunc(list, func(t token) bool { return t.quoted || len(t.parts) != 1 }) {
			continue
		}
		if t, ok := r.schema.Lookup("", r.text[list[0].from:list[n-1].to]); ok {
			return new(t.TableName()), i + n
		}
	}
	if i < len(r.tokens) && r.tokens[i].parts != nil {
		if t, err := table(r.schema, tableOf(r.tokens[i].parts)); err == nil {
			return new(t.TableName()), i + 1
		}
	}
	return nil, i
}

// unknown is the code of a token that is no name of the schema.
func (r *reader) unknown(i int) string {
	w := r.word(i)
	switch {
	case r.tokens[i].parts == nil, vocabulary[w], w != "" && (r.isColumn(w) || strings.Trim(w, "0123456789") == ""):
		return ""
	case w == "":
		return "U"
	// "another table" is none
	case r.word(i+1) == "table" && (strings.ContainsAny(w, "_0123456789") || len(r.fault(i).Like) > 0):
		return "U"
	case general[w]:
		return ""
	}
	return "w"
}

// fault is the error of a token that names no table.
func (r *reader) fault(i int) *CorrectionError {
	_, err := table(r.schema, tableOf(r.tokens[i].parts))
	bad, _ := err.(*CorrectionError)
	return bad
}

// dotted reports whether a name of a column with its table stands at i, known or not.
func (r *reader) dotted(i int) bool {
	t := r.tokens[i]
	return len(t.parts) > 1 && (t.quoted || strings.Trim(t.parts[0], "0123456789") != "")
}

// isColumn reports whether a column has this name.
func (r *reader) isColumn(name string) bool {
	has := func(t schema.Table) bool { _, found := t.Column(name); return found }
	return r.schema != nil && slices.ContainsFunc(r.schema.Tables, has)
}

// explains reports whether the reason names no other table than the correction.
func (r *reader) explains(c Correction) bool {
	said := slices.Concat(c.Tables, c.Rejected, c.compared())
	return r.reason == "" || !slices.ContainsFunc(read(r.reason, r.schema).fields, func(f field) bool {
		return f.table != nil && !slices.Contains(said, *f.table)
	})
}

// groups are the named parts of a form in the line of a reader, from and to.
type groups map[string][2]int

// match returns the groups of the first form that is the whole line; nil: none is.
func (r *reader) match(forms []*regexp.Regexp) groups {
	for _, form := range forms {
		m := form.FindStringSubmatchIndex(r.line)
		if m == nil {
			continue
		}
		found := groups{}
		for i, name := range form.SubexpNames() {
			if m[2*i] >= 0 {
				found[name] = [2]int{m[2*i], m[2*i+1]}
			}
		}
		return found
	}
	return nil
}

// named are the names in a group.
func (r *reader) named(group [2]int) (list []field) {
	first := strings.Count(r.line[:group[0]], " ")
	for _, f := range r.fields[first : first+len(strings.Fields(r.line[group[0]:group[1]]))] {
		if f.code != "" {
			list = append(list, f)
		}
	}
	return list
}

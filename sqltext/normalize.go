package sqltext

import (
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// Normalize rewrites the statement so that texts that differ only in their writing become equal. It writes ASCII
// words in lower case, because the case of other letters may matter. It writes one blank between tokens (none around
// dots and inside brackets), <> for != and = for ==. It drops comments, unnecessary quotes around names, and a
// semicolon at the end.
//
// Literals do not change. An unqualified "x" that SQLite reads as a string, because no column has that name, does not
// change either. In a dialect with CaseSensitiveQuotes a quoted name changes only if it is in lower case.
//
// Equal normal forms mean the same statement to SQLite; the reverse does not hold. This package does not know all
// reserved words of other engines, so a name that is such a word may lose quotes that it needs. The normal form of a
// normal form is the same text. The result is SQL, but it is meant for comparison and hashes.
func (s *Statement) Normalize() string {
	p := s.tree()
	s.normal.Do(func() { s.normalized = p.normalize() })
	return s.normalized
}

func (p *parsed) normalize() string {
	w := writer{d: p.d}
	last := len(p.items)
	for last > 0 && p.op(last-1, ";") {
		last--
	}
	for i := range p.items[:last] {
		it := &p.items[i]
		switch it.Kind {
		case Word:
			w.write(it.Kind, asciiLower(it.Text))
		case QuotedName:
			text := it.Text
			if !p.stringLike(i) || it.role != roleColumn && it.role != roleNone {
				text = p.d.plainName(it.Token)
			}
			w.write(it.Kind, text)
		case Operator:
			w.write(it.Kind, plainOperator(it.Text))
		default:
			w.write(it.Kind, it.Text)
		}
	}
	return w.b.String()
}

func plainOperator(op string) string {
	switch op {
	case "!=":
		return "<>"
	case "==":
		return "="
	}
	return op
}

// plainName returns a quoted name in lower case and without its quotes, where it means the same then.
func (d Dialect) plainName(t Token) string {
	name := d.Value(t)
	lower, upper := strings.ToLower(name), strings.ToUpper(name)
	if d.CaseSensitiveQuotes && name != lower {
		return t.Text
	}
	if !isPlain(name) || sqlshape.Reserved[upper] || quotedWords[upper] || isQueryWord(name) {
		if d.CaseSensitiveQuotes {
			return t.Text
		}
		q := "`" // what can only be a name
		if d.PlainBackticks {
			q = `"`
		}
		return q + strings.ReplaceAll(asciiLower(name), q, q+q) + q
	}
	return lower
}

// asciiLower folds as the engines do: outside of ASCII case counts.
func asciiLower(s string) string { return words.LowerASCII(s) }

// isPlain reports whether name needs no quotes, keywords aside.
func isPlain(name string) bool {
	if name == "" || !isNameStart(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || c == '$' || !isName(c) {
			return false
		}
	}
	return true
}

// writer joins tokens with the blanks of the normal form.
type writer struct {
	d    Dialect
	b    strings.Builder
	kind Kind
	text string
}

func (w *writer) write(kind Kind, text string) {
	if w.b.Len() > 0 && w.blank(kind, text) {
		w.b.WriteByte(' ')
	}
	w.b.WriteString(text)
	w.kind, w.text = kind, text
}

// blank reports whether a blank goes before the next token. Only where two
// tokens cannot run into one another may it be left out.
func (w *writer) blank(kind Kind, text string) bool {
	name := func(k Kind) bool { return k == Word || k == QuotedName }
	switch {
	case w.kind == Operator && w.text == ".":
		return !name(kind) && text != "*"
	case kind == Operator && text == ".":
		return !name(w.kind)
	case w.kind == Operator && w.text == "(":
		return false
	case kind == Operator && (text == ")" || text == ","):
		return false
	case kind == Operator && text == "(":
		return !(name(w.kind) && !isNoFunction(strings.ToUpper(w.text)))
	}
	return true
}

package sqltext

import (
	"iter"
	"sync"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Statement is one SQL text. Dialect.Check returns it for a text that passes the text check, Dialect.Parse for any
// other. The text is split into tokens and parsed when a method first needs it. Results are cached, so a statement that
// passes through several stages is parsed once.
//
// The parse reads tokens and uses no grammar. Every text has some result; for valid SQL the result is right as far as
// each method promises. All methods take time linear in the length of the text, do not recurse and never fail.
//
// The slices and maps that the methods return are shared: do not change them. A Statement is safe for concurrent use.
type Statement struct {
	parsed
	checked bool

	cut, read, ref, outlined, normal, skeletal, selected sync.Once

	outline    sqlshape.Outline
	selects    []sqlshape.Select
	normalized string
	skeleton   []string
}

// Parse returns sql as a Statement. It does not check the text and does no work yet: the first method that needs the
// tokens splits the text.
func (d Dialect) Parse(sql string) *Statement {
	return &Statement{parsed: parsed{d: d, sql: sql}}
}

// SQL returns the text of the statement; "" for a nil one.
func (s *Statement) SQL() string {
	if s == nil {
		return ""
	}
	return s.sql
}

// Dialect returns the rules for reading the statement.
func (s *Statement) Dialect() Dialect { return s.d }

// Checked reports whether the statement comes from Dialect.Check, so that it passed the text check of its Dialect.
func (s *Statement) Checked() bool { return s.checked }

// Equal reports whether two statements have one text and one Dialect, and whether both or neither passed the text
// check. Two nil statements are equal.
func (s *Statement) Equal(other *Statement) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.sql == other.sql && s.d == other.d && s.checked == other.checked
}

// Tokens returns the tokens of the statement in text order, without blanks and comments. Dialect.Tokens returns blanks
// and comments too.
func (s *Statement) Tokens() iter.Seq[Token] {
	s.lex()
	return func(yield func(Token) bool) {
		for i := range s.items {
			if !yield(s.items[i].Token) {
				return
			}
		}
	}
}

// lex cuts the text into items, unless the text check did.
func (s *Statement) lex() {
	s.cut.Do(func() {
		if s.items != nil {
			return
		}
		s.items = make([]item, 0, len(s.sql)/5+4)
		l := lexer{d: s.d, src: s.sql}
		for l.next() {
			if l.tok.Kind != Space && l.tok.Kind != Comment {
				s.items = append(s.items, item{Token: l.tok})
			}
		}
	})
}

// tree returns the parsed statement.
func (s *Statement) tree() *parsed {
	s.lex()
	s.read.Do(s.parse)
	return &s.parsed
}

// resolved returns the parsed statement with its mentions of columns resolved.
func (s *Statement) resolved() *parsed {
	p := s.tree()
	s.ref.Do(func() {
		p.refs = make([]sqlshape.ColumnRef, len(p.columns))
		for i, c := range p.columns {
			p.refs[i] = p.resolveColumn(c)
		}
	})
	return p
}

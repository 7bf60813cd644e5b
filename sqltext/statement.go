package sqltext

import (
	"iter"
	"sync"
)

// Statement is one text of SQL that is read once. Dialect.Check makes it of a text that passes the text check,
// Dialect.Parse of any other. The text is cut into tokens and parsed when a method first needs it, and what the methods
// find out is kept, so a statement that travels from stage to stage costs one parse.
//
// The parse is a reading of tokens and no grammar. Every text gives some result; valid SQL gives the right one as far
// as each method promises. All methods take time linear in the length of the text, do not recurse and never fail.
//
// The slices and maps that the methods return are shared: do not change them. Safe for concurrent use.
type Statement struct {
	parsed
	checked bool

	cut, read, ref, outlined, normal, skeletal sync.Once

	outline    Outline
	normalized string
	skeleton   []string
}

// Parse returns sql as a Statement. It does not check the text, and does no work yet: the first method that needs the
// tokens does it.
func (d Dialect) Parse(sql string) *Statement {
	return &Statement{parsed: parsed{d: d, sql: sql}}
}

// SQL returns the text of the statement; "" of a nil one.
func (s *Statement) SQL() string {
	if s == nil {
		return ""
	}
	return s.sql
}

// Dialect returns the rules under which the statement is read.
func (s *Statement) Dialect() Dialect { return s.d }

// Checked reports whether the statement comes from Dialect.Check and so passed the text check under its Dialect.
func (s *Statement) Checked() bool { return s.checked }

// Equal reports whether two statements have one text and one Dialect, and either both passed the text check or none
// did. Two nil ones are equal.
func (s *Statement) Equal(other *Statement) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.sql == other.sql && s.d == other.d && s.checked == other.checked
}

// Tokens returns the tokens of the statement in text order, without blanks and comments. Dialect.Tokens returns those
// too.
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
		p.refs = make([]ColumnRef, len(p.columns))
		for i, c := range p.columns {
			p.refs[i] = p.resolveColumn(c)
		}
	})
	return p
}

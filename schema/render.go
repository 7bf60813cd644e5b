package schema

import (
	"strings"
	"unicode/utf8"
)

// Form is a way to write a schema into a prompt.
type Form uint8

// The forms.
const (
	// DDL is CREATE statements with comments behind the columns. They are
	// written from what the Schema holds, so they look the same for every
	// engine; [Augmented] shows the engine's own text.
	DDL Form = iota
	// Code is a line a table: name(column type, …) with its keys, and behind it
	// what is known in words of the table and its columns. It shows no values;
	// the shortest form.
	Code
	// MSchema is the semi-structured form of XiYan-SQL (arXiv 2411.08599): a
	// tuple a column with type, key, description and examples, and the foreign
	// keys at the end.
	MSchema
)

// String is the form's name, as traces show it.
func (f Form) String() string {
	switch f {
	case DDL:
		return "ddl"
	case Code:
		return "code"
	case MSchema:
		return "mschema"
	}
	return "unknown"
}

const (
	defaultExamples = 3
	maxExamples     = 15
)

// Renderer writes a schema as text for a prompt. The zero Renderer writes DDL
// with all that is known and no limit on its length.
//
// Everything from the database is hostile text, and no line of it gets into the
// prompt as it is: values go through [Literal], descriptions through [Comment],
// names are quoted, and what cannot be shown safely is left out and listed in
// Rendering.LeftOut.
//
// A text over MaxChars or MaxTokens loses, in this order and until it fits:
//
//  1. examples: one a column instead of several ([FewerExamples]);
//  2. examples at all ([NoExamples]);
//  3. what the values mean ([NoValueNotes]);
//  4. titles and descriptions ([NoDescriptions]);
//  5. columns that are part of no key: no table shows more than w of them, the
//     first w of each, with the greatest w that fits ([FewerColumns]);
//  6. columns at all: the name of the table stays ([NameOnly]).
//
// Steps 1 to 4 and 6 go table by table, the one in which a step saves most bytes
// first, of equal ones the earlier. No table is ever dropped; where even the
// names do not fit, Rendering.OverBudget is set. A text that lost columns says
// so and how many.
//
// The same schema gives the same text. Safe for concurrent use.
type Renderer struct {
	Form      Form // how it looks; zero: DDL
	MaxChars  int  // characters (runes); 0: no limit
	MaxTokens int  // as [EstimateTokens] counts; 0: no limit

	// Quote writes a name as an identifier of the dialect; nil: [QuoteName].
	Quote func(name string) string

	// Examples is the number of stored values shown for a column: 0 means 3,
	// more than 15 means 15, negative: none. They are those of its profile.
	Examples int
	// ValueRunes is the longest value shown; 0 and more than 64 mean 64.
	ValueRunes int
	// WithoutValues keeps stored values out of the text.
	WithoutValues bool
	// WithoutDescriptions keeps titles and descriptions out of the text.
	WithoutDescriptions bool
}

// Rendering is a schema as text, and what the text does not say.
type Rendering struct {
	Text       string      // ends in one line end; "" for a schema without tables
	Tokens     int         // EstimateTokens(Text)
	Reduced    []Reduction // what was taken away to fit, one a table, in the order of the text
	OverBudget bool        // everything was taken away that may be, and it still does not fit
	LeftOut    []LeftOut   // what could not be shown safely
}

// Render writes s; nil is an empty schema. It never fails: what it cannot show,
// the Rendering names.
func (r Renderer) Render(s *Schema) Rendering {
	s, left := s.Presentable()
	views := r.views(s)
	l := layouts(r.Form)
	full := detail{
		examples:     r.examples(),
		valueNotes:   !r.WithoutDescriptions,
		descriptions: !r.WithoutDescriptions,
		columns:      -1,
	}
	f := fitter{
		n:      len(views),
		limit:  size{runes: r.MaxChars, bytes: 4 * r.MaxTokens},
		frame:  l.frame,
		detail: make([]detail, len(views)),
		write:  func(i int, d detail) block { return l.write(&views[i], d) },
	}
	for i := range f.detail {
		f.detail[i] = full
	}
	f.fit([]step{
		{name: FewerExamples, apply: func(d *detail) { d.examples = min(d.examples, 1) }},
		{name: NoExamples, apply: func(d *detail) { d.examples = 0 }},
		{name: NoValueNotes, apply: func(d *detail) { d.valueNotes = false }},
		{name: NoDescriptions, apply: func(d *detail) { d.descriptions = false }},
		{name: FewerColumns, width: func(i int) int { return views[i].plainColumns() }},
		{name: NameOnly, apply: func(d *detail) { d.nameOnly = true }},
	})
	out := f.rendering(func(i int) (string, string) { return views[i].schema, views[i].table })
	out.LeftOut = left
	return out
}

func (r Renderer) examples() int {
	switch {
	case r.WithoutValues || r.Examples < 0:
		return 0
	case r.Examples == 0:
		return defaultExamples
	}
	return min(r.Examples, maxExamples)
}

// detail is how much of a table a block shows.
type detail struct {
	examples     int // values a column
	valueNotes   bool
	descriptions bool
	columns      int // columns that are part of no key; -1: all
	nameOnly     bool

	rows      int // sample rows, of Augmented
	cellRunes int // longest cell of a sample row, of Augmented
}

// block is what the text has for one table: its place in the list of tables,
// and what follows at the end of the text or, in Augmented, behind the body.
type block struct {
	body, tail string
	missing    int // columns not shown
}

// frame is the text around the blocks.
type frame struct {
	head     string // before the first table
	between  string // between two tables
	tailHead string // before the tails, where there are any
	inline   bool   // the tail follows its body
	note     string // at the end, once something was reduced
}

// layout is one form: its frame and how it writes a table.
type layout struct {
	frame frame
	write func(v *view, d detail) block
}

func layouts(f Form) layout {
	switch f {
	case Code:
		return layout{write: writeCode}
	case MSchema:
		return layout{frame: frame{head: "【Schema】\n", tailHead: "【Foreign keys】\n"}, write: writeMSchema}
	default:
		return layout{frame: frame{between: "\n"}, write: writeDDL}
	}
}

// size counts a text both ways in which a budget may limit it.
type size struct{ runes, bytes int }

func sizeOf(s string) size { return size{utf8.RuneCountInString(s), len(s)} }

func (s size) plus(o size) size { return size{s.runes + o.runes, s.bytes + o.bytes} }

// within reports whether s keeps to limit, in which 0 is no limit.
func (s size) within(limit size) bool {
	return (limit.runes <= 0 || s.runes <= limit.runes) && (limit.bytes <= 0 || s.bytes <= limit.bytes)
}

// assemble joins the blocks.
func (f frame) assemble(blocks []block, reduced bool) string {
	if len(blocks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(f.head)
	for i, k := range blocks {
		if i > 0 {
			b.WriteString(f.between)
		}
		b.WriteString(k.body)
		if f.inline {
			b.WriteString(k.tail)
		}
	}
	if !f.inline {
		head := f.tailHead
		for _, k := range blocks {
			if k.tail != "" {
				b.WriteString(head)
				head = ""
				b.WriteString(k.tail)
			}
		}
	}
	if reduced {
		b.WriteString(f.note)
	}
	return b.String()
}

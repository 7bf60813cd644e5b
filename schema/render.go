package schema

import (
	"context"
	"math"
	"slices"

	"github.com/texttosql/texttosql/internal/prompttext"
)

// Form is a way to write a schema into a prompt.
type Form uint8

// The forms.
const (
	// DDL is CREATE statements with comments after the columns. They are written from the Schema, so they look the
	// same for every engine.
	DDL Form = iota
	// Code is one line for each table: name(column type, …), then its keys and the descriptions. It shows no values,
	// and is the shortest form.
	Code
	// MSchema is the semi-structured form of XiYan-SQL (arXiv 2411.08599): a tuple for each column with type, key,
	// description and examples, and the foreign keys at the end.
	MSchema
)

// String returns the form's name, as traces show it.
func (f Form) String() string {
	if names := [...]string{"ddl", "code", "mschema"}; int(f) < len(names) {
		return names[f]
	}
	return "unknown"
}

// Renderer writes a schema as text for a prompt. The zero Renderer writes DDL with all known facts and without a
// limit on its length.
//
// All text from the database is cleaned: values become literals, descriptions become comments of one line, and names
// are quoted. Parts that cannot be shown safely are left out and listed in Rendering.LeftOut. Columns marked
// Sensitive show no values.
//
// A text over MaxChars or MaxTokens is shortened in steps until it fits; see [Reduction]. No table is ever dropped.
// If the last step is not enough, Rendering.OverBudget is set.
//
// The same input gives the same text. Safe for concurrent use.
type Renderer struct {
	Form      Form // how it looks; zero: DDL
	MaxChars  int  // characters (runes); 0: no limit
	MaxTokens int  // estimated tokens; 0: no limit
	Beside    int  // bytes of the prompt around the text; they count towards MaxTokens

	Names Quoter // writes names as identifiers of the dialect; nil: in double quotes where necessary

	// Examples is the number of stored values that DDL and MSchema show for a column, taken from its profile: 0 means
	// 3, more than 15 means 15, negative: none.
	Examples int
	// WithoutValues keeps stored values out of the text.
	WithoutValues bool
	// WithoutExpertText leaves out texts that people wrote: titles, descriptions and the meanings of values.
	WithoutExpertText bool
	// WithoutModelText leaves out a model's descriptions of columns (Column.Described). Without it they are shown for
	// columns without a person's description, or if the prompt leaves that out.
	WithoutModelText bool
}

// Sample is some rows of one table, in the order in which to show them. A value is nil, bool, int, int64, float64,
// string or []byte.
type Sample struct {
	Table   TableName `json:"table"`   // the table that has the rows
	Columns []string  `json:"columns"` // the sampled columns, in the order of the values
	Rows    [][]any   `json:"rows"`    // one value for each of Columns; other rows are ignored
}

// Rendering is a schema as text, with the list of what the text leaves out.
type Rendering struct {
	Text       string      // the text, which ends in one line end; "" without tables
	Tokens     int         // estimated tokens of Text
	Reduced    []Reduction // what was left out to fit, at most one per table, in the order of the text
	OverBudget bool        // the text does not fit even after all steps
	LeftOut    []Omitted   // parts that could not be shown safely
}

// Render writes s; nil is an empty schema.
//
// The error is ctx.Err(), which Render checks for every table. The time is linear in the size of s.
func (r Renderer) Render(ctx context.Context, s *Schema) (Rendering, error) {
	s, left, err := s.presentable(ctx)
	if err != nil {
		return Rendering{}, err
	}
	views, err := r.prepare(ctx, s)
	if err != nil {
		return Rendering{}, err
	}
	f := fitter{
		views:  views,
		detail: slices.Repeat([]detail{r.full()}, len(views)),
		layout: r.layout(),
		limit:  size{runes: r.MaxChars},
	}
	if r.MaxTokens > 0 {
		f.limit.bytes = max(4*r.MaxTokens-r.Beside, 1)
	}
	text, err := f.fit(ctx)
	if err != nil {
		return Rendering{}, err
	}
	out := Rendering{Text: text, Tokens: prompttext.EstimateTokens(text), OverBudget: f.over, LeftOut: left}
	for i := range views {
		v := &views[i]
		if s := f.reduced[i]; s.name != "" {
			out.Reduced = append(out.Reduced, Reduction{v.of, s.name, s.values, v.missing(f.detail[i])})
		}
	}
	return out, nil
}

// detail says how much a text shows of one table.
type detail struct {
	examples     int // values of each column
	valueNotes   bool
	descriptions bool
	columns      int // most columns that are part of no key
	nameOnly     bool
}

// full is the detail of a text that needs no shortening.
func (r Renderer) full() detail {
	const fewest, most = 3, 15 // examples by default and at most
	d := detail{examples: fewest, valueNotes: true, descriptions: true, columns: math.MaxInt}
	switch {
	case r.WithoutValues:
		d.examples = 0
	case r.Examples != 0:
		d.examples = min(r.Examples, most)
	}
	return d
}

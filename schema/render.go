package schema

import (
	"context"
	"math"
	"slices"
)

// Form is a way to write a schema into a prompt.
type Form uint8

// The forms.
const (
	// DDL is CREATE statements with comments behind the columns. They are written from the Schema, so they look the
	// same for every engine.
	DDL Form = iota
	// Code is one line for each table: name(column type, …) with its keys, and behind it the descriptions. It shows no
	// values; the shortest form.
	Code
	// MSchema is the semi-structured form of XiYan-SQL (arXiv 2411.08599): a tuple for each column with type, key,
	// description and examples, and the foreign keys at the end.
	MSchema
)

// String is the form's name, as traces show it.
func (f Form) String() string {
	if names := [...]string{"ddl", "code", "mschema"}; int(f) < len(names) {
		return names[f]
	}
	return "unknown"
}

// Renderer writes a schema as text for a prompt. The zero Renderer writes DDL with all that is known and no limit on
// its length.
//
// No text of the database gets into the prompt as it is: values pass [Literal], descriptions [Comment], names are
// quoted. What cannot be shown safely is left out and listed in Rendering.LeftOut. Columns marked Sensitive show no
// values.
//
// A text over MaxChars or MaxTokens is shortened by steps until it fits; see [Reduction]. No table is ever dropped. If
// the last step is not enough, Rendering.OverBudget is set.
//
// The same input gives the same text. Safe for concurrent use.
type Renderer struct {
	Form      Form // how it looks; zero: DDL
	MaxChars  int  // characters (runes); 0: no limit
	MaxTokens int  // tokens, as [EstimateTokens] counts them; 0: no limit
	Beside    int  // bytes of the prompt around the text; they count towards MaxTokens

	Names Quoter // writes names as identifiers of the dialect; nil: [QuoteName]

	// Examples is the number of stored values that DDL and MSchema show for a column, taken from its profile: 0 means
	// 3, more than 15 means 15, negative: none.
	Examples int
	// WithoutValues keeps stored values out of the text.
	WithoutValues bool
	// Text says which titles and descriptions are shown; zero: AllText.
	Text Text
}

// Text says which descriptions a text shows.
type Text uint8

// The kinds of descriptions.
const (
	AllText    Text = iota // those of persons, and for a column that has none what a model wrote
	NoText                 // none
	ExpertText             // those of persons: titles, descriptions and what values mean
	ModelText              // what a model wrote about columns (Column.Described)
)

// Sample is some rows of one table, in the order in which to show them. A value is nil, bool, int, int64, float64,
// string or []byte.
type Sample struct {
	Table   TableName `json:"table"`   // the table that has the rows
	Columns []string  `json:"columns"` // the sampled columns, in the order of the values
	Rows    [][]any   `json:"rows"`    // one value for each of Columns; other rows are ignored
}

// Rendering is a schema as text, and what the text does not say.
type Rendering struct {
	Text       string      // ends in one line end; "" for a schema without tables
	Tokens     int         // EstimateTokens(Text)
	Reduced    []Reduction // what was taken away to fit, at most one a table, in the order of the text
	OverBudget bool        // everything was taken away that may be, and it still does not fit
	LeftOut    []LeftOut   // what could not be shown safely
}

// Render writes s; nil is an empty schema.
//
// The error is ctx.Err(), which Render looks at for every table. The time is linear in the size of s.
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
	out := Rendering{Text: text, Tokens: EstimateTokens(text), OverBudget: f.over, LeftOut: left}
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

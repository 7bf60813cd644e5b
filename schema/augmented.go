package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	augmentedBudget = 8000 // characters, as published
	augmentedRows   = 3
	cellRunes       = 50
	shortCellRunes  = 20
)

// Augmented writes a schema as the CREATE texts of its tables, each followed by
// comment lines with a few of its rows: the "augmented schema" of galah92/egtts
// (strategy M10). The zero Augmented is ready for use.
//
// Tables come by name. Of each the CREATE text is shown as the engine has it
// (Table.Definition), with its comments cleaned as [Comment] does. Where there is
// none, or it holds something that must not reach a prompt, one is written from
// the Schema instead, and Rendering.LeftOut lists the latter case as
// "definition". Tables whose names start with "sqlite_" are internal and left
// out.
//
// Values stand in a row, so none is left out without a mark: a text is written as
// [Literal] writes it; of one over 50 characters the first 50, with "..." behind
// the quotes; in place of one with control or format characters "(not shown)"
// stands, and of a blob "<blob n bytes>". Columns that are marked Sensitive, or
// that the Schema does not have, are not shown.
//
// A text over MaxChars loses rows (one a table instead of several), then length
// of values (20 characters), then samples at all: each step goes table by table,
// widest block of samples first, until the text fits. CREATE texts are never cut;
// if they alone are too long, Rendering.OverBudget is set, and [Schema.Restrict]
// is what helps. A last line says that samples are shortened.
//
// Safe for concurrent use.
type Augmented struct {
	MaxChars int // characters (runes); 0 means 8000, negative: no limit
	Rows     int // rows a table at most; 0 means 3, negative: none

	// Quote writes a name as an identifier of the dialect; nil: [QuoteName].
	Quote func(name string) string

	// WithoutValues keeps stored values out of the text.
	WithoutValues bool

	// Compat writes the form as published: names unquoted, texts in single
	// quotes that are not doubled, views left out, and no samples at all in a
	// text over MaxChars. Departures that are left: control characters become a
	// blank and format characters go, blobs are shown as above, and CREATE texts
	// are cleaned as above.
	Compat bool
}

// Sample is some rows of one table, in the order in which to show them. A value
// is nil, bool, int, int64, float64, string or []byte.
type Sample struct {
	Schema  string   `json:"schema,omitempty"` // of the table
	Table   string   `json:"table"`            // that the rows are of
	Columns []string `json:"columns"`          // those that are sampled, in order
	Rows    [][]any  `json:"rows"`             // one value a column each
}

// Render writes s with samples, in which later ones of the same table and those
// of unknown tables are ignored. A nil s is an empty one.
func (a Augmented) Render(s *Schema, samples []Sample) Rendering {
	shown, left := s.Presentable()
	order := a.order(shown)
	bodies, faults := a.creates(shown, order)
	for k, i := range order {
		if t := &shown.Tables[i]; faults[k] != "" {
			left = append(left, LeftOut{Item: "definition", Schema: t.Schema, Table: t.Name, Reason: faults[k]})
		}
	}
	grids := pickGrids(shown, samples)
	f := fitter{
		n:      len(order),
		limit:  size{runes: max(cmp.Or(a.MaxChars, augmentedBudget), 0)},
		frame:  frame{between: "\n", inline: true},
		detail: make([]detail, len(order)),
		write: func(k int, d detail) block {
			return block{body: bodies[k], tail: a.sampleLines(&shown.Tables[order[k]], grids[order[k]], d)}
		},
		rank: func(before, _ block) int { return utf8.RuneCountInString(before.tail) },
	}
	for k := range f.detail {
		f.detail[k] = detail{rows: a.rows(), cellRunes: cellRunes}
	}
	if a.Compat {
		f.fitCompat()
	} else {
		f.frame.note = "\n-- Sample rows are shortened or left out to save space.\n"
		f.fit([]step{
			{name: FewerRows, apply: func(d *detail) { d.rows = min(d.rows, 1) }},
			{name: ShortValues, apply: func(d *detail) { d.cellRunes = shortCellRunes }},
			{name: NoRows, apply: func(d *detail) { d.rows = 0 }},
		})
	}
	out := f.rendering(func(k int) (string, string) {
		t := &shown.Tables[order[k]]
		return t.Schema, t.Name
	})
	out.LeftOut = left
	return out
}

// order lists the places of the tables to show, by name.
func (a Augmented) order(s *Schema) []int {
	var order []int
	for i := range s.Tables {
		if t := &s.Tables[i]; !isInternal(t.Name) && (!a.Compat || t.Kind != View) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareTables(s.Tables[i], s.Tables[j]) })
	return order
}

func (a Augmented) rows() int {
	if a.WithoutValues {
		return 0
	}
	return max(cmp.Or(a.Rows, augmentedRows), 0)
}

// isInternal reports whether SQLite keeps the name for itself.
func isInternal(name string) bool {
	const prefix = "sqlite_"
	return len(name) >= len(prefix) && EqualFold(name[:len(prefix)], prefix)
}

// creates returns the CREATE texts of the tables in order, each with a line end,
// and why one is not the engine's own, where that could not be shown.
func (a Augmented) creates(s *Schema, order []int) (texts, faults []string) {
	texts, faults = make([]string, len(order)), make([]string, len(order))
	var views []view // made when the first is needed
	for k, i := range order {
		if definition := s.Tables[i].Definition; definition != "" {
			text, fault := cleanDefinition(definition)
			if fault == "" {
				texts[k] = text + "\n"
				continue
			}
			faults[k] = fault
		}
		if views == nil {
			views = Renderer{Quote: a.Quote, WithoutValues: true, WithoutDescriptions: a.Compat}.views(s)
		}
		texts[k] = writeDDL(&views[i], detail{valueNotes: true, descriptions: true, columns: -1}).body
	}
	return texts, faults
}

// grid is the part of a sample that may be shown.
type grid struct {
	columns []string
	rows    [][]any
}

// pickGrids finds the samples of the tables of s, which is presentable, by the
// place of the table.
func pickGrids(s *Schema, samples []Sample) map[int]grid {
	index := s.index()
	grids := make(map[int]grid, len(samples))
	for _, sample := range samples {
		i := index.lookup(sample.Schema, sample.Table)
		if _, seen := grids[i]; seen || i < 0 {
			continue
		}
		var g grid
		var places []int
		for j, name := range sample.Columns {
			if c, ok := s.Tables[i].Column(name); ok && !c.Sensitive {
				places = append(places, j)
				g.columns = append(g.columns, c.Name)
			}
		}
		if len(places) > 0 {
			for _, row := range sample.Rows {
				cells := make([]any, len(places))
				for k, j := range places {
					if j < len(row) {
						cells[k] = row[j]
					}
				}
				g.rows = append(g.rows, cells)
			}
		}
		grids[i] = g
	}
	return grids
}

// sampleLines writes the comment lines of one table; "" without rows.
func (a Augmented) sampleLines(t *Table, g grid, d detail) string {
	rows := g.rows[:min(d.rows, len(g.rows))]
	if len(rows) == 0 {
		return ""
	}
	quote, cell := a.Quote, cellText
	switch {
	case a.Compat:
		quote, cell = func(name string) string { return name }, cellCompat
	case quote == nil:
		quote = QuoteName
	}
	name := quote(t.Name)
	if t.Schema != "" {
		name = quote(t.Schema) + "." + name
	}
	var b strings.Builder
	b.WriteString("-- Sample data from " + name + ":\n-- Columns: ")
	for i, name := range g.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(name))
	}
	b.WriteString("\n")
	for _, row := range rows {
		b.WriteString("-- Example: (")
		for i, v := range row {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(cell(v, d.cellRunes))
		}
		b.WriteString(")\n")
	}
	return b.String()
}

// notShown stands for a value that may not reach a prompt.
const notShown = "(not shown)"

// cellText writes one value of a sample row.
func cellText(v any, maxRunes int) string {
	switch v := v.(type) {
	case string:
		cut, short := cutRunes(v, maxRunes)
		if !showable(cut) {
			return notShown
		}
		if short {
			return quoteJSON(cut) + "..."
		}
		return quoteJSON(cut)
	case []byte:
		return "<blob " + strconv.Itoa(len(v)) + " bytes>"
	}
	if text, ok := scalar(v); ok {
		return text
	}
	return notShown
}

// cutRunes returns the first n runes of s, and whether that is less than s.
func cutRunes(s string, n int) (string, bool) {
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}

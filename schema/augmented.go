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
	Schema  string   `json:"schema,omitempty"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // one value a column each
}

// Render writes s with samples, in which later ones of the same table and those
// of unknown tables are ignored.
func (a Augmented) Render(s *Schema, samples []Sample) Rendering {
	whole := s
	s, left := s.Presentable()
	tables := make([]*Table, 0, len(s.Tables))
	for i := range s.Tables {
		t := &s.Tables[i]
		if isInternal(t.Name) || a.Compat && t.Kind == View {
			continue
		}
		tables = append(tables, t)
	}
	slices.SortStableFunc(tables, func(x, y *Table) int { return compareTables(*x, *y) })

	// Rows are looked up in the schema as given: its names are those of samples.
	grids := a.grids(whole, samples)
	bodies := make([]string, len(tables))
	for i, t := range tables {
		body, fault := a.create(s, t)
		bodies[i] = body
		if fault != "" {
			left = append(left, LeftOut{Item: "definition", Schema: t.Schema, Table: t.Name, Reason: fault})
		}
	}

	f := fitter{
		n:      len(tables),
		limit:  size{runes: a.limit()},
		frame:  frame{between: "\n", inline: true},
		detail: make([]detail, len(tables)),
		write: func(i int, d detail) block {
			t := tables[i]
			return block{body: bodies[i], tail: a.sampleLines(t, grids[tableName{t.Schema, t.Name}], d)}
		},
		order: func(before, _ block) int { return utf8.RuneCountInString(before.tail) },
	}
	for i := range f.detail {
		f.detail[i] = detail{rows: a.rows(), cellRunes: cellRunes}
	}
	steps := []step{
		{name: FewerRows, apply: func(d *detail) { d.rows = min(d.rows, 1) }},
		{name: ShortValues, apply: func(d *detail) { d.cellRunes = shortCellRunes }},
		{name: NoRows, apply: func(d *detail) { d.rows = 0 }},
	}
	if a.Compat {
		// Published: one look at the whole text, then all samples or none.
		steps = nil
		f.frame.tailHead = ""
	} else {
		f.frame.note = "\n-- Sample rows are shortened or left out to save space.\n"
	}
	f.fit(steps)
	if a.Compat && f.over {
		f.dropTails(NoRows)
	}
	out := f.rendering(func(i int) (string, string) { return tables[i].Schema, tables[i].Name })
	out.LeftOut = left
	return out
}

func (a Augmented) limit() int { return max(cmp.Or(a.MaxChars, augmentedBudget), 0) }

func (a Augmented) rows() int {
	if a.WithoutValues {
		return 0
	}
	return max(cmp.Or(a.Rows, augmentedRows), 0)
}

// dropTails takes the tails of all tables at once.
func (f *fitter) dropTails(name Step) {
	for i := range f.n {
		if f.blocks[i].tail != "" {
			f.put(i, f.detail[i], block{body: f.blocks[i].body}, name)
		}
	}
	f.over = !f.fits()
}

// isInternal reports whether SQLite keeps the name for itself.
func isInternal(name string) bool {
	const prefix = "sqlite_"
	return len(name) >= len(prefix) && equalFold(name[:len(prefix)], prefix)
}

// create returns the CREATE text of t with a line end, and why it is not the
// engine's own, where that could not be shown.
func (a Augmented) create(s *Schema, t *Table) (text, fault string) {
	if t.Definition != "" {
		if text, fault = cleanDefinition(t.Definition); fault == "" {
			return text + "\n", ""
		}
	}
	only := *s
	only.Tables = []Table{*t}
	r := Renderer{Quote: a.Quote, WithoutValues: true, WithoutDescriptions: a.Compat}
	return r.Render(&only).Text, fault
}

// grid is the part of a sample that may be shown.
type grid struct {
	columns []string
	rows    [][]any
}

// grids picks from samples, by table, the columns that a prompt may show.
func (a Augmented) grids(s *Schema, samples []Sample) map[tableName]grid {
	index := s.index()
	out := make(map[tableName]grid, len(samples))
	for _, sample := range samples {
		i := index.lookup(sample.Schema, sample.Table)
		if i < 0 {
			continue
		}
		t := &s.Tables[i]
		key := tableName{t.Schema, t.Name}
		if _, seen := out[key]; seen {
			continue
		}
		var g grid
		var places []int
		for j, name := range sample.Columns {
			c, ok := t.Column(name)
			if !ok || c.Sensitive || NameFault(c.Name) != "" {
				continue
			}
			places = append(places, j)
			g.columns = append(g.columns, c.Name)
		}
		if len(places) == 0 {
			continue
		}
		for _, row := range sample.Rows {
			cells := make([]any, len(places))
			for k, j := range places {
				if j < len(row) {
					cells[k] = row[j]
				}
			}
			g.rows = append(g.rows, cells)
		}
		out[key] = g
	}
	return out
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
	var b strings.Builder
	b.WriteString("-- Sample data from " + quote(t.Name) + ":\n-- Columns: ")
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

package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// table is a result, or a page of it, as the page shows it.
type table struct {
	Columns []string    `json:"columns"`
	Numeric []bool      `json:"numeric"` // by column: all its values are numbers or NULL
	Moments []bool      `json:"moments"` // by column: moments with a zone, which the page shows by the reader's clock
	Rows    [][]*string `json:"rows"`    // nil: NULL
	From    int         `json:"from"`    // how many rows stand before them
	Total   int         `json:"total"`   // how many rows there are to page through
	Count   string      `json:"count"`   // how many rows there are, in words
	Cut     bool        `json:"cut"`     // a value is not shown whole
	Charts  []chart     `json:"charts,omitempty"`
}

// What a page shows of a result at a time.
const (
	pageRows = 50
	maxCells = 10_000
	maxText  = 1_000   // runes of a cell
	maxTotal = 1 << 20 // bytes of all cells
)

// tabled makes the page's form of the result of a statement with its first rows and its charts; nil of nil.
func (s *Server) tabled(sql string, t *result.Table) *table {
	shown := tabled(t)
	if shown != nil {
		var of asked
		if s.DB != nil {
			of = outlined(s.DB.Language().Text.Parse(sql), t.Columns)
		}
		shown.Charts = series(t.Shown(), of)
	}
	return shown
}

// tabled makes the page's form of a result with its first rows; nil of nil.
func tabled(t *result.Table) *table {
	if t == nil {
		return nil
	}
	t = t.Shown()
	return view{t, shapes(t), nil}.page(0)
}

// view is a result with how its columns are written, and the places of its rows in the order that a person wants.
type view struct {
	*result.Table
	shapes []shape
	order  []int // nil: all rows as they are
}

func (v view) row(i int) []any {
	if v.order == nil {
		return v.Rows[i]
	}
	return v.Rows[v.order[i]]
}

func (v view) len() int {
	if v.order == nil {
		return len(v.Rows)
	}
	return len(v.order)
}

// page is what stands from a row on.
func (v view) page(from int) *table {
	n := len(v.Columns)
	p := &table{Columns: make([]string, n), Numeric: make([]bool, n), Moments: make([]bool, n), Rows: [][]*string{},
		From: max(0, min(from, v.len())), Total: v.len()}
	for i, name := range v.Columns {
		p.Columns[i], p.Numeric[i] = visible(words.Short(name, maxText)), v.shapes[i].Numeric
		p.Moments[i] = v.shapes[i].Instant
	}
	total := 0
	for i := p.From; i < v.len() && len(p.Rows) < min(pageRows, max(1, maxCells/max(1, n))) && total <= maxTotal; i++ {
		row := v.row(i)
		cells := make([]*string, len(row))
		for c, value := range row {
			if value == nil {
				continue
			}
			text := v.shapes[c].Text(value)
			short := words.Short(text, maxText)
			p.Cut = p.Cut || short != text
			short = visible(short)
			cells[c], total = &short, total+len(short)
		}
		p.Rows = append(p.Rows, cells)
	}
	p.Count = counted(len(v.Rows), "row")
	if v.Truncated {
		p.Count = "the first " + p.Count
	}
	if v.order != nil && len(v.order) < len(v.Rows) {
		p.Count = words.Thousands(len(v.order)) + " of " + p.Count
	}
	return p
}

// arranged orders the rows by a column, counted from 1 (0: as they are), NULL last, and keeps those with a value that
// contains a text.
func (v view) arranged(by int, down bool, find string) view {
	if by < 0 || by > len(v.Columns) {
		by = 0
	}
	find, v.order = strings.ToLower(strings.TrimSpace(find)), []int{}
	for i, row := range v.Rows {
		if find == "" || slices.ContainsFunc(row, func(value any) bool {
			return value != nil && strings.Contains(strings.ToLower(words.Plain(value)), find)
		}) ||
			slices.ContainsFunc(v.shapes, func(s shape) bool {
				return row[s.column] != nil && strings.Contains(strings.ToLower(s.Text(row[s.column])), find)
			}) {
			v.order = append(v.order, i)
		}
	}
	if by == 0 {
		return v
	}
	slices.SortStableFunc(v.order, func(i, j int) int {
		a, b := v.Rows[i][by-1], v.Rows[j][by-1]
		switch {
		case a == nil || b == nil:
			return cmp.Compare(btoi(a == nil), btoi(b == nil))
		case down:
			a, b = b, a
		}
		x, isX := result.Type{}.Number(a)
		y, isY := result.Type{}.Number(b)
		if isX && isY {
			return cmp.Compare(x, y)
		}
		if isX != isY {
			return cmp.Compare(btoi(isY), btoi(isX))
		}
		return cmp.Or(strings.Compare(strings.ToLower(words.Plain(a)), strings.ToLower(words.Plain(b))),
			strings.Compare(words.Plain(a), words.Plain(b)))
	})
	return v
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// exact returns the rows as they came, in the order of the view.
func (v view) exact() *result.Table {
	t := *v.Table
	t.Rows = make([][]any, v.len())
	for i := range t.Rows {
		t.Rows[i] = v.row(i)
	}
	return &t
}

// shape is how a person reads the values of a column.
type shape struct {
	result.Texts
	of     result.Type
	column int
	name   string // of the column; "week": it has weeks
}

// shapes looks at all values.
func shapes(t *result.Table) []shape {
	all := make([]shape, len(t.Columns))
	for c := range t.Columns {
		all[c] = shape{Texts: t.Texts(c), column: c, name: t.Columns[c]}
		if c < len(t.Types) {
			all[c].of = t.Types[c]
		}
	}
	return all
}

// axis names an axis of the numbers of a column.
func (s shape) axis() string {
	column := words.Short(s.name, 60)
	if s.of.Share {
		column += ", %"
	}
	return visible(column)
}

// at is the place of a value on an axis of time.
func (s shape) at(v any) (float64, bool) {
	if start, ok := s.of.Period(v); ok {
		return float64(start.Unix()), true
	}
	return moment(s.name, v)
}

// time is what the places of a column on an axis of time count: the grain of its periods, else "moment" for seconds,
// and "" for numbers such as a year.
func (s shape) time(v any) string {
	if _, ok := s.of.Period(v); ok {
		return s.of.Grain
	}
	if _, ok := v.(int64); ok {
		return ""
	}
	return "moment"
}

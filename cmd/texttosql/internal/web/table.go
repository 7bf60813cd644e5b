package web

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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
		shown.Charts = series(t.Shown(), s.DB != nil && addsUp(s.DB.Language().Text.Parse(sql).Outline().Aggregates))
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
	p := &table{Columns: make([]string, n), Numeric: make([]bool, n), Moments: make([]bool, n), Rows: [][]*string{}, From: max(0, min(from, v.len())), Total: v.len()}
	for i, name := range v.Columns {
		p.Columns[i], p.Numeric[i] = visible(words.Short(name, maxText)), v.shapes[i].numeric
		p.Moments[i] = v.shapes[i].moments
	}
	total := 0
	for i := p.From; i < v.len() && len(p.Rows) < min(pageRows, max(1, maxCells/max(1, n))) && total <= maxTotal; i++ {
		row := v.row(i)
		cells := make([]*string, len(row))
		for c, value := range row {
			if value == nil {
				continue
			}
			text := v.shapes[c].text(value)
			short := words.Short(text, maxText)
			p.Cut = p.Cut || short != text
			short = visible(short)
			cells[c], total = &short, total+len(short)
		}
		p.Rows = append(p.Rows, cells)
	}
	p.Count = counted(len(v.Rows), "row")
	if v.Truncated {
		p.Count = "the first " + p.Count + ", and there are more"
	}
	if v.order != nil && len(v.order) < len(v.Rows) {
		p.Count = separated(strconv.Itoa(len(v.order))) + " of " + p.Count
	}
	return p
}

// arranged orders the rows by a column, counted from 1 (0: as they are), NULL last, and keeps those with a value that
// contains a text.
func (v view) arranged(by int, down bool, find string) view {
	if by < 0 || by > len(v.Columns) {
		by = 0
	}
	find = strings.ToLower(strings.TrimSpace(find))
	for i, row := range v.Rows {
		if find == "" || slices.ContainsFunc(row, func(value any) bool { return value != nil && strings.Contains(strings.ToLower(cell(value)), find) }) ||
			slices.ContainsFunc(v.shapes, func(s shape) bool {
				return row[s.column] != nil && strings.Contains(strings.ToLower(s.text(row[s.column])), find)
			}) {
			v.order = append(v.order, i)
		}
	}
	if v.order == nil {
		v.order = []int{}
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
		x, isX := number(a)
		y, isY := number(b)
		if isX && isY {
			return cmp.Compare(x, y)
		}
		if isX != isY {
			return cmp.Compare(btoi(isY), btoi(isX))
		}
		return cmp.Or(strings.Compare(strings.ToLower(cell(a)), strings.ToLower(cell(b))), strings.Compare(cell(a), cell(b)))
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
	column  int
	numeric bool
	plain   bool // whole numbers without separators: keys and years
	digits  int  // behind the point
	days    bool // all times are midnight
	times   bool // all texts are times
	seconds bool // a time has seconds
	moments bool // of the database's own type: each text has its zone
}

// shapes looks at all values.
func shapes(t *result.Table) []shape {
	all := make([]shape, len(t.Columns))
	for c, name := range t.Columns {
		s := shape{column: c, numeric: true, times: true, days: true, plain: identifies(name) || numbered.MatchString(name) || steps.MatchString(name)}
		largest, found := 0.0, false
		for _, row := range t.Rows {
			if row[c] == nil {
				continue
			}
			found = true
			f, ok := number(row[c])
			s.numeric = s.numeric && ok
			largest = max(largest, math.Abs(f))
			at, ok := instant(row[c])
			s.times = s.times && ok
			s.days = s.days && at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0 && at.Nanosecond() == 0
			s.seconds = s.seconds || at.Second() != 0
		}
		s.numeric, s.times = s.numeric && found, s.times && found
		s.moments = c < len(t.Types) && t.Types[c].Kind == result.KindInstant
		for _, row := range t.Rows {
			if s.numeric && row[c] != nil {
				s.digits = max(s.digits, meant(row[c], largest))
			}
		}
		all[c] = s
	}
	return all
}

// numbered are names of whole numbers that nobody adds up.
var numbered = regexp.MustCompile(`(?i)(^|[_ ])(zip|postcode|postal|phone|code|isbn|ean|sku|nr)([_ ]|$)|[_ ](number|no|key)$`)

// meant is how many digits behind the point mean something of a number, in a column whose largest one has a size: two for
// hundreds and more, four for ones, four that are not zero for less; fewer where the rest is the noise of floats.
func meant(v any, largest float64) int {
	if _, whole := v.(int64); whole {
		return 0
	}
	most := 2
	switch {
	case largest < 1 && largest > 0:
		most = min(12, 3-int(math.Floor(math.Log10(largest))))
	case largest < 100:
		most = 4
	}
	if exact, ok := v.(result.Decimal); ok {
		_, rest, _ := strings.Cut(string(exact), ".")
		return min(most, len(rest))
	}
	f, _ := number(v)
	for d := range most {
		scale := math.Pow(10, float64(d))
		if math.Abs(f-math.Round(f*scale)/scale) <= 1e-11*math.Abs(f) {
			return d
		}
	}
	return most
}

// text is a value as a person reads it: numbers with separators and the digits that mean something, times without what is
// the same for all.
func (s shape) text(v any) string {
	switch v := v.(type) {
	case int64:
		if !s.plain {
			return separated(strconv.FormatInt(v, 10))
		}
	case float64:
		a := math.Abs(v)
		switch {
		case !s.numeric || s.plain && v == math.Trunc(v):
		case a != 0 && (a < 1e-6 || a >= 1e15 || math.IsInf(v, 0)) || math.IsNaN(v):
			return strconv.FormatFloat(v, 'g', 6, 64)
		case a != 0 && a < math.Pow(10, -float64(s.digits))/2: // not nothing
			return strconv.FormatFloat(v, 'g', 2, 64)
		default:
			return separated(strconv.FormatFloat(v, 'f', s.digits, 64))
		}
	case result.Decimal:
		if s.plain && !strings.Contains(string(v), ".") {
			return string(v)
		}
		if r, ok := new(big.Rat).SetString(string(v)); ok && len(v) < 100 {
			if text := r.FloatString(s.digits); strings.Trim(text, "-0.") != "" {
				return separated(text)
			}
		}
	case string:
		if at, ok := instant(v); ok && s.times && !s.moments {
			switch {
			case s.days:
				return at.Format(time.DateOnly)
			case s.seconds:
				return at.Format(time.DateTime)
			}
			return at.Format("2006-01-02 15:04")
		}
	}
	return cell(v)
}

// separated puts commas between the thousands of a number without an exponent.
func separated(text string) string {
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

// instants are the forms of a point in time in UTC, or without a zone. What has another zone stays as it is.
var instants = []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05Z", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05-00", "2006-01-02 15:04:05+00:00"}

// instant reads a point in time; fractions of seconds stay as they are.
func instant(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok || len(text) < 10 || len(text) > 26 || text[4] != '-' || strings.Contains(text, ".") {
		return time.Time{}, false
	}
	for _, form := range instants {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// cell is a value as it is.
func cell(v any) string {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case float64:
		if a := math.Abs(v); a == 0 || a >= 1e-6 && a < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64) // money is read without exponents
		}
	}
	return fmt.Sprint(v)
}

// number is a value as a float64, if it is a finite number.
func number(v any) (float64, bool) {
	var f float64
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case float64:
		f = v
	case result.Decimal:
		f, _ = strconv.ParseFloat(string(v), 64)
	default:
		return 0, false
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

package web

import (
	"fmt"
	"math"
	"strconv"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// table is a result as the page shows it.
type table struct {
	Columns []string    `json:"columns"`
	Numeric []bool      `json:"numeric"` // by column: all its values are numbers or NULL
	Rows    [][]*string `json:"rows"`    // nil: NULL
	Count   string      `json:"count"`   // how many rows there are, in words
	Cut     bool        `json:"cut"`     // a value is not shown whole
	Charts  []chart     `json:"charts,omitempty"`
}

// What a page shows of a result.
const (
	maxRows  = 200
	maxCells = 10_000
	maxText  = 1_000   // runes of a cell
	maxTotal = 1 << 20 // bytes of all cells
)

// tabled makes the page's form of a result; nil of nil.
func tabled(t *result.Table) *table {
	if t == nil {
		return nil
	}
	v := &table{Columns: make([]string, len(t.Columns)), Numeric: make([]bool, len(t.Columns)), Rows: [][]*string{}, Charts: series(t)}
	for i, name := range t.Columns {
		v.Columns[i], v.Numeric[i] = visible(words.Short(name, maxText)), numeric(t, i)
	}
	total := 0
	for _, row := range t.Rows[:min(len(t.Rows), maxRows, max(1, maxCells/max(1, len(t.Columns))))] {
		cells := make([]*string, len(row))
		for i, value := range row {
			if value == nil {
				continue
			}
			text := cell(value)
			short := words.Short(text, maxText)
			v.Cut = v.Cut || short != text
			short = visible(short)
			cells[i], total = &short, total+len(short)
		}
		if total > maxTotal && len(v.Rows) > 0 {
			break
		}
		v.Rows = append(v.Rows, cells)
	}
	v.Count = counted(len(t.Rows), "row")
	if t.Truncated {
		v.Count = "more than " + v.Count
	}
	if len(v.Rows) < len(t.Rows) {
		v.Count = fmt.Sprintf("the first %d of %s", len(v.Rows), v.Count)
	}
	return v
}

// cell is a value as a person reads it.
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

// numeric reports whether a column holds a number, and else only numbers and NULL.
func numeric(t *result.Table, column int) bool {
	found := false
	for _, row := range t.Rows {
		if row[column] == nil {
			continue
		}
		if _, ok := number(row[column]); !ok {
			return false
		}
		found = true
	}
	return found
}

// Package xlsx writes rows as a workbook of Excel: numbers as numbers, dates as dates, and what a cell cannot hold
// exactly as text.
package xlsx

import (
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/texttosql/texttosql/result"
)

// The bounds of a sheet.
const (
	MaxRows = excelize.TotalRows - 1 // below the names of the columns
	MaxText = excelize.TotalCellChars
)

// mostDigits are the digits of a number that a cell keeps: it is a float64.
const mostDigits = 15

// Write writes a workbook of one sheet, in which the first row has the names of the columns, and closes the rows. Rows
// are written to a temporary file as they come, each value as its type shows it. A number of more than 15 digits, a
// blob (X'00ff'), a date before 1900, and an instant in an hour that its zone has twice are texts. More than MaxRows
// rows, and a text of more than MaxText characters, are an error that names the limit.
func Write(w io.Writer, rows *result.Stream) error {
	defer rows.Close()
	return write(w, rows.Columns, rows.Types, rows.Rows())
}

// WriteTable is Write for rows that are in memory.
func WriteTable(w io.Writer, t *result.Table) error {
	return write(w, t.Columns, t.Types, func(yield func([]any, error) bool) {
		for _, row := range t.Rows {
			if !yield(row, nil) {
				return
			}
		}
	})
}

func write(w io.Writer, columns []string, types []result.Type, rows iter.Seq2[[]any, error]) error {
	book := excelize.NewFile()
	defer book.Close()
	// How many rows come is not known yet. A reader that goes by the dimension of an empty sheet would stop at its first
	// row.
	if err := book.SetSheetDimension("Sheet1", ""); err != nil {
		return fmt.Errorf("xlsx: %w", err)
	}
	sheet, err := book.NewStreamWriter("Sheet1")
	if err != nil {
		return fmt.Errorf("xlsx: %w", err)
	}
	names := make([]any, len(columns))
	for i, name := range columns {
		names[i] = name
	}
	if err := sheet.SetRow("A1", names); err != nil {
		return fmt.Errorf("xlsx: writing the names of the columns: %w", err)
	}
	if err := writeRows(sheet, columns, types, styles{book, map[string]int{}}, rows); err != nil {
		return err
	}
	if err := sheet.Flush(); err != nil {
		return fmt.Errorf("xlsx: %w", err)
	}
	return book.Write(w)
}

// styles are the styles of cells, by their formats.
type styles struct {
	book *excelize.File
	of   map[string]int
}

// styled is a value in a format; "": the default.
func (s styles) styled(value any, format string) (any, error) {
	if format == "" || value == nil {
		return value, nil
	}
	id, known := s.of[format]
	if !known {
		var err error
		if id, err = s.book.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return nil, err
		}
		s.of[format] = id
	}
	return excelize.Cell{StyleID: id, Value: value}, nil
}

// formatOf is how cells of a type are shown: "" is the default.
func formatOf(t result.Type) string {
	if format := grains[t.Grain]; format != "" {
		return format
	}
	if t.Share {
		return "0.0%"
	}
	switch t.Kind {
	case result.KindDate:
		return "yyyy-mm-dd"
	case result.KindDateTime, result.KindInstant:
		return "yyyy-mm-dd hh:mm:ss"
	case result.KindDecimal:
		if t.Scale > 0 {
			return "0." + strings.Repeat("0", t.Scale)
		}
	}
	return ""
}

// grains are the formats of cells of periods. A year and a quarter are no dates.
var grains = map[string]string{"month": "mmm yyyy", "week": "yyyy-mm-dd", "day": "yyyy-mm-dd",
	"hour": "yyyy-mm-dd hh:mm"}

func writeRows(sheet *excelize.StreamWriter, columns []string, of []result.Type, styles styles,
	rows iter.Seq2[[]any, error]) error {
	n, types, places := 0, make([]result.Type, len(columns)), make([]*time.Location, len(columns))
	copy(types, of)
	for i := range types {
		places[i], _ = time.LoadLocation(types[i].Zone) // nil: no cell is looked at
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n++; n > MaxRows {
			return fmt.Errorf("xlsx: a sheet holds %d rows below its head, and there are more: write CSV", MaxRows)
		}
		cells := make([]any, len(row))
		for i, v := range row {
			value, err := cell(types[i].Shown(v), types[i])
			format := formatOf(types[i])
			if instant, ok := v.(string); ok && types[i].Kind == result.KindInstant {
				value, format = zoned(value, format, instant, places[i])
			}
			if err == nil {
				value, err = styles.styled(value, format)
			}
			if err != nil {
				return fmt.Errorf("xlsx: row %d, column %s: %w", n, columns[i], err)
			}
			cells[i] = value
		}
		if err := sheet.SetRow(fmt.Sprintf("A%d", n+1), cells); err != nil {
			return fmt.Errorf("xlsx: row %d: %w", n, err)
		}
	}
	return nil
}

// cell is a value as a cell holds it.
func cell(v any, of result.Type) (any, error) {
	if at, ok := of.Period(v); ok && grains[of.Grain] != "" && at.Year() >= firstYear {
		return at, nil
	}
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case int64:
		if digits(fmt.Sprint(v)) > mostDigits {
			return fmt.Sprint(v), nil
		}
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return result.Type{}.Format(v), nil
		}
		return v, nil
	case result.Decimal:
		return number(v), nil
	case string:
		if at, ok := moment(v, of.Kind); ok {
			return at, nil
		}
		return held(v)
	case []byte:
		return held(fmt.Sprintf("X'%x'", v)) // as in CSV
	}
	return result.Type{}.Format(v), nil
}

// held is a text that a cell holds.
func held(s string) (any, error) {
	if n := utf8.RuneCountInString(s); n > MaxText {
		return nil, fmt.Errorf("a text of %d characters, and a cell holds %d: write CSV", n, MaxText)
	}
	return s, nil
}

// number is a decimal as a number where a cell keeps all of its digits, else as a text.
func number(d result.Decimal) any {
	text := string(d)
	if digits(text) > mostDigits {
		return text
	}
	var f float64
	if _, err := fmt.Sscan(text, &f); err != nil {
		return text
	}
	return f
}

// digits counts the digits of a number from its first that is not 0.
func digits(number string) (n int) {
	for _, r := range strings.TrimLeft(number, "-0.") {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// layouts are how a table writes dates and times.
var layouts = map[result.Kind][]string{
	result.KindDate:     {time.DateOnly},
	result.KindDateTime: {time.DateTime},
	result.KindInstant:  {"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05-07"},
}

// firstYear is that from which Excel counts days as the calendar does.
const firstYear = 1901

// isTwice reports whether the clock of a place shows an instant and another one alike, as in the hour that autumn has
// twice. Only its text says which it is.
func isTwice(text string, place *time.Location) bool {
	for _, layout := range layouts[result.KindInstant] {
		at, err := time.Parse(layout, text)
		if err != nil || place == nil {
			continue
		}
		clock := at.In(place).Format(time.DateTime)
		if at.Add(time.Hour).In(place).Format(time.DateTime) == clock ||
			at.Add(-time.Hour).In(place).Format(time.DateTime) == clock {
			return true
		}
	}
	return false
}

// zoned is the cell of an instant: its moment in a format that has the zone, or its text where the clock of the place
// shows another instant alike.
func zoned(value any, format, instant string, place *time.Location) (any, string) {
	if isTwice(instant, place) {
		return instant, format
	}
	if _, ok := value.(time.Time); ok && strings.HasSuffix(format, "ss") {
		format += `"` + zoneOf(instant) + `"`
	}
	return value, format
}

// zoneOf is how the text of an instant ends: "+02:00", "-05" or "Z".
func zoneOf(instant string) string {
	return strings.TrimLeft(instant[len(time.DateTime):], ".0123456789")
}

// moment is the time that a text of a kind says. A cell holds no zone: it shows the clock of the text, and its format
// the zone.
func moment(text string, kind result.Kind) (time.Time, bool) {
	for _, layout := range layouts[kind] {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= firstYear && at.Year() <= 9999 {
			return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC),
				true
		}
	}
	return time.Time{}, false
}

// Package xlsx writes rows as a workbook of Excel: numbers as numbers, dates as dates, and what a cell cannot hold exactly as text.
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

// Head is what stands above the rows.
type Head struct {
	Columns []string
	Types   []result.Type // one a column, or none
}

// mostDigits are the digits of a number that a cell keeps: it is a float64.
const mostDigits = 15

// Write writes a workbook of one sheet, in which the first row has the names of the columns. Rows are written to a temporary file
// as they come. A number of more than 15 digits, a blob and a date before 1900 are texts. More than MaxRows rows, and a text of more
// than MaxText characters, are an error that names the limit.
func Write(w io.Writer, head Head, rows iter.Seq2[[]any, error]) error {
	book := excelize.NewFile()
	defer book.Close()
	sheet, err := book.NewStreamWriter("Sheet1")
	if err != nil {
		return fmt.Errorf("xlsx: %w", err)
	}
	styles, err := stylesOf(book, head)
	if err != nil {
		return fmt.Errorf("xlsx: %w", err)
	}
	names := make([]any, len(head.Columns))
	for i, name := range head.Columns {
		names[i] = name
	}
	if err := sheet.SetRow("A1", names); err != nil {
		return fmt.Errorf("xlsx: writing the names of the columns: %w", err)
	}
	if err := writeRows(sheet, head, styles, rows); err != nil {
		return err
	}
	if err := sheet.Flush(); err != nil {
		return fmt.Errorf("xlsx: %w", err)
	}
	return book.Write(w)
}

// stylesOf are the styles of the columns' cells: 0 is the default.
func stylesOf(book *excelize.File, head Head) ([]int, error) {
	styles := make([]int, len(head.Columns))
	for i := range head.Types {
		format := formatOf(head.Types[i])
		if format == "" {
			continue
		}
		style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &format})
		if err != nil {
			return nil, err
		}
		styles[i] = style
	}
	return styles, nil
}

// formatOf is how cells of a type are shown: "" is the default.
func formatOf(t result.Type) string {
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

func writeRows(sheet *excelize.StreamWriter, head Head, styles []int, rows iter.Seq2[[]any, error]) error {
	n := 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n++; n > MaxRows {
			return fmt.Errorf("xlsx: a sheet holds %d rows below its head, and there are more: write CSV", MaxRows)
		}
		cells := make([]any, len(row))
		for i, v := range row {
			var kind result.Kind
			if i < len(head.Types) {
				kind = head.Types[i].Kind
			}
			value, err := cell(v, kind)
			if err != nil {
				return fmt.Errorf("xlsx: row %d, column %s: %w", n, head.Columns[i], err)
			}
			if style := styles[i]; style != 0 && value != nil {
				value = excelize.Cell{StyleID: style, Value: value}
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
func cell(v any, kind result.Kind) (any, error) {
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
			return result.Show(v), nil
		}
		return v, nil
	case result.Decimal:
		return number(v), nil
	case string:
		if at, ok := moment(v, kind); ok {
			return at, nil
		}
		if n := utf8.RuneCountInString(v); n > MaxText {
			return nil, fmt.Errorf("a text of %d characters, and a cell holds %d: write CSV", n, MaxText)
		}
		return v, nil
	}
	return result.Show(v), nil
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

// moment is the time that a text of a kind says. A cell has no zone: it shows the clock of the text.
func moment(text string, kind result.Kind) (time.Time, bool) {
	for _, layout := range layouts[kind] {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= firstYear && at.Year() <= 9999 {
			return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC), true
		}
	}
	return time.Time{}, false
}

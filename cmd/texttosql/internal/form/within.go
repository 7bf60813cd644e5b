package form

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/result"
)

// left stands in place of the columns that are left out.
const left = "…"

// Within writes a table for a terminal of width columns; 0: of any width. Where its columns do not fit even with short cells, those
// in the middle are left out, and the last line says so, and with which words all can be had:
//
//	(300 rows; 9 of 80 columns: --vertical or --csv has all)
func Within(w io.Writer, t *result.Table, width int, all string) error {
	var text bytes.Buffer
	if err := t.WriteTableWithin(&text, width); err != nil {
		return err
	}
	if width == 0 || len(t.Columns) == 0 || breadth(text.Bytes()) <= width {
		_, err := w.Write(text.Bytes())
		return err
	}

	first, last, err := fitting(t, width)
	if err != nil {
		return err
	}
	text.Reset()
	if err := parted(t, first, last).WriteTableWithin(&text, width); err != nil {
		return err
	}
	lines := strings.SplitAfter(text.String(), "\n")
	end := len(lines) - 2 // the number of rows
	for i, line := range lines[:end] {
		if line = strings.TrimSuffix(line, "\n"); first+last == 1 && utf8.RuneCountInString(line) > width { // one number, and wider
			lines[i] = string([]rune(line)[:width-1]) + left + "\n"
		}
	}
	told := fmt.Sprintf("%s; %d of %d columns: %s)\n", strings.TrimSuffix(lines[end], ")\n"), first+last, len(t.Columns), all)
	_, err = io.WriteString(w, strings.Join(lines[:end], "")+Wrap(told, width))
	return err
}

// breadth is how wide a table is: the second line is a rule below all of it.
func breadth(table []byte) int {
	lines := bytes.SplitN(table, []byte("\n"), 3)
	if len(lines) < 3 {
		return 0
	}
	return len(lines[1])
}

// fitting is how many of the first and of the last columns fit with short cells; at least the first one does.
func fitting(t *result.Table, width int) (first, last int, err error) {
	room := width - len(" | ") - 1 // for the mark between them
	for n := range len(t.Columns) - 1 {
		at := first
		if n%2 == 1 {
			at = len(t.Columns) - 1 - last
		}
		var text bytes.Buffer
		if err := parted(&result.Table{Columns: t.Columns[at : at+1], Types: typesOf(t, at), Rows: column(t, at)}, 1, 0).WriteTableWithin(&text, 1); err != nil {
			return 0, 0, err
		}
		if room -= breadth(text.Bytes()); n > 0 {
			room -= len(" | ")
		}
		switch {
		case room < 0 && n > 0:
			return first, last, nil
		case n%2 == 1:
			last++
		default:
			first++
		}
	}
	return first, last, nil
}

func column(t *result.Table, at int) [][]any {
	rows := make([][]any, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = row[at : at+1]
	}
	return rows
}

func typesOf(t *result.Table, at int) []result.Type {
	if at < len(t.Types) {
		return t.Types[at : at+1]
	}
	return nil
}

// parted is a table of the first and the last columns of another one, with a mark between them where some are left out.
func parted(t *result.Table, first, last int) *result.Table {
	n := len(t.Columns)
	if first+last >= n {
		return t
	}
	part := &result.Table{Truncated: t.Truncated, TooLarge: t.TooLarge, Columns: outer(t.Columns, left, first, last)}
	if len(t.Types) == n {
		part.Types = outer(t.Types, result.Type{}, first, last)
	}
	for _, row := range t.Rows {
		part.Rows = append(part.Rows, outer(row, any(left), first, last))
	}
	return part
}

func outer[T any](list []T, mark T, first, last int) []T {
	return append(append(append([]T{}, list[:first]...), mark), list[len(list)-last:]...)
}

package textformat

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/result"
)

// left stands in place of the columns that are left out.
const left = "…"

// Within writes a table for a terminal of width columns; 0: of any width. Where its columns do not fit even with short
// cells, those in the middle are left out, and the last line says so, and with which words all can be had:
//
//	(300 rows; 9 of 80 columns: --vertical or --csv has all)
//
// With types, the types of the columns stand in a line under their names.
func Within(w io.Writer, t *result.Table, width int, all string, types bool) error {
	var text bytes.Buffer
	if err := t.WriteTableWithin(&text, width); err != nil {
		return err
	}
	if width == 0 || len(t.Columns) == 0 || sum(widths(text.Bytes())) <= width {
		if types {
			return writeTyped(w, t, width)
		}
		_, err := w.Write(text.Bytes())
		return err
	}

	text.Reset()
	if err := t.WriteTableWithin(&text, 1); err != nil { // as narrow as it can be
		return err
	}
	first, last := fitting(widths(text.Bytes()), width)
	text.Reset()
	part := parted(t, first, last)
	if err := part.WriteTableWithin(&text, width); err != nil {
		return err
	}
	lines := strings.SplitAfter(text.String(), "\n")
	if types {
		lines = slices.Insert(lines, 1, typeLine(part, lines[1]))
	}
	end := len(lines) - 2 // the number of rows
	for i, line := range lines[:end] {
		// one number, and wider
		if line = strings.TrimSuffix(line, "\n"); first+last == 1 && utf8.RuneCountInString(line) > width {
			lines[i] = string([]rune(line)[:width-1]) + left + "\n"
		}
	}
	told := fmt.Sprintf("%s; %d of %d columns: %s)\n", strings.TrimSuffix(lines[end], ")\n"), first+last, len(t.Columns),
		all)
	_, err := io.WriteString(w, strings.Join(lines[:end], "")+Wrap(told, width))
	return err
}

// widths are those of the columns of a table, each with the blanks between: the second line is a rule below all of it.
func widths(table []byte) (all []int) {
	lines := bytes.SplitN(table, []byte("\n"), 3)
	for part := range strings.SplitSeq(string(lines[1]), "+") {
		all = append(all, len(part)+1)
	}
	all[len(all)-1]--
	return all
}

func sum(widths []int) (n int) {
	for _, width := range widths {
		n += width
	}
	return n
}

// fitting is how many of the first and of the last columns fit beside a mark between them, by turns; at least the first
// one does.
func fitting(widths []int, width int) (first, last int) {
	room := width - len(" | ") - 1 - widths[0]
	for first = 1; first+last < len(widths); {
		next := widths[first]
		if first > last {
			next = widths[len(widths)-1-last]
		}
		if room -= next; room < 0 {
			break
		}
		if first > last {
			last++
		} else {
			first++
		}
	}
	return first, last
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
	return slices.Concat(list[:first], []T{mark}, list[len(list)-last:])
}

package textformat

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// writeTyped writes a table that fits with a line of types. Its columns are as wide as their types if the table fits
// then, too.
func writeTyped(w io.Writer, t *result.Table, width int) error {
	wide := *t
	wide.Columns = nil
	for i, name := range t.Columns {
		missing := utf8.RuneCountInString(typeName(t, i)) - utf8.RuneCountInString(name)
		wide.Columns = append(wide.Columns, name+strings.Repeat(" ", max(0, missing)))
	}
	var text bytes.Buffer
	err := wide.WriteTableWithin(&text, width)
	if err == nil && width > 0 && sum(widths(text.Bytes())) > width {
		text.Reset()
		err = t.WriteTableWithin(&text, width)
	}
	if err != nil {
		return err
	}
	lines := strings.SplitAfterN(text.String(), "\n", 3)
	if len(t.Columns) > 0 {
		lines[0] = strings.TrimRight(lines[0], " \n") + "\n" + typeLine(t, lines[1])
	}
	_, err = io.WriteString(w, strings.Join(lines, ""))
	return err
}

// typeLine has the types of the columns in the places that the rule under the names gives them.
func typeLine(t *result.Table, rule string) string {
	var cells []string
	for i, part := range strings.Split(strings.TrimSuffix(rule, "\n"), "-+-") {
		name := typeName(t, i)
		if t.Columns[i] == left {
			name = left
		}
		name = words.Visible(name, "", words.Hidden)
		if room := len(part); utf8.RuneCountInString(name) > room {
			name = string([]rune(name)[:max(0, room-1)]) + left
		}
		cells = append(cells, name+strings.Repeat(" ", len(part)-utf8.RuneCountInString(name)))
	}
	return strings.TrimRight(strings.Join(cells, " | "), " ") + "\n"
}

// typeName is the type of a column as the database names it; of a time bucket its grain; of one without a type the kind
// of its values.
func typeName(t *result.Table, column int) string {
	var of result.Type
	if column < len(t.Types) {
		of = t.Types[column]
	}
	return cmp.Or(of.Grain, strings.ToLower(of.Name), string(of.Kind), string(KindOf(t.Rows, column)))
}

// KindOf is the kind of all values of a column to which the engine gives no type, such as count(*) on SQLite; "": they
// differ, are of another kind, or all are NULL.
func KindOf(rows [][]any, column int) (kind result.Kind) {
	for _, row := range rows {
		var of result.Kind
		switch row[column].(type) {
		case nil:
			continue
		case int64:
			of = result.KindInt
		case float64:
			of = result.KindFloat
		case string:
			of = result.KindText
		}
		if of == "" || kind != "" && kind != of {
			return ""
		}
		kind = of
	}
	return kind
}

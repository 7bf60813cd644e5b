package xlsx

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/result"
)

// sequence yields rows, and an error behind them if there is one.
func sequence(rows [][]any, err error) func(func([]any, error) bool) {
	return func(yield func([]any, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// The types of the test.
var (
	money   = result.Type{Kind: result.KindDecimal, Scale: 2}
	whole   = result.Type{Kind: result.KindInt}
	float   = result.Type{Kind: result.KindFloat}
	truth   = result.Type{Kind: result.KindBool}
	day     = result.Type{Kind: result.KindDate}
	clock   = result.Type{Kind: result.KindDateTime}
	instant = result.Type{Kind: result.KindInstant}
	text    = result.Type{Kind: result.KindText}
)

// The kinds of cells; a number has none.
const (
	unset   = excelize.CellTypeUnset
	inline  = excelize.CellTypeInlineString
	boolean = excelize.CellTypeBool
)

// TestWrite reads what was written: the type of each cell, its raw value and what Excel shows.
func TestWrite(t *testing.T) {
	for _, test := range []struct {
		why        string
		value      any
		of         result.Type
		kind       excelize.CellType
		raw, shown string
	}{
		{"a number is a number", int64(42), whole, unset, "42", "42"},
		{"a cell would change its last digits", int64(9007199254740993), whole, inline, "9007199254740993", "9007199254740993"},
		{"a decimal is a number, shown with its scale", result.Decimal("1.10"), money, unset, "1.1", "1.10"},
		{"a decimal of more digits than a cell keeps", result.Decimal("12345678901234567.25"), money, inline, "12345678901234567.25", "12345678901234567.25"},
		{"a float", 0.5, float, unset, "0.5", "0.5"},
		{"a truth value", true, truth, boolean, "1", "TRUE"},
		{"a day", "2026-11-27", day, unset, "46353", "2026-11-27"},
		{"a day before Excel counts them", "1815-12-10", day, inline, "1815-12-10", "1815-12-10"},
		{"half a date of MariaDB", "2024-02-00", day, inline, "2024-02-00", "2024-02-00"},
		{"a time of a day", "2026-11-27 12:00:00", clock, unset, "46353.5", "2026-11-27 12:00:00"},
		{"an instant shows the clock of its text", "2026-11-27 12:00:00+02:00", instant, unset, "46353.5", "2026-11-27 12:00:00"},
		{"a formula is a text", "=1+1", text, inline, "=1+1", "=1+1"},
		{"a date in a text is a text", "2026-11-27", text, inline, "2026-11-27", "2026-11-27"},
		{"digits in a text stay", "007", text, inline, "007", "007"},
		{"NULL is an empty cell", nil, whole, unset, "", ""},
	} {
		var out bytes.Buffer
		need.OK(t, Write(&out, Head{Columns: []string{"a"}, Types: []result.Type{test.of}}, sequence([][]any{{test.value}}, nil)))
		book := need.Value(excelize.OpenReader(&out))(t)
		kind := need.Value(book.GetCellType("Sheet1", "A2"))(t)
		raw := need.Value(book.GetCellValue("Sheet1", "A2", excelize.Options{RawCellValue: true}))(t)
		shown := need.Value(book.GetCellValue("Sheet1", "A2"))(t)
		got, want := []any{kind, raw, shown}, []any{test.kind, test.raw, test.shown}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", test.why, test.value, diff)
		}
		if name := need.Value(book.GetCellValue("Sheet1", "A1"))(t); name != "a" {
			t.Errorf("%s: the head is %q", test.why, name)
		}
	}
}

// TestWriteFails: what a sheet does not hold, and an error of the rows, are told, and nothing is cut.
func TestWriteFails(t *testing.T) {
	broken := errors.New("the database went away")
	for _, test := range []struct {
		why  string
		rows func(func([]any, error) bool)
		want string
	}{
		{"an error behind a row", sequence([][]any{{"x"}}, broken), "went away"},
		{"a text that a cell does not hold", sequence([][]any{{strings.Repeat("x", MaxText+1)}}, nil), "a cell holds 32767: write CSV"},
	} {
		if err := Write(&bytes.Buffer{}, Head{Columns: []string{"a"}}, test.rows); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}

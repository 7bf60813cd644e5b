package xlsx

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/texttosql/texttosql/internal/testutil"
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
		{"a cell would change its last digits", int64(9007199254740993), whole, inline, "9007199254740993",
			"9007199254740993"},
		{"a decimal is a number, shown with its scale", result.Decimal("1.10"), money, unset, "1.1", "1.10"},
		{"a decimal of more digits than a cell keeps", result.Decimal("12345678901234567.25"), money, inline,
			"12345678901234567.25", "12345678901234567.25"},
		{"a float", 0.5, float, unset, "0.5", "0.5"},
		{"a share", 0.125, result.Type{Kind: result.KindFloat, Share: true}, unset, "0.125", "12.5%"},
		{"a truth value", true, truth, boolean, "1", "TRUE"},
		{"a day", "2026-11-27", day, unset, "46353", "2026-11-27"},
		{"a day before Excel counts them", "1815-12-10", day, inline, "1815-12-10", "1815-12-10"},
		{"half a date of MariaDB", "2024-02-00", day, inline, "2024-02-00", "2024-02-00"},
		{"a month of date_trunc", "2024-01-01 00:00:00", result.Type{Kind: result.KindDateTime, Grain: "month"}, unset,
			"45292", "Jan 2024"},
		{"a month of strftime", "2024-01", result.Type{Kind: result.KindText, Grain: "month"}, unset, "45292", "Jan 2024"},
		{"a month in the zone of the session", "2024-01-01 00:00:00+01:00",
			result.Type{Kind: result.KindInstant, Grain: "month"}, unset, "45292", "Jan 2024"},
		{"a quarter has no date", "2024-Q1", result.Type{Kind: result.KindText, Grain: "quarter"}, inline, "2024-Q1",
			"2024-Q1"},
		{"a value, not a month", "total", result.Type{Kind: result.KindText, Grain: "month"}, inline, "total", "total"},
		{"a time of a day", "2026-11-27 12:00:00", clock, unset, "46353.5", "2026-11-27 12:00:00"},
		{"an instant shows the clock and the zone of its text", "2026-11-27 12:00:00+02", instant, unset, "46353.5",
			"2026-11-27 12:00:00+02"},
		{"an instant of UTC", "2026-11-27 12:00:00Z", instant, unset, "46353.5", "2026-11-27 12:00:00Z"},
		{"a part of a second", "2026-11-27 12:00:00.25-05", instant, unset, "46353.50000289352", "2026-11-27 12:00:00-05"},
		{"bytes are all there, as in CSV", []byte{0, 255, 16}, result.Type{Kind: result.KindBlob}, inline, "X'00ff10'",
			"X'00ff10'"},
		{"a formula is a text", "=1+1", text, inline, "=1+1", "=1+1"},
		{"a formula in fullwidth is a text", "＝1+1", text, inline, "＝1+1", "＝1+1"},
		{"a formula behind what cannot be seen is a text", "\u200b =1+1", text, inline, "\u200b =1+1", "\u200b =1+1"},
		{"a date in a text is a text", "2026-11-27", text, inline, "2026-11-27", "2026-11-27"},
		{"digits in a text stay", "007", text, inline, "007", "007"},
		{"NULL is an empty cell", nil, whole, unset, "", ""},
	} {
		var out bytes.Buffer
		testutil.OK(t, write(&out, []string{"a"}, []result.Type{test.of}, sequence([][]any{{test.value}}, nil)))
		book := testutil.Value(excelize.OpenReader(&out))(t)
		kind := testutil.Value(book.GetCellType("Sheet1", "A2"))(t)
		raw := testutil.Value(book.GetCellValue("Sheet1", "A2", excelize.Options{RawCellValue: true}))(t)
		shown := testutil.Value(book.GetCellValue("Sheet1", "A2"))(t)
		got, want := []any{kind, raw, shown}, []any{test.kind, test.raw, test.shown}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", test.why, test.value, diff)
		}
		if name := testutil.Value(book.GetCellValue("Sheet1", "A1"))(t); name != "a" {
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
		{"a text that a cell does not hold", sequence([][]any{{strings.Repeat("x", MaxText+1)}}, nil),
			"a cell holds 32767: write CSV"},
	} {
		if err := write(&bytes.Buffer{}, []string{"a"}, nil, test.rows); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}

// TestZone: the format of an instant has the minutes of its zone, which the reader of these tests does not show.
func TestZone(t *testing.T) {
	var out bytes.Buffer
	testutil.OK(t, write(&out, []string{"a"}, []result.Type{instant}, sequence([][]any{{"2026-11-27 12:00:00+05:30"}},
		nil)))
	book := testutil.Value(excelize.OpenReader(&out))(t)
	style := testutil.Value(book.GetStyle(testutil.Value(book.GetCellStyle("Sheet1", "A2"))(t)))(t)
	if want := `yyyy-mm-dd hh:mm:ss"+05:30"`; *style.CustomNumFmt != want {
		t.Errorf("%s, want %s", *style.CustomNumFmt, want)
	}
}

// TestTwice: an instant is a text where the clock of its zone shows another one alike.
func TestTwice(t *testing.T) {
	for _, test := range []struct {
		why, text, zone string
		want            bool
	}{
		{"the first of two", "2024-11-03 01:30:00-04:00", "America/New_York", true},
		{"the second one", "2024-11-03 01:30:00-05", "America/New_York", true},
		{"the hour before", "2024-11-03 00:30:00-04:00", "America/New_York", false},
		{"the hour behind", "2024-11-03 02:30:00-05:00", "America/New_York", false},
		{"behind the hour that is skipped", "2024-03-10 03:30:00-04:00", "America/New_York", false},
		{"another zone", "2024-11-03 01:30:00-04:00", "Asia/Tokyo", false},
		{"in UTC", "2024-11-03 05:30:00Z", "UTC", false},
		{"no zone is known", "2024-11-03 01:30:00-04:00", "", false},
		{"no instant", "soon", "America/New_York", false},
	} {
		place, err := time.LoadLocation(test.zone)
		if got := isTwice(test.text, place); err != nil || got != test.want {
			t.Errorf("%s: %v, %v", test.why, got, err)
		}
	}
	if isTwice("2024-11-03 01:30:00-04:00", nil) {
		t.Error("a zone that Go does not know")
	}
}

package result

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// writerTables are what every writer is shown, by the name of its golden files.
func writerTables() map[string]*Table {
	return map[string]*Table{
		"plain": {
			Columns: []string{"name", "orders", "total"},
			Rows:    [][]any{{"Ann", int64(12), 1499.5}, {"Bo", int64(3), 20.0}, {"Cy", int64(-1), nil}},
		},
		"empty":      {Columns: []string{"name", "orders"}},
		"no-columns": {},
		"one":        {Columns: []string{"count(*)"}, Rows: [][]any{{int64(1)}}},
		"truncated":  {Columns: []string{"id"}, Rows: [][]any{{int64(1)}, {int64(2)}}, Truncated: true},
		"nulls": {
			Columns: []string{"value", "what"},
			Rows: [][]any{{nil, "NULL"}, {"NULL", "the text"}, {"", "empty"}, {" x ", "blanks"}, {`"q"`, "quotes"},
				{`a"b`, "inner"},
				{`O'Brien "Bob"`, "a quote at the end"}, {`"`, "one quote"}},
		},
		"numbers": {
			Columns: []string{"n"},
			Rows: [][]any{
				{int64(math.MaxInt64)}, {int64(math.MinInt64)}, {1.0}, {-0.5}, {1e-7}, {123456789012345.0}, {1e15}, {1e300},
				{math.NaN()}, {math.Inf(1)}, {math.Inf(-1)}, {math.Copysign(0, -1)}, {0.1},
			},
		},
		"wide": {
			Columns: []string{"名前", "x"},
			Rows: [][]any{
				{"東京タワー", int64(1)}, {"한국어", int64(2)}, {"ｶﾀｶﾅ", int64(3)}, {"e\u0301galité", int64(4)}, {"🎉 party", int64(5)},
				{"ไทย", int64(6)}, {"naïve", int64(7)}, {"עברית", int64(8)}, {"हिन्दी", int64(9)},
			},
		},
		"hostile": {
			Columns: []string{"a\tb", ""},
			Rows: [][]any{
				{"line\nbreak\r\n", int64(1)}, {"\x1b[31mred\x1b[0m", int64(2)}, {"evil\u202etxt.exe", int64(3)},
				{"zero\u200bwidth\ufeff", int64(4)}, {"bad \xff\xfe bytes", int64(5)}, {"nul\x00", int64(6)},
				{"c1 \u009b31m", int64(7)},
				{"sep\u2028arator", int64(8)}, {"tag\U000e0041", int64(9)}, {"family 👨\u200d👩", int64(10)},
				{"=HYPERLINK(\"http://x\")", int64(11)}, {"```\n</table> & <b>", int64(12)},
			},
		},
		"long": {
			Columns: []string{strings.Repeat("column ", 12), "n"},
			Rows: [][]any{
				{strings.Repeat("x", 59), int64(59)}, {strings.Repeat("x", 60), int64(60)}, {strings.Repeat("x", 61), int64(61)},
				{strings.Repeat("界", 30), int64(60)}, {strings.Repeat("界", 31), int64(62)},
				{"x" + strings.Repeat("界", 30), int64(61)},
				{strings.Repeat("y", 1<<20), int64(1 << 20)}, {"z" + strings.Repeat("\u0301", 10_000), int64(1)},
			},
		},
		"blobs":  {Columns: []string{"b"}, Rows: [][]any{{[]byte{}}, {[]byte{0, 255}}, {bytes.Repeat([]byte{7}, 100)}}},
		"ragged": {Columns: []string{"a", "b"}, Rows: [][]any{{int64(1)}, {int64(1), int64(2), int64(3)}, {}}},
		"csv":    {Columns: []string{"a,b", `q"q`}, Rows: [][]any{{"x,y", "line\nbreak"}, {`say "hi"`, " lead"}, {nil, ""}}},
	}
}

func TestGoldenWriters(t *testing.T) {
	for name, table := range writerTables() {
		for _, w := range []struct {
			ext   string
			write func(io.Writer) error
		}{{"txt", table.WriteTable}, {"csv", table.WriteCSV}, {"json", writeJSON(table)}} {
			if name == "long" && w.ext != "txt" {
				continue // a megabyte of y
			}
			t.Run(name+"."+w.ext, func(t *testing.T) {
				var b bytes.Buffer
				testutil.OK(t, w.write(&b))
				golden.Check(t, name+"."+w.ext, b.Bytes())
			})
		}
		t.Run(name+".preview", func(t *testing.T) { golden.Check(t, name+".preview", []byte(table.Preview(0, 0)+"\n")) })
	}
}

func TestCellWidth(t *testing.T) {
	table := &Table{Columns: []string{"name"}, Rows: [][]any{{"a long name"}, {"b"}, {"c"}}}
	tests := []struct {
		name  string
		limit int
		want  string
	}{
		{"cells cut", 5, "name\n-----\na lo…\nb\nc\n(3 rows)\n"},
		{"cells of one column", 1, "…\n-\n…\nb\nc\n(3 rows)\n"},
		{"a limit beyond all cells", math.MaxInt, "name\n-----------\na long name\nb\nc\n(3 rows)\n"},
		{"no limit", -1, "name\n-----------\na long name\nb\nc\n(3 rows)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			testutil.OK(t, table.writeText(&b, tt.limit, 0))
			golden.Equal(t, tt.want, b.String())
		})
	}
}

// writeJSON returns a function that writes a table as one line of JSON.
func writeJSON(t *Table) func(io.Writer) error {
	return func(w io.Writer) error { return json.NewEncoder(w).Encode(t) }
}

// TestWithin: a table fits a terminal if texts can be cut to 8 columns; a number is never cut.
func TestWithin(t *testing.T) {
	table := &Table{Columns: []string{"name", "a long header", "total"},
		Rows: [][]any{{"Ann of the long name", "short", 61084.420000000006},
			{"东京タワー", strings.Repeat("x", 30), int64(1234567890123)}}}
	for _, tt := range []struct {
		width int
		want  []string // the lines but the last
	}{
		{0, []string{"name                 | a long header                  | total",
			"---------------------+--------------------------------+---------------------",
			"Ann of the long name | short                          |            61,084.42",
			"东京タワー           | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | 1,234,567,890,123.00"}},
		{57, []string{"name            | a long header    | total",
			"----------------+------------------+---------------------",
			"Ann of the lon… | short            |            61,084.42",
			"东京タワー      | xxxxxxxxxxxxxxx… | 1,234,567,890,123.00"}},
		{10, []string{"name     | a lo…der | total",
			"---------+----------+---------------------",
			"Ann of … | short    |            61,084.42",
			"东京タ…  | xxxxxxx… | 1,234,567,890,123.00"}},
	} {
		var b strings.Builder
		testutil.OK(t, table.WriteTableWithin(&b, tt.width))
		golden.Equal(t, strings.Join(tt.want, "\n")+"\n(2 rows)\n", b.String(), tt.width, "columns")
	}
}

// TestNamesStayDifferent: names of columns that are cut still differ, and no wider than that needs.
func TestNamesStayDifferent(t *testing.T) {
	for _, tt := range []struct{ why, one, other, want string }{
		{"the end differs", "revenue_of_the_year_2023", "revenue_of_the_year_2024", "reve…023 | reve…024"},
		{"the middle differs", "total_of_2023_in_euros", "total_of_2024_in_euros",
			"total_of_2…3_in_euros | total_of_2…4_in_euros"},
		{"they are the same", "a_name_that_is_long", "a_name_that_is_long", "a_na…ong | a_na…ong"},
		{"wide characters", "売上高合計東京2023", "売上高合計東京2024", "売上…023 | 売上…024"},
	} {
		table := &Table{Columns: []string{tt.one, tt.other}}
		var b strings.Builder
		testutil.OK(t, table.WriteTableWithin(&b, 1))
		header, _, _ := strings.Cut(b.String(), "\n")
		golden.Equal(t, tt.want, header, tt.why)
	}
}

func TestNilTable(t *testing.T) {
	var table *Table
	var text, csv, jsn bytes.Buffer
	for _, err := range []error{table.WriteTable(&text), table.WriteCSV(&csv), writeJSON(table)(&jsn)} {
		if err != nil {
			t.Error(err)
		}
	}
	got := []string{text.String(), csv.String(), jsn.String(), table.Preview(1, 1)}
	golden.Equal(t, []string{"(no rows)\n", "", "null\n", "no result"}, got)
}

// broken is a writer that fails after n bytes.
type broken struct{ n int }

var errBroken = errors.New("pipe closed")

func (w *broken) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return w.n, errBroken
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriterErrors(t *testing.T) {
	table := benchTable(1000)
	for name, write := range map[string]func(io.Writer) error{"text": table.WriteTable, "csv": table.WriteCSV,
		"json": writeJSON(table)} {
		if err := write(&broken{n: 100}); !errors.Is(err, errBroken) {
			t.Errorf("%s: error %v, want that of the writer", name, err)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for name, table := range writerTables() {
		data := testutil.Value(json.Marshal(table))(t, name) // through the interface, as in a Result
		var back Table
		testutil.OK(t, json.Unmarshal(data, &back), name)
		golden.Equal(t, table, &back, name, cmpopts.EquateNaNs(), cmpopts.EquateEmpty())
	}
}

func TestUnmarshalJSONErrors(t *testing.T) {
	for _, data := range []string{
		`[]`, `{"columns":[1]}`, `{"rows":[[tru]]}`, `{"rows":[[{}]]}`, `{"rows":[[{"blob":"!"}]]}`,
		`{"rows":[[{"float":"x"}]]}`, `{"rows":[[[1]]]}`, `{"columns":`,
	} {
		table := Table{Columns: []string{"kept"}}
		if err := json.Unmarshal([]byte(data), &table); err == nil {
			t.Errorf("%s: no error, got %v", data, table)
		}
		if len(table.Columns) != 1 || table.Columns[0] != "kept" {
			t.Errorf("%s: the table was changed to %v", data, table)
		}
	}
	var table Table
	testutil.OK(t, json.Unmarshal([]byte(`{"columns":["n"],"rows":[[12345678901234567890]]}`), &table))
	if got := table.Rows[0][0]; got != 12345678901234567890.0 {
		t.Errorf("a number beyond int64 is %v (%T), want a float", got, got)
	}
}

func TestCSVReadsBack(t *testing.T) {
	table := writerTables()["csv"]
	var b bytes.Buffer
	testutil.OK(t, table.WriteCSV(&b))
	got := testutil.Value(csv.NewReader(&b).ReadAll())(t)
	want := [][]string{{"a,b", `q"q`}, {"x,y", "line\nbreak"}, {`say "hi"`, " lead"}, {"", ""}}
	golden.Equal(t, want, got)
}

func TestRuneWidth(t *testing.T) {
	tests := map[rune]int{
		'a': 1, 'é': 1, '\u0301': 0, '一': 2, '、': 2, '〿': 1, 'Ａ': 2, 'ｱ': 1, '한': 2, 'ᄀ': 2, '\u1161': 0,
		'\u200d': 0, '😀': 2, '☎': 1, '⚡': 2, '→': 1, '𠀀': 2, '\U0001f1e9': 1, 'ไ': 1, '\u0e35': 0, '\U0010ffff': 1, '⿰': 2,
		'☰': 2,
	}
	for r, want := range tests {
		if got := runeWidth(r); got != want {
			t.Errorf("%q (%U): width %d, want %d", r, r, got, want)
		}
	}
}

func TestLongCellOfContinuationBytes(t *testing.T) {
	// Looking for the beginning of a character must not eat the whole cell.
	c := showCell(strings.Repeat("\x80", 1<<16), 20)
	if want := `\x80\x80\x80\x80\x8…`; c.text != want || c.width != 20 {
		t.Errorf("cell %q of width %d, want %q", c.text, c.width, want)
	}
}

// TestOddCharacters are shown by their code where they are the only odd one.
func TestOddCharacters(t *testing.T) {
	tests := []struct{ text, table, preview string }{
		{"a\x7fb", `a\x7fb`, `"a\u007fb"`},
		{"a\xffb", `a\xffb`, `"a\ufffdb"`},
		{"a\uffffb", "a\uffffb", `"a\uffffb"`},
		{"a\ufffdb", "a\ufffdb", "\"a\ufffdb\""},
		{"a\U000e0041b", `a\U000e0041b`, `"a\udb40\udc41b"`},
		{"a\u200db", "a\u200db", "\"a\u200db\""},
	}
	for _, tt := range tests {
		table := &Table{Columns: []string{"c"}, Rows: [][]any{{tt.text}}}
		var b strings.Builder
		testutil.OK(t, table.WriteTable(&b))
		if got := strings.Split(b.String(), "\n")[2]; got != tt.table {
			t.Errorf("%q in a table: %q, want %q", tt.text, got, tt.table)
		}
		if got := table.Preview(1, 9); !strings.HasSuffix(got, "\n["+tt.preview+"]") {
			t.Errorf("%q in a preview: %q, want %q", tt.text, got, tt.preview)
		}
	}
}

package result

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/testutil"
)

// decodeTable makes a table of arbitrary bytes: a column count, then cells, each
// a type and a value.
func decodeTable(data []byte) *Table {
	if len(data) == 0 {
		return &Table{}
	}
	t := &Table{Columns: make([]string, 1+data[0]%3)}
	data = data[1:]
	var row []any
	for len(data) > 0 {
		kind := data[0]
		data = data[1:]
		n := min(len(data), 8)
		var word [8]byte
		copy(word[:], data[:n])
		switch kind % 6 {
		case 0:
			row = append(row, nil)
			n = 0
		case 1:
			row = append(row, int64(binary.LittleEndian.Uint64(word[:])))
		case 2:
			row = append(row, math.Float64frombits(binary.LittleEndian.Uint64(word[:])))
		case 3:
			row = append(row, string(data[:n]))
		case 4:
			row = append(row, slices.Clone(data[:n]))
		case 5:
			row = append(row, float64(int8(word[0]))/4)
			n = min(n, 1)
		}
		data = data[n:]
		if len(row) == len(t.Columns) {
			t.Rows = append(t.Rows, row)
			row = nil
		}
	}
	return t
}

func FuzzEqual(f *testing.F) {
	f.Add([]byte("\x00\x05\x04\x05\x08"), []byte("\x00\x01\x02\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x01\x00\x03abc"), []byte("\x01\x03abc\x00"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, b := decodeTable(x), decodeTable(y)
		for _, e := range []Equality{{}, {Set: true}, {Ordered: true}} {
			want := oracle(e, a, b)
			if got := e.Equal(a, b); got != want {
				t.Fatalf("%+v: Equal(%v, %v) = %v, want %v", e, a, b, got, want)
			}
			fa, _ := e.Fingerprint(a)
			fb, _ := e.Fingerprint(b)
			if (fa == fb) != want {
				t.Fatalf("%+v: fingerprints of %v and %v agree: %v, want %v", e, a, b, fa == fb, want)
			}
			// Rounding may join what is unequal, never part what is equal.
			rounded := Equality{Set: e.Set, Ordered: e.Ordered, Digits: 6}
			if want && !rounded.Equal(a, b) {
				t.Fatalf("%+v: %v and %v are equal, but not at 6 digits", e, a, b)
			}
		}
	})
}

func FuzzWriters(f *testing.F) {
	f.Add("name", "value", []byte("\x01\x03ab\ncd"))
	f.Add("\u202e", "界界\x1b[0m", []byte("\x00\x02\x00\x00\x00\x00\x00\x00\xf8\x7f"))
	f.Add("e\u0301", strings.Repeat("界", 40), []byte{})
	f.Fuzz(func(t *testing.T, column, text string, data []byte) {
		table := decodeTable(data)
		table.Columns = append(table.Columns, column)
		for i := range table.Rows {
			table.Rows[i] = append(table.Rows[i], text)
		}

		var b bytes.Buffer
		testutil.OK(t, table.WriteTable(&b))
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if want := len(table.Rows) + 3; len(lines) != want {
			t.Fatalf("%d lines for %d rows:\n%q", len(lines), len(table.Rows), lines)
		}
		rule := len(lines[1])
		for _, line := range lines[:len(lines)-1] {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool {
				return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)
			}) {
				t.Fatalf("line %q can move the cursor", line)
			}
			if w := textWidth(line); w > rule {
				t.Fatalf("line %q is %d columns wide, the rule %d", line, w, rule)
			}
		}

		data = testutil.Value(json.Marshal(table))(t)
		var back Table
		testutil.OK(t, json.Unmarshal(data, &back), data)
		if diff := cmp.Diff(table, &back, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}

		preview := table.Preview(3, 20)
		if strings.ContainsAny(preview, "<>&`") || strings.Count(preview, "\n") > 5 || !utf8.ValidString(preview) {
			t.Fatalf("preview %q", preview)
		}
		for _, line := range strings.Split(preview, "\n")[1:] {
			if strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Cc, r) }) {
				t.Fatalf("preview line %q", line)
			}
		}
		testutil.OK(t, table.WriteCSV(&b))
	})
}

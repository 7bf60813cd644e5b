package inspection_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/inspection"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestAnswer: rows come back as they were added, as texts.
func TestAnswer(t *testing.T) {
	var many, texts [][]driver.Value
	for i := range 9000 { // more than one piece of memory has
		text := fmt.Sprint("table ", i/20)
		many, texts = append(many, []driver.Value{text, int64(i / 20)}),
			append(texts, []driver.Value{text, fmt.Sprint(i / 20)})
	}
	long := strings.Repeat("x", 1<<17)
	for _, tt := range []struct {
		why       string
		add, want [][]driver.Value
	}{
		{"no row", nil, nil},
		{"a text stands in two rows", [][]driver.Value{{"a", "b"}, {"a", "c"}}, [][]driver.Value{{"a", "b"}, {"a", "c"}}},
		{"the text of another column", [][]driver.Value{{"a", "b"}, {"b", "a"}}, [][]driver.Value{{"a", "b"}, {"b", "a"}}},
		{"NULL is not the empty text", [][]driver.Value{{nil}, {""}, {nil}, {nil}, {""}, {""}},
			[][]driver.Value{{nil}, {""}, {nil}, {nil}, {""}, {""}}},
		{"a text after a NULL", [][]driver.Value{{"a"}, {nil}, {"a"}}, [][]driver.Value{{"a"}, {nil}, {"a"}}},
		{"numbers and bytes", [][]driver.Value{{int64(1)}, {[]byte("1")}, {[]byte{}}, {true}},
			[][]driver.Value{{"1"}, {"1"}, {""}, {"true"}}},
		{"a long text", [][]driver.Value{{long}, {long}, {"a"}}, [][]driver.Value{{long}, {long}, {"a"}}},
		{"many rows", many, texts},
	} {
		var a inspection.Answer
		for _, row := range tt.add {
			testutil.OK(t, a.Add(row))
		}
		var got [][]driver.Value
		testutil.OK(t, a.Each(func(values []driver.Value) error { got = append(got, values); return nil }))
		if !cmp.Equal(tt.want, got) {
			t.Errorf("%s: %s", tt.why, cmp.Diff(tt.want, got)[:200])
		}
	}
}

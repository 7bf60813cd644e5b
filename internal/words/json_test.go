package words

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	tests := []struct {
		text string
		want []string
		why  string
	}{
		{`{"a": 1}`, []string{`{"a": 1}`}, "nothing around it"},
		{"```json\n{\"a\": 1}\n```", []string{`{"a": 1}`}, "a fence"},
		{`Use {x} so: {"a": "{"} and so on}`, []string{`{"a": "{"}`}, "prose with braces, and one in a string"},
		{`{"a": [1, 2, ], "b": {"c": ",]"},}`, []string{`{"a": [1, 2 ], "b": {"c": ",]"}}`}, "commas before closing brackets, and one in a string"},
		{`{"a": "\"}"} {"b": 2}`, []string{`{"a": "\"}"}`, `{"b": 2}`}, "an escaped quotation mark, and a second object"},
		{`It's {"a": 1}`, []string{`{"a": 1}`}, "an apostrophe before it"},
		{`a " and then {"a": 1}`, []string{`{"a": 1}`}, "a lone quotation mark before it"},
		{`{"outer": {"a": 1}`, []string{`{"a": 1}`}, "the outer object is cut, the inner one is whole"},
		{`{"a": 1`, nil, "cut"},
		{`[1, 2]`, nil, "a list is no object"},
		{"", nil, "nothing"},
		{"null", nil, "null"},
		{strings.Repeat("{", 1<<20), nil, "a megabyte of braces"},
		{strings.Repeat("x", 1<<20) + `{"a": 1}`, nil, "behind the first megabyte"},
		{strings.Repeat("{} ", 100) + `{"a": 1}`, append(slicesOf("{}", 100), `{"a": 1}`), "objects do not count as braces that begin none"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Objects(tt.text)); diff != "" {
			t.Errorf("%s: %.60q (-want +got):\n%s", tt.why, tt.text, diff)
		}
	}
}

func slicesOf(s string, n int) (all []string) {
	for range n {
		all = append(all, s)
	}
	return all
}

func FuzzObjects(f *testing.F) {
	f.Add(`x {"a": [1,], "b": "\"}"} {`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, object := range Objects(text) {
			if !json.Valid([]byte(object)) || object[0] != '{' {
				t.Errorf("%q is no object", object)
			}
		}
	})
}

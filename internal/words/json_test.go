package words

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	tests := []struct {
		text string
		want []string
		cut  bool
		why  string
	}{
		{`{"a": 1}`, []string{`{"a": 1}`}, false, "nothing around it"},
		{"```json\n{\"a\": 1}\n```", []string{`{"a": 1}`}, false, "a fence"},
		{`Use {x} so: {"a": "{"} and so on}`, []string{`{"a": "{"}`}, false, "prose with braces, and one in a string"},
		{`{"a": [1, 2, ], "b": {"c": ",]"},}`, []string{`{"a": [1, 2 ], "b": {"c": ",]"}}`}, false,
			"commas before closing brackets, and one in a string"},
		{`{"a": "\"}"} {"b": 2}`, []string{`{"a": "\"}"}`, `{"b": 2}`}, false,
			"an escaped quotation mark, and a second object"},
		{`[{"a": 1}, {"b": 2}]`, []string{`{"a": 1}`, `{"b": 2}`}, false, "a list of objects"},
		{`It's {"a": 1}`, []string{`{"a": 1}`}, false, "an apostrophe before it"},
		{`a " and then {"a": 1}`, []string{`{"a": 1}`}, false, "a lone quotation mark before it"},
		{`{"a": 1`, nil, true, "cut"},
		{`{"a": [1,], "b": "x`, nil, true, "cut behind a comma too many"},
		{`{"a": 1} {"b": {"c": 2}, "d`, []string{`{"a": 1}`}, true,
			"a whole object inside of one that is cut is not what was asked for"},
		{`the {"a of {"a": 1}`, []string{`{"a": 1}`}, false, "a brace and a quotation mark that begin no object"},
		{`[1, 2]`, nil, false, "a list is no object"},
		{"", nil, false, "nothing"},
		{"null", nil, false, "null"},
		{strings.Repeat("{", 1<<20), nil, false, "a megabyte of braces"},
		{strings.Repeat("x", 1<<20) + `{"a": 1}`, nil, false, "behind the first megabyte"},
		{strings.Repeat("{} ", 100) + `{"a": 1}`, append(slices.Repeat([]string{"{}"}, 100), `{"a": 1}`), false,
			"objects do not count as braces that begin none"},
	}
	for _, tt := range tests {
		got, cut := Objects(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || cut != tt.cut {
			t.Errorf("%s: %.60q: cut is %v (-want +got):\n%s", tt.why, tt.text, cut, diff)
		}
	}
}

func TestValues(t *testing.T) {
	got, cut := Values(`Of [these]: ["a", {"b": 1},] {"c": [2]} ["d", "e`, "{[")
	if diff := cmp.Diff([]string{`["a", {"b": 1}]`, `{"c": [2]}`}, got); diff != "" || !cut {
		t.Errorf("cut is %v (-want +got):\n%s", cut, diff)
	}
}

func FuzzObjects(f *testing.F) {
	f.Add(`x {"a": [1,], "b": "\"}"} {`)
	f.Add(`{"a": {"b": 1}, "c`)
	f.Fuzz(func(t *testing.T, text string) {
		objects, cut := Objects(text)
		values, _ := Values(text, "{[")
		for _, object := range objects {
			if !json.Valid([]byte(object)) || object[0] != '{' {
				t.Errorf("%q is no object", object)
			}
		}
		if again, _ := Objects(strings.Join(objects, " ")); !slices.Equal(again, objects) {
			t.Errorf("%q is read again as %q", objects, again)
		}
		if again, _ := Values(strings.Join(values, " "), "{["); !slices.Equal(again, values) {
			t.Errorf("%q is read again as %q", values, again)
		}
		if cut && !strings.Contains(text, `"`) {
			t.Errorf("%q holds no beginning of an object", text)
		}
	})
}

package yaml_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/knowledge/yaml"
)

func ExampleJSON() {
	data, err := yaml.JSON(strings.NewReader("name: sales\nsince: 2026-03-01\ntables: [orders, customers]\n"))
	fmt.Println(string(data), err)
	// Output: {"name":"sales","since":"2026-03-01","tables":["orders","customers"]} <nil>
}

func TestJSON(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 10), ", "))
	}
	for _, test := range []struct{ why, yaml, want, err string }{
		{"types of YAML 1.2 that JSON has", "a: 1\nb: 1.5\nc: true\nd: null\ne: ~\nf: x",
			`{"a":1,"b":1.5,"c":true,"d":null,"e":null,"f":"x"}`, ""},
		{"a date stays a text", "a: 2024-01-01\nb: 2024-01-01T10:00:00Z", `{"a":"2024-01-01","b":"2024-01-01T10:00:00Z"}`,
			""},
		{"a number in quotes is a text", `a: "1"`, `{"a":"1"}`, ""},
		{"a block of text", "a: |\n  x\n  y\n", `{"a":"x\ny\n"}`, ""},
		{"aliases and merges; what is written wins", "a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {z: 1, <<: *a}",
			`{"a":{"x":1,"y":2},"b":{"x":3,"y":2},"c":{"x":1,"y":2,"z":1}}`, ""},
		{"a number as a key is its text", "1: x", `{"1":"x"}`, ""},
		{"JSON is YAML", `{"a": [1, {"b": "c"}]}`, `{"a":[1,{"b":"c"}]}`, ""},
		{"aliases of aliases", bomb, "", "too large"},
		{"no number of JSON", "a: .inf", "", "JSON has no .inf"},
		{"a key that is a list", "? [a]\n: b", "", "a key that is no text"},
		{"no YAML", "a: [", "", "yaml: "},
		{"nothing", "", "", "yaml: EOF"},
	} {
		got, err := yaml.JSON(strings.NewReader(test.yaml))
		if string(got) != test.want || (err == nil) != (test.err == "") || err != nil &&
			!strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %s, %v", test.why, got, err)
		}
	}
}

// TestFiles: the YAML files of the formats become the JSON that stands beside them.
func TestFiles(t *testing.T) {
	folder := os.Getenv("TEXTTOSQL_DATA_KNOWLEDGE")
	if folder == "" {
		t.Skip("TEXTTOSQL_DATA_KNOWLEDGE is not set: no evaluation data")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		beside, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.JSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(file, err)
		}
		var got, want any
		if json.Unmarshal(data, &got) != nil || json.Unmarshal(beside, &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is not the JSON beside it", file)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("a: &a [1, 2024-01-01]\nb: {<<: {x: 1}, c: *a}")
	f.Fuzz(func(t *testing.T, text string) {
		if data, err := yaml.JSON(strings.NewReader(text)); err == nil && !json.Valid(data) {
			t.Errorf("%q: %s", text, data)
		}
	})
}

package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMeant(t *testing.T) {
	query, tables := schemaOf[queryInput](), schemaOf[schemaInput]()
	tables.Properties["form"].Enum = []any{"ddl", "code"}
	for _, tt := range []struct{ given, want, why string }{
		{`{"sql":"SELECT 1","rows":"5"}`, `{"rows":5,"sql":"SELECT 1"}`, "a number as text"},
		{`{"sql":"SELECT 1","rows":5.0}`, `{"rows":5,"sql":"SELECT 1"}`, "a whole number with a point"},
		{`{"sql":"SELECT 1","rows":null}`, `{"sql":"SELECT 1"}`, "null"},
		{`{"sql":"SELECT 1","rows":"many"}`, `{"rows":"many","sql":"SELECT 1"}`, "no number: refused by the schema"},
		{`{"sql":["SELECT 1"]}`, `{"sql":"SELECT 1"}`, "a list of one"},
		{`"{\"sql\":\"SELECT 1\"}"`, `{"sql":"SELECT 1"}`, "all arguments as a text"},
		{`"{"`, `"{"`, "half an object as a text: refused by the schema"},
		{`null`, `{}`, "no arguments"},
		{`{"sql":"SELECT 1","other":null}`, `{"other":null,"sql":"SELECT 1"}`,
			"an unknown argument stays, for the schema to name"},
	} {
		if diff := cmp.Diff(tt.want, string(meant(query, json.RawMessage(tt.given)))); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
	for _, tt := range []struct{ given, want, why string }{
		{`{"tables":"[\"a\"]"}`, `{"tables":["a"]}`, "a list as text"},
		{`{"tables":"['a', 'b']"}`, `{"tables":["a","b"]}`, "a list of another language"},
		{`{"tables":"a, b"}`, `{"tables":["a","b"]}`, "commas"},
		{`{"tables":"a"}`, `{"tables":["a"]}`, "one alone"},
		{`{"tables":""}`, `{"tables":[]}`, "none"},
		{`{"tables":["a"],"form":"DDL"}`, `{"form":"ddl","tables":["a"]}`, "the case of a word"},
	} {
		if diff := cmp.Diff(tt.want, string(meant(tables, json.RawMessage(tt.given)))); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

func FuzzMeant(f *testing.F) {
	f.Add(`{"tables":"[1,\"a\"]","form":null}`)
	f.Add(`"{}"`)
	in := schemaOf[schemaInput]()
	f.Fuzz(func(t *testing.T, given string) {
		if once := meant(in, json.RawMessage(given)); json.Valid([]byte(given)) && !json.Valid(once) {
			t.Fatalf("%q is read as %q", given, once)
		}
	})
}

package knowledge_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/knowledge/dbt"
	"github.com/texttosql/texttosql/knowledge/ossie"
	"github.com/texttosql/texttosql/knowledge/snowflake"
	"github.com/texttosql/texttosql/knowledge/wren"
)

// forms are the readers, each with a file that it reads, a part of it that is not a list or a text, and its path.
var forms = map[string]struct {
	read              func(io.Reader) (knowledge.Model, error)
	sound, odd, where string
}{
	"knowledge": {knowledge.Read, `{"tables": [{"name": "t"}]}`, "{\"tables\": [\n{\"name\": 7}]}", "tables.name"},
	"dbt": {dbt.Read, `{"semantic_models": [{"name": "t"}]}`,
		"{\"semantic_models\": [{\"name\": \"t\",\n\"entities\": {}}]}", "semantic_models.entities"},
	"ossie": {ossie.Read, `{"semantic_model": [{"datasets": [{"name": "t"}]}]}`,
		"{\"semantic_model\":\n[{\"datasets\": 3}]}",
		"semantic_model.datasets"},
	"snowflake": {snowflake.Read, `{"tables": [{"name": "t"}]}`, "{\"tables\":\n\"orders\"}", "tables"},
	"wren":      {wren.Read, `{"models": [{"name": "t"}]}`, "{\"models\":\n{}}", "models"},
}

// TestFiles: what is no file of a format is an error that says where and what to do, whichever reader reads it.
func TestFiles(t *testing.T) {
	for name, f := range forms {
		for _, test := range []struct {
			why, text string
			line      int
			path      string
			problem   string // "": it is read
		}{
			{"a sound file", f.sound, 0, "", ""},
			{"a byte order mark, blanks behind", "\uFEFF" + f.sound + "\r\n \n", 0, "", ""},
			{"an empty file", "", 0, "", "empty"},
			{"blanks", " \n\n", 0, "", "empty"},
			{"cut off", f.sound[:len(f.sound)-3], 1, "", "cut off"},
			{"cut off in the third line", "{\n\n" + f.sound[1:len(f.sound)-1], 3, "", "cut off"},
			{"YAML", "tables:\n  - name: t\n", 1, "", "knowledge/yaml"},
			{"a page of a server", "<!DOCTYPE html><html></html>", 1, "", "no JSON object"},
			{"a comma too many", "{\n\"x\": 1,,\n}", 2, "", "invalid character"},
			{"another one behind", f.sound + "\n" + f.sound, 2, "", "follows"},
			{"UTF-16", "\xff\xfe{\x00}\x00", 0, "", "UTF-8"},
			{"a list", "[]", 1, "", "where an object is wanted"},
			{"another kind of value", f.odd, 2, f.where, "is wanted"},
		} {
			m, err := f.read(strings.NewReader(test.text))
			var fault *fileerr.Knowledge
			switch {
			case test.problem == "" && (err != nil || len(m.Tables) != 1):
				t.Errorf("%s, %s: %d tables, %v", name, test.why, len(m.Tables), err)
			case test.problem == "":
			case !errors.As(err, &fault) || fault.Format != name || !strings.Contains(fault.Problem, test.problem) ||
				strings.Contains(err.Error(), "\n"):
				t.Errorf("%s, %s: %v, want %q", name, test.why, err, test.problem)
			case name == "knowledge" && test.why == "a comma too many":
			case fault.Line != test.line || test.path != "" && !strings.HasSuffix(fault.Path, test.path):
				t.Errorf("%s, %s: line %d, path %q, want %d, %q", name, test.why, fault.Line, fault.Path, test.line, test.path)
			}
		}
		if _, err := f.read(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: a file that cannot be read: %v", name, err)
		}
		if _, err := f.read(strings.NewReader("{}")); (err == nil) != (name == "knowledge") {
			t.Errorf("%s: an object with nothing: %v", name, err)
		}
	}
}

// FuzzFiles: no file stops a reader, and what is read can be written and read again.
func FuzzFiles(f *testing.F) {
	for _, form := range forms {
		f.Add(form.sound)
		f.Add(form.odd)
	}
	f.Add(`{"semantic_models": [null], "metrics": [{"type": "ratio", "type_params": {}}, {"type": "derived", "type_params": {"expr": "a", "metrics": [{}]}}]}`)
	f.Add(`{"tables": [{"name": "", "dimensions": [null], "metrics": [{}]}], "relationships": [{}], "verified_queries": [{}]}`)
	f.Add(`{"models": [{"columns": [{}], "primaryKey": []}], "relationships": [{"models": ["a"]}], "cubes": [{"measures": [{}]}]}`)
	f.Add(`{"semantic_model": [{"relationships": [{"from_columns": ["a"]}], "metrics": [{"expression": {"dialects": []}}], "datasets": [{"fields": [{}]}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for name, form := range forms {
			m, err := form.read(strings.NewReader(text))
			var fault *fileerr.Knowledge
			if err != nil && !errors.As(err, &fault) {
				t.Errorf("%s: %v", name, err)
			}
			for _, x := range m.Metrics {
				_, _ = m.Compile(knowledge.Request{Metrics: []string{x.Name}}, "sqlite")
			}
		}
	})
}

// TestUnknownNames: a name that the model does not have comes with the one that may be meant.
func TestUnknownNames(t *testing.T) {
	m := knowledge.Model{
		Tables: []knowledge.Table{{Name: "orders"}, {Name: "customers", Keys: [][]string{{"id"}}}},
		Relationships: []knowledge.Relationship{
			{Name: "buyer", From: "orders", To: "customers", On: [][2]string{{"customer_id", "id"}}},
		},
		Metrics: []knowledge.Metric{{Name: "revenue", Expr: "SUM(orders.total)"}, {Name: "twice", Expr: "{revenu} * 2"}},
	}
	for _, test := range []struct {
		why     string
		request knowledge.Request
		want    string
	}{
		{"a metric", knowledge.Request{Metrics: []string{"revnue"}}, "did you mean revenue?"},
		{"a metric in a metric", knowledge.Request{Metrics: []string{"twice"}}, "did you mean revenue?"},
		{"a table", knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"order.day"}}, "did you mean orders?"},
		{"a relationship", knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"buyers.name"}},
			"did you mean buyer?"},
		{"a table in a condition", knowledge.Request{Metrics: []string{"revenue"}, Where: []string{"costumers.name = 'Ada'"}},
			"did you mean customers?"},
		{"nothing near", knowledge.Request{Metrics: []string{"humidity"}}, "the model has no metric humidity"},
		{"no metric", knowledge.Request{GroupBy: []string{"orders.day"}}, "a request needs a metric"},
		{"a grain that is none", knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"orders.day@century"}},
			"a grain is one of year, quarter, month"},
		{"a table without a column", knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"orders."}},
			"is not written table.column"},
		{"a column without a table", knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{".day"}},
			"is not written table.column"},
		{"a metric without a name", knowledge.Request{Metrics: []string{""}}, "the model has no metric"},
	} {
		_, err := m.Compile(test.request, "sqlite")
		var refused *knowledge.RequestError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}

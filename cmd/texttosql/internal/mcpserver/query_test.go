package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/need"
)

// without is a server that has no model, over one database or several of these names.
func without(t *testing.T, limits exec.Limits, names ...string) *mcpserver.Server {
	t.Helper()
	return serverOf(t, newModel(), func(c *mcpserver.Config) {
		c.Model, c.Databases = false, nil
		for i, name := range append(names, "")[:max(1, len(names))] {
			pool := open(t)
			if i > 0 {
				need.Value(pool.Exec("UPDATE singer SET name = 'of " + name + "'"))(t)
			}
			e := need.Value(texttosql.New(pool, texttosql.NoModel, texttosql.WithPolicy(denyPayroll), texttosql.WithLimits(limits)))(t)
			db := need.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: denyPayroll}))(t)
			c.Databases = append(c.Databases, mcpserver.Database{Name: name, Engine: e, DB: db})
		}
	})
}

const fifty = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50) SELECT x FROM c"

// TestQuery: rows, pages and refusals of a statement, on a server without a model.
func TestQuery(t *testing.T) {
	cs := connect(t, without(t, exec.Limits{Answer: exec.Bounds{Rows: 40}}), nil, "")
	tests := []struct {
		why   string
		args  map[string]any
		text  string // what the text has
		first any    // of the first row
		n     int    // rows
		more  bool
	}{
		{"all rows", map[string]any{"sql": "SELECT name FROM singer ORDER BY id"}, "Bo\nCy\n(3 rows)\n", "Ann", 3, false},
		{"no row", map[string]any{"sql": "SELECT name FROM singer WHERE 0"}, "(0 rows)\n", nil, 0, false},
		{"some of them", map[string]any{"sql": "SELECT name FROM singer ORDER BY id", "rows": 2}, "(first 2 of 3)\nThe next ones: offset 2\n", "Ann", 2, true},
		{"the next", map[string]any{"sql": "SELECT name FROM singer ORDER BY id", "rows": 2, "offset": 2}, "(1 after the first 2 of 3)\n", "Cy", 1, false},
		{"beyond the last", map[string]any{"sql": "SELECT name FROM singer", "offset": 9}, "(0 after the first 3 of 3)\n", nil, 0, false},
		{"the usual number, under a limit", map[string]any{"sql": fifty}, "(first 20 of at least 40)\nThe next ones: offset 20\n", 1.0, 20, true},
		{"the last page under a limit", map[string]any{"sql": fifty, "offset": 30},
			"(10 after the first 30 of at least 40)\nThe rest is over a limit", 31.0, 10, true},
	}
	for _, tt := range tests {
		res, out, text := call(t, cs, "query", tt.args)
		if res.IsError || !strings.Contains(text, tt.text) || out["truncated"] != tt.more {
			t.Errorf("%s: %v, want %q\n%s", tt.why, out, tt.text, text)
		}
		rows, _ := out["rows"].([]any)
		if len(rows) != tt.n || tt.n > 0 && rows[0].([]any)[0] != tt.first {
			t.Errorf("%s: rows %v", tt.why, rows)
		}
	}
	odd := map[string]any{"sql": "SELECT name, NULL AS x, 'a,b' AS y FROM singer", "rows": 1000, "offset": -3}
	if _, out, text := call(t, cs, "query", odd); len(out["rows"].([]any)) != 3 ||
		!strings.Contains(text, "name,x,y\nAnn,,\"a,b\"\n") || !strings.Contains(text, "100 at most") {
		t.Errorf("numbers out of range are clamped: %v\n%s", out, text)
	}
	for _, tt := range []struct {
		why  string
		args map[string]any
		text string
	}{
		{"a write", map[string]any{"sql": "DELETE FROM singer"}, "This only reads. Write one SELECT; change what is stored elsewhere."},
		{"a denied table", map[string]any{"sql": "SELECT * FROM payroll"}, "payroll"},
		{"a function", map[string]any{"sql": "SELECT load_extension('x')"}, "Write the statement without what was refused."},
		{"a wrong name", map[string]any{"sql": "SELECT nme FROM singer"}, "No such column: nme. Did you mean name? Look at the schema for the names."},
		{"a syntax error", map[string]any{"sql": "SELECT FROM"}, "Correct the statement."},
		{"another name of the argument", map[string]any{"query": "SELECT 1"}, "this tool takes offset, rows, sql"},
		{"a database where there is one", map[string]any{"sql": fifty, "database": "shop"}, "this tool takes"},
	} {
		res, _, text := call(t, cs, "query", tt.args)
		if !res.IsError || !strings.Contains(text, tt.text) || strings.Contains(text, "\n") || strings.Contains(text, "cost") {
			t.Errorf("%s: %q, want %q", tt.why, text, tt.text)
		}
		if half := text[:len(text)/2]; len(half) > 10 && strings.Contains(text[len(half):], half) {
			t.Errorf("%s: said twice: %q", tt.why, text)
		}
	}
	_, out, text := call(t, cs, "query", map[string]any{"sql": "SELECT text, data, \"nowhere\" FROM wide"})
	if w := asJSON(t, out["warnings"]); !strings.Contains(w, "nowhere") || !strings.Contains(w, "cells-cut") || !strings.Contains(text, "Warning: ") {
		t.Errorf("warnings %s\n%s", w, text)
	}
	if res, _, text := call(t, cs, "sample_rows", map[string]any{"table": "main.SINGER", "rows": 2}); res.IsError || !strings.Contains(text, "Bo") {
		t.Errorf("samples: %s", text)
	}
	for _, name := range []string{"payroll", "planets"} {
		if res, _, text := call(t, cs, "sample_rows", map[string]any{"table": name}); !res.IsError || !strings.Contains(text, "no table \""+name) {
			t.Errorf("samples of %s: %s", name, text)
		}
	}
	if res, _, text := call(t, cs, "find_value", map[string]any{"value": "Norway"}); !strings.Contains(text, "country") || res.StructuredContent != nil {
		t.Errorf("a value: %s, and again %v", text, res.StructuredContent)
	}
	if _, _, text := call(t, cs, "find_value", map[string]any{"value": "private"}); strings.Contains(text, "payroll") {
		t.Errorf("a denied table is looked into: %s", text)
	}
}

// TestToolsWithoutAModel: five tools, and no word of a model in what a client is told first.
func TestToolsWithoutAModel(t *testing.T) {
	cs := connect(t, without(t, exec.Limits{}), nil, "")
	tools := need.Value(cs.ListTools(t.Context(), nil))(t)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"check", "find_value", "query", "sample_rows", "schema"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if strings.Contains(cs.InitializeResult().Instructions, "tool ask") {
		t.Errorf("instructions: %s", cs.InitializeResult().Instructions)
	}
	if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_sql"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a tool that is not there: %v", err)
	}
	if n := len(asJSON(t, tools)) / 4; n > 2000 { // the common rule of thumb
		t.Errorf("the list of five tools has %d tokens", n)
	}
	text, told := asJSON(t, tools), cs.InitializeResult().Instructions
	if !strings.Contains(text, "strftime('%Y-%m', d)") || !strings.Contains(told, "The database is SQLite") {
		t.Errorf("no word of the dialect: %s", text)
	}
	all := need.Value(connect(t, serverOf(t, newModel(), nil), nil, "").ListTools(t.Context(), nil))(t)
	t.Logf("with a model it has %d bytes", len(asJSON(t, all)))
	for _, list := range []*mcp.ListToolsResult{tools, all} {
		if text := asJSON(t, list); strings.Contains(text, `"type":[`) || strings.Contains(text, `"null"`) {
			t.Errorf("a part of a schema has several types: %s", text)
		}
	}
}

// TestSeveralDatabases: each call and resource says which one it means.
func TestSeveralDatabases(t *testing.T) {
	cs := connect(t, without(t, exec.Limits{}, "shop", "crm"), nil, "")
	for name, want := range map[string]string{"shop": "Ann", "crm": "of crm"} {
		if _, _, text := call(t, cs, "query", map[string]any{"sql": "SELECT name FROM singer", "database": name}); !strings.Contains(text, want) {
			t.Errorf("%s: %s", name, text)
		}
		for _, uri := range []string{"texttosql://" + name + "/schema", "texttosql://" + name + "/schema/singer"} {
			if res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || !strings.Contains(res.Contents[0].Text, "singer") {
				t.Errorf("%s: %v", uri, err)
			}
		}
	}
	for _, args := range []map[string]any{{"sql": "SELECT 1"}, {"sql": "SELECT 1", "database": "hr"}} {
		if res, _, text := call(t, cs, "query", args); !res.IsError || !strings.Contains(text, "database") {
			t.Errorf("%v: %s", args, text)
		}
	}
	for why, names := range map[string][]string{"no name": {"", "a"}, "one name twice": {"a", "a"}, "a name that is none": {"a", "b/c"}} {
		var all []mcpserver.Database
		for _, name := range names {
			pool := open(t)
			e := need.Value(texttosql.New(pool, texttosql.NoModel))(t)
			db := need.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
			all = append(all, mcpserver.Database{Name: name, Engine: e, DB: db})
		}
		if _, err := mcpserver.New(mcpserver.Config{Databases: all}); err == nil || !strings.Contains(err.Error(), "names of their own") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestConversation: a follow-up, a choice by its option, a correction and a confirmation, by a client without forms.
func TestConversation(t *testing.T) {
	m := newModel()
	cs := connect(t, serverOf(t, m, nil), nil, "")
	_, out, text := call(t, cs, "ask", map[string]any{"question": disagree})
	id, _ := out["conversation"].(string)
	if out["status"] != "unsure" || len(id) != 32 || !strings.Contains(fmt.Sprint(out["message"]), "call choose") {
		t.Fatalf("%v\n%s", out, text)
	}
	before := m.calls
	_, out, text = call(t, cs, "choose", map[string]any{"conversation": id, "option": "r2"})
	if out["status"] != "answered" || asJSON(t, out["rows"]) != `[["Bo"]]` || m.calls != before {
		t.Errorf("the choice: %v, %d calls\n%s", out, m.calls-before, text)
	}
	if _, why, _ := call(t, cs, "explain_answer", map[string]any{"answer_id": out["answer_id"]}); len(why["votes"].([]any)) != 3 {
		t.Errorf("the votes of a choice: %v", why)
	}
	if res, _, text := call(t, cs, "choose", map[string]any{"conversation": id, "option": "r2"}); !res.IsError {
		t.Errorf("a second choice: %s", text)
	}
	_, out, text = call(t, cs, "ask", map[string]any{"question": howMany, "conversation": id})
	if out["status"] != "answered" || out["conversation"] != id {
		t.Errorf("a follow-up: %v\n%s", out, text)
	}
	if res, _, text := call(t, cs, "confirm", map[string]any{"conversation": id}); !res.IsError || !strings.Contains(text, "alone") {
		t.Errorf("a follow-up confirmed as it is: %s", text)
	}
	if _, out, text := call(t, cs, "confirm", map[string]any{"conversation": id, "wording": howMany}); out["confirmed"] != true {
		t.Errorf("confirmed: %s", text)
	}
	if _, out, text := call(t, cs, "correct", map[string]any{"conversation": id, "text": "use table singer"}); out["status"] != "answered" {
		t.Errorf("corrected: %v\n%s", out, text)
	}
	for _, tool := range []string{"ask", "choose", "correct", "confirm"} {
		args := map[string]map[string]any{"ask": {"question": howMany}, "choose": {"option": "r1"}, "correct": {"text": "x"}, "confirm": {}}[tool]
		args["conversation"] = "c99"
		if res, _, text := call(t, cs, tool, args); !res.IsError || !strings.Contains(text, `no conversation "c99"`) {
			t.Errorf("%s of no conversation: %s", tool, text)
		}
	}
	other := connect(t, serverOf(t, m, nil), nil, "")
	if res, _, text := call(t, other, "confirm", map[string]any{"conversation": id}); !res.IsError {
		t.Errorf("another client: %s", text)
	}
}

// TestRefused: a question that the data cannot answer is refused, and that is no error, or an agent would ask again.
func TestRefused(t *testing.T) {
	cs := connect(t, serverOf(t, newModel(), nil, texttosql.WithRefuseBelow(0.999)), nil, "")
	res, out, text := call(t, cs, "ask", map[string]any{"question": humidity})
	if res.IsError || out["status"] != "refused" || out["sql"] != "" || !strings.HasPrefix(text, "Refused: The data has nothing about humidity.") {
		t.Errorf("%v %v\n%s", res.IsError, out, text)
	}
	if score, ok := out["answerable"].(float64); !ok || score <= 0 || score >= 1 {
		t.Errorf("the score is %v", out["answerable"])
	}
}

package mcpserver_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/testutil"
)

// without is a server that has no model, over one database or several of these names.
func without(t *testing.T, limits exec.Limits, names ...string) *mcpserver.Server {
	t.Helper()
	return serverOf(t, newModel(), func(c *mcpserver.Config) {
		c.Model, c.Databases = false, nil
		for i, name := range append(names, "")[:max(1, len(names))] {
			pool := open(t)
			if i > 0 {
				testutil.Value(pool.Exec("UPDATE singer SET name = 'of " + name + "'; CREATE TABLE deal (id INTEGER)"))(t)
			}
			e := testutil.Value(texttosql.New(pool, texttosql.NoModel, texttosql.WithPolicy(denyPayroll),
				texttosql.WithLimits(limits)))(t)
			db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: denyPayroll}))(t)
			c.Databases = append(c.Databases, mcpserver.Database{Name: name, Engine: e, DB: db})
		}
	})
}

// wide is 2,000 rows with a text of 100,000 bytes each.
var wide = strings.NewReplacer("50", "2000", "SELECT x FROM c",
	"SELECT x, printf('%.100000d', x) AS pad FROM c").Replace(fifty)

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
		{"some of them", map[string]any{"sql": "SELECT name FROM singer ORDER BY id", "rows": 2},
			"(first 2 of 3)\nThe next ones: offset 2\n", "Ann", 2, true},
		{"the next", map[string]any{"sql": "SELECT name FROM singer ORDER BY id", "rows": 2, "offset": 2},
			"(1 after the first 2 of 3)\n", "Cy", 1, false},
		{"beyond the last", map[string]any{"sql": "SELECT name FROM singer", "offset": 9}, "(0 after the first 3 of 3)\n",
			nil, 0, false},
		{"the usual number, under a limit", map[string]any{"sql": fifty},
			"(first 20 of at least 40)\nThe next ones: offset 20\n", 1.0, 20, true},
		{"the last page under a limit", map[string]any{"sql": fifty, "offset": 30},
			"(20 after the first 30 of 50)\n", 31.0, 20, false},
		{"a page beyond the limit", map[string]any{"sql": fifty, "offset": 44, "rows": 3},
			"(3 after the first 44 of at least 47)\nThe next ones: offset 47\n", 45.0, 3, true},
		{"beyond the last one behind the limit", map[string]any{"sql": fifty, "offset": 70}, "(0 after the first 50 of 50)\n",
			nil, 0, false},
		{"a page beyond every limit, of bytes too", map[string]any{"sql": wide, "offset": 1500, "rows": 100},
			"The next ones: offset 15", 1501.0, 41, true},
		{"beyond all rows that a number counts", map[string]any{"sql": fifty, "offset": 1 << 60},
			"(0 after the first 50 of 50)\n", nil, 0, false},
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
		{"a write", map[string]any{"sql": "DELETE FROM singer"},
			"This only reads. Write one SELECT; change what is stored elsewhere."},
		{"a denied table", map[string]any{"sql": "SELECT * FROM payroll"}, "payroll"},
		{"a function", map[string]any{"sql": "SELECT load_extension('x')"}, "Write the statement without what was refused."},
		{"a wrong name", map[string]any{"sql": "SELECT nme FROM singer"},
			"No such column: nme. Did you mean name? singer has id, name, country, fans."},
		{"a column like no other", map[string]any{"sql": "SELECT s.birthplace FROM singer s"},
			"No such column: s.birthplace. singer has id, name, country, fans."},
		{"a table like no other", map[string]any{"sql": "SELECT 1 FROM planets"}, "The tables are "},
		{"a denied table has the words of an absent one", map[string]any{"sql": "SELECT 1 FROM payroll"}, "The tables are "},
		{"a wrong name of a table", map[string]any{"sql": "SELECT 1 FROM singers"}, "Did you mean singer?"},
		{"a function of another engine", map[string]any{"sql": "SELECT DATE_TRUNC('month', name) FROM singer"},
			"write strftime('%Y-%m-01', d). Correct the statement."},
		{"the catalog of another engine", map[string]any{"sql": "SHOW TABLES"}, "The tool schema shows the tables"},
		{"the catalog", map[string]any{"sql": "SELECT name FROM sqlite_master"}, "The tool schema shows the tables"},
		{"a pragma, which is no write to an agent", map[string]any{"sql": "PRAGMA table_info(singer)"},
			"The tool schema shows the tables"},
		{"a plan", map[string]any{"sql": "EXPLAIN SELECT 1"}, "The tool check shows the plan"},
		{"no statement", map[string]any{}, "Say the sql; this tool takes offset, rows, sql"},
		{"a number that is none", map[string]any{"sql": fifty, "rows": "many"}, "The argument rows takes a whole number."},
		{"a syntax error", map[string]any{"sql": "SELECT FROM"}, "Correct the statement."},
		{"another name of the argument", map[string]any{"query": "SELECT 1"}, "this tool takes offset, rows, sql"},
		{"a database where there is one", map[string]any{"sql": fifty, "database": "shop"}, "this tool takes"},
	} {
		res, _, text := call(t, cs, "query", tt.args)
		if !res.IsError || !strings.Contains(text, tt.text) || strings.Contains(text, "\n") ||
			strings.Contains(text, "cost") {
			t.Errorf("%s: %q, want %q", tt.why, text, tt.text)
		}
		if half := text[:len(text)/2]; len(half) > 10 && strings.Contains(text[len(half):], half) {
			t.Errorf("%s: said twice: %q", tt.why, text)
		}
	}
	_, out, text := call(t, cs, "query", map[string]any{"sql": "SELECT text, data, \"nowhere\" FROM wide"})
	if w := asJSON(t, out["warnings"]); !strings.Contains(w, "nowhere") || !strings.Contains(w, "cells-cut") ||
		!strings.Contains(text, "Warning: ") {
		t.Errorf("warnings %s\n%s", w, text)
	}
	if res, _, text := call(t, cs, "sample_rows", map[string]any{"table": "main.SINGER", "rows": 2}); res.IsError ||
		!strings.Contains(text, "Bo") {
		t.Errorf("samples: %s", text)
	}
	for _, name := range []string{"payroll", "planets"} {
		if res, _, text := call(t, cs, "sample_rows", map[string]any{"table": name}); !res.IsError ||
			!strings.Contains(text, "no table \""+name) {
			t.Errorf("samples of %s: %s", name, text)
		}
	}
	if res, _, text := call(t, cs, "find_value", map[string]any{"value": "Norway"}); !strings.Contains(text, "country") ||
		res.StructuredContent != nil {
		t.Errorf("a value: %s, and again %v", text, res.StructuredContent)
	}
	if _, _, text := call(t, cs, "find_value", map[string]any{"value": "private"}); strings.Contains(text, "payroll") {
		t.Errorf("a denied table is looked into: %s", text)
	}
}

// TestWrongStatementsAtOnce: calls with statements that fail take all connections at the same time and all end.
func TestWrongStatementsAtOnce(t *testing.T) {
	for _, connections := range []int{1, 4} {
		cs := connect(t, without(t, exec.Limits{Connections: connections}), nil, "")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // only a failing test waits for it
		var all sync.WaitGroup
		for _, sql := range []string{"SELECT nme FROM singer", "SELECT FROM", "DELETE FROM singer", "SELECT * FROM payroll",
			"SELECT name FROM singer"} {
			for _, tool := range []string{"query", "query", "check"} {
				all.Go(func() {
					res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"sql": sql}})
					if err != nil || strings.Contains(textOf(res), "deadline") {
						t.Errorf("%s of %s on %d connections: %v, %v", tool, sql, connections, res, err)
					}
				})
			}
		}
		all.Wait()
		cancel()
	}
}

// over is a server without a model over a database of its own, under a policy and for a scope.
func over(t *testing.T, script string, policy exec.Policy, scope *exec.Scope) *mcpserver.Server {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "own.sqlite")))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(t)
	e := testutil.Value(texttosql.New(pool, texttosql.NoModel, texttosql.WithPolicy(policy)))(t)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: policy}))(t)
	if scope != nil {
		e = testutil.Value(e.For(texttosql.WithScope(*scope)))(t)
		db = testutil.Value(db.For(scope, nil))(t)
	}
	return testutil.Value(mcpserver.New(mcpserver.Config{Databases: []mcpserver.Database{{Engine: e, DB: db}}}))(t)
}

// TestStar: a star leaves out what looks like a secret and says so, also on a page that is read row by row and for a
// scope; what the policy denies it does not name.
func TestStar(t *testing.T) {
	const users = "CREATE TABLE users (id INTEGER, name TEXT, tenant INTEGER, salary INTEGER, password_hash TEXT); " +
		"INSERT INTO users VALUES (1, 'Ann', 7, 9000, 'x'), (2, 'Bo', 8, 9100, 'y')"
	for _, tt := range []struct {
		name   string
		policy exec.Policy
		scope  *exec.Scope
		sql    string
		offset int
		has    string
	}{
		{"a star", exec.Policy{}, nil, "SELECT * FROM users", 0, "id,name,tenant,salary\n1,Ann,7,9000\n2,Bo,8,9100\n"},
		{"a page behind the limit", exec.Policy{}, nil, "SELECT * FROM users", 1000, "(0 after the first 2 of 2)"},
		{"a denied column", exec.Policy{DenyColumns: []string{"users.salary"}}, nil, "SELECT * FROM users", 0,
			"id,name,tenant\n1,Ann,7\n2,Bo,8\n"},
		{"a scope", exec.Policy{Rows: map[string]string{"users": "tenant = :tenant"}},
			&exec.Scope{Key: "acme", Params: map[string]any{"tenant": 7}}, "SELECT * FROM users", 0,
			"id,name,tenant,salary\n1,Ann,7,9000\n(1 row)"},
		{"a star inside stays refused", exec.Policy{}, nil, "SELECT * FROM (SELECT * FROM users)", 0,
			"name the columns that you need"},
	} {
		cs := connect(t, over(t, users, tt.policy, tt.scope), nil, "")
		res, _, text := call(t, cs, "query", map[string]any{"sql": tt.sql, "offset": tt.offset})
		told := strings.Contains(text, "users.password_hash is left out: its name looks like that of a secret")
		if !strings.Contains(text, tt.has) || told == res.IsError ||
			len(tt.policy.DenyColumns) > 0 && strings.Contains(text, "salary") {
			t.Errorf("%s: %s", tt.name, text)
		}
	}
}

// TestToolsWithoutAModel: five tools, and no word of a model in what a client is told first. All lists of tools are
// short.
func TestToolsWithoutAModel(t *testing.T) {
	cs := connect(t, without(t, exec.Limits{}), nil, "")
	tools := testutil.Value(cs.ListTools(t.Context(), nil))(t)
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
	if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_sql"}); err == nil ||
		!strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a tool that is not there: %v", err)
	}
	text, told := asJSON(t, tools), cs.InitializeResult().Instructions
	if !strings.Contains(text, "strftime('%Y-%m', d)") || !strings.Contains(told, "The database is SQLite") {
		t.Errorf("no word of the dialect: %s", text)
	}
	metrics := func(c *mcpserver.Config) { c.Databases[0].Metrics = true }
	all := testutil.Value(connect(t, serverOf(t, newModel(), metrics, texttosql.WithKnowledge(singers)), nil,
		"").ListTools(t.Context(), nil))(t)
	for most, list := range map[int]*mcp.ListToolsResult{1400: tools, 3000: all} {
		if n := prompttext.EstimateTokens(asJSON(t, list)); n > most {
			t.Errorf("the list of %d tools has %d tokens, want at most %d", len(list.Tools), n, most)
		}
		if text := asJSON(t, list); strings.Contains(text, `"type":[`) || strings.Contains(text, `"null"`) {
			t.Errorf("a part of a schema has several types: %s", text)
		}
	}
}

// TestSeveralDatabases: each call and resource says which one it means.
func TestSeveralDatabases(t *testing.T) {
	cs := connect(t, without(t, exec.Limits{}, "shop", "crm"), nil, "")
	for name, want := range map[string]string{"shop": "Ann", "crm": "of crm"} {
		if _, _, text := call(t, cs, "query", map[string]any{"sql": "SELECT name FROM singer",
			"database": name}); !strings.Contains(text, want) {
			t.Errorf("%s: %s", name, text)
		}
		for _, uri := range []string{"texttosql://" + name + "/schema", "texttosql://" + name + "/schema/singer"} {
			if res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil ||
				!strings.Contains(res.Contents[0].Text, "singer") {
				t.Errorf("%s: %v", uri, err)
			}
		}
	}
	for _, args := range []map[string]any{{"sql": "SELECT 1"}, {"sql": "SELECT 1", "database": "hr"}} {
		if res, _, text := call(t, cs, "query", args); !res.IsError || text != "Say the database: shop or crm." {
			t.Errorf("%v: %s", args, text)
		}
	}
	for _, tt := range []struct{ why, tool, argument, value, text string }{
		{"a table of the other database", "query", "sql", "SELECT 1 FROM deal",
			"deal: no such table, or you may not read it. The database crm has it."},
		{"the other database as its schema", "query", "sql", "SELECT 1 FROM crm.deal", "The database crm has it."},
		{"a column with the name of such a table", "query", "sql", "SELECT deal FROM singer",
			"No such column: deal. singer has id, name"},
		{"its rows", "sample_rows", "table", "deal", "The database crm has it."},
		{"its columns", "schema", "tables", "deal", "The database crm has it."},
		{"a denied one of the other database", "query", "sql", "SELECT 1 FROM payroll",
			"payroll: no such table, or you may not read it. The tables are singer, concert, "},
		{"a name that is near", "sample_rows", "table", "singers", "did you mean singer?"},
	} {
		args := map[string]any{"database": "shop", tt.argument: tt.value}
		if res, _, text := call(t, cs, tt.tool, args); !res.IsError || !strings.Contains(text, tt.text) {
			t.Errorf("%s: %s, want %s", tt.why, text, tt.text)
		}
	}
	for why, names := range map[string][]string{"no name": {"", "a"}, "one name twice": {"a", "a"},
		"a name that is none": {"a", "b/c"}} {
		var all []mcpserver.Database
		for _, name := range names {
			pool := open(t)
			e := testutil.Value(texttosql.New(pool, texttosql.NoModel))(t)
			db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
			all = append(all, mcpserver.Database{Name: name, Engine: e, DB: db})
		}
		if _, err := mcpserver.New(mcpserver.Config{Databases: all}); err == nil ||
			!strings.Contains(err.Error(), "names of their own") {
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
	if _, why, _ := call(t, cs, "explain_answer",
		map[string]any{"answer_id": out["answer_id"]}); len(why["votes"].([]any)) != 3 {
		t.Errorf("the votes of a choice: %v", why)
	}
	if res, _, text := call(t, cs, "choose", map[string]any{"conversation": id, "option": "r2"}); !res.IsError {
		t.Errorf("a second choice: %s", text)
	}
	_, out, text = call(t, cs, "ask", map[string]any{"question": howMany, "conversation": id})
	if out["status"] != "answered" || out["conversation"] != id {
		t.Errorf("a follow-up: %v\n%s", out, text)
	}
	if res, _, text := call(t, cs, "confirm", map[string]any{"conversation": id}); !res.IsError ||
		!strings.Contains(text, "alone") {
		t.Errorf("a follow-up confirmed as it is: %s", text)
	}
	if _, out, text := call(t, cs, "confirm",
		map[string]any{"conversation": id, "wording": howMany}); out["confirmed"] != true {
		t.Errorf("confirmed: %s", text)
	}
	if _, out, text := call(t, cs, "correct",
		map[string]any{"conversation": id, "text": "use table singer"}); out["status"] != "answered" {
		t.Errorf("corrected: %v\n%s", out, text)
	}
	for _, tool := range []string{"ask", "choose", "correct", "confirm"} {
		args := map[string]map[string]any{"ask": {"question": howMany}, "choose": {"option": "r1"}, "correct": {"text": "x"},
			"confirm": {}}[tool]
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
	if res.IsError || out["status"] != "refused" || out["sql"] != "" ||
		!strings.HasPrefix(text, "Refused: The data has nothing about humidity.") {
		t.Errorf("%v %v\n%s", res.IsError, out, text)
	}
	if score, ok := out["answerable"].(float64); !ok || score <= 0 || score >= 1 {
		t.Errorf("the score is %v", out["answerable"])
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
)

var functions = regexp.MustCompile(`"functions":\[[^]]+\]`)

// TestForms: help, tables, JSON and CSV are as the files of testdata have them.
func TestForms(t *testing.T) {
	t.Setenv("COLUMNS", "100")
	db := shopFile(t)
	env := with(asking(t, always(neverOrdered)), "TEXTTOSQL_DSN", db)
	question := "Which customers in the USA never ordered?"
	odd := "SELECT 'Ann' AS name, 0.1 + 0.2 AS x, NULL AS name UNION ALL SELECT '=1+1', 7, 'a|b' || char(9, 10) || '\\'"
	for name, args := range map[string][]string{
		"help.txt": {"--help"}, "help_ask.txt": {"ask", "--help"}, "help_schema.txt": {"schema", "--help"},
		"version.txt":      {"--version"},
		"ask.txt":          {"ask", "-n", "3", question},
		"ask.json":         {"ask", "-s", "direct", "--json", question},
		"ask.csv":          {"ask", "-s", "direct", "--csv", question},
		"ask.jsonl":        {"ask", "-s", "direct", "-f", "jsonl", question},
		"sql.txt":          {"sql", odd},
		"sql_vertical.txt": {"sql", "--vertical", odd},
		"sql.md":           {"sql", "-f", "markdown", odd},
		"sql.csv":          {"sql", "--csv", "--escape-formulas", odd},
		"sql.tsv":          {"sql", "-f", "tsv", odd},
		"sql.json":         {"sql", "--json", odd},
		"sql.jsonl":        {"sql", "-f", "jsonl", odd},
		"check.txt":        {"check", neverOrdered},
		"check.json":       {"check", "--json", neverOrdered},
		"schema.txt":       {"schema", "customers"},
		"mschema.txt":      {"schema", "--form", "mschema", "--values", "orders"},
		"schema.json":      {"schema", "--json", "products"},
		"bash.txt":         {"completion", "bash"},
		"complete.txt":     {"complete", "--", "ask", "--strategy", "p"},
	} {
		code, out, told := try(t, env, "", args...)
		if code != exitAnswer || told != "" {
			t.Errorf("%q: code %d, %s", args, code, told)
		}
		golden.Check(t, name, functions.ReplaceAllString(out, `"functions":[]`)) // those of a build of SQLite
	}
}

// TestRecording: a recording answers without a model, and a page about the answer is written whole.
func TestRecording(t *testing.T) {
	db := shopFile(t)
	env := asking(t, always(neverOrdered))
	path := filepath.Join(t.TempDir(), "run.jsonl")
	recorder := testutil.Value(replay.Append(path))(t)
	p := &program{ctx: t.Context(), getenv: func(name string) string { return env[name] }}
	var a ask
	a.DB, a.Strategy = []string{db}, "direct"
	e := testutil.Value(a.Open(p.ctx, p.getenv, []llm.Middleware{recorder.Record}))(t)
	testutil.Value(e.Ask(p.ctx, "Who never ordered?"))(t)
	e.Close()
	recorder.Close()

	page := filepath.Join(t.TempDir(), "page.html")
	code, out, told := try(t, nil, "", "ask", "-d", db, "-m", "replay:"+path, "-s", "direct", "--trace", page,
		"Who never ordered?")
	if code != exitAnswer || !strings.Contains(out, "Ingrid Larsen") && !strings.Contains(out, "row") || told != "" {
		t.Errorf("code %d, %s\n%s", code, out, told)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "<html") ||
		!strings.Contains(string(html), "Who never ordered?") {
		t.Errorf("page: %v", err)
	}
	if code, _, told := try(t, nil, "", "ask", "-d", db, "-m", "replay:"+path, "-s", "direct",
		"Another question?"); code != exitError || told == "" {
		t.Errorf("a question that was not recorded: code %d, %s", code, told)
	}
}

// slowStop is the warning of a machine so busy that SQLite does not stop within 100 ms.
var slowStop = regexp.MustCompile(`texttosql: warning: the database does not stop: .*\n`)

// endless never comes to an end by itself.
const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"

// TestSQL: standard input, a file that is written as a whole, and one that must not be.
func TestSQL(t *testing.T) {
	db := shopFile(t)
	env := map[string]string{"TEXTTOSQL_DSN": db}
	out := filepath.Join(t.TempDir(), "rows.csv")
	code, shown, told := try(t, env, "SELECT name FROM customers ORDER BY id\n", "sql", "--csv", "--rows", "2", "-o", out,
		"-")
	text, err := os.ReadFile(out)
	if code != exitCut || shown != "" || err != nil || strings.Count(string(text), "\n") != 3 ||
		!strings.Contains(told, "the first 2 rows") {
		t.Errorf("code %d, %v: %q%q%s", code, err, text, shown, told)
	}
	if code, _, told := try(t, env, "DELETE FROM customers", "sql", "-o", out, "-"); code != exitRefused {
		t.Errorf("code %d, %s", code, told)
	}
	if again, err := os.ReadFile(out); err != nil || string(again) != string(text) {
		t.Errorf("a refusal changed the file: %v, %q", err, again)
	}
	if code, _, told := try(t, env, "", "sql", "-o", db, "SELECT 1"); code != exitUsage ||
		!strings.Contains(told, "is the database") {
		t.Errorf("the database as the file: code %d, %s", code, told)
	}
	policy := file(t, "policy.json", `{"DenyColumns": ["customers.name"]}`)
	if code, _, told := try(t, env, "", "sql", "--policy", policy, "SELECT name FROM customers"); code != exitRefused ||
		!strings.Contains(told, "policy") {
		t.Errorf("under a policy: code %d, %s", code, told)
	}
	rules := file(t, "rules.json", `{"Rows": {"customers": "country = :country"}}`)
	if code, out, told := try(t, env, "", "sql", "--policy", rules, "SELECT name FROM customers"); code != exitRefused ||
		strings.Contains(out, "Ada") {
		t.Errorf("rules about rows without a scope: code %d, %s%s", code, out, told)
	}
	scope := file(t, "scope.json", `{"Key": "no", "Params": {"country": "Norway"}}`)
	if code, out, told := try(t, env, "", "sql", "--policy", rules, "--scope", scope,
		"SELECT DISTINCT country FROM customers"); code != exitAnswer ||
		!strings.Contains(out, "Norway") || strings.Contains(out, "USA") {
		t.Errorf("rules about rows within a scope: code %d, %s%s", code, out, told)
	}
	code, shown, told = try(t, asking(t, always("SELECT 1")), "How many?", "ask", "-d", db, "-s", "direct", "-f", "tsv",
		"-")
	if code != exitAnswer || shown != "1\n1\n" {
		t.Errorf("a question of standard input: code %d, %q%s", code, shown, told)
	}
}

// TestExitCodes: each code, and what is told beside it.
func TestExitCodes(t *testing.T) {
	db := shopFile(t)
	disagree := func(_ string, call int) string {
		return []string{"SELECT count(*) FROM customers", "SELECT count(*) FROM orders",
			"SELECT count(*) FROM products"}[call%3]
	}
	for _, tt := range []struct {
		why      string
		reply    func(string, int) string
		args     []string
		code     int
		out, err string
	}{
		{"an answer", always("SELECT count(*) AS n FROM customers"), []string{"ask", "How many?"}, exitAnswer,
			"samples agree", ""},
		{"a question back", disagree, []string{"ask", "-s", "self-consistency", "-n", "3", "--ask-below", "0.9", "How many?"},
			exitUnsure,
			"\n  2  ", "texttosql: Choose one of the options.\n"},
		{"a warning is told once", disagree, []string{"ask", "-s", "self-consistency", "-n", "3", "--calls", "1",
			"How many?"}, exitAnswer,
			" tokens\n  warning: the budget allowed 1 of 3 samples\n", ""},
		{"the same as JSON", disagree, []string{"ask", "-s", "self-consistency", "-n", "3", "--ask-below", "0.9", "--json",
			"How many?"},
			exitUnsure, `"options":[{`, ""},
		{"only refused statements", always("DELETE FROM customers"), []string{"ask", "-s", "direct", "Remove all"},
			exitRefused, "",
			"tried: DELETE FROM customers\n1 call, 28 tokens\ntexttosql: This only reads. Ask for what is stored; " +
				"change it elsewhere.\n"},
		{"a statement with a key in it", always("DELETE FROM customers WHERE note = 'password=hunter2hunter2'"),
			[]string{"ask", "-s", "direct", "Remove"},
			exitRefused, "", "note = 'password=***"},
		{"no statement", always("I cannot"), []string{"ask", "-s", "direct", "Hello"}, exitError, "",
			"1 call, 28 tokens\ntexttosql: The model declined to answer: '''sql I cannot '''. Ask"},
		{"a spent budget", always("SELECT nothing FROM customers"), []string{"ask", "--calls", "1", "-n", "3", "Who?"},
			exitBudget, "", "tried: SELECT nothing FROM customers\n1 call, 28 tokens\ntexttosql: "},
		{"a refused statement", nil, []string{"check", "DROP TABLE customers"}, exitRefused, "", "This only reads."},
		{"a wrong statement", nil, []string{"check", "SELECT nme FROM customers"}, exitError, "", "No such column: nme."},
		{"rows of a statement", nil, []string{"sql", "SELECT count(*) AS n FROM customers"}, exitAnswer, "(1 row)", ""},
		{"a statement that writes", nil, []string{"sql", "DROP TABLE customers"}, exitRefused, "",
			"This only reads. Write one SELECT"},
		{"a statement that writes, as JSON", nil, []string{"sql", "--json", "DROP TABLE customers"}, exitRefused,
			`{"exit":4,"error":"This only`, "This only"},
		{"a wrong name in a statement", nil, []string{"sql", "SELECT nme FROM customers"}, exitError, "",
			"Look at the schema"},
		{"a statement that takes too long", nil, []string{"sql", "--timeout", "100ms", endless}, exitBudget, "",
			"over its limit on time (100ms)"},
		{"samples that take too long", always(endless), []string{"ask", "-n", "3", "--timeout", "100ms", "Who?"},
			exitBudget, "", "over the limit on time (100ms)"},
		{"a plan", nil, []string{"sql", "--explain", "SELECT name FROM customers"}, exitAnswer, "accepted: SELECT name", ""},
		{"an empty statement", nil, []string{"sql", ""}, exitRefused, "", "The text holds no statement. Write one SELECT."},
		{"what SQLite takes for a text", nil, []string{"sql", `SELECT "nme" FROM customers`}, exitAnswer, "nme", "warning: "},
		{"an unknown format", nil, []string{"sql", "-f", "xml", "SELECT 1"}, exitUsage, "", "xml"},
		{"an unknown verb", nil, []string{"tell"}, exitUsage, "", "tell"},
		{"an unknown flag", nil, []string{"ask", "--smaples", "3", "Who?"}, exitUsage, "", "did you mean \"--samples\""},
		{"no question", nil, []string{"ask"}, exitUsage, "", "no question is asked"},
		{"a question without a word", always("SELECT 1"), []string{"ask", " "}, exitUsage, "", "empty"},
		{"an unknown strategy", nil, []string{"ask", "-s", "magic", "Who?"}, exitUsage, "", `strategy "magic": unknown`},
		{"an unknown provider", nil, []string{"ask", "-m", "magic:x", "Who?"}, exitUsage, "", "unknown provider"},
		{"samples that are none", always("SELECT 1"), []string{"ask", "-n", "-3", "Who?"}, exitUsage, "", "amples"},
		{"a share that is none", always("SELECT 1"), []string{"ask", "--ask-below", "7", "Who?"}, exitUsage, "",
			"--ask-below 7: want 0 to 1"},
		{"two forms", nil, []string{"ask", "--json", "--csv", "Who?"}, exitUsage, "", "can't be used together"},
		{"a table that is not there", nil, []string{"schema", "people"}, exitUsage, "",
			"no table \"people\" that may be read\n"},
		{"a misspelt table", nil, []string{"schema", "Ordes"}, exitUsage, "", `may be read, did you mean "orders"?`},
		{"a member of a finding", nil, []string{"check", "--json", `SELECT "nme" FROM customers`}, exitAnswer,
			`"findings":[{"rule":"`, ""},
		{"an unknown shell", nil, []string{"completion", "tcsh"}, exitUsage, "", "tcsh"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			reply := tt.reply
			if reply == nil {
				reply = always("SELECT 1")
			}
			code, out, told := try(t, with(asking(t, reply), "TEXTTOSQL_DSN", db), "", tt.args...)
			if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(told, tt.err) {
				t.Errorf("code %d, want %d, %q, %q\n%s\n%s", code, tt.code, tt.out, tt.err, out, told)
			}
			told = slowStop.ReplaceAllString(told, "")
			if code != exitAnswer && (strings.Count("\n"+told, "\ntexttosql: ") != 1 || strings.Count(told, "\n") > 5) {
				t.Errorf("want one error, and few lines: %q", told)
			}
		})
	}
}

// TestJSONOfAQuestionBack: a program can show the options and their rows.
func TestJSONOfAQuestionBack(t *testing.T) {
	disagree := func(_ string, call int) string {
		return []string{"SELECT count(*) FROM customers", "SELECT count(*) FROM orders"}[call%2]
	}
	env := with(asking(t, disagree), "TEXTTOSQL_DSN", shopFile(t))
	code, out, _ := try(t, env, "", "ask", "--json", "-s", "self-consistency", "-n", "4", "--ask-below", "1", "How many?")
	var told struct {
		Exit    int
		Error   string
		Options []struct {
			SQL  string
			Rows struct{ Rows [][]any }
		}
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code != exitUnsure || told.Exit != code || told.Error == "" || len(told.Options) != 2 ||
		len(told.Options[0].Rows.Rows) != 1 {
		t.Errorf("code %d: %+v", code, told)
	}
}

// TestHostileText: escapes of a model, of the data and of names reach no terminal, and CSV for another reader is exact.
func TestHostileText(t *testing.T) {
	db := shopFile(t)
	env := with(asking(t, always("SELECT char(27) || '[31mred' || char(7) || char(8238) AS \"a\u202eb\"")),
		"TEXTTOSQL_DSN", db)
	for _, form := range [][]string{nil, {"--json"}} {
		// try looks for escapes
		code, out, told := try(t, env, "", append(append([]string{"ask", "-s", "direct"}, form...),
			"Which \x1b[31mcolour?")...)
		if code != exitAnswer || !strings.Contains(out, "red") {
			t.Errorf("%v: code %d %s %s", form, code, out, told)
		}
	}
	code, _, told := try(t, env, "", "check", "SELECT \x1b[31m nothing FROM \u202ecustomers")
	if code == exitAnswer || told == "" {
		t.Errorf("code %d: %q", code, told)
	}
}

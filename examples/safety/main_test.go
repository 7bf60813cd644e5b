package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/examples/internal/trial"
)

// files makes a database and a file of statements.
func files(t *testing.T, statements string) (db, list string) {
	t.Helper()
	dir := t.TempDir()
	db, list = filepath.Join(dir, "test.db"), filepath.Join(dir, "list.jsonl")
	pool, err := sql.Open("sqlite3", db)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	_, err = pool.Exec(`
CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');`)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte(statements), 0o600); err != nil {
		t.Fatal(err)
	}
	return db, list
}

func TestVerdicts(t *testing.T) {
	db, list := files(t, `
{"id":"write","engine":"sqlite","expect":"refuse","text":"DELETE FROM t","why":"a write"}
{"id":"bytes","base64":"U0VMRUNUICdh/yc="}
{"id":"long","expect":"accept","generator":{"prefix":"SELECT a FROM t WHERE a IN (","repeat":"1,","times":3000,"suffix":"1)"},"rows":1}
{"id":"column","expect":"refuse","text":"SELECT password FROM users","policy":{"deny_columns":["users.password"]}}
{"id":"no policy","expect":"refuse","text":"SELECT password FROM users"}

{"id":"slow","text":"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"}
{"id":"overflow","text":"SELECT abs(-9223372036854775808)"}
{"id":"typo","text":"SELECT a FROM tt"}
{"text":"SELECT 1"}
{"id":"else\u001b[31mwhere","expect":"accept","text":"SELECT a FROM t","policy":{"deny_tables":["nowhere"]}}
{"id":"postgres-001","engine":"postgres","expect":"refuse","text":"DROP TABLE t"}
`)
	var out, summary bytes.Buffer
	err := run(context.Background(), []string{"-db", db, "-statements", list, "-deadline", "500ms"}, &out, &summary)
	if err != nil {
		t.Fatal(err)
	}
	want := []trial.Verdict{
		{ID: "write", Verdict: "refused", Rule: "not-read-only"},
		{ID: "bytes", Verdict: "refused", Rule: "not-utf8"},
		{ID: "long", Verdict: "answered", Rows: 1},
		{ID: "column", Verdict: "refused", Rule: "column"},
		{ID: "no policy", Verdict: "answered", Rows: 3},
		{ID: "slow", Verdict: "failed", Rule: "time"},
		{ID: "overflow", Verdict: "failed", Rule: "run"},
		{ID: "typo", Verdict: "refused", Rule: "schema"},
		{ID: "line-11", Verdict: "answered", Rows: 1},
		{ID: "else\x1b[31mwhere", Verdict: "refused", Rule: "policy"},
	}
	var got []trial.Verdict
	for line := range strings.Lines(out.String()) {
		var v trial.Verdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, v)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trial.Verdict{}, "Seconds", "MiB")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, words := range []string{
		"10 statements: 5 refused, 2 failed, 3 answered", "1 lines for other engines skipped",
		"3 of 5 did what the file expects; not so no policy, else[31mwhere", "are unchanged",
	} {
		if !strings.Contains(summary.String(), words) {
			t.Errorf("the summary does not say %q:\n%s", words, &summary)
		}
	}

	summary.Reset()
	if err := run(context.Background(), []string{"-db", db, "-statements", list, "-deadline", "500ms", "-json"}, &out, &summary); err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(summary.Bytes(), &s); err != nil || s["refused"] != 5.0 || s["unchanged"] != true {
		t.Errorf("%s: %v", &summary, err)
	}
}

// TestPolicyFlag: the policy of the program holds beside that of each statement.
func TestPolicyFlag(t *testing.T) {
	db, list := files(t, `
{"id":"table","text":"SELECT a FROM t"}
{"id":"column","text":"SELECT password FROM users","policy":{"deny_columns":["users.password"]}}
{"id":"rest","text":"SELECT name FROM users","policy":{"deny_columns":["users.password"]}}`)
	policy := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(policy, []byte(`{"DenyTables": ["t"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, summary bytes.Buffer
	if err := run(t.Context(), []string{"-db", db, "-statements", list, "-policy", policy}, &out, &summary); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"rule":"table"`, `"rule":"column"`, `"verdict":"answered"`} {
		if lines := strings.Split(out.String(), "\n"); !strings.Contains(lines[i], want) {
			t.Errorf("%s, want %s", lines[i], want)
		}
	}
}

func TestFaults(t *testing.T) {
	const good = `{"id":"one","text":"SELECT 1"}`
	db, list := files(t, good)
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		why  string
		args []string
		want string // in the error
	}{
		{"a database without statements", []string{"-db", db}, "-db and -statements are needed"},
		{"an unknown flag", []string{"-dbs", "x"}, "-dbs"},
		{"an argument too many", []string{"-db", db, "-statements", list, "x"}, `unexpected argument "x"`},
		{"a policy that is not there", []string{"-db", db, "-statements", list, "-policy", "nowhere.json"}, "-policy: no such file"},
		{"a misspelt member", []string{"-db", db, "-statements", list, "-policy", write(`{"DenyTable":["t"]}`)}, `"DenyTable" is unknown`},
		{"a policy of names that are not there", []string{"-db", db, "-statements", list, "-policy", write(`{"DenyTables":["tt"]}`)}, `DenyTables: "tt"`},
		{"a deadline of nothing", []string{"-db", db, "-statements", list, "-deadline", "0"}, "-deadline must be positive"},
		{"a deadline gone by", []string{"-db", db, "-statements", list, "-deadline", "-1s"}, "-deadline must be positive"},
		{"no deadline", []string{"-db", db, "-statements", list, "-deadline", "soon"}, "-deadline"},
		{"no database", []string{"-db", "nowhere.db", "-statements", list}, "database nowhere.db: no such file"},
		{"a folder", []string{"-db", t.TempDir(), "-statements", list}, "is a folder"},
		{"not a database", []string{"-db", write("just some text, long enough"), "-statements", list}, "is no SQLite database"},
		{"a corrupt database", []string{"-db", write("SQLite format 3\x00" + strings.Repeat("x", 5000)), "-statements", list}, "not a database"},
		{"no statements", []string{"-db", db, "-statements", "nowhere.jsonl"}, "statements nowhere.jsonl: no such file"},
		{"an empty file", []string{"-db", db, "-statements", write("")}, "no statement for sqlite"},
		{"only other engines", []string{"-db", db, "-statements", write(`{"engine":"mysql","text":"SELECT 1"}`)}, "no statement for sqlite"},
		{"no JSON", []string{"-db", db, "-statements", write(good + "\nSELECT 1\n")}, "line 2: no JSON object"},
		{"another JSON", []string{"-db", db, "-statements", write(`[1]`)}, "line 1: no JSON object"},
		{"nothing to run", []string{"-db", db, "-statements", write(`{"id":"x"}`)}, "line 1: 0 of text, base64 and generator"},
		{"two texts", []string{"-db", db, "-statements", write(`{"text":"SELECT 1","base64":""}`)}, "line 1: 2 of text, base64 and generator"},
		{"broken base64", []string{"-db", db, "-statements", write(`{"base64":"?"}`)}, "line 1: base64"},
		{"an endless generator", []string{"-db", db, "-statements", write(`{"generator":{"repeat":"x","times":9000000000000000000}}`)},
			"line 1: the generator repeats"},
		{"an unknown generator", []string{"-db", db, "-statements", write(`{"generator":"nested"}`)}, "line 1: no JSON object of a statement: generator: "},
		{"a misspelt generator", []string{"-db", db, "-statements", write(`{"generator":{"repeat":"x","time":9}}`)},
			`line 1: no JSON object of a statement: generator: json: unknown field "time"`},
		{"a misspelt policy", []string{"-db", db, "-statements", write(`{"text":"SELECT 1","policy":{"deny_column":["users.password"]}}`)},
			`policy: json: unknown field "deny_column"`},
		{"a policy of another kind", []string{"-db", db, "-statements", write(`{"text":"SELECT 1","policy":{"deny_columns":"users.password"}}`)},
			"line 1: no JSON object of a statement: policy: "},
		{"broken lines", []string{"-db", db, "-statements", write(good + "\n{\n" + good + `
{"text":7}
{"base64":"?"}
{}
[]
null
"x"
`)}, "line 2: no JSON object of a statement: unexpected end of JSON input; line 4: no JSON object"},
		{"more of them than are told", []string{"-db", db, "-statements", write("{\n{\n{\n{\n{\n{\n{\n")},
			"line 5: no JSON object of a statement: unexpected end of JSON input; 2 more broken lines"},
		{"a line too long", []string{"-db", db, "-statements", write(good + "\n" + strings.Repeat("x", 65<<20))}, "line 2: over 64 MiB"},
		{"a folder of statements", []string{"-db", db, "-statements", t.TempDir()}, ": is a directory"},
		{"an unknown expectation", []string{"-db", db, "-statements", write(`{"expect":"reject","text":"SELECT 1"}`)}, `unknown expectation "reject"`},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			var out, summary bytes.Buffer
			err := run(context.Background(), test.args, &out, &summary)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
			if out.Len() > 0 {
				t.Errorf("written before the error: %s", &out)
			}
		})
	}
	if err := run(context.Background(), []string{"-h"}, &bytes.Buffer{}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(ended, []string{"-db", db, "-statements", list}, &bytes.Buffer{}, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestOwn: without arguments the program's own statements run on the shop, and each does what it should.
func TestOwn(t *testing.T) {
	var out, summary bytes.Buffer
	if err := run(t.Context(), nil, &out, &summary); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"21 statements: 18 refused, 2 failed, 1 answered", "21 of 21 did what the file expects", "are unchanged"} {
		if !strings.Contains(summary.String(), part) {
			t.Errorf("no %q in %s", part, &summary)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/exec/sqlite"
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
{"id":"nowhere","expect":"accept","text":"SELECT a FROM t","policy":{"deny_tables":["nowhere"]}}
{"id":"empty","expect":"refuse","text":""}
{"id":"no bytes","expect":"refuse","base64":""}
{"id":"blank","expect":"refuse","text":" \n"}
{"id":"postgres-001","engine":"postgres","expect":"refuse","text":"DROP TABLE t"}
`)
	var out, told bytes.Buffer
	if err := run(t.Context(), []string{"-db", db, "-statements", list, "-deadline", "500ms", "-json"}, &out,
		&told); err != nil {
		t.Fatal(err)
	}
	want := []verdict{
		{ID: "write", Verdict: "refused", Rule: "not-read-only"},
		{ID: "bytes", Verdict: "refused", Rule: "not-utf8"},
		{ID: "long", Verdict: "answered", Rows: 1},
		{ID: "column", Verdict: "refused", Rule: "column"},
		{ID: "no policy", Verdict: "answered", Rows: 3},
		{ID: "slow", Verdict: "failed", Rule: "time"},
		{ID: "overflow", Verdict: "failed", Rule: "run"},
		{ID: "typo", Verdict: "refused", Rule: "schema"},
		{ID: "nowhere", Verdict: "refused", Rule: "policy"},
		{ID: "empty", Verdict: "refused", Rule: "empty"},
		{ID: "no bytes", Verdict: "refused", Rule: "empty"},
		{ID: "blank", Verdict: "refused", Rule: "empty"},
	}
	var got []verdict
	for lines := json.NewDecoder(&out); lines.More(); {
		var v verdict
		if err := lines.Decode(&v); err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(verdict{}, "Seconds")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var s summary
	if err := json.Unmarshal(told.Bytes(), &s); err != nil || s.Refused != 8 || s.Failed != 2 || s.Answered != 2 ||
		s.Expected != 8 || !s.Unchanged ||
		!slices.Equal(s.Unexpected, []string{"no policy", "nowhere"}) {
		t.Errorf("%v: %s", err, &told)
	}
}

// TestCount: what ends late did not survive, and other rows are not those that were expected.
func TestCount(t *testing.T) {
	var s summary
	two := 2
	s.count(statement{ID: "late", Expect: "survive"}, verdict{Verdict: "failed", Seconds: 1.16}, time.Second)
	s.count(statement{ID: "in time", Expect: "survive"}, verdict{Verdict: "failed", Seconds: 1.15}, time.Second)
	s.count(statement{ID: "three rows", Expect: "accept", Rows: &two}, verdict{Verdict: "answered", Rows: 3}, time.Second)
	s.count(statement{ID: "failed", Expect: "refuse"}, verdict{Verdict: "failed"}, time.Second)
	if want := []string{"late", "three rows", "failed"}; !slices.Equal(s.Unexpected, want) {
		t.Errorf("%q, want %q", s.Unexpected, want)
	}
}

// TestLook: the text changes with a row and with a table.
func TestLook(t *testing.T) {
	path, _ := files(t, "")
	pool, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, stored := range []string{path, ""} { // as of a file, and as of a server
		d := database{pool, sqlite.Dialect{}}
		seen := map[string]bool{}
		for _, change := range []string{"SELECT 1", "INSERT INTO t VALUES (6, 'x')", "CREATE TABLE more(a INTEGER)",
			"DROP TABLE more"} {
			if _, err := pool.Exec(change); err != nil {
				t.Fatal(err)
			}
			text, err := d.look(t.Context(), stored)
			if err != nil {
				t.Fatal(err)
			}
			seen[text] = true
		}
		if len(seen) < 3 {
			t.Errorf("%q: %d different texts", stored, len(seen))
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
	for _, tt := range []struct {
		why  string
		args []string
		want string // in the error
	}{
		{"a database without statements", []string{"-db", db}, "-db and -statements go together"},
		{"an unknown flag", []string{"-dbs", "x"}, "-dbs"},
		{"an argument too many", []string{"-db", db, "-statements", list, "x"}, "nothing else"},
		{"no database", []string{"-db", "nowhere.db", "-statements", list}, "nowhere.db: no such file"},
		{"not a database", []string{"-db", write(strings.Repeat("just some text", 99)), "-statements", list},
			"not a database"},
		{"no statements", []string{"-db", db, "-statements", "nowhere.jsonl"}, "nowhere.jsonl: no such file"},
		{"an empty file", []string{"-db", db, "-statements", write("")}, "no statement for sqlite"},
		{"only other engines", []string{"-db", db, "-statements", write(`{"engine":"mysql","text":"SELECT 1"}`)},
			"no statement for sqlite"},
		{"another key", []string{"-db", db, "-statements", write(`{"sql":"SELECT 1"}`)}, "line 1: the key text is missing"},
		{"a text that is null", []string{"-db", db, "-statements", write(`{"text":null}`)},
			"line 1: the key text is missing"},
		{"no JSON", []string{"-db", db, "-statements", write(good + "\nSELECT 1\n")}, "line 2: invalid"},
		{"broken base64", []string{"-db", db, "-statements", write(`{"base64":"?"}`)}, "line 1: illegal base64"},
		{"an endless generator",
			[]string{"-db", db, "-statements", write(`{"generator":{"repeat":"x","times":9000000000000000000}}`)},
			"the generator repeats"},
		{"a misspelt policy",
			[]string{"-db", db, "-statements", write(`{"text":"SELECT 1","policy":{"deny_column":["users.password"]}}`)},
			"deny_column is unknown"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), tt.args, &out, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%s: %v, want one line with %q; written %q", tt.why, err, tt.want, &out)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ended, []string{"-db", db, "-statements", list}, io.Discard, io.Discard); !errors.Is(err,
		context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestOwn: without arguments the program's own statements run on the shop, and each does what it should.
func TestOwn(t *testing.T) {
	var out, summary bytes.Buffer
	if err := run(t.Context(), nil, &out, &summary); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"21 statements: 18 refused, 2 failed, 1 answered; 21 of 21 did what is expected",
		"as before: true"} {
		if !strings.Contains(summary.String(), part) {
			t.Errorf("no %q in %s", part, &summary)
		}
	}
}

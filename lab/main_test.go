package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/testutil"
)

// data writes a folder of evaluation data: a shop, five questions of which one
// has a gold that does not run and one no database, and two runs of answers.
func data(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "db", "spider", "shop.sqlite"),
		`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		INSERT INTO customers VALUES (1, 'Ada', 'UK'), (2, 'Bob', 'USA'), (3, 'Cyd', 'USA')`)
	write(t, filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), pack(
		`{"qid": 1, "db_id": "shop", "question": "How many customers are there?", "gold": "SELECT count(*) FROM customers"}`,
		`{"qid": 2, "db_id": "shop", "question": "Which customers live in the USA?", "gold": "SELECT name FROM customers WHERE country = 'USA'"}`,
		`{"qid": 3, "db_id": "shop", "question": "What are the names of the customers?", "gold": "SELECT name FROM customers"}`,
		`{"qid": 4, "db_id": "shop", "question": "Which year is it?", "gold": "SELECT YEAR(now())"}`,
		`{"qid": 5, "db_id": "farm", "question": "How many cows are there?", "gold": "SELECT count(*) FROM cows"}`,
	))
	var lines []string
	answer := func(run string, qid int, db, sql string) {
		line, _ := json.Marshal(map[string]any{"run": run, "qid": qid, "db_id": db, "sql": sql, "label": nil})
		lines = append(lines, string(line))
	}
	for i, run := range []string{"first", "second", "third"} {
		answer(run, 1, "shop", "SELECT count(*) FROM customers")
		answer(run, 2, "shop", []string{"SELECT name FROM customers WHERE country = 'USA'",
			"SELECT name FROM customers WHERE country = 'UK'", "SELECT nme FROM customers"}[i])
		answer(run, 3, "shop", []string{"SELECT name FROM customers", "SELECT * FROM customers",
			"SELECT * FROM customers"}[i])
		answer(run, 4, "shop", "SELECT 2020")
		answer(run, 5, "farm", "SELECT 1")
		answer(run, 99, "shop", "SELECT 1")
	}
	write(t, filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz"), pack(lines...))
	return dir
}

func pack(lines ...string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, strings.Join(lines, "\n")+"\n")
	z.Close()
	return b.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testutil.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testutil.OK(t, os.WriteFile(path, []byte(text), 0o644))
}

// evaluate runs the program and returns what it wrote.
func evaluate(t *testing.T, env map[string]string, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	err = run(t.Context(), args, &o, &e, func(key string) string { return env[key] })
	return o.String(), e.String(), err
}

// measured is evaluate where it must not fail.
func measured(t *testing.T, env map[string]string, args ...string) (out, notes string) {
	t.Helper()
	out, notes, err := evaluate(t, env, args...)
	testutil.OK(t, err, notes)
	return out, notes
}

// objects reads JSON lines.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		list = append(list, o)
	}
	return list
}

func TestBadInput(t *testing.T) {
	dir := data(t)
	predictions := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	broken := t.TempDir()
	testutil.OK(t, os.CopyFS(broken, os.DirFS(dir)))
	whole := testutil.Value(os.ReadFile(predictions))(t)
	write(t, filepath.Join(broken, "predictions", "preds_spider_dev.jsonl.gz"), string(whole[:len(whole)/2]))
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, text)
		return path
	}
	score := func(predictions string) []string {
		return []string{"score", "--data", dir, "--dataset", "spider_dev", "--predictions", predictions}
	}
	live := func(more ...string) []string {
		return append([]string{"run", "--data", dir, "--dataset", "spider_dev"}, more...)
	}
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"no_verb", nil, []string{"votes"}},
		{"unknown_flag", []string{"votes", "--nothing"}, []string{"--nothing", "--help"}},
		{"no_data", []string{"votes"}, []string{"data"}},
		{"no_folder", []string{"votes", "--data", "/nowhere"}, []string{"/nowhere"}},
		{"unknown_pool", []string{"votes", "--data", dir, "--pool", "spider_dev/nobody"},
			[]string{`"spider_dev/nobody"`, predictions}},
		{"no_such_pool", []string{"votes", "--data", dir, "--pool", "x"}, []string{`"x"`, "DATASET/RUN"}},
		{"unknown_voter", []string{"votes", "--data", dir, "--voter", "x"}, []string{`"x"`, "consensus"}},
		{"truncated_gzip", []string{"votes", "--data", broken, "--pool", "spider_dev/all"},
			[]string{"preds_spider_dev.jsonl.gz", "gzip"}},
		{"negative_rounds", []string{"votes", "--data", dir, "--rounds", "-1"}, []string{"--rounds"}},
		{"no_predictions", score("/nowhere/x"), []string{"/nowhere/x"}},
		{"empty_predictions", score(file("e.jsonl", "")), []string{"e.jsonl", "empty"}},
		{"broken_line", score(file("b.jsonl", "{\"qid\": 1, \"sql\": \"SELECT 1\"}\n{\"qid\": 2,\n")), []string{"b.jsonl:2"}},
		{"no_statement", score(file("n.jsonl", "{\"qid\": 1, \"sql\": \"SELECT 1\"}\n{\"qid\": 2}\n")),
			[]string{"n.jsonl:2", "sql"}},
		{"unknown_run", append(score(predictions), "--run", "x"), []string{`"x"`, predictions}},
		{"unknown_dataset", []string{"score", "--data", dir, "--dataset", "x", "--predictions", predictions},
			[]string{`"x"`, "spider_dev"}},
		{"unknown_strategy", live("--strategy", "x", "--model", "pool:spider_dev/all"),
			[]string{`"x"`, "direct, direct-refine, rep-refine, "}},
		{"steps_of_whole_statements", live("--strategy", "maker", "--model", "pool:spider_dev/all"),
			[]string{"maker", "phases:spider_dev/all"}},
		{"unknown_model", live("--strategy", "direct", "--model", "x:y"), []string{"x:y", "openai:NAME"}},
		{"unknown_pool_model", live("--strategy", "direct", "--model", "pool:spider_dev/x"), []string{"spider_dev/x"}},
		{"no_key", live("--strategy", "direct", "--model", "openai:m"), []string{"OPENAI_API_KEY"}},
		{"samples_of_direct", live("--strategy", "direct", "--samples", "3", "--model", "pool:spider_dev/all"),
			[]string{"Direct"}},
		{"no_place_for_out", live("--strategy", "direct", "--model", "pool:spider_dev/all", "--out", "/nowhere/x"),
			[]string{"/nowhere/x"}},
		{"foreign_out", live("--strategy", "direct", "--model", "pool:spider_dev/all", "--out", file("o.jsonl", "hello\n")),
			[]string{"o.jsonl: line 1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := evaluate(t, nil, test.args...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
		})
	}
}

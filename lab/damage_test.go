package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// twoShops is data with a second database, "mall", that question 6 is about, a
// second dataset, and a pool of it.
func twoShops(t *testing.T) string {
	t.Helper()
	dir := data(t)
	makeDatabase(t, filepath.Join(dir, "db", "spider", "mall.sqlite"),
		`CREATE TABLE shops (name TEXT); INSERT INTO shops VALUES ('Corner'), ('Deli')`)
	questions := filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz")
	write(t, questions,
		unpack(t, questions,
			pack(`{"qid": 6, "db_id": "mall", "question": "Which shops are there?", "gold": "SELECT name FROM shops"}`)))
	answers := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	write(t, answers,
		unpack(t, answers, pack(`{"run": "first", "qid": 6, "db_id": "mall", "sql": "SELECT name FROM shops"}`,
			`{"run": "second", "qid": 6, "sql": "SELECT name FROM shops WHERE 1"}`)))
	write(t, filepath.Join(dir, "questions", "questions_bird_dev.jsonl.gz"),
		pack(`{"qid": 1, "db_id": "shop", "question": "How many customers?", "evidence": "", "difficulty": "simple", "gold": "SELECT count(*) FROM customers"}`))
	write(t, filepath.Join(dir, "predictions", "preds_bird_dev.jsonl.gz"),
		pack(`{"run": "b", "qid": 1, "db_id": "shop", "sql": "SELECT count(*) FROM customers"}`))
	return dir
}

// unpack returns a file followed by more members: gzip files may be put together.
func unpack(t *testing.T, path, more string) string {
	t.Helper()
	text := testutil.Value(os.ReadFile(path))(t)
	return string(text) + more
}

func makeDatabase(t *testing.T, path, statements string) {
	t.Helper()
	testutil.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	db := testutil.Value(sql.Open("sqlite3", path))(t)
	defer db.Close()
	testutil.Value(db.Exec(statements))(t)
}

// The ways in which a folder of data may be damaged. Each costs what is in the
// damaged file and nothing else.
var damages = []struct {
	name   string
	damage func(t *testing.T, dir string)
}{
	{"no_database", func(t *testing.T, dir string) { remove(t, dir, "db/spider/mall.sqlite") }},
	{"no_sqlite", func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "db/spider/mall.sqlite"), strings.Repeat("this is text. ", 1000))
	}},
	{"cut_database", func(t *testing.T, dir string) { cut(t, dir, "db/spider/mall.sqlite", 4096) }},
	{"cut_page", func(t *testing.T, dir string) { cut(t, dir, "db/spider/mall.sqlite", 600) }},
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	testutil.OK(t, os.Remove(filepath.Join(dir, name)))
}

func cut(t *testing.T, dir, name string, to int64) {
	t.Helper()
	testutil.OK(t, os.Truncate(filepath.Join(dir, name), to))
}

// last is the last JSON line of what a command wrote that says what about.
func last(t *testing.T, text, key, value string) map[string]any {
	t.Helper()
	var found map[string]any
	for _, o := range objects(t, text) {
		if o[key] == value {
			found = o
		}
	}
	if found == nil {
		t.Fatalf("no line with %s %s in:\n%s", key, value, text)
	}
	return found
}

func TestDamagedDatabase(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			dir := twoShops(t)
			d.damage(t, dir)

			out, notes := measured(t, nil, "votes", "--data", dir, "--pool", "spider_dev/all", "--voter", "result", "--rounds",
				"20", "--json")
			if l := last(t, out, "voter", "result"); l["n"] != 3.0 || l["left_out"] != 3.0 {
				t.Errorf("votes: %v\n%s", l, notes)
			}
			if !strings.Contains(notes, "mall") ||
				!strings.Contains(notes, "in all: pools 1, questions 3; left out: pools 0, questions 3") {
				t.Errorf("votes does not say what it left out:\n%s", notes)
			}

			out, notes = measured(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--run", "first", "--rounds", "20",
				"--json", "--predictions", filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz"))
			if l := last(t, out, "metric", "ex_set"); l["value"] != 0.5 || l["n"] != 6.0 || l["faults"] != 3.0 {
				t.Errorf("score: %v", l)
			}
			for _, want := range []string{"count as 0: 3 of 6", "questions_spider_dev.jsonl.gz:4: question 4: ",
				"questions_spider_dev.jsonl.gz:6: question 6: database ", "mall"} {
				if !strings.Contains(notes, want) {
					t.Errorf("score does not say %q:\n%s", want, notes)
				}
			}

			out, notes = measured(t, nil, "run", "--data", dir, "--dataset", "spider_dev", "--strategy", "direct", "--model",
				"pool:spider_dev/first", "--rounds", "20", "--json")
			if l := last(t, out, "strategy", "direct"); l["n"] != 3.0 || l["left_out"] != 3.0 {
				t.Errorf("run: %v\n%s", l, notes)
			}
		})
	}
}

func TestDamagedPools(t *testing.T) {
	votes := func(dir string, more ...string) []string {
		return append([]string{"votes", "--data", dir, "--voter", "result", "--rounds", "20", "--json"}, more...)
	}
	named := []string{"--pool", "spider_dev/all", "--pool", "bird_dev/all"}
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		pools  []string
		notes  []string
		err    string // "" for success
	}{
		{"cut_gzip", func(t *testing.T, dir string) { cut(t, dir, "predictions/preds_bird_dev.jsonl.gz", 60) }, named,
			[]string{"left out: pool bird_dev/all: eval: ", "preds_bird_dev.jsonl.gz:1: the gzip file is cut off",
				"left out: pools 1, questions 2"},
			"1 of the 2 pools"},
		{"no_pool", func(*testing.T, string) {}, []string{"--pool", "spider_dev/all", "--pool", "spider_dev/nobody"},
			[]string{`there is no pool "spider_dev/nobody"`, "left out: pools 1, "}, "1 of the 2 pools"},
		{"no_file", func(t *testing.T, dir string) { remove(t, dir, "predictions/preds_bird_dev.jsonl.gz") }, named,
			[]string{"left out: pool bird_dev/all: eval: ", "preds_bird_dev.jsonl.gz: no such file"}, "1 of the 2 pools"},
		{"no_dataset", func(t *testing.T, dir string) { remove(t, dir, "questions/questions_bird_dev.jsonl.gz") }, named,
			[]string{`there is no dataset "bird_dev"`}, "1 of the 2 pools"},
		{"two_questions_of_one_id", func(t *testing.T, dir string) {
			q := `{"qid": 1, "db_id": "shop", "question": "A", "gold": "SELECT 1"}`
			write(t, filepath.Join(dir, "questions", "questions_bird_dev.jsonl.gz"), pack(q, strings.Replace(q, "A", "B", 1)))
		}, named, []string{"questions_bird_dev.jsonl.gz:2: field id: 1 is the id of line 1 too"}, "1 of the 2 pools"},
		{"reference_pools_that_are_not_there", func(*testing.T, string) {}, nil,
			[]string{"pool classicmodels/base_k3", `"samples/spider_samples_k16"`, "left out: pools 7, questions 2"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := twoShops(t)
			test.damage(t, dir)
			out, notes, err := evaluate(t, nil, votes(dir, test.pools...)...)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if l := last(t, out, "pool", "spider_dev/all"); l["n"] != 4.0 || l["right"] != 3.0 {
				t.Errorf("the sound pool: %v", l)
			}
			if l := last(t, out, "pool", "all"); l["pools_left_out"] == nil || l["left_out"] != 2.0 {
				t.Errorf("the line of all pools does not count what is left out: %v", l)
			}
			for _, want := range test.notes {
				if !strings.Contains(notes, want) {
					t.Errorf("the notes lack %q:\n%s", want, notes)
				}
			}
		})
	}
	// Nothing left: a line for each pool, and an error.
	out, notes, err := evaluate(t, nil, votes(data(t), "--pool", "spider_dev/nobody", "--pool", "spider_dev/noone")...)
	if err == nil || out != "" || strings.Count(notes, "\n") != 2 || !strings.Contains(notes, "nobody") ||
		!strings.Contains(notes, "noone") {
		t.Errorf("%v\n%s%s", err, out, notes)
	}
}

// TestFaultsAreBounded: hundreds of golds that do not run are a few lines.
func TestFaultsAreBounded(t *testing.T) {
	dir := data(t)
	var questions []string
	for i := range 300 {
		q, _ := json.Marshal(map[string]any{"qid": i, "db_id": "shop", "question": "Q",
			"gold": fmt.Sprintf("SELECT f%d()", i/15)})
		questions = append(questions, string(q))
	}
	write(t, filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), pack(questions...))
	answers := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, answers, `{"qid": 0, "sql": "SELECT 1"}`)
	_, notes := measured(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", answers, "--rounds",
		"20")
	if n := strings.Count(notes, "\n"); n != 12 {
		t.Errorf("%d lines:\n%s", n, notes)
	}
	for _, want := range []string{
		"count as 0: 300 of 300", "questions_spider_dev.jsonl.gz:1: question 0 and 14 more (1, 2, 3, 4, …): " +
			"the gold has no result (error)",
		"and 150 more questions, for 10 more reasons",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
}

// TestLinkOfDamagedDatabase: link leaves out what a damaged database costs, names
// it, and measures the rest.
func TestLinkOfDamagedDatabase(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			dir := twoShops(t)
			d.damage(t, dir)
			var out, notes bytes.Buffer
			err := run(t.Context(), []string{"link", "--data", dir, "--dataset", "spider_dev", "--presql", "spider_dev/all",
				"--json"}, &out, &notes, os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			if got := last(t, out.String(), "linker", "union"); got["db"] != "all" || got["n"] == 0.0 {
				t.Errorf("the rest: %v", got)
			}
			// The schema stands on the first page: without the others links can still be measured.
			if strings.Contains(out.String(), `"mall"`) && d.name != "cut_database" {
				t.Errorf("a line of the damaged database: %s", out.String())
			}
			if text := notes.String(); d.name != "cut_database" &&
				(!strings.Contains(text, "questions_spider_dev.jsonl.gz:6: question 6: ") || !strings.Contains(text, "mall")) {
				t.Errorf("the notes: %s", text)
			}
		})
	}
}

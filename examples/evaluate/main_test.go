package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"
)

// data writes a folder of evaluation data: a shop, five questions of which one
// has a gold that does not run and one no database, and two runs of answers.
func data(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "db", "spider", "shop.sqlite"), `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
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
		answer(run, 2, "shop", []string{"SELECT name FROM customers WHERE country = 'USA'", "SELECT name FROM customers WHERE country = 'UK'", "SELECT nme FROM customers"}[i])
		answer(run, 3, "shop", []string{"SELECT name FROM customers", "SELECT * FROM customers", "SELECT * FROM customers"}[i])
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
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// evaluate runs the program and returns what it wrote.
func evaluate(t *testing.T, env map[string]string, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	err = run(t.Context(), args, &o, &e, func(key string) string { return env[key] })
	return o.String(), e.String(), err
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

func TestVotes(t *testing.T) {
	dir := data(t)
	page := filepath.Join(t.TempDir(), "votes.html")
	out, notes, err := evaluate(t, nil, "votes", "--data", dir, "--pool", "spider_dev/all", "--pool", "spider_dev/first",
		"--json", "--rules", "--rounds", "50", "--html", page, "--folds", "2")
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	keys := []string{"pool", "voter", "n", "k", "right", "ex", "ci", "calls", "auroc", "model_kind"}
	right := map[string]float64{}
	for _, l := range lines {
		if l["voter"] == nil {
			continue
		}
		for _, key := range keys {
			if _, ok := l[key]; !ok {
				t.Errorf("no key %q in %v", key, l)
			}
		}
		right[fmt.Sprint(l["pool"], " ", l["voter"])] = l["right"].(float64)
	}
	for _, l := range lines {
		if l["pool"] != "spider_dev/all" || l["voter"] != "result" {
			continue
		}
		// One of three answers is wrong, and the least sure one.
		if l["risk50"] != 0.0 || !near(l["risk50_reduction"], 1.0/3) || !interval(l["risk50_ci"], 0) || !interval(l["risk50_reduction_ci"], 1.0/3) {
			t.Errorf("risk of the surer half: %v", l)
		}
	}
	want := map[string]float64{
		"spider_dev/all one":            3.0/3 + 1.0/3 + 1.0/3,
		"spider_dev/all any":            3, // every question has one
		"spider_dev/all result":         2, // the first of two on question 2; SELECT * outvotes on 3
		"spider_dev/all consensus":      3, // SELECT * is doubted
		"spider_dev/first consensus":    3, // one answer a question
		"spider_dev/all result+decided": 2, // as result
		"all consensus":                 6, // both pools
	}
	for key, w := range want {
		if got, ok := right[key]; !ok || got-w > 1e-9 || w-got > 1e-9 {
			t.Errorf("%s: %v right, want %v", key, got, w)
		}
	}
	if _, ok := right["all weighted-agreement"]; !ok {
		t.Error("a fitted voter is missing")
	}
	rules := slices.DeleteFunc(lines, func(l map[string]any) bool { return l["rule"] == nil })
	if i := slices.IndexFunc(rules, func(l map[string]any) bool { return l["rule"] == "star" && l["pool"] == "spider_dev/all" }); i < 0 || rules[i]["fires"] != 2.0 {
		t.Errorf("no figures of the rule star: %v", rules)
	}
	for _, part := range []string{
		"answers to unknown questions", "preds_spider_dev.jsonl.gz:6, question 99",
		"questions without their database: 1 (farm)", "questions whose gold does not run: 1", "questions_spider_dev.jsonl.gz:4: question 4: the gold does not run",
		"in all: pools 2, questions 6; left out: pools 0, questions 4",
	} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %q:\n%s", part, notes)
		}
	}
	selfContained(t, page)
}

func near(x any, want float64) bool { f, ok := x.(float64); return ok && math.Abs(f-want) < 1e-9 }

// interval reports whether x is an interval around a value.
func interval(x any, value float64) bool {
	pair, ok := x.([]any)
	return ok && len(pair) == 2 && pair[0].(float64) <= value+1e-9 && pair[1].(float64) >= value-1e-9
}

// selfContained reports anything in a page that would be fetched.
func selfContained(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"http:", "https:", "<script", "<link", "<img", "url(", "@import"} {
		if bytes.Contains(text, []byte(part)) {
			t.Errorf("%s holds %q", path, part)
		}
	}
	for _, part := range []string{"<svg", "</html>", "prefers-color-scheme: dark", "viewport"} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("%s lacks %q", path, part)
		}
	}
}

func TestVotesTable(t *testing.T) {
	out, _, err := evaluate(t, map[string]string{"TEXTTOSQL_DATA": data(t)}, "votes", "--pool", "spider_dev/all", "--voter", "result", "--voter", "consensus", "--rounds", "50")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "pool ") || !strings.Contains(lines[2], "consensus") {
		t.Errorf("got:\n%s", out)
	}
}

// TestVotesOfOnePool: the lines of all pools are there for who reads them, however
// many pools there are.
func TestVotesOfOnePool(t *testing.T) {
	out, _, err := evaluate(t, nil, "votes", "--data", data(t), "--pool", "spider_dev/all", "--voter", "consensus", "--rounds", "50", "--json")
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	if len(lines) != 2 || lines[1]["pool"] != "all" {
		t.Fatalf("got:\n%s", out)
	}
	lines[1]["pool"] = lines[0]["pool"]
	if diff := cmp.Diff(lines[0], lines[1]); diff != "" {
		t.Errorf("(-pool +all)\n%s", diff)
	}
}

func TestScore(t *testing.T) {
	dir := data(t)
	page := filepath.Join(t.TempDir(), "score.html")
	file := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	out, notes, err := evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file,
		"--run", "second", "--json", "--per-question", "--rounds", "50", "--html", page)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]any{}
	questions := 0
	for _, l := range objects(t, out) {
		if m, ok := l["metric"].(string); ok {
			got[m] = l
		} else {
			questions++
		}
	}
	if questions != 5 {
		t.Errorf("%d lines of questions", questions)
	}
	// Right are question 1 alone of 5; 2 and 3 run but are wrong, 4 has a gold that
	// does not run, 5 has no database.
	if l := got["ex_set"]; l["value"] != 0.2 || l["n"] != 5.0 || l["faults"] != 2.0 || l["scorable"].(float64) < 0.33 {
		t.Errorf("ex_set: %v", l)
	}
	if l := got["va"]; l["value"] != 0.8 {
		t.Errorf("va: %v", l)
	}
	if !strings.Contains(notes, "questions_spider_dev.jsonl.gz:4: question 4: the gold has no result") || !strings.Contains(notes, `jsonl.gz:5: question 5: database "farm" is not in`) || !strings.Contains(notes, "answers to unknown questions") {
		t.Errorf("notes:\n%s", notes)
	}
	selfContained(t, page)

	// A file of another form: Spider's, a statement a line.
	plain := filepath.Join(t.TempDir(), "pred.txt")
	write(t, plain, strings.Repeat("SELECT count(*) FROM customers\tshop\n", 4)+"SELECT 1\tfarm\n")
	out, _, err = evaluate(t, nil, "score", "--data", dir, "--dataset", filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), "--predictions", plain, "--rounds", "50")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "pred ex_set 0.2000 5") {
		t.Errorf("%v\n%s", err, out)
	}

	suites := filepath.Join(t.TempDir(), "suites")
	out, notes, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--run", "first", "--suites", suites, "--rounds", "50", "--json")
	if err != nil || !strings.Contains(out, `"metric":"ts","value":0.6`) {
		t.Errorf("%v\n%s%s", err, out, notes)
	}
	makeDatabase(t, filepath.Join(dir, "db", "spider", "shop.sqlite"), "INSERT INTO customers VALUES (4, 'Dee', 'UK')")
	out, notes, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--run", "first", "--suites", suites, "--rounds", "50", "--json")
	if err != nil || !strings.Contains(out, `"metric":"ts","value":0,`) || !strings.Contains(notes, "no test suite of shop") || !strings.Contains(notes, "of another database") {
		t.Errorf("a suite of another database: %v\n%s%s", err, out, notes)
	}
	write(t, filepath.Join(suites, "shop", "manifest.json"), "{")
	out, notes, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--run", "first", "--suites", suites, "--rounds", "50", "--json")
	if err != nil || !strings.Contains(out, `"metric":"ts","value":0,`) || !strings.Contains(notes, "no test suite of shop") {
		t.Errorf("a damaged suite: %v\n%s%s", err, out, notes)
	}
}

func TestRunGoesOn(t *testing.T) {
	dir, file := data(t), filepath.Join(t.TempDir(), "run.jsonl")
	page := filepath.Join(t.TempDir(), "run.html")
	command := []string{"run", "--data", dir, "--dataset", "spider_dev", "--strategy", "consensus", "--model", "pool:spider_dev/all",
		"--samples", "3", "--out", file, "--json", "--rounds", "50", "--html", page}
	_, _, err := evaluate(t, nil, append(command, "--limit", "1")...)
	if err != nil {
		t.Fatal(err)
	}
	// A crash cut the next line.
	log, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(log, `{"v":1,"run":"consensus`)
	log.Close()

	out, notes, err := evaluate(t, nil, command...)
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	last := lines[len(lines)-1]
	if len(lines) != 3 || last["n"] != 3.0 || last["ex"] != 1.0 || last["va"] != 1.0 || last["model_kind"] != "recorded" || last["left_out"] != 2.0 {
		t.Errorf("got %v\n%s", lines, notes)
	}
	for _, key := range []string{"calls", "tokens", "sec", "ci", "auroc", "failed"} {
		if _, ok := last[key]; !ok {
			t.Errorf("no key %q in %v", key, last)
		}
	}
	if !strings.Contains(notes, "1 of 3 questions are finished") {
		t.Errorf("notes:\n%s", notes)
	}
	selfContained(t, page)
	if text, _ := os.ReadFile(file); bytes.Count(text, []byte("\n")) != 3 {
		t.Errorf("the file holds:\n%s", text)
	}
	// The file can be scored.
	out, _, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--rounds", "50")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "ex_set 0.6000 5") {
		t.Errorf("%v\n%s", err, out)
	}
	// Another run does not mix with it.
	command[6] = "direct"
	command = slices.Delete(command, 9, 11)
	if _, _, err := evaluate(t, nil, command...); err == nil || !strings.Contains(err.Error(), file+": line 1: of the run") {
		t.Errorf("got %v", err)
	}
}

// TestRunLeavesForeignFiles: what was never an --out is told and stays, with a line
// end at its end or without.
func TestRunLeavesForeignFiles(t *testing.T) {
	dir := data(t)
	for _, text := range []string{"hello", "hello\n", `{"0": "SELECT 1"}`, "[{}]", "\n"} {
		file := filepath.Join(t.TempDir(), "notes")
		write(t, file, text)
		_, _, err := evaluate(t, nil, "run", "--data", dir, "--dataset", "spider_dev", "--strategy", "direct", "--model", "pool:spider_dev/all", "--out", file)
		if after, _ := os.ReadFile(file); err == nil || !strings.Contains(err.Error(), file+": line 1: ") || string(after) != text {
			t.Errorf("%q: %v, now %q", text, err, after)
		}
	}
}

// TestTwoRunsOnOneFile: lines of two programs stand side by side.
func TestTwoRunsOnOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	var logs [2]*journal
	for i := range logs {
		log, err := openJournal(file, "r", "d")
		if err != nil {
			t.Fatal(err)
		}
		defer log.close()
		logs[i] = log
	}
	for i := range 6 {
		if err := logs[i%2].keep(finished{Version: journalVersion, Run: "r", Dataset: "d", ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	again, err := openJournal(file, "r", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	if len(again.finished) != 6 {
		t.Errorf("%d questions are finished, want 6", len(again.finished))
	}
}

func TestRunWithSeveralPools(t *testing.T) {
	out, _, err := evaluate(t, nil, "run", "--data", data(t), "--dataset", "spider_dev", "--strategy", "self-consistency",
		"--model", "pool:spider_dev/first,spider_dev/third", "--samples", "2", "--json", "--rounds", "50")
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	if last := lines[len(lines)-1]; last["calls"] != 6.0 || last["tokens_known"] != false {
		t.Errorf("got %v", last)
	}
}

// TestRunLive speaks to a loopback server as to any provider.
func TestRunLive(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		reply := "```sql\\nSELECT name FROM customers\\n```"
		if strings.Contains(string(body), "How many customers") {
			reply = "SELECT count(*) FROM customers;"
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, reply)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	file := filepath.Join(t.TempDir(), "run.jsonl")
	out, notes, err := evaluate(t, env, "run", "--dataset", "spider_dev", "--strategy", "direct", "--model", "openai:m", "--json", "--rounds", "50", "--out", file)
	if err != nil {
		t.Fatal(err, notes)
	}
	lines := objects(t, out)
	last := lines[len(lines)-1]
	if last["model_kind"] != "live" || last["tokens"] != 3*28.0 || last["tokens_known"] != true || last["ex"].(float64) < 0.66 || calls.Load() != 3 {
		t.Errorf("after %d calls: %v", calls.Load(), last)
	}
	// Of another dataset nothing is finished, even where its questions have the same ids.
	questions := filepath.Join(env["TEXTTOSQL_DATA"], "questions")
	write(t, filepath.Join(questions, "questions_bird_dev.jsonl.gz"), unpack(t, filepath.Join(questions, "questions_spider_dev.jsonl.gz"), ""))
	_, _, err = evaluate(t, env, "run", "--dataset", "bird_dev", "--strategy", "direct", "--model", "openai:m", "--out", file)
	if err == nil || !strings.Contains(err.Error(), file+`: line 1: of the dataset "spider_dev"`) {
		t.Errorf("the file of another dataset: %v", err)
	}
}

func TestRunGivesUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"no such key"}}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	out, _, err := evaluate(t, env, "run", "--dataset", "spider_dev", "--strategy", "direct", "--model", "openai:m", "--json", "--rounds", "50")
	// Three questions are fewer than giveUp: all are asked, and fail.
	if err == nil || !strings.Contains(err.Error(), "all 3 questions failed, the last one with: ") || !strings.Contains(out, `"failed":3`) {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, notes bytes.Buffer
	err := run(ctx, []string{"votes", "--data", data(t), "--pool", "spider_dev/all"}, &out, &notes, func(string) string { return "" })
	if err == nil || out.Len() > 0 {
		t.Errorf("got %v\n%s", err, out.String())
	}
}

func TestBadInput(t *testing.T) {
	dir := data(t)
	predictions := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	broken := t.TempDir()
	if err := os.CopyFS(broken, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(predictions)
	if err != nil {
		t.Fatal(err)
	}
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
		{"unknown_pool", []string{"votes", "--data", dir, "--pool", "spider_dev/nobody"}, []string{`"spider_dev/nobody"`, predictions}},
		{"no_such_pool", []string{"votes", "--data", dir, "--pool", "x"}, []string{`"x"`, "DATASET/RUN"}},
		{"unknown_voter", []string{"votes", "--data", dir, "--voter", "x"}, []string{`"x"`, "consensus"}},
		{"truncated_gzip", []string{"votes", "--data", broken, "--pool", "spider_dev/all"}, []string{"preds_spider_dev.jsonl.gz", "gzip"}},
		{"negative_rounds", []string{"votes", "--data", dir, "--rounds", "-1"}, []string{"--rounds"}},
		{"no_predictions", score("/nowhere/x"), []string{"/nowhere/x"}},
		{"empty_predictions", score(file("e.jsonl", "")), []string{"e.jsonl", "empty"}},
		{"broken_line", score(file("b.jsonl", "{\"qid\": 1, \"sql\": \"SELECT 1\"}\n{\"qid\": 2,\n")), []string{"b.jsonl:2"}},
		{"no_statement", score(file("n.jsonl", "{\"qid\": 1, \"sql\": \"SELECT 1\"}\n{\"qid\": 2}\n")), []string{"n.jsonl:2", "sql"}},
		{"unknown_run", append(score(predictions), "--run", "x"), []string{`"x"`, predictions}},
		{"unknown_dataset", []string{"score", "--data", dir, "--dataset", "x", "--predictions", predictions}, []string{`"x"`, "spider_dev"}},
		{"unknown_strategy", live("--strategy", "x", "--model", "pool:spider_dev/all"), []string{`"x"`, "direct, self-consistency, consensus, "}},
		{"steps_of_whole_statements", live("--strategy", "maker", "--model", "pool:spider_dev/all"), []string{"maker", "phases:spider_dev/all"}},
		{"unknown_model", live("--strategy", "direct", "--model", "x:y"), []string{"x:y", "openai:NAME"}},
		{"unknown_pool_model", live("--strategy", "direct", "--model", "pool:spider_dev/x"), []string{"spider_dev/x"}},
		{"no_key", live("--strategy", "direct", "--model", "openai:m"), []string{"OPENAI_API_KEY"}},
		{"samples_of_direct", live("--strategy", "direct", "--samples", "3", "--model", "pool:spider_dev/all"), []string{"Direct"}},
		{"no_place_for_out", live("--strategy", "direct", "--model", "pool:spider_dev/all", "--out", "/nowhere/x"), []string{"/nowhere/x"}},
		{"foreign_out", live("--strategy", "direct", "--model", "pool:spider_dev/all", "--out", file("o.jsonl", "hello\n")), []string{"o.jsonl: line 1"}},
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

// TestNoPlaceForPage: that a page cannot be written is told before anything is done
// for it.
func TestNoPlaceForPage(t *testing.T) {
	dir := data(t)
	for _, args := range [][]string{
		{"votes", "--pool", "spider_dev/all"},
		{"score", "--dataset", "spider_dev", "--predictions", filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")},
		{"run", "--dataset", "spider_dev", "--strategy", "direct", "--model", "pool:spider_dev/all"},
	} {
		for _, page := range []string{"/nowhere/x.html", dir} {
			out, notes, err := evaluate(t, nil, append(args, "--data", dir, "--json", "--html", page)...)
			if err == nil || !strings.Contains(err.Error(), "page "+page+": ") || out+notes != "" {
				t.Errorf("%s, page %s: %v\n%s%s", args[0], page, err, out, notes)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".evaluate-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

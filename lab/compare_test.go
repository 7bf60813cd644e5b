package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/lab/stats"
)

// line makes a line of run --out.
func line(f finished) string {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// runLines are the lines of a run over a database, one question for each score.
func runLines(run string, c stats.Contract, scores ...int) (lines []string) {
	for i, score := range scores {
		lines = append(lines, line(finished{
			Version: journalVersion, Run: run, Dataset: "d", ID: fmt.Sprint(i), DB: "shop", EX: score, VA: 1,
			Template: fmt.Sprint("t", i/2), Contract: c,
		}))
	}
	return lines
}

var usual = stats.Contract{Prompt: "p", Schema: "s", Scorer: "ex_set", Limits: "3s"}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, lines ...string) string {
		path := filepath.Join(dir, name)
		write(t, path, strings.Join(lines, ""))
		return path
	}
	a := file("a", runLines("base", usual, 0, 0, 0, 1, 1, 0, 0, 0)...)
	b := file("b", runLines("adapter", usual, 1, 1, 0, 1, 0, 1, 1, 0)...)
	out, _ := measured(t, nil, "compare", a, b, "--json")
	got := objects(t, out)[0]
	// By hand: 4 better, 1 worse: mid-p is 2·(P(0) + P(1)/2) of Binomial(5, ½) = 2·(1 + 5/2)/32.
	for key, want := range map[string]any{
		"a": "base", "b": "adapter", "metric": "ex", "n": 8.0, "difference": 0.375, "better": 4.0, "worse": 1.0,
		"mid_p": 0.21875,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	for _, key := range []string{"ci", "ci_by_template"} {
		ends, _ := got[key].([]any)
		if len(ends) != 2 || ends[0].(float64) > 0.375 || ends[1].(float64) < 0.375 {
			t.Errorf("%s is %v", key, got[key])
		}
	}
	if out, _, err := evaluate(t, nil, "compare", a, b, "--metric", "va"); err != nil || !strings.Contains(out, "+0.0") ||
		!strings.Contains(out, "B adapter") {
		t.Errorf("the table: %v\n%s", err, out)
	}

	limits, schema, prompt, scorer := usual, usual, usual, usual
	limits.Limits, schema.Schema, prompt.Prompt, scorer.Scorer = "9s", "s2", "p2", "ex_bag"
	eight := []int{0, 0, 0, 0, 0, 0, 0, 0}
	for _, tt := range []struct {
		why  string
		b    []string
		as   any
		says string
	}{
		{"other limits", runLines("b", limits, eight...), new(*stats.ContractError), "limits: \"3s\", \"9s\""},
		{"another schema", runLines("b", schema, eight...), new(*stats.ContractError), "schema: \"s\", \"s2\""},
		{"another prompt", runLines("b", prompt, eight...), new(*stats.ContractError), "prompt: \"p\", \"p2\""},
		{"another scorer", runLines("b", scorer, eight...), new(*stats.ContractError), "scorer: \"ex_set\", \"ex_bag\""},
		{"other data", []string{strings.ReplaceAll(runLines("b", usual, 0)[0], `"dataset":"d"`, `"dataset":"e"`)},
			new(*stats.ContractError), `dataset: "d", "e"`},
		{"fewer questions", runLines("b", usual, 0, 1), new(*stats.UnpairedError), "6 only in the first"},
		{"more questions", runLines("b", usual, append(eight, 1)...), new(*stats.UnpairedError),
			"1 only in the second (shop/8)"},
		{"a contract that changes", append(runLines("b", usual, 0), runLines("b", limits, 0, 0)[1]), nil,
			"line 2: its contract differs"},
		{"two runs", append(runLines("b", usual, 0), runLines("c", usual, 0, 0)[1]), nil, `line 2: of the run "c"`},
		{"a question twice", append(runLines("b", usual, 0), runLines("b", usual, 0)...), nil,
			"line 2: question 0 stands here twice"},
		{"no contract", runLines("b", stats.Contract{}, 0), nil, "line 1: it has no contract"},
		{"a cut line", append(runLines("b", usual, 0), `{"v":1,"run":"b`), nil, "line 2: it is cut"},
		{"a damaged line", append(runLines("b", usual, 0), "{]\n"), nil, "line 2: no line of lab run"},
		{"another version", []string{`{"v":7,"qid":"1"}` + "\n"}, nil, "line 1: version 7"},
		{"an empty file", nil, nil, "no finished question"},
	} {
		_, _, err := evaluate(t, nil, "compare", a, file("other", tt.b...))
		if err == nil || !strings.Contains(err.Error(), tt.says) || tt.as != nil && !errors.As(err, tt.as) {
			t.Errorf("%s: %v; want %q", tt.why, err, tt.says)
		}
	}
}

// TestCompareRuns: run --out writes what compare needs, and runs of other limits are refused by name.
func TestCompareRuns(t *testing.T) {
	dir := data(t)
	out := func(name string, flags ...string) string {
		path := filepath.Join(t.TempDir(), name)
		args := []string{"run", "--data", dir, "--dataset", "spider_dev", "--rounds", "50", "--out", path}
		if _, notes, err := evaluate(t, nil, append(args, flags...)...); err != nil {
			t.Fatal(err, notes)
		}
		return path
	}
	first := out("a", "--strategy", "direct", "--model", "pool:spider_dev/third")
	votes := out("b", "--strategy", "self-consistency", "--samples", "3", "--model", "pool:spider_dev/all")
	patient := []string{"--strategy", "direct", "--model", "pool:spider_dev/first", "--timeout", "5s"}
	second := out("c", patient...)
	text, _ := measured(t, nil, "compare", first, votes, "--json", "--rounds", "50")
	if got := objects(t, text)[0]; got["n"] != 3.0 || got["a"] != "direct pool:spider_dev/third" {
		t.Errorf("got %v", got)
	}
	var refused *stats.ContractError
	if _, _, err := evaluate(t, nil, "compare", first, second); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "limits: \"candidate 3s") {
		t.Errorf("other limits: %v", err)
	}
	shorter := out("d", "--strategy", "direct", "--model", "pool:spider_dev/first", "--without-values")
	if _, _, err := evaluate(t, nil, "compare", first, shorter); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "prompt: ") {
		t.Errorf("another prompt: %v", err)
	}
	// A run does not go on under other terms.
	args := append([]string{"run", "--data", dir, "--dataset", "spider_dev", "--out", second}, patient[:4]...)
	if _, _, err := evaluate(t, nil, args...); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "give another --out") {
		t.Errorf("going on under other limits: %v", err)
	}
}

// TestExport: the verb writes what is read from files, and run warns where a manifest does not fit.
func TestExport(t *testing.T) {
	dir := data(t)
	pairs, train := filepath.Join(dir, "pairs.jsonl"), filepath.Join(dir, "train.jsonl")
	write(t, pairs,
		`{"question": "Which customers live in Norway?", "sql": "SELECT name FROM customers WHERE country = 'Norway'"}
{"question": "What are all ids?", "sql": "SELECT id FROM customers"}
{"question": "Which years?", "sql": "SELECT YEAR(name) FROM customers"}
{"question": "Who?", "sql": "DROP TABLE customers"}
{"question": "Which countries are there?", "sql": "SELECT DISTINCT country FROM customers"}
`)
	args := []string{"export", "--data", dir, "--db", "shop", "--pairs", pairs, "--against", "spider_dev", "--out", train}
	out, _ := measured(t, nil, append(args, "--json")...)
	lines := objects(t, out)
	manifest := lines[len(lines)-1]
	if manifest["kept"] != 2.0 || manifest["k"] != 0.0 {
		t.Errorf("manifest %v", manifest)
	}
	for i, want := range []string{"1 sql_template", "3 does_not_execute", "4 not_select"} {
		if got := fmt.Sprintf("%v %v", lines[i]["line"], lines[i]["reason"]); got != want {
			t.Errorf("line %d: %s, want %s", i, got, want)
		}
	}
	if out, _, err := evaluate(t, nil, append(args, "--mysql")...); err != nil || !strings.Contains(out, "3 of 5 pairs") {
		t.Errorf("with functions of MySQL: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		why   string
		flags []string
		want  []string
	}{
		{"it fits", []string{"--mysql"}, nil},
		{"other exemplars", []string{"--mysql", "--exemplars", pairs}, []string{"exemplars: trained with 0, run with 3"}},
		{"another prompt", []string{"--mysql", "--without-values"}, []string{"prompt: trained with "}},
	} {
		run := []string{"run", "--data", dir, "--dataset", "spider_dev", "--strategy", "direct", "--model",
			"pool:spider_dev/first",
			"--manifest", strings.TrimSuffix(train, ".jsonl") + ".manifest.json", "--rounds", "50"}
		_, notes, err := evaluate(t, nil, append(run, tt.flags...)...)
		if err != nil {
			t.Fatal(tt.why, err)
		}
		if n := strings.Count(notes, "WARNING"); n != len(tt.want) {
			t.Errorf("%s: %d warnings\n%s", tt.why, n, notes)
		}
		for _, want := range tt.want {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: no %q in\n%s", tt.why, want, notes)
			}
		}
	}
	os.Remove(train)
	for _, tt := range []struct {
		why  string
		args []string
		want string
	}{
		{"more exemplars than pairs", append(args, "--k", "9"), "the pool has 4"},
		{"no folder to write to", append(args[:len(args)-1:len(args)-1], "/proc/none/train.jsonl"), "choose a folder"},
		{"no such database", []string{"export", "--data", dir, "--db", "nowhere", "--pairs", pairs, "--out", train},
			"nowhere"},
		{"no such pairs", []string{"export", "--data", dir, "--db", "shop", "--pairs", "none.jsonl", "--out", train},
			"none.jsonl"},
	} {
		if _, _, err := evaluate(t, nil, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	if _, err := os.Stat(train); err == nil {
		t.Error("a failed export left a file")
	}
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

func TestScore(t *testing.T) {
	dir := data(t)
	file := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	out, notes := measured(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file,
		"--run", "second", "--json", "--per-question", "--rounds", "50")
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
	if !strings.Contains(notes, "questions_spider_dev.jsonl.gz:4: question 4: the gold has no result") ||
		!strings.Contains(notes, `jsonl.gz:5: question 5: database "farm" is not in`) ||
		!strings.Contains(notes, "answers to unknown questions") {
		t.Errorf("notes:\n%s", notes)
	}

	// A file of another form: Spider's, a statement a line.
	plain := filepath.Join(t.TempDir(), "pred.txt")
	write(t, plain, strings.Repeat("SELECT count(*) FROM customers\tshop\n", 4)+"SELECT 1\tfarm\n")
	out, _, err := evaluate(t, nil, "score", "--data", dir, "--dataset",
		filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"),
		"--predictions", plain, "--rounds", "50")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "pred ex_set 0.2000 5") {
		t.Errorf("%v\n%s", err, out)
	}

	suites := filepath.Join(t.TempDir(), "suites")
	out, notes, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--run",
		"first", "--suites", suites, "--rounds", "50", "--json")
	if err != nil || !strings.Contains(out, `"metric":"ts","value":0.6`) {
		t.Errorf("%v\n%s%s", err, out, notes)
	}
	makeDatabase(t, filepath.Join(dir, "db", "spider", "shop.sqlite"), "INSERT INTO customers VALUES (4, 'Dee', 'UK')")
	out, notes, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--run",
		"first", "--suites", suites, "--rounds", "50", "--json")
	if err != nil || !strings.Contains(out, `"metric":"ts","value":0,`) ||
		!strings.Contains(notes, "no test suite of shop") ||
		!strings.Contains(notes, "of another database") {
		t.Errorf("a suite of another database: %v\n%s%s", err, out, notes)
	}
	write(t, filepath.Join(suites, "shop", "manifest.json"), "{")
	out, notes, err = evaluate(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", file, "--run",
		"first", "--suites", suites, "--rounds", "50", "--json")
	if err != nil || !strings.Contains(out, `"metric":"ts","value":0,`) ||
		!strings.Contains(notes, "no test suite of shop") {
		t.Errorf("a damaged suite: %v\n%s%s", err, out, notes)
	}
}

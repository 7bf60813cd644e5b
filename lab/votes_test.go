package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
)

func TestVotes(t *testing.T) {
	dir := data(t)
	out, notes := measured(t, nil, "votes", "--data", dir, "--pool", "spider_dev/all", "--pool", "spider_dev/first",
		"--json", "--rules", "--rounds", "50", "--folds", "2")
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
		// One of three answers is wrong: 2 of 3 votes, between 3 of 3 and 1 of 2. Half of it is in the surer half.
		if !near(l["risk50"], 1.0/3) || !near(l["auroc"], 0.5) || !near(l["risk50_reduction"], 0) ||
			!interval(l["risk50_ci"], 1.0/3) ||
			!interval(l["risk50_reduction_ci"], 0) {
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
	if _, ok := right["all weighted-labels"]; !ok {
		t.Error("a fitted voter is missing")
	}
	rules := slices.DeleteFunc(lines, func(l map[string]any) bool { return l["rule"] == nil })
	if i := slices.IndexFunc(rules, func(l map[string]any) bool {
		return l["rule"] == "star" && l["pool"] == "spider_dev/all"
	}); i < 0 ||
		rules[i]["fires"] != 2.0 {
		t.Errorf("no figures of the rule star: %v", rules)
	}
	for _, part := range []string{
		"answers to unknown questions", "preds_spider_dev.jsonl.gz:6, question 99",
		"questions without their database: 1 (farm)", "questions whose gold does not run: 1",
		"questions_spider_dev.jsonl.gz:4: question 4: the gold does not run",
		"in all: pools 2, questions 6; left out: pools 0, questions 4",
	} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %q:\n%s", part, notes)
		}
	}
}

func near(x any, want float64) bool { f, ok := x.(float64); return ok && math.Abs(f-want) < 1e-9 }

// interval reports whether x is an interval around a value.
func interval(x any, value float64) bool {
	pair, ok := x.([]any)
	return ok && len(pair) == 2 && pair[0].(float64) <= value+1e-9 && pair[1].(float64) >= value-1e-9
}

func TestVotesTable(t *testing.T) {
	out, _ := measured(t, map[string]string{"TEXTTOSQL_DATA": data(t)}, "votes", "--pool", "spider_dev/all", "--voter",
		"result", "--voter", "consensus", "--rounds", "50")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "pool ") || !strings.Contains(lines[2], "consensus") {
		t.Errorf("got:\n%s", out)
	}
}

// TestVotesOfOnePool: the lines of all pools are there for who reads them, however
// many pools there are.
func TestVotesOfOnePool(t *testing.T) {
	out, _ := measured(t, nil, "votes", "--data", data(t), "--pool", "spider_dev/all", "--voter", "consensus", "--rounds",
		"50", "--json")
	lines := objects(t, out)
	if len(lines) != 2 || lines[1]["pool"] != "all" {
		t.Fatalf("got:\n%s", out)
	}
	lines[1]["pool"] = lines[0]["pool"]
	if diff := cmp.Diff(lines[0], lines[1]); diff != "" {
		t.Errorf("(-pool +all)\n%s", diff)
	}
}

// TestReliabilityPicture: a bar for each tenth of confidence that has questions.
func TestReliabilityPicture(t *testing.T) {
	svg := reliabilityPicture([]eval.Outcome{{Confidence: 1, Score: 1}, {Confidence: .95, Score: 0},
		{Confidence: .31, Score: 1}})
	for _, part := range []string{"3 question votes", "confidence 0.97 in the mean, 1.0 of 2 right",
		"confidence 0.31 in the mean, 1.0 of 1 right"} {
		if !strings.Contains(svg, part) {
			t.Errorf("no %q in %s", part, svg)
		}
	}
	if n := strings.Count(svg, "<title>"); n != 2 {
		t.Errorf("%d bars", n)
	}
	if err := writeReliability("", nil, "consensus"); err == nil {
		t.Error("a picture of nothing")
	}
}

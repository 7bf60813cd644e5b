package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
)

// liveSet is some questions that a live model was asked, and the runs that its recorded replies can repeat.
type liveSet struct {
	name, folder, dataset, limit string // folder: the variable that names it

	runs []string // a strategy, a number of questions where it is another one, and flags
}

// everywhere are the strategies that answered every set.
var everywhere = []string{"direct", "direct-refine", "petsql", "self-consistency --samples 7",
	"self-consistency-mended --samples 7", "consensus --samples 7"}

// liveSets are the sets of docs/lab/live.md.
var liveSets = []liveSet{
	{"Spider", "TEXTTOSQL_DATA", "spider_dev", "60", append(slices.Clone(everywhere),
		"rep-refine",
		"direct-code",
		"direct --without-values",
		"direct --exemplars train",
		"direct --exemplars random",
		"consensus-judge8 --samples 7",
		"consensus-judge6 --samples 7",
		"consensus --samples 7 --second replay:testdata/live/coder-0.5b",
		"react --limit 20",
		"plan-vote --limit 20 --samples 7",
		"consensus-reasoning --samples 7",
		"qasql --limit 20",
	)},
	{"Superhero of BIRD", "TEXTTOSQL_DATA", "bird_dev", "20",
		append(slices.Clone(everywhere), "direct-definitions", "consensus-judge8 --samples 7",
			"consensus-reasoning --samples 7")},
	{"BIRD, other databases", "TEXTTOSQL_DATA_FRESH", "bird_dev", "20",
		append(slices.Clone(everywhere), "direct-definitions", "consensus-judge8 --samples 7",
			"consensus-reasoning --samples 7")},
	{"ClassicModels", "TEXTTOSQL_DATA", "classicmodels", "20", append(slices.Clone(everywhere),
		"consensus-judge8 --samples 7",
		"direct-refine --limit 10", "direct-refine --limit 10 --knowledge KNOWLEDGE",
		"consensus --limit 10 --samples 7", "consensus --limit 10 --samples 7 --knowledge KNOWLEDGE",
	)},
}

// TestLiveFigures repeats the figures of docs/lab/live.md from what the model replied.
func TestLiveFigures(t *testing.T) {
	for _, set := range liveSets {
		t.Run(set.dataset+set.limit, func(t *testing.T) {
			t.Parallel()
			dir := evaldata.Folder(t, set.folder)
			golden.Check(t, "live/"+strings.ToLower(strings.TrimPrefix(set.folder, "TEXTTOSQL_"))+"_"+set.dataset+".golden",
				liveFigures(t, set, "--data", dir, "--dataset", set.dataset))
		})
	}
}

// liveFigures plays the runs of a set, a line for each, with what a repair and the judge did.
func liveFigures(t *testing.T, set liveSet, about ...string) string {
	t.Helper()
	report := fmt.Sprintf("%s, %s questions\n", set.name, set.limit)
	runs := map[string][]map[string]any{}
	for _, name := range set.runs {
		strategy, flags, _ := strings.Cut(name, " ")
		if strings.Contains(flags, "KNOWLEDGE") {
			flags = strings.ReplaceAll(flags, "KNOWLEDGE", evaldata.Knowledge(t, "models", set.dataset+".json"))
		}
		args := slices.Concat([]string{"run", "--strategy", strategy, "--model", "replay:testdata/live/coder-1.5b",
			"--draw", "60", "--limit", set.limit, "--json"}, about, strings.Fields(flags))
		out, notes := measured(t, nil, args...)
		lines := objects(t, out)
		last := lines[len(lines)-1]
		if last["failed"] != 0.0 || strings.Contains(notes, "no recorded reply") {
			t.Errorf("%s of %s: a prompt has changed, or its reply was not recorded:\n%s", name, set.name, notes)
		}
		runs[name] = lines[:len(lines)-1]
		report += fmt.Sprintf("  %s\n    %s\n", name, figures(last))
	}
	return report + repairs(runs["direct"], runs["direct-refine"]) + "\n"
}

// figures are those of a run, in words.
func figures(last map[string]any) string {
	number := func(x any) string { return share(x.(float64)) }
	interval := func(ci any) string {
		ends, ok := ci.([]any)
		if !ok {
			return ""
		}
		return fmt.Sprintf(" [%s, %s]", number(ends[0]), number(ends[1]))
	}
	of := func(m map[string]any) string {
		text := fmt.Sprintf("%s of %v right", number(m["ex"]), m["n"]) + interval(m["ci"])
		if m["auroc"] != nil {
			text += ", AUROC " + number(m["auroc"]) + interval(m["auroc_ci"])
		}
		return text
	}
	text := of(last) + fmt.Sprintf("; %s run; %v calls, %.0f tokens", number(last["va"]), last["calls"], last["tokens"])
	if answered, ok := last["answered"].(map[string]any); ok {
		text += "\n    of the answered: " + of(answered)
	}
	for _, key := range []string{"levels", "second"} {
		groups, _ := last[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			g := groups[name].(map[string]any)
			text += fmt.Sprintf("\n    %s: %v of %v", name, g["right"], g["n"])
		}
	}
	return text
}

// repairs says what became of greedy statements that failed.
func repairs(greedy, repaired []map[string]any) string {
	failed := map[any]bool{}
	for _, l := range greedy {
		failed[l["qid"]] = l["sql"] == "" || l["va"] == 0.0
	}
	var n, run, right int
	for _, l := range repaired {
		if failed[l["qid"]] {
			n, run, right = n+1, run+int(l["va"].(float64)), right+int(l["ex"].(float64))
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  repairs: of %d greedy statements that failed, %d run and %d are right\n", n, run, right)
}

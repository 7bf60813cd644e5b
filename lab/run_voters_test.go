package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRunVoters: by grade and model, who has a vote, who is right and who wins; other strategies have no such figures.
func TestRunVoters(t *testing.T) {
	command := []string{"run", "--data", data(t), "--dataset", "spider_dev", "--rounds", "50", "--json"}
	out, _ := measured(t, nil, slices.Concat(command, []string{
		"--strategy", "petsql", "--model", "pool:spider_dev/first,spider_dev/second,spider_dev/third",
	})...)
	lines := objects(t, out)
	voter := func(model string, votes, right, wins float64) any {
		return map[string]any{"grade": "easy", "model": "spider_dev/" + model, "votes": votes, "right": right, "wins": wins}
	}
	want := []any{voter("first", 3, 3, 2), voter("second", 3, 1, 2), voter("third", 2, 1, 2)}
	if diff := cmp.Diff(want, lines[len(lines)-1]["voters"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	out, _ = measured(t, nil,
		slices.Concat(command, []string{"--strategy", "self-consistency", "--model", "pool:spider_dev/first"})...)
	lines = objects(t, out)
	if got, ok := lines[len(lines)-1]["voters"]; ok {
		t.Errorf("voters of another strategy: %v", got)
	}
}

// TestRunPrompts: three prompts side by side, from the shortest to the longest.
func TestRunPrompts(t *testing.T) {
	before := 0.0
	for _, name := range []string{"odp", "rep"} {
		out, _ := measured(t, nil, "run", "--data", data(t), "--dataset", "spider_dev", "--rounds", "50", "--json",
			"--strategy", name, "--model", "pool:spider_dev/first")
		lines := objects(t, out)
		tokens := lines[len(lines)-1]["tokens"].(float64)
		if tokens <= before {
			t.Errorf("%s takes %v tokens, not more than %v", name, tokens, before)
		}
		before = tokens
	}
}

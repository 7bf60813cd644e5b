package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSteps: variants see the same samples as the flat vote and are counted against
// it.
func TestSteps(t *testing.T) {
	dir := data(t)
	out, _, err := evaluate(t, nil, "steps", "--data", dir, "--pool", "spider_dev/all", "--rounds", "50", "--json")
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	if len(lines) != len(variants()) {
		t.Fatalf("%d lines for %d variants", len(lines), len(variants()))
	}
	for _, l := range lines {
		if l["n"] != 3.0 || l["k"] != 3.0 {
			t.Errorf("%v: n %v, k %v", l["variant"], l["n"], l["k"])
		}
		kind, maker := l["model_kind"], strings.HasPrefix(l["variant"].(string), "maker")
		if (kind == "simulated") != maker {
			t.Errorf("%v is %v", l["variant"], kind)
		}
		// One table: there is nothing to vote on in the first step.
		if maker && l["scope_valid"] != 3.0 {
			t.Errorf("%v: %v valid scopes", l["variant"], l["scope_valid"])
		}
	}
	if l := lines[0]; l["variant"] != "flat" || l["better"] != 0.0 || l["worse"] != 0.0 {
		t.Errorf("the baseline differs from itself: %v", l)
	}
	text, _, err := evaluate(t, nil, "steps", "--data", dir, "--pool", "spider_dev/all", "--rounds", "50", "--variant", "maker", "--keep")
	if err != nil || !strings.Contains(text, "maker") || strings.Contains(text, "maker-k3") {
		t.Errorf("%v\n%s", err, text)
	}
	out, _, err = evaluate(t, nil, "steps", "--data", dir, "--pool", "spider_dev/all", "--rounds", "50", "--variant", "maker", "--variant", "plan",
		"--variant", "maker", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var names []any
	for _, l := range objects(t, out) {
		names = append(names, l["variant"])
	}
	if d := cmp.Diff([]any{"flat", "maker", "plan"}, names); d != "" {
		t.Errorf("variants, each once (-want +got):\n%s", d)
	}
	for _, args := range [][]string{{"--variant", "nobody"}, {"--pool", "no/pool"}, {"--rounds", "0"}} {
		if _, _, err := evaluate(t, nil, append([]string{"steps", "--data", dir}, args...)...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

// TestRunPhases: run knows simulated models.
func TestRunPhases(t *testing.T) {
	dir := data(t)
	out, _, err := evaluate(t, nil, "run", "--data", dir, "--dataset", "spider_dev", "--strategy", "maker", "--model",
		"phases:spider_dev/all?keep=scope", "--samples", "3", "--json")
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	if last := lines[len(lines)-1]; last["model_kind"] != "simulated" || last["n"] != 3.0 {
		t.Errorf("got %v", last)
	}
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
)

// walksData is the folder of data with stored walks of two seeds: the second one needs another statement, and the third
// question has none.
func walksData(t *testing.T) string {
	dir := data(t)
	lines := []string{}
	for _, seed := range []string{"a_seed1", "a_seed2"} {
		first := map[string]string{"a_seed1": "SELECT count(*) FROM customers",
			"a_seed2": "SELECT count(*) FROM clients"}[seed]
		ok := map[string]string{"a_seed1": "true", "a_seed2": "false"}[seed]
		lines = append(lines,
			`{"run": "`+seed+`", "qid": 1, "steps": [{"thought": "t", "action": "query", "sql": "`+first+`", "ok": `+ok+
				`, "text": "x"}, `+
				`{"thought": "t", "action": "query", "sql": "SELECT 3 FROM customers LIMIT 1", "ok": true, "text": "x"}], "sql": "SELECT 3", "label": 1}`,
			`{"run": "`+seed+`", "qid": 2, "steps": [{"thought": "t", "action": "query", "sql": "SELECT nme FROM customers", `+
				`"ok": true, "text": "x"}], "sql": "", "label": 0}`)
	}
	write(t, filepath.Join(dir, "predictions", "spider_dev_react_traces.jsonl.gz"), pack(lines...))
	return dir
}

// TestRunWalks: stored walks go through the loop, a seed or all of them, and not through another strategy.
func TestRunWalks(t *testing.T) {
	env := map[string]string{"TEXTTOSQL_DATA": walksData(t)}
	for _, tt := range []struct {
		why, strategy, model, samples string
		calls, right                  float64
		fault                         string
	}{
		// with the call that nothing is stored for: a statement fails that ran then
		{"one seed", "react", "traj:a_seed1", "0", 3, 1, ""},
		{"the other seed", "react", "traj:a_seed2", "0", 4, 1, ""},
		{"both vote", "react", "traj:a", "2", 7, 1, ""},
		{"as published", "react-document", "traj:a_seed1", "0", 4, 1, ""},
		{"no such run", "react", "traj:b", "0", 0, 0, "there are a_seed1, a_seed2"},
		{"another strategy", "direct", "traj:a", "0", 0, 0, "do not go together"},
		{"whole answers", "react", "pool:spider_dev/first", "0", 0, 0, "do not go together"},
		{"no tables", "threephase", "pool:spider_dev/first", "0", 0, 0, "asks about tables before"},
		{"nor here", "threephase", "traj:a", "0", 0, 0, "asks about tables before"},
	} {
		out, notes, err := evaluate(t, env, "run", "--dataset", "spider_dev", "--strategy", tt.strategy, "--model", tt.model,
			"--samples", tt.samples, "--mysql", "--json", "--rounds", "50")
		if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %v\n%s", tt.why, err, notes)
		}
		if err != nil {
			continue
		}
		lines := objects(t, out)
		sum := lines[len(lines)-1]
		if sum["n"] != 2.0 || sum["calls"] != tt.calls || sum["ex"] != tt.right/2 {
			t.Errorf("%s: %v", tt.why, sum)
		}
	}
}

// TestReplayWalks holds what is asked of the tool loop on the stored walks.
func TestReplayWalks(t *testing.T) {
	env := map[string]string{"TEXTTOSQL_DATA": evaldata.Path(t)}
	out, _ := measured(t, env, "replay-agent", "--system", "react,react-document", "--json")
	type run struct{ n, right, recorded, calls, diverged, same float64 }
	runs := map[string]map[string]run{"react": {}, "react-document": {}}
	for _, o := range objects(t, out) {
		get := func(key string) float64 { return o[key].(float64) }
		runs[o["system"].(string)][o["run"].(string)] = run{get("n"), get("right"), get("recorded"), get("calls"),
			get("diverged"), get("same")}
	}
	var calls, same, followed float64
	for name, published := range runs["react-document"] {
		if off := published.right - published.recorded; published.n != 106 || off > 1 || off < -1 {
			t.Errorf("%s: %+v; want the recorded number of right answers within 1", name, published)
		}
		if ours := runs["react"][name]; ours.right != published.right {
			t.Errorf("%s: react has %v right, react-document %v", name, ours.right, published.right)
		}
		calls, same, followed = calls+runs["react"][name].calls, same+published.same, followed+published.n-published.diverged
	}
	if len(runs["react-document"]) != 10 || calls > 1340 || same < 0.99*followed || followed < 1050 {
		t.Errorf("%d runs, %v calls of react; react-document ends as recorded in %v of %v walks", len(runs["react-document"]),
			calls, same, followed)
	}
	if _, _, err := evaluate(t, env, "replay-agent", "--system", "nobody"); err == nil {
		t.Error("an unknown system: no error")
	}
}

// TestReplayLadder holds what is asked of the ladder on the stored replies; right on the variations is held where there
// is time for them.
func TestReplayLadder(t *testing.T) {
	env := map[string]string{"TEXTTOSQL_DATA": evaldata.Path(t)}
	args := []string{"replay-agent", "--system", "staged0,staged1,staged2,staged3", "--json"}
	if !testing.Short() {
		args = append(args, "--suites", t.TempDir())
	}
	out, _ := measured(t, env, args...)
	before := 0.0
	for stage, o := range objects(t, out) {
		most := []float64{3, 3, 12, 16}[stage] * 106 // no baseline is stored
		right := o["right"].(float64)
		if o["n"] != 106.0 || right < before || o["calls"].(float64) > most {
			t.Errorf("stage %d: %v", stage, o)
		}
		if before = right; stage < 3 {
			continue
		}
		if right < 52 || right < 0.85*o["any"].(float64) {
			t.Errorf("%v right; want 52 of 106, and 85 %% of the %v of which any form is", right, o["any"])
		}
		if ts, measured := o["ts_right"].(float64); measured && ts < 48 {
			t.Errorf("%v right on the variations; want 48", ts)
		}
	}
}

// TestRunLadder: stored answers go through the ladder, whose first stage takes one a step.
func TestRunLadder(t *testing.T) {
	env := map[string]string{"TEXTTOSQL_DATA": data(t)}
	for _, tt := range []struct {
		strategy string
		calls    float64
	}{
		{"staged0", 3}, {"staged1", 3}, // one call a question, since each first statement runs
	} {
		out, _ := measured(t, env, "run", "--dataset", "spider_dev", "--strategy", tt.strategy, "--model",
			"pool:spider_dev/first", "--json", "--rounds", "50")
		lines := objects(t, out)
		if sum := lines[len(lines)-1]; sum["n"] != 3.0 || sum["ex"] != 1.0 || sum["calls"] != tt.calls {
			t.Errorf("%s: %v", tt.strategy, sum)
		}
	}
}

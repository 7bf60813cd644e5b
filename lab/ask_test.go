package main

import (
	"math"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/replay"
	"github.com/texttosql/texttosql/lab/pools"
)

// TestAsk: the second of three questions is answered in three ways, of which one fails, the third in two.
func TestAsk(t *testing.T) {
	out, _ := measured(t, nil, "ask", "--data", data(t), "--pool", "spider_dev/all", "--pool", "spider_dev/all?first=1",
		"--below", "0.7", "--json")
	third := 1.0 / 3
	want := []map[string]any{
		{"pool": "spider_dev/all", "n": 3.0, "below": 0.7, "vote": 2 * third, "asked": 2 * third, "ex": 1.0, "any": 1.0,
			"default": map[string]any{"vote": 1.0, "asked": 2 * third, "ex": 1.0}},
		{"pool": "spider_dev/all?first=1", "n": 3.0, "below": 0.7, "vote": 1.0, "asked": 0.0, "ex": 1.0, "any": 1.0,
			"default": map[string]any{"vote": 1.0, "asked": 0.0, "ex": 1.0}},
	}
	golden.Equal(t, want, objects(t, out))
	if out, _, err := evaluate(t, nil, "ask", "--data", data(t), "--pool", "spider_dev/all"); err != nil ||
		!strings.Contains(out, "spider_dev/all  3") {
		t.Errorf("as a table: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"--below", "1.1"}, {"--options", "1"}, {"--pool", "spider_dev/none"}} {
		if _, _, err := evaluate(t, nil, append([]string{"ask", "--data", data(t)}, args...)...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestAskRecorded holds the figures of asking on recorded answers. A user who always takes the first option changes no
// answer: the first option is the answer of the vote.
func TestAskRecorded(t *testing.T) {
	folder := testutil.Value(pools.OpenFolder(evaldata.Path(t)))(t)
	loaded, err := replay.Loader{Folder: folder}.Load(t.Context(), askPools)
	if err != nil || len(loaded.Pools) != len(askPools) {
		t.Fatal(err, loaded.Failed)
	}
	for _, tt := range []struct {
		below  float64
		shares [5][2]float64 // asked and EX of the specification
	}{
		{0.6, [5][2]float64{{.15, .768}, {.41, .899}, {.08, .768}, {.19, .899}, {.28, .913}}},
		{0.75, [5][2]float64{{.30, .848}, {.53, .909}, {.26, .828}, {.24, .907}, {.35, .928}}},
	} {
		got := testutil.Value(replay.Ask(loaded.Pools, tt.below, 3))(t)
		first := testutil.Value(replay.Ask(loaded.Pools, tt.below, 1))(t)
		for i, f := range got {
			// One of 70 questions of superhero has an answer here that only runs once it is taken out of its reply.
			if want := tt.shares[i]; math.Abs(f.Asked.Asked-want[0]) > .025 || math.Abs(f.EX-want[1]) > .01 ||
				f.EX < f.Vote+.03 || f.Other.EX < f.Other.Vote+.03 {
				t.Errorf("below %v: %+v, want %v", tt.below, f, want)
			}
			if one := first[i]; one.EX != one.Vote || one.Other.EX != one.Other.Vote {
				t.Errorf("below %v: the first option is not the answer of the vote: %+v", tt.below, one)
			}
		}
	}
}

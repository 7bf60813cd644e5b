package main

import (
	"context"
	"io"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/evaldata"
	"github.com/texttosql/texttosql/lab/pools"
)

// TestStepsOnManySystems: where many systems answer the same questions, MAKER
// loses one question to the flat vote by result at most, and does not fall behind
// the flat vote by plan; over all of them it is ahead of that.
func TestStepsOnManySystems(t *testing.T) {
	if evaldata.Race {
		t.Skip("figures; the detector sees TestStepsOnPools")
	}
	folder, err := pools.OpenFolder(evaldata.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	store := access{}.store(folder, 2)
	defer store.Close()
	scorer := &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
	s := &steps{Concurrency: 2, Rounds: 1}
	chosen := []variant{variantNamed(t, "flat"), variantNamed(t, "plan"), variantNamed(t, "maker")}
	p := &program{ctx: context.Background(), out: io.Discard, err: io.Discard}
	all := map[string]int{}
	for _, name := range []string{"spider_dev/all", fourExperts, "bird_dev/all", "bird_minidev/all"} {
		of, _, err := s.pool(p, folder, scorer, name, chosen)
		if err != nil {
			t.Fatal(err)
		}
		right := map[string]int{}
		for i, v := range chosen {
			for _, m := range of[i].results {
				if m.right {
					right[v.name]++
				}
			}
			all[v.name] += right[v.name]
		}
		t.Logf("%s: %v", name, right)
		if right["maker"] < right["flat"]-1 || right["maker"] < right["plan"] {
			t.Errorf("%s: %v right", name, right)
		}
	}
	if all["maker"] <= all["plan"] {
		t.Errorf("over all: %v right", all)
	}
}

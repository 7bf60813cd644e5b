package main

import (
	"context"
	"io"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/evaldata"
	"github.com/texttosql/texttosql/lab/pools"
)

// TestStepsOnPools holds what the specification asks of MAKER on recorded answers
// : right answers beside the flat vote, tables
// found, and the limits on calls for every question.
func TestStepsOnPools(t *testing.T) {
	dir := evaldata.Path(t)
	folder, err := pools.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := access{}.store(folder, 2)
	defer store.Close()
	tests := []struct {
		pool        string
		n, k        int
		flat, scope int  // of the plain script
		one         bool // one model
	}{
		{"samples/spider_samples_k16", 251, 12, 205, 237, true},
		{"samples/spider_samples_multi", 245, 8, 163, 205, true},
		{"samples/bird_samples", 58, 8, 47, 55, true},
		{"samples/grok-4-1-fast-non-reasoning_k=12", 50, 12, 41, 43, true},
		{"classicmodels/llama_base_k3", 99, 10, 64, 85, true},
		{"classicmodels/base_k3", 99, 20, 73, 91, false},
	}
	p := &program{ctx: context.Background(), out: io.Discard, err: io.Discard}
	for _, tt := range tests {
		t.Run(tt.pool, func(t *testing.T) {
			pool, err := folder.Pool(tt.pool)
			if err != nil {
				t.Fatal(err)
			}
			r := &stepsRun{
				steps: &steps{Samples: tt.k}, pool: pool, databases: databases{folder: folder},
				scorer: &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}},
			}
			defer r.databases.close()
			questions, err := r.questions(p)
			if err != nil || len(questions) != tt.n {
				t.Fatalf("%d questions, want %d: %v", len(questions), tt.n, err)
			}
			right, calls, scope := map[string]int{}, map[string]int{}, 0
			for _, name := range []string{"flat", "maker", "maker-k3"} {
				v := variantNamed(t, name)
				for _, q := range questions {
					m, err := r.answer(p.ctx, q, v)
					if err != nil {
						t.Fatal(err)
					}
					if m.right {
						right[name]++
					}
					calls[name] += m.calls
					if name == "flat" {
						continue
					}
					if name == "maker" && m.scope {
						scope++
					}
					back := 0
					for _, phase := range m.report.Phases {
						back = max(back, phase.Attempt)
					}
					most := (3 + 2*back) * tt.k
					if m.report.Fallback != "" {
						most += tt.k
					}
					if m.calls > most {
						t.Errorf("%s: question %s took %d calls, want %d at most", name, q.ID, m.calls, most)
					}
				}
			}
			t.Logf("right: %v, calls: %v, scope right: %d", right, calls, scope)
			if d := right["flat"] - tt.flat; d < -2 || d > 2 {
				t.Errorf("flat: %d right, want %d within 2", right["flat"], tt.flat)
			}
			if right["maker"] < right["flat"]-1 {
				t.Errorf("maker: %d right, flat %d", right["maker"], right["flat"])
			}
			if scope < tt.scope-2 {
				t.Errorf("the tables of the gold have most votes on %d questions, want %d within 2", scope, tt.scope)
			}
			if tt.one && right["maker-k3"] < right["flat"]-2 {
				t.Errorf("maker-k3: %d right, flat %d", right["maker-k3"], right["flat"])
			}
			if of := 3 * tt.k * tt.n; tt.one && calls["maker-k3"] > of*60/100 {
				t.Errorf("maker-k3: %d calls of %d", calls["maker-k3"], of)
			}
		})
	}
}

func variantNamed(t *testing.T, name string) variant {
	t.Helper()
	for _, v := range variants() {
		if v.name == name {
			return v
		}
	}
	t.Fatalf("no variant %q", name)
	return variant{}
}

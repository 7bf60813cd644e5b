package pools_test

import (
	"math"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/result"
)

// TestNaiveMajority reproduces the column result of the table in the data's
// README, and the other three: the winner is the largest set of equal sets of
// rows among the answers that execute, first seen wins ties.
func TestNaiveMajority(t *testing.T) {
	f := folder(t)
	want := map[string]struct {
		n, k             int
		one, result, any float64
	}{
		"classicmodels/llama_base_k3":              {99, 10, .532, .646, .838},
		"classicmodels/qwen_base_k3":               {99, 10, .627, .727, .899},
		"classicmodels/base_k3":                    {99, 20, .580, .737, .929},
		"classicmodels/qwen_react_k3":              {99, 5, .693, .727, .889},
		"spider_dev/all":                           {496, 34, .757, .871, .964},
		"samples/spider_samples_k16":               {251, 16, .814, .817, .833},
		"samples/spider_samples_multi":             {245, 8, .661, .665, .714},
		"samples/grok-4-1-fast-non-reasoning_k=12": {50, 12, .718, .820, .860},
		"bird_dev/all":                             {70, 77, .768, .900, .971},
	}
	store := newStore(t, f.Database)
	for _, name := range pools.Pools() {
		t.Run(name, func(t *testing.T) {
			p, err := f.Pool(name)
			if err != nil {
				t.Fatal(err)
			}
			n, faults, one, majority, any := 0, 0, 0.0, 0, 0
			scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
			for i, q := range p.Questions {
				var (
					sets  []string // of every answer with a result
					right = map[string]bool{}
					votes = map[string]int{}
					mean  = 0.0
					fault = ""
				)
				for _, a := range p.Answers[i] {
					v, err := scorer.Score(t.Context(), q, a.SQL)
					if err != nil {
						t.Fatal(err)
					}
					fault = v.Fault
					mean += v.Scores[0] / float64(len(p.Answers[i]))
					set, ok, err := store.Fingerprint(t.Context(), q.DB, a.SQL, result.Equality{Mode: result.Set})
					if err != nil {
						t.Fatal(err)
					}
					if v.Answer.Empty() {
						set = "empty" // to plain Python no rows are no rows, whatever the columns
					}
					if ok {
						sets = append(sets, set)
						votes[set]++
						right[set] = v.Scores[0] == 1
					}
				}
				if fault != "" {
					faults++
					continue
				}
				n++
				one += mean
				winner := ""
				for _, set := range sets { // first seen wins ties
					if votes[set] > votes[winner] {
						winner = set
					}
				}
				if right[winner] {
					majority++
				}
				if slices.ContainsFunc(sets, func(set string) bool { return right[set] }) {
					any++
				}
			}
			w := want[name]
			t.Logf("n %d (and %d golds without a result) k %d one %.3f result %.3f any %.3f %s", n, faults, p.Size(),
				one/float64(n), float64(majority)/float64(n), float64(any)/float64(n), p.LeftOut)
			if n != w.n || p.Size() != w.k {
				t.Errorf("n %d k %d, want %d and %d", n, p.Size(), w.n, w.k)
			}
			for _, x := range []struct {
				name      string
				got, want float64
			}{{"one", one, w.one}, {"result", float64(majority), w.result}, {"any", float64(any), w.any}} {
				if math.Abs(x.got-x.want*float64(w.n)) > 1+0.0005*float64(w.n) {
					t.Errorf("%s: %.3f, want %.3f", x.name, x.got/float64(n), x.want)
				}
			}
		})
	}
	t.Logf("%+v", store.Stats())
}

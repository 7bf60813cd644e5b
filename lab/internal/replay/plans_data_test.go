package replay

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// experts is the pool of four systems that answer most of Spider alike, made of
// the pool of all.
const experts = "four experts"

func expertsOf(all Pool) Pool {
	p := Pool{Name: experts, Samples: 4}
	for _, q := range all.Questions {
		one := *q
		one.Candidates, one.answers = nil, nil
		for i, c := range q.Candidates {
			switch c.Model {
			case "dail_sql/DAIL-SQL+GPT-4", "dail_sql/DAIL-SQL+GPT-4+self-consistency", "dail_sql/graphix_result",
				"c3sql/predicted_sql":
				c.Sample = len(one.Candidates)
				one.Candidates, one.answers = append(one.Candidates, c), append(one.answers, q.answers[i])
			}
		}
		p.Questions = append(p.Questions, &one)
	}
	return p
}

// TestPlanVotesReproduceTheReference: the published votes give the figures that a
// plain script gave, and looking literals up
// does no harm.
func TestPlanVotesReproduceTheReference(t *testing.T) {
	f := folder(t)
	type figures struct {
		pool                                                   string
		n                                                      float64
		first, cost, plan, planProbing, earliest, ties, within float64
	}
	tests := []figures{
		{"spider_dev/all", 496, 390, 341, 404, 404, 433, 433, 2},
		{experts, 496, 391, 390, 399, 401, 412, 416, 2},
		{"bird_dev/all", 70, 59, 52, 60, 60, 63, 63, 2},
		{"classicmodels/llama_base_k3", 99, 61, 63, 65, 65, 64, 65, 2},
		{"classicmodels/base_k3", 99, 60, 61, 67, 67, 73, 73, 2},
		{"bird_minidev/all", 25, 19, 19, 21, 22, 19, 19, 2},
		{"samples/spider_samples_multi", 245, 164, 166, 164, 164, 163, 163, 2},
	}
	loaded, err := Loader{Folder: f}.Load(context.Background(), []string{"bird_minidev/all"})
	testutil.OK(t, errors.Join(append(loaded.Failed, err)...))
	pools := append(loaded.Pools, reference(t)...)
	for _, p := range reference(t) {
		if p.Name == "spider_dev/all" {
			pools = append(pools, expertsOf(p))
		}
	}
	pools = slices.DeleteFunc(pools, func(p Pool) bool {
		return !slices.ContainsFunc(tests, func(tt figures) bool { return tt.pool == p.Name })
	})
	right, questions := map[string]float64{}, map[string]float64{} // by "pool voter", by pool
	for _, p := range pools {
		for _, name := range []string{
			"first", "cost-compat", "plan-compat", "plan-probing-compat", "result", "result-bag", "result-probing", "plan",
			"plan-probing",
		} {
			v := testutil.Value(VoterNamed(name))(t)
			l := testutil.Value(measure(p, v, Settings{}))(t)
			right[p.Name+" "+name] = l.Right
			questions[p.Name] = float64(l.N)
		}
	}
	for _, tt := range tests {
		right := func(voter string) float64 { return right[tt.pool+" "+voter] }
		if n := questions[tt.pool]; n != tt.n {
			t.Errorf("%s: %v questions, want %v", tt.pool, n, tt.n)
		}
		for voter, want := range map[string]float64{
			"first": tt.first, "cost-compat": tt.cost, "plan-compat": tt.plan, "plan-probing-compat": tt.planProbing,
			"result": tt.earliest,
		} {
			if d := right(voter) - want; d > tt.within || d < -tt.within {
				t.Errorf("%s: %s has %v right, want %v within %v", tt.pool, voter, right(voter), want, tt.within)
			}
		}
		if right("result-probing") < tt.ties-1 {
			t.Errorf("%s: result-probing has %v right, want %v", tt.pool, right("result-probing"), tt.ties-1)
		}
		for with, without := range map[string]string{"result-probing": "result-bag", "plan-probing": "plan"} {
			if right(with) < right(without)-1 {
				t.Errorf("%s: %s has %v right, %s has %v", tt.pool, with, right(with), without, right(without))
			}
		}
	}
	if right := right[experts+" result-probing"]; right < 415 {
		t.Errorf("four experts: probing has %v right, want 415", right)
	}
}

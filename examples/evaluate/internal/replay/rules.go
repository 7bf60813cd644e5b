package replay

import (
	"math"
	"slices"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// RuleFigures is what one rule of the doubts does to consensus in one pool.
type RuleFigures struct {
	Pool string `json:"pool"` // "all": of all pools together
	Rule string `json:"rule"`

	Candidates int `json:"candidates"` // that may vote
	Fires      int `json:"fires"`      // of them, break the rule
	FiresRight int `json:"fires_right"`

	Winners     int `json:"winners"`      // winners of consensus that break the rule, by half of their votes
	WinnersWhen int `json:"winner_right"` // of those, right
	Questions   int `json:"n"`
	Right       int `json:"right"`       // winners of consensus that are right
	Without     int `json:"without"`     // right winners when the rule is left out
	Difference  int `json:"leaving_out"` // Without − Right: negative where the rule helps
}

// Rules measures every rule of the default doubts over pools, with a last line a
// rule for all pools together.
func Rules(pools []Pool) ([]RuleFigures, error) {
	var list []RuleFigures
	m := strategy.Consensus{}.Voter()
	for _, rule := range vote.DefaultRules() {
		all := RuleFigures{Pool: AllPools, Rule: rule.Name}
		for _, p := range pools {
			f := RuleFigures{Pool: p.Name, Rule: rule.Name, Questions: len(p.Questions)}
			for _, q := range p.Questions {
				f.candidates(q)
				with, err := q.count(m, q.Candidates)
				if err != nil {
					return nil, err
				}
				without, err := q.count(m, withoutRule(q.Candidates, rule.Name))
				if err != nil {
					return nil, err
				}
				f.Right += int(with.Score)
				f.Without += int(without.Score)
				if winner, err := with.Ballot.Winner(); err == nil && breaks(winner, rule.Name) {
					f.Winners++
					f.WinnersWhen += int(with.Score)
				}
			}
			f.Difference = f.Without - f.Right
			list = append(list, f)
			all.add(f)
		}
		if len(pools) > 1 {
			list = append(list, all)
		}
	}
	return list, nil
}

func (f *RuleFigures) candidates(q *Question) {
	for i, c := range q.Candidates {
		if c.Rejected != "" {
			continue
		}
		f.Candidates++
		if has(c, f.Rule) {
			f.Fires++
			if q.right(i) {
				f.FiresRight++
			}
		}
	}
}

func (f *RuleFigures) add(g RuleFigures) {
	f.Candidates += g.Candidates
	f.Fires += g.Fires
	f.FiresRight += g.FiresRight
	f.Winners += g.Winners
	f.WinnersWhen += g.WinnersWhen
	f.Questions += g.Questions
	f.Right += g.Right
	f.Without += g.Without
	f.Difference += g.Difference
}

// breaks reports whether half of a cluster's votes break a rule.
func breaks(c vote.Cluster, rule string) bool {
	i := slices.IndexFunc(c.Doubts, func(d vote.Doubt) bool { return d.Rule == rule })
	return i >= 0 && c.Doubts[i].Doubt >= 0.5
}

func has(c vote.Candidate, rule string) bool {
	return slices.ContainsFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == rule && f.Doubt > 0 })
}

// withoutRule returns candidates without the findings of one rule.
func withoutRule(candidates []vote.Candidate, rule string) []vote.Candidate {
	return reweighed(candidates, map[string]float64{rule: 0})
}

// reweighed returns candidates whose doubts are multiplied by the weights of
// their rules; a rule without one keeps its weight.
func reweighed(candidates []vote.Candidate, weights map[string]float64) []vote.Candidate {
	changed := slices.Clone(candidates)
	for i := range changed {
		if !slices.ContainsFunc(changed[i].Findings, func(f vote.Finding) bool { _, ok := weights[f.Rule]; return ok }) {
			continue
		}
		findings := slices.Clone(changed[i].Findings)
		for j := range findings {
			if w, ok := weights[findings[j].Rule]; ok {
				findings[j].Doubt *= w
			}
		}
		changed[i].Findings = findings
	}
	return changed
}

// ruleWeights fits a weight for every rule: the logarithm of how much rarer it is
// to be right among the candidates that break it than among the others of the
// same questions, in 0..2. A rule that never pays weighs nothing; none can speak
// for an answer. Ten candidates of each kind at odds of 2.7 are added, which is
// the weight of 1 that a rule has without any evidence.
func ruleWeights(questions []*Question) map[string]float64 {
	type odds struct{ right, wrong float64 }
	weights := make(map[string]float64)
	for _, rule := range vote.DefaultRules() {
		var broken, kept odds
		for _, q := range questions {
			fires := slices.ContainsFunc(q.Candidates, func(c vote.Candidate) bool { return c.Rejected == "" && has(c, rule.Name) })
			holds := slices.ContainsFunc(q.Candidates, func(c vote.Candidate) bool { return c.Rejected == "" && !has(c, rule.Name) })
			if !fires || !holds {
				continue // it does not tell the candidates apart
			}
			// A question counts once, however many candidates it has.
			n := float64(len(q.Candidates))
			for i, c := range q.Candidates {
				side := &kept
				if has(c, rule.Name) {
					side = &broken
				}
				switch {
				case c.Rejected != "":
				case q.right(i):
					side.right += 1 / n
				default:
					side.wrong += 1 / n
				}
			}
		}
		const prior = 5.0
		ratio := ((kept.right + prior*math.E) / (kept.wrong + prior)) / ((broken.right + prior) / (broken.wrong + prior))
		weights[rule.Name] = min(max(math.Log(ratio), 0), 2)
	}
	return weights
}

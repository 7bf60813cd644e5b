package replay

import (
	"slices"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// RuleFigures measures the effect of one doubt rule on consensus in one pool.
type RuleFigures struct {
	Pool string `json:"pool"` // "all": all pools together
	Rule string `json:"rule"`

	Candidates int `json:"candidates"` // candidates that may vote
	Fires      int `json:"fires"`      // those that break the rule
	FiresRight int `json:"fires_right"`

	Winners     int `json:"winners"`      // winners of consensus of which at least half the votes break the rule
	WinnersWhen int `json:"winner_right"` // those that are right
	Questions   int `json:"n"`
	Right       int `json:"right"`       // winners of consensus that are right
	Without     int `json:"without"`     // right winners when the rule is left out
	Difference  int `json:"leaving_out"` // Without − Right; negative if the rule helps
}

// Rules measures every rule of the default doubts over pools. A last line for each rule is for all pools together.
func Rules(pools []Pool) ([]RuleFigures, error) {
	var list []RuleFigures
	m := strategy.Consensus{}.Voter()
	for _, rule := range (doubt.Rules{}).With().List {
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
	i := slices.IndexFunc(c.Doubts, func(d vote.Finding) bool { return d.Rule == rule })
	return i >= 0 && c.Doubts[i].Doubt >= 0.5
}

func has(c vote.Candidate, rule string) bool {
	return slices.ContainsFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == rule && f.Doubt > 0 })
}

// withoutRule returns candidates without the findings of one rule.
func withoutRule(candidates []vote.Candidate, rule string) []vote.Candidate {
	changed := slices.Clone(candidates)
	for i := range changed {
		if has(changed[i], rule) {
			changed[i].Findings = slices.DeleteFunc(slices.Clone(changed[i].Findings), func(f vote.Finding) bool {
				return f.Rule == rule
			})
		}
	}
	return changed
}

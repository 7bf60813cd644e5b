package replay

import (
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Ablations returns voters that are consensus with one thing changed, to measure what that thing is worth. They are not
// among Voters.
func Ablations() []Voter {
	changed := func(name, about string, change func(*vote.Majority)) Voter {
		return Voter{Name: name, About: about, start: majority(func(*Question) vote.Majority {
			m := strategy.Consensus{}.Voter()
			change(&m)
			return m
		})}
	}
	list := []Voter{
		{
			Name: "consensus-share", About: "consensus with the winner's share of the votes as its confidence",
			start: simple(func(q *Question) (Decision, error) {
				return q.share(q.consensus().Count(q.Candidates))
			}),
		},
		changed("consensus-prior2", "consensus whose confidence takes two votes on either side for granted", func(m *vote.Majority) { m.Prior = 2 }),
		changed("consensus-prior0", "consensus whose confidence does not count how many voted", func(m *vote.Majority) { m.Prior = 0 }),
		changed("consensus-earliest", "consensus with ties to the earliest sample", func(m *vote.Majority) { m.Tie = vote.Earliest }),
	}
	for _, share := range []float64{0.01, 0.1} {
		list = append(list, Voter{
			Name: fmt.Sprintf("consensus-empty%v", share), About: fmt.Sprintf("consensus told that a share of %v of the right answers has no value", share),
			start: simple(func(q *Question) (Decision, error) { return q.count(q.consensus(), q.expecting(share)) }),
		})
	}
	for _, penalty := range []float64{0.5, 1.5, 2, 3} {
		list = append(list, changed(fmt.Sprintf("consensus-penalty%v", penalty), fmt.Sprintf("consensus with a penalty of %v instead of 1", penalty),
			func(m *vote.Majority) { m.Penalty = penalty }))
	}
	return list
}

// expecting returns the candidates with the doubts of an application in which such a
// share of right answers has no value.
func (q *Question) expecting(share float64) []vote.Candidate {
	none := doubt.Rules{EmptyAnswerRate: share}.About(q.reading, vote.Candidate{SQL: "SELECT 1"}, &result.Table{})
	at := slices.IndexFunc(none, func(f vote.Finding) bool { return f.Rule == "empty" })
	candidates := slices.Clone(q.Candidates)
	for i := range candidates {
		c := &candidates[i]
		if j := slices.IndexFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == "empty" && f.Doubt > 0 }); j >= 0 {
			c.Findings = slices.Clone(c.Findings)
			c.Findings[j].Doubt = none[at].Doubt
		}
	}
	return candidates
}

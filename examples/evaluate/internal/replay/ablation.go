package replay

import (
	"fmt"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Ablations returns voters that are consensus with one thing changed, to see what
// that is worth. They are not among Voters.
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
				d, err := q.count(strategy.Consensus{}.Voter(), q.Candidates)
				if winner, none := d.Ballot.Winner(); none == nil {
					d.Confidence = winner.Share
				}
				return d, err
			}),
		},
		changed("consensus-prior0", "consensus whose confidence does not count how many voted", func(m *vote.Majority) { m.Prior = 0 }),
		changed("consensus-earliest", "consensus with ties to the earliest draw", func(m *vote.Majority) { m.Tie = vote.Earliest }),
		changed("consensus-soft", "consensus with support by shared rows", func(m *vote.Majority) { m.Overlap = vote.RowOverlap }),
	}
	for _, penalty := range []float64{0.5, 1.5, 2, 3} {
		list = append(list, changed(fmt.Sprintf("consensus-penalty%v", penalty), fmt.Sprintf("consensus with a penalty of %v instead of 1", penalty),
			func(m *vote.Majority) { m.Penalty = penalty }))
	}
	return list
}

package replay

import (
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// LookFigures is what one stop rule does when it is asked after every few draws
// only, over the pools in which it has draws to save.
type LookFigures struct {
	Voter string `json:"voter"` // "result" or "consensus"
	Stop  string `json:"stop"`  // "decided", "ahead3" or "posterior95"
	Order string `json:"order"` // "file", or "turn": models in turn
	Every int    `json:"every"` // draws between two looks

	Calls   float64 `json:"calls"`   // part of all draws, mean of the pools
	Looks   float64 `json:"looks"`   // waves of draws a question: how often it waits for a model
	Changed int     `json:"changed"` // questions on which another cluster won than in the full vote
	Lost    int     `json:"lost"`    // right answers fewer than in the full vote
	N       int     `json:"n"`
}

// leastDraws is the size from which on a pool is worth stopping in.
const leastDraws = 8

// Looks measures how often stop rules are best asked, over the pools with 8 answers
// and more a question.
func Looks(pools []Pool) ([]LookFigures, error) {
	voters := []struct {
		name string
		of   func(*Question) vote.Majority
	}{
		{"result", naive},
		{"consensus", func(*Question) vote.Majority { return strategy.Consensus{}.Voter() }},
	}
	stops := []struct {
		name string
		stop vote.Stop
	}{
		{"decided", vote.Decided},
		{"ahead3", vote.AheadBy(aheadBy)},
		{"posterior95", vote.Posterior(0.95)},
	}
	var list []LookFigures
	for _, v := range voters {
		for _, s := range stops {
			for _, order := range []string{"file", "turn"} {
				for _, every := range []int{1, 2, 3, 4, 5, 6, 8, 12} {
					f := LookFigures{Voter: v.name, Stop: s.name, Order: order, Every: every}
					stop := vote.Every(every, s.stop)
					if s.name != "decided" {
						stop = vote.AnyOf(vote.Decided, stop)
					}
					if err := f.measure(pools, v.of, stop); err != nil {
						return nil, err
					}
					list = append(list, f)
				}
			}
		}
	}
	return list, nil
}

func (f *LookFigures) measure(pools []Pool, of func(*Question) vote.Majority, stop vote.Stop) error {
	large := 0
	for _, p := range pools {
		if p.Draws < leastDraws {
			continue
		}
		large++
		drawn, planned := 0, 0
		for _, q := range p.Questions {
			if f.Order == "turn" {
				q = q.inTurn()
			}
			full, err := q.count(of(q), q.Candidates)
			if err != nil {
				return err
			}
			ballot, spent, err := of(q).CountUntil(q.Candidates, stop)
			early, err := q.decision(ballot, spent.Drawn, err)
			if err != nil {
				return err
			}
			drawn += spent.Drawn + spent.Wasted
			planned += spent.Planned
			f.Looks += float64(spent.Waves)
			f.N++
			f.Lost += int(full.Score - early.Score)
			if early.Key != full.Key {
				f.Changed++
			}
		}
		f.Calls += float64(drawn) / float64(max(planned, 1))
	}
	f.Calls /= float64(max(large, 1))
	f.Looks /= float64(max(f.N, 1))
	return nil
}

package replay

import "github.com/texttosql/texttosql/vote"

// LookFigures measures one stop rule that is asked only after every few samples, over the pools in which it can save
// samples.
type LookFigures struct {
	Voter string `json:"voter"` // "result" or "consensus"
	Stop  string `json:"stop"`  // "decided", "ahead3" or "posterior95"
	Order string `json:"order"` // "file", or "turn": models in turn
	Every int    `json:"every"` // samples between two looks

	Calls   float64 `json:"calls"`   // part of all samples, mean over the pools
	Looks   float64 `json:"looks"`   // waves of samples a question: how often it waits for a model
	Changed int     `json:"changed"` // questions with another winner than in the full vote
	Lost    int     `json:"lost"`    // right answers lost against the full vote
	N       int     `json:"n"`
}

// leastSamples is the least size of a pool in which stopping early is worth it.
const leastSamples = 8

// Looks measures how often it is best to ask stop rules, over the pools with at least 8 answers a question.
func Looks(pools []Pool) ([]LookFigures, error) {
	voters := []struct {
		name string
		of   func(*Question) vote.Majority
	}{
		{"result", naive},
		{"consensus", (*Question).consensus},
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
					stop := s.stop.Every(every)
					if s.name != "decided" {
						stop = stop.Or(vote.Decided)
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
		if p.Samples < leastSamples {
			continue
		}
		large++
		sampled, planned := 0, 0
		for _, q := range p.Questions {
			if f.Order == "turn" {
				q = q.inTurn()
			}
			full, err := q.count(of(q), q.Candidates)
			if err != nil {
				return err
			}
			ballot, spent, err := countUntil(of(q), q.Candidates, stop)
			early, err := q.decision(ballot, spent.Sampled, err)
			if err != nil {
				return err
			}
			sampled += spent.Sampled + spent.Wasted
			planned += spent.Planned
			f.Looks += float64(spent.Waves)
			f.N++
			f.Lost += int(full.Score - early.Score)
			if early.Key != full.Key {
				f.Changed++
			}
		}
		f.Calls += float64(sampled) / float64(max(planned, 1))
	}
	f.Calls /= float64(max(large, 1))
	f.Looks /= float64(max(f.N, 1))
	return nil
}

package replay

import "github.com/texttosql/texttosql/vote"

// spent is what an election that may stop early cost. Each planned sample counts,
// was wasted, or was never sent and so saved.
type spent struct {
	Planned int  // samples it might have taken
	Sampled int  // samples that count: those up to the stop
	Wasted  int  // samples that were sent in the last wave and lie behind the stop
	Waves   int  // how often it waited for a wave of samples
	Stopped bool // the stop ended it, not the last sample
}

// countUntil counts recorded candidates as an election would have sampled them, until
// stop says so (nil: never). It returns the ballot of the candidates up to there and
// what it spent. Errors are those of vote.Majority.Count and State.
func countUntil(m vote.Majority, candidates []vote.Candidate, stop vote.Stop) (vote.Ballot, spent, error) {
	s := spent{Planned: len(candidates)}
	state, err := m.State(nil, s.Planned)
	for s.Sampled < s.Planned && !s.Stopped && err == nil {
		sent := s.Sampled + state.Wave(stop, 0)
		for s.Sampled < sent && !s.Stopped && err == nil {
			s.Sampled++
			if state, err = m.State(candidates[:s.Sampled], s.Planned); err == nil && s.Sampled < s.Planned {
				s.Stopped = stop != nil && stop(state)
			}
		}
		s.Wasted = sent - s.Sampled
		s.Waves++
	}
	if err != nil {
		return vote.Ballot{Sampled: s.Sampled}, s, err
	}
	b, err := m.Count(candidates[:s.Sampled])
	return b, s, err
}

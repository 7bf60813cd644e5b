package vote

// Spent is what an election that may stop early cost. Each draw that was planned
// counts, was wasted, or was never sent and so saved.
type Spent struct {
	Planned int  `json:"planned"` // draws it might have made
	Drawn   int  `json:"drawn"`   // draws that count: those up to the stop
	Wasted  int  `json:"wasted"`  // draws that were sent in the last wave and lie behind the stop
	Waves   int  `json:"waves"`   // how often it waited for a wave of draws
	Stopped bool `json:"stopped"` // the stop rule ended it, not the last draw
}

// CountUntil counts recorded candidates as an election with the zero [Wave] would
// have drawn them, until stop says so (nil: never). It returns the ballot of the
// candidates up to there and what it spent; errors are those of Count and Tally.
// It is for measuring stop rules on stored answers; a running election is
// strategy.Election.
func (m Majority) CountUntil(candidates []Candidate, stop Stop) (Ballot, Spent, error) {
	planned := len(candidates)
	spent := Spent{Planned: planned}
	c, err := m.Counter()
	if err != nil {
		return Ballot{}, spent, err
	}
	for spent.Drawn < planned && !spent.Stopped {
		sent := spent.Drawn + Wave{}.Next(c.Tally(planned), stop)
		for spent.Drawn < sent && !spent.Stopped {
			if err := m.add(c, spent.Drawn, candidates[spent.Drawn]); err != nil {
				return Ballot{Drawn: spent.Drawn}, spent, err
			}
			spent.Drawn++
			spent.Stopped = spent.Drawn < planned && stop != nil && stop(c.Tally(planned))
		}
		spent.Wasted = sent - spent.Drawn
		spent.Waves++
	}
	b, err := m.Count(candidates[:spent.Drawn])
	return b, spent, err
}

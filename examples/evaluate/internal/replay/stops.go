package replay

import (
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// firstLook is the least number of draws of a wave for the stops that may err.
// Each look at the tally is a chance to stop at a lead that is luck, so fewer
// looks lose fewer answers: docs/votes.md has the figures for 1 to 12.
const firstLook = 4

// aheadBy is the recommended lead (methods/maker.md 2.5).
const aheadBy = 3

// stopped are votes that end before the last draw.
func stopped() []Voter {
	consensus := func(*Question) vote.Majority { return strategy.Consensus{}.Voter() }
	return []Voter{
		{
			Name: "result+decided", About: "result, drawn until the leader cannot be overtaken",
			start: until(naive, false, vote.Decided, vote.Wave{}),
		},
		{
			Name: "result+ahead3", About: "result, drawn until the leader is 3 votes ahead; waves of 4 and more, models in turn",
			start: until(naive, true, vote.AnyOf(vote.Decided, vote.AheadBy(aheadBy)), vote.Wave{Min: firstLook}),
		},
		{
			Name: "result+posterior95", About: "result, drawn until the leader is ahead for good with probability .95; waves of 4 and more, models in turn",
			start: until(naive, true, vote.AnyOf(vote.Decided, vote.Posterior(0.95)), vote.Wave{Min: firstLook}),
		},
		{
			Name: "consensus+decided", About: "consensus, drawn until no draw and no doubt can change the winner",
			start: until(consensus, false, vote.Decided, vote.Wave{}),
		},
		{
			Name: "consensus+ahead3", About: "consensus, drawn until the leader is 3 credited votes ahead",
			start: until(consensus, true, vote.AnyOf(vote.Decided, vote.AheadBy(aheadBy)), vote.Wave{Min: firstLook}),
		},
	}
}

// until is the start of a voter that stops early. inTurn draws the models of a
// pool in turn, as an election does: in file order the first answers of a pool
// may all be the weakest model's, and a lead among them says little.
func until(of func(*Question) vote.Majority, inTurn bool, stop vote.Stop, wave vote.Wave) start {
	return simple(func(q *Question) (Decision, error) {
		if inTurn {
			q = q.inTurn()
		}
		ballot, spent, err := of(q).CountUntil(q.Candidates, stop, wave)
		return q.decision(ballot, spent.Drawn, err)
	})
}

package replay

import (
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// looks is how many draws lie between two looks of the stops that may err:
// docs/votes.md has the figures for 1 to 12.
const looks = 4

// aheadBy is the recommended lead (methods/maker.md 2.5).
const aheadBy = 3

// stopped are votes that end before the last draw.
func stopped() []Voter {
	consensus := func(*Question) vote.Majority { return strategy.Consensus{}.Voter() }
	return []Voter{
		{
			Name: "result+decided", About: "result, drawn until the leader cannot be overtaken",
			start: until(naive, (*Question).plain, false, vote.Decided),
		},
		{
			Name: "result+ahead3", About: "result, drawn until the leader is 3 votes ahead; asked after every 4 draws, models in turn",
			start: until(naive, (*Question).plain, true, vote.AnyOf(vote.Decided, vote.Every(looks, vote.AheadBy(aheadBy)))),
		},
		{
			Name: "result+posterior95", About: "result, drawn until the leader is ahead for good with probability .95; asked after every 4 draws, models in turn",
			start: until(naive, (*Question).plain, true, vote.AnyOf(vote.Decided, vote.Every(looks, vote.Posterior(0.95)))),
		},
		{
			Name: "consensus+decided", About: "consensus, drawn until no draw and no doubt can change the winner",
			start: until(consensus, (*Question).all, false, vote.Decided),
		},
		{
			Name: "consensus+ahead3", About: "consensus, drawn until the leader is 3 credited votes ahead",
			start: until(consensus, (*Question).all, true, vote.AnyOf(vote.Decided, vote.Every(looks, vote.AheadBy(aheadBy)))),
		},
	}
}

// until is the start of a voter that stops early. inTurn draws the models of a
// pool in turn, as an election does: in file order the first answers of a pool
// may all be the weakest model's, and a lead among them says little.
func until(of func(*Question) vote.Majority, candidates func(*Question) []vote.Candidate, inTurn bool, stop vote.Stop) start {
	return simple(func(q *Question) (Decision, error) {
		if inTurn {
			q = q.inTurn()
		}
		ballot, spent, err := of(q).CountUntil(candidates(q), stop)
		return q.decision(ballot, spent.Drawn+spent.Wasted, err)
	})
}

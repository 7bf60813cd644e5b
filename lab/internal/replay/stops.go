package replay

import "github.com/texttosql/texttosql/vote"

// looks is the number of samples between two questions to a stop rule that may err. docs/lab/votes.md has the figures
// for 1 to 12.
const looks = 4

// aheadBy is the recommended lead.
const aheadBy = 3

// stopped returns voters that end before the last sample.
func stopped() []Voter {
	result := counting{of: naive, candidates: (*Question).plain}
	consensus := counting{of: (*Question).consensus, candidates: (*Question).all, contradicts: true}
	return []Voter{
		{
			Name: "result+decided", About: "result, sampled until the leader cannot be overtaken",
			start: until(result, false, vote.Decided),
		},
		{
			Name: "result+ahead3", About: "result, sampled until the leader is 3 votes ahead; asked after every 4 samples, " +
				"models in turn",
			start: until(result, true, vote.AheadBy(aheadBy).Every(looks).Or(vote.Decided)),
		},
		{
			Name: "result+posterior95", About: "result, sampled until the leader is ahead for good with probability .95; " +
				"asked after every 4 samples, models in turn",
			start: until(result, true, vote.Posterior(0.95).Every(looks).Or(vote.Decided)),
		},
		{
			Name: "consensus+decided", About: "consensus, sampled until no sample and no doubt can change the winner",
			start: until(consensus, false, vote.Decided),
		},
		{
			Name: "consensus+ahead3", About: "consensus, sampled until the leader is 3 credited votes ahead",
			start: until(consensus, true, vote.AheadBy(aheadBy).Every(looks).Or(vote.Decided)),
		},
	}
}

// counting says how the votes of a question count.
type counting struct {
	of          func(*Question) vote.Majority
	candidates  func(*Question) []vote.Candidate
	contradicts bool // contradictions lower the confidence, as an engine has it
}

// until starts a voter that stops early. With inTurn the models of a pool take turns, as in an election. In the order
// of the file the first answers may all come from the weakest model, and a lead among them says little.
func until(by counting, inTurn bool, stop vote.Stop) start {
	return simple(func(q *Question) (Decision, error) {
		if inTurn {
			q = q.inTurn()
		}
		ballot, spent, err := countUntil(by.of(q), by.candidates(q), stop)
		d, err := q.decision(ballot, spent.Sampled+spent.Wasted, err)
		if by.contradicts {
			d = q.contradicted(d)
		}
		return d, err
	})
}

package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Voter is one way to elect an answer.
type Voter struct {
	Name  string
	About string // one line for a person
	Fits  bool   // fitted to verdicts of other questions; see Folds

	start start
}

// start makes the vote for a pool, which is one of all. Most voters need nothing
// of them.
type start func(p Pool, all []Pool, s Settings) (elect, error)

// elect votes on one question of the pool that it was started for.
type elect func(*Question) (Decision, error)

// Decision is what a voter made of one question.
type Decision struct {
	Score      float64 // 1 right, 0 wrong; the mean over the answers for the voter one
	Confidence float64 // 0..1
	Calls      int     // draws it looked at
	Key        string  // of the winning cluster; "" without a winner
	Ballot     vote.Ballot
}

// Settings are what voters share.
type Settings struct {
	Folds  int // of fitted voters; 0: 5
	Failed int // pools that could not be used: lines of all pools count them
}

func (s Settings) folds() int {
	if s.Folds <= 0 {
		return 5
	}
	return s.Folds
}

// Voters returns all voters, in the order of tables.
func Voters() []Voter {
	return slices.Concat(baselines(), counted(), fitted(), stopped())
}

// VoterNamed returns one of Voters, Plans or Ablations by its name.
func VoterNamed(name string) (Voter, error) {
	var names []string
	for _, v := range slices.Concat(Voters(), Plans(), Ablations()) {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Voter{}, fmt.Errorf("voter %q: unknown; want one of %s", name, strings.Join(names, ", "))
}

// baselines are what a vote is compared with.
func baselines() []Voter {
	return []Voter{
		{
			Name: "one", About: "no vote: the mean of the single answers",
			start: simple(func(q *Question) (Decision, error) {
				right := 0
				for i := range q.Candidates {
					if q.right(i) {
						right++
					}
				}
				return Decision{Score: float64(right) / float64(max(len(q.Candidates), 1)), Calls: 1}, nil
			}),
		},
		{
			Name: "any", About: "the ceiling: at least one answer is right",
			start: simple(func(q *Question) (Decision, error) {
				d := Decision{Calls: len(q.Candidates)}
				if q.Any() {
					d.Score = 1
				}
				return d, nil
			}),
		},
	}
}

// naive is majority by result as plain scripts count it: equal sets of rows, the
// first seen wins ties.
func naive(q *Question) vote.Majority {
	return vote.Majority{Key: q.byRows, Tie: vote.Earliest}
}

// counted are votes that need nothing but the candidates.
func counted() []Voter {
	return []Voter{
		{
			Name: "text", About: "majority of the normalised texts; nothing is run",
			start: simple(func(q *Question) (Decision, error) {
				// Without running them nobody knows which texts fail.
				candidates := q.plain()
				for i := range candidates {
					candidates[i].Rejected = ""
				}
				return q.count(vote.Majority{Key: vote.ByText, Tie: vote.Earliest}, candidates)
			}),
		},
		{
			Name: "result", About: "naive majority by result: equal sets of rows, first seen wins ties",
			start: plainly(naive),
		},
		{
			Name: "result-bag", About: "majority by result as SelfConsistency counts it: bags of rows, ties to a result with rows",
			start: plainly(func(*Question) vote.Majority { return vote.Majority{} }),
		},
		{
			Name: "plan", About: "majority by plan signature, ties to a result with rows (PlanVote)",
			start: by((*Question).strict, strategy.PlanVote{}),
		},
		{
			Name: "plan-compat", About: "majority by plan signature as published (PlanVote.Compat, M7); nothing runs",
			start: by((*Question).published, strategy.PlanVote{Compat: true}),
		},
		{
			Name: "consensus", About: "the vote of the strategy Consensus: by result, a doubt costs a factor 2.7 in votes",
			start: majority(func(*Question) vote.Majority { return strategy.Consensus{}.Voter() }),
		},
		{
			Name: "soft", About: "minimum Bayes risk: results support one another by the rows they share",
			start: plainly(func(*Question) vote.Majority { return vote.Majority{Overlap: vote.RowOverlap} }),
		},
		{
			Name: "position", About: "consensus with halving weights by position, for answers listed in one reply",
			start: majority(func(*Question) vote.Majority {
				m := strategy.Consensus{}.Voter()
				m.Weight = vote.ByPosition(0.5)
				return m
			}),
		},
	}
}

// simple is the start of a voter that needs no pool.
func simple(f elect) start {
	return func(Pool, []Pool, Settings) (elect, error) { return f, nil }
}

// plainly is the start of a Majority over all candidates, without doubts.
func plainly(of func(*Question) vote.Majority) start {
	return simple(func(q *Question) (Decision, error) { return q.count(of(q), q.plain()) })
}

// majority is the start of a Majority over all candidates, with their doubts.
func majority(of func(*Question) vote.Majority) start {
	return simple(func(q *Question) (Decision, error) { return q.count(of(q), q.Candidates) })
}

// count counts candidates, which stand in the order of q's own.
func (q *Question) count(v strategy.Voter, candidates []vote.Candidate) (Decision, error) {
	ballot, err := v.Count(candidates)
	return q.decision(ballot, len(candidates), err)
}

// decision looks up whether the winner of a ballot is right. Nobody to vote for
// is a wrong answer and no error.
func (q *Question) decision(ballot vote.Ballot, calls int, err error) (Decision, error) {
	d := Decision{Calls: calls, Ballot: ballot}
	if errors.Is(err, vote.ErrNoVote) {
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("question %s: %w", q.ID, err)
	}
	winner, err := ballot.Winner()
	if err != nil {
		return d, nil
	}
	d.Confidence, d.Key = ballot.Confidence, winner.Key
	if q.right(winner.Best) {
		d.Score = 1
	}
	return d, nil
}

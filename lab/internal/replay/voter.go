package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// Voter is one way to elect an answer.
type Voter struct {
	Name  string
	About string // one line for a person
	Fits  bool   // fitted to the verdicts of other questions; see Folds

	start start
}

// start prepares a vote for a pool. Most voters do not need it.
type start func(p Pool, s Settings) (elect, error)

// elect votes on one question of its pool.
type elect func(*Question) (Decision, error)

// Decision is the result of a vote on one question.
type Decision struct {
	Score      float64 // 1 right, 0 wrong; the mean over the answers for the voter one
	Confidence float64 // 0..1
	Calls      int     // samples it looked at
	Key        string  // key of the winning cluster; "" without a winner
	Ballot     vote.Ballot
}

// Settings are the settings that voters share.
type Settings struct {
	Folds  int // folds of fitted voters; 0: 5
	Failed int // unusable pools, which the lines of all pools count
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

// VoterNamed returns one of Voters or Plans by its name.
func VoterNamed(name string) (Voter, error) {
	var names []string
	for _, v := range slices.Concat(Voters(), Plans()) {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Voter{}, fmt.Errorf("voter %q: unknown; want one of %s", name, strings.Join(names, ", "))
}

// baselines returns the voters that others are compared with.
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

// naive is majority by result as plain scripts count it: equal sets of rows, and the first one seen wins a tie.
func naive(q *Question) vote.Majority {
	return vote.Majority{Key: q.byRows, Tie: vote.Ties()}
}

// counted returns voters that need nothing but the candidates.
func counted() []Voter {
	return []Voter{
		{
			Name: "text", About: "majority of the normalised texts; nothing is run",
			start: simple(func(q *Question) (Decision, error) {
				// When nothing runs, nobody knows which statements fail.
				candidates := q.plain()
				for i := range candidates {
					candidates[i].Rejected = ""
				}
				return q.share(vote.Majority{Key: vote.ByText, Tie: vote.Ties()}.Count(candidates))
			}),
		},
		{
			Name: "result", About: "naive majority by result: equal sets of rows, first seen wins ties",
			start: simple(func(q *Question) (Decision, error) { return q.share(naive(q).Count(q.plain())) }),
		},
		{
			Name: "result-bag", About: "majority by result as SelfConsistency counts it: bags of rows, " +
				"ties to a result with rows",
			start: plainly(func(*Question) vote.Majority { return vote.Majority{Prior: 1} }),
		},
		{
			Name: "plan", About: "majority by plan signature, ties to a result with rows (planvote.Plain)",
			start: by((*Question).strict, planvote.Plain{}),
		},
		{
			Name: "plan-compat", About: "majority by plan signature as published (planvote.Plain.Published, M7); nothing runs",
			start: by((*Question).published, planvote.Plain{}.Published()),
		},
		{
			Name: "consensus", About: "the vote of the strategy Consensus: by result, a doubt costs a factor 2.7 in votes",
			start: simple(func(q *Question) (Decision, error) {
				d, err := q.count(q.consensus(), q.Candidates)
				return q.contradicted(d), err
			}),
		},
	}
}

// contradicted lowers the confidence as an engine does where the winner and the question say different things.
func (q *Question) contradicted(d Decision) Decision {
	winner, err := d.Ballot.Winner()
	if err != nil {
		return d
	}
	worst := 0.0
	for _, f := range q.answers[winner.Best].contradicts {
		worst = max(worst, f.Doubt)
	}
	d.Confidence *= math.Exp(-worst / 2)
	if worst > 0 {
		d.Ballot.Confidence = d.Confidence
		d.Ballot.Clusters = slices.Clone(d.Ballot.Clusters)
		d.Ballot.Clusters[0].Doubt += worst
	}
	return d
}

// simple starts a voter that needs no pool.
func simple(f elect) start {
	return func(Pool, Settings) (elect, error) { return f, nil }
}

// plainly starts a Majority over all candidates, without doubts.
func plainly(of func(*Question) vote.Majority) start {
	return simple(func(q *Question) (Decision, error) { return q.count(of(q), q.plain()) })
}

// count counts candidates, which are in the order of q's own.
func (q *Question) count(v strategy.Voter, candidates []vote.Candidate) (Decision, error) {
	ballot, err := v.Count(candidates)
	return q.decision(ballot, len(candidates), err)
}

// share is decision with the winner's share of the votes as its confidence.
func (q *Question) share(ballot vote.Ballot, err error) (Decision, error) {
	d, err := q.decision(ballot, len(q.Candidates), err)
	if winner, none := ballot.Winner(); none == nil {
		d.Confidence = winner.Share
	}
	return d, err
}

// decision looks up whether the winner of a ballot is right. A ballot without a winner is a wrong answer and not an
// error.
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

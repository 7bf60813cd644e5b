package replay

import (
	"slices"

	"github.com/texttosql/texttosql/vote"
)

// AskFigures are the figures of one pool if the user is asked where its answers disagree. The JSON keys are documented
// in the help of the program and must not change.
type AskFigures struct {
	Pool  string  `json:"pool"`
	N     int     `json:"n"` // questions
	Below float64 `json:"below"`
	Asked         // with the vote "result"
	Any   float64 `json:"any"`     // share of the questions to which some answer is right
	Other Asked   `json:"default"` // with the vote "consensus"
}

// Asked is a vote, alone and with a user who is asked and knows which option is right.
type Asked struct {
	Vote  float64 `json:"vote"`  // share of questions that the vote alone answers right
	Asked float64 `json:"asked"` // share of questions that the user is asked about
	EX    float64 `json:"ex"`    // share of right answers with what the user chooses
}

// Ask measures on each pool what it helps to ask the user where the winner has less than the share below of the votes.
// The user sees at most so many options, the best first, and takes the first that is right, or the first.
func Ask(pools []Pool, below float64, options int) ([]AskFigures, error) {
	var list []AskFigures
	for _, p := range pools {
		f := AskFigures{Pool: p.Name, N: len(p.Questions), Below: below}
		for _, q := range p.Questions {
			if q.Any() {
				f.Any++
			}
		}
		f.Any /= float64(f.N)
		for name, asked := range map[string]*Asked{"result": &f.Asked, "consensus": &f.Other} {
			v, err := VoterNamed(name)
			if err != nil {
				return nil, err
			}
			if *asked, err = ask(p, v, below, options); err != nil {
				return nil, err
			}
		}
		list = append(list, f)
	}
	return list, nil
}

func ask(p Pool, v Voter, below float64, options int) (a Asked, err error) {
	elect, err := v.start(p, Settings{})
	if err != nil {
		return a, err
	}
	for _, q := range p.Questions {
		d, err := elect(q)
		if err != nil {
			return a, err
		}
		a.Vote += d.Score
		if d.Ballot.Disputed(below) {
			a.Asked++
			shown := d.Ballot.Clusters[:min(options, len(d.Ballot.Clusters))]
			if slices.ContainsFunc(shown, func(c vote.Cluster) bool { return q.right(c.Best) }) {
				d.Score = 1
			}
		}
		a.EX += d.Score
	}
	n := float64(len(p.Questions))
	return Asked{Vote: a.Vote / n, Asked: a.Asked / n, EX: a.EX / n}, nil
}

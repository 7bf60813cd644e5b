package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// voterFigures are those of a model of a petsql on the questions of one grade.
type voterFigures struct {
	Grade string `json:"grade"` // the Spider hardness of the first statement
	Model string `json:"model"`
	Votes int    `json:"votes"` // its statements that have a vote
	Right int    `json:"right"` // those of them that are right
	Wins  int    `json:"wins"`  // those of them that are for the winner
}

// voters returns what each model of a petsql said to a question; nil for another strategy.
func (a *asker) voters(ctx context.Context, q eval.Question, r *texttosql.Result) (list []voterFigures, err error) {
	report, err := strategy.ReadReport[petsql.Report](r.Report)
	if err != nil || len(r.Ballot.Clusters) == 0 {
		return nil, nil
	}
	for i, c := range r.Candidates {
		if c.Rejected != "" {
			continue
		}
		v, err := a.scorer.Score(ctx, q, c.SQL)
		if err != nil {
			return nil, err
		}
		told := voterFigures{Grade: report.Grade, Model: c.Model, Votes: 1, Right: int(v.Scores[0])}
		if slices.Contains(r.Ballot.Clusters[0].Members, i) {
			told.Wins = 1
		}
		list = addVoter(list, told)
	}
	return list, nil
}

// addVoter adds figures to those of the same model and grade.
func addVoter(list []voterFigures, f voterFigures) []voterFigures {
	for i := range list {
		if of := &list[i]; of.Grade == f.Grade && of.Model == f.Model {
			of.Votes, of.Right, of.Wins = of.Votes+f.Votes, of.Right+f.Right, of.Wins+f.Wins
			return list
		}
	}
	return append(list, f)
}

// addUpVoters adds up the figures of questions: by grade, who wins most first, then by name.
func addUpVoters(list []finished) (sum []voterFigures) {
	for _, q := range list {
		for _, f := range q.Voters {
			sum = addVoter(sum, f)
		}
	}
	grades := []string{"easy", "medium", "hard", "extra"}
	slices.SortFunc(sum, func(a, b voterFigures) int {
		return cmp.Or(cmp.Compare(slices.Index(grades, a.Grade), slices.Index(grades, b.Grade)),
			cmp.Compare(b.Wins, a.Wins), cmp.Compare(a.Model, b.Model))
	})
	return sum
}

// printVoters writes the figures as a table.
func printVoters(p *program, list []voterFigures) error {
	var rows [][]string
	for _, f := range list {
		rows = append(rows, []string{f.Grade, f.Model, strconv.Itoa(f.Votes), strconv.Itoa(f.Right), strconv.Itoa(f.Wins)})
	}
	return table(p.out, []string{"grade", "model", "votes", "right", "wins"}, rows)
}

package replay

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/vote"
)

// Pool is a set of answers that vote together.
type Pool struct {
	Name      string
	Questions []*Question
	Draws     int      // most candidates of a question
	LeftOut   []string // what of its file is not used, in words
	Without   int      // questions with answers that are not used: no database, or no gold that runs
}

// Question is one question of a pool with its candidates in stored order.
type Question struct {
	ID         string // of the question, the same in every pool that has it
	Database   string
	Template   string // of the gold, literals masked: questions that differ in values share it
	Difficulty string
	Grade      string // how hard the first answer looks, for panels

	Candidates []vote.Candidate // by draw
	answers    []*answer        // what else is known of each
}

// answer is one distinct statement given to a question.
type answer struct {
	candidate vote.Candidate
	rows      string // its rows as a set, the naive way of comparing; "" where it did not run
	planned
	right bool
}

// right reports whether candidate i answers the question. It is for measuring
// and for fitting on other questions, never for a vote.
func (q *Question) right(i int) bool { return q.answers[i].right }

// Any reports whether any candidate is right: the ceiling of every voter.
func (q *Question) Any() bool {
	for _, a := range q.answers {
		if a.right {
			return true
		}
	}
	return false
}

// all are the candidates with their doubts.
func (q *Question) all() []vote.Candidate { return q.Candidates }

// plain are the candidates as strategies without doubt rules have them: a doubt
// lowers the confidence even where it costs no vote.
func (q *Question) plain() []vote.Candidate {
	candidates := slices.Clone(q.Candidates)
	for i := range candidates {
		if !slices.ContainsFunc(candidates[i].Findings, isDoubt) {
			continue
		}
		candidates[i].Findings = slices.DeleteFunc(slices.Clone(candidates[i].Findings), isDoubt)
	}
	return candidates
}

func isDoubt(f vote.Finding) bool { return f.Doubt > 0 }

// byRows is the key of naive result voting: equal sets of rows are equal votes.
// It needs the question's own candidates, in their order.
func (q *Question) byRows(c vote.Candidate) (string, bool) {
	rows := q.answers[c.Draw].rows
	return rows, rows != ""
}

// inTurn returns the question with its candidates as an election with several
// models draws them: the models take turns. With one model, or one answer a
// model, nothing changes.
func (q *Question) inTurn() *Question {
	var models []string
	draws := make(map[string][]int)
	for i, c := range q.Candidates {
		m := modelOf(c.Model)
		if draws[m] == nil {
			models = append(models, m)
		}
		draws[m] = append(draws[m], i)
	}
	if len(models) == 1 || len(models) == len(q.Candidates) {
		return q
	}
	turned := *q
	turned.Candidates, turned.answers = nil, nil
	for turn := 0; len(turned.Candidates) < len(q.Candidates); turn++ {
		for _, m := range models {
			if turn < len(draws[m]) {
				i := draws[m][turn]
				c := q.Candidates[i]
				c.Draw = len(turned.Candidates)
				turned.Candidates = append(turned.Candidates, c)
				turned.answers = append(turned.answers, q.answers[i])
			}
		}
	}
	return &turned
}

// modelOf is the model of a run: its name without the seed.
func modelOf(run string) string {
	if at := strings.LastIndex(run, "_seed"); at >= 0 {
		return run[:at]
	}
	return run
}

package replay

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Pool is a set of answers that vote together.
type Pool struct {
	Name      string
	Questions []*Question
	Samples   int      // most candidates of a question
	LeftOut   []string // parts of its file that are not used, in words
	Without   int      // questions with answers that are not used: no database, or no gold that runs
}

// Question is one question of a pool with its candidates in stored order.
type Question struct {
	ID         string // the question's id, the same in every pool that has it
	Database   string
	Template   string // the gold with masked literals; questions that differ only in values share it
	Difficulty string
	Grade      string // the hardness of the first answer, for panels

	Candidates []vote.Candidate       // by sample
	answers    []*answer              // what else is known about each candidate
	reading    doubt.QuestionFeatures // what doubt rules read in the question
	empty      bool                   // the gold has no value
}

// answer is one distinct statement given to a question.
type answer struct {
	candidate vote.Candidate
	rows      string // its rows as a set, for naive comparison; "" if it did not run
	planned
	right bool

	contradicts []vote.Finding // what the question and the statement say differently
}

// right reports whether candidate i answers the question. It serves measuring, and fitting on other questions, never a
// vote.
func (q *Question) right(i int) bool { return q.answers[i].right }

// Any reports whether any candidate is right. No voter can do better.
func (q *Question) Any() bool {
	for _, a := range q.answers {
		if a.right {
			return true
		}
	}
	return false
}

// all returns the candidates with their doubts.
func (q *Question) all() []vote.Candidate { return q.Candidates }

// plain returns the candidates of strategies without doubt rules of their own. They have the doubts of checks, which
// lower the confidence and cost no vote.
func (q *Question) plain() []vote.Candidate {
	checked := doubt.Rules{}.OfChecks().List
	ruled := func(f vote.Finding) bool {
		return f.Doubt > 0 && !slices.ContainsFunc(checked, func(r doubt.Rule) bool { return r.Name == f.Rule })
	}
	candidates := slices.Clone(q.Candidates)
	for i := range candidates {
		if slices.ContainsFunc(candidates[i].Findings, ruled) {
			candidates[i].Findings = slices.DeleteFunc(slices.Clone(candidates[i].Findings), ruled)
		}
	}
	return candidates
}

// consensus returns the vote of Consensus on this question.
func (q *Question) consensus() vote.Majority {
	m := strategy.Consensus{}.Voter()
	m.MaxExtraDoubt = func(c vote.Candidate) float64 { return doubt.Rules{}.SpreadAbout(q.reading, c) }
	m.MaxDoubt = m.MaxExtraDoubt(vote.Candidate{Rows: 2, Columns: 1}) // as a Pipeline sizes its first wave
	return m
}

// byRows is the key of naive result voting, where equal sets of rows are equal votes. It needs the question's own
// candidates, in their order.
func (q *Question) byRows(c vote.Candidate) (string, bool) {
	rows := q.answers[c.Sample].rows
	return rows, rows != ""
}

// About returns the pools without the questions about other databases than only, if there are some, and without those
// about except. A pool without questions is left out.
func About(pools []Pool, only, except []string) []Pool {
	var about []Pool
	for _, p := range pools {
		p.Questions = slices.DeleteFunc(slices.Clone(p.Questions), func(q *Question) bool {
			return len(only) > 0 && !slices.Contains(only, q.Database) || slices.Contains(except, q.Database)
		})
		if len(p.Questions) > 0 {
			about = append(about, p)
		}
	}
	return about
}

// inTurn returns the question with its candidates in the order of an election with several models, which take turns.
// With one model, or one answer of each model, it changes nothing.
func (q *Question) inTurn() *Question {
	var models []string
	samples := make(map[string][]int)
	for i, c := range q.Candidates {
		m := modelOf(c.Model)
		if samples[m] == nil {
			models = append(models, m)
		}
		samples[m] = append(samples[m], i)
	}
	if len(models) == 1 || len(models) == len(q.Candidates) {
		return q
	}
	turned := *q
	turned.Candidates, turned.answers = nil, nil
	for turn := 0; len(turned.Candidates) < len(q.Candidates); turn++ {
		for _, m := range models {
			if turn < len(samples[m]) {
				i := samples[m][turn]
				c := q.Candidates[i]
				c.Sample = len(turned.Candidates)
				turned.Candidates = append(turned.Candidates, c)
				turned.answers = append(turned.answers, q.answers[i])
			}
		}
	}
	return &turned
}

// modelOf returns the model of a run: the run's name without the seed.
func modelOf(run string) string {
	if at := strings.LastIndex(run, "_seed"); at >= 0 {
		return run[:at]
	}
	return run
}

package replay

import (
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// fitted returns voters with a part that was learned from other questions.
//
// The questions are split into folds by the template of their gold. A question is voted on with what the other folds
// taught, so neither the question nor one that differs only in values was seen, in this pool or another. If all
// questions share one template there is nothing to learn from, and the voters vote like consensus.
func fitted() []Voter {
	return []Voter{
		{
			Name: "weighted-labels", About: "consensus with weights of models by how often they were right",
			Fits: true,
			start: perFold(func(fit []*Question) (elect, error) {
				return weighted(petsql.Weights{}.FromLabels(records(fit))), nil
			}),
		},
		{
			Name: "panel", About: "the five best models for the difficulty of the question, weighted (PET-SQL)",
			Fits: true,
			start: perFold(func(fit []*Question) (elect, error) {
				byGrade := make(map[string][]*Question)
				for _, q := range fit {
					byGrade[q.Grade] = append(byGrade[q.Grade], q)
				}
				graded := make(map[string]map[string]struct{ Right, Asked int }, len(byGrade))
				for grade, questions := range byGrade {
					graded[grade] = records(questions)
				}
				panel := petsql.Panel{}.FromLabels(5, graded)
				return func(q *Question) (Decision, error) {
					m := strategy.Consensus{}.Voter()
					m.Weight = panel.Weight(q.Grade)
					return q.count(m, byModel(q.Candidates))
				}, nil
			}),
		},
		{
			Name: "consensus-learned", About: "consensus that learns from confirmed answers how often one has no value",
			Fits: true,
			start: perFold(func(fit []*Question) (elect, error) {
				empty := 0
				for _, q := range fit {
					if q.empty {
						empty++
					}
				}
				share := doubt.Rules{}.LearnEmptyRate(empty, len(fit))
				return func(q *Question) (Decision, error) { return q.count(q.consensus(), q.expecting(share)) }, nil
			}),
		},
	}
}

// perFold starts a voter that is fitted in its own pool.
func perFold(fit func([]*Question) (elect, error)) start {
	return func(p Pool, s Settings) (elect, error) {
		elect, err := s.perFold(p.Questions, fit)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", p.Name, err)
		}
		return elect, nil
	}
}

// perFold fits a voter once for each fold, on the questions of the other folds.
func (s Settings) perFold(questions []*Question, fit func([]*Question) (elect, error)) (elect, error) {
	outcomes := make([]eval.Outcome, len(questions))
	for i, q := range questions {
		outcomes[i] = q.outcome("", Decision{})
	}
	folds := stats.Folds(outcomes, stats.ByTemplate, s.folds())
	of := make(map[string]int, len(folds))
	for i, q := range questions {
		of[q.ID] = folds[i]
	}
	elects := make(map[int]elect)
	for _, fold := range slices.Compact(slices.Sorted(slices.Values(folds))) {
		var others []*Question
		for i, q := range questions {
			if folds[i] != fold {
				others = append(others, q)
			}
		}
		if len(others) == 0 {
			elects[fold] = func(q *Question) (Decision, error) { return q.count(strategy.Consensus{}.Voter(), q.Candidates) }
			continue
		}
		var err error
		if elects[fold], err = fit(others); err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", fold+1, s.folds(), err)
		}
	}
	return func(q *Question) (Decision, error) { return elects[of[q.ID]](q) }, nil
}

// weighted is consensus with weights of models.
func weighted(w petsql.Weights) elect {
	m := strategy.Consensus{}.Voter()
	m.Weight = w.Weight
	return func(q *Question) (Decision, error) { return q.count(m, byModel(q.Candidates)) }
}

// byModel returns candidates named by their model instead of their run.
func byModel(candidates []vote.Candidate) []vote.Candidate {
	named := make([]vote.Candidate, len(candidates))
	for i, c := range candidates {
		c.Model = modelOf(c.Model)
		named[i] = c
	}
	return named
}

// records counts how often each model was right.
func records(questions []*Question) map[string]struct{ Right, Asked int } {
	all := make(map[string]struct{ Right, Asked int })
	for _, q := range questions {
		for i, c := range q.Candidates {
			r := all[modelOf(c.Model)]
			r.Asked++
			if q.right(i) {
				r.Right++
			}
			all[modelOf(c.Model)] = r
		}
	}
	return all
}

// expecting returns the candidates with the doubts of an application in which such a
// share of right answers has no value.
func (q *Question) expecting(share float64) []vote.Candidate {
	none := doubt.Rules{EmptyAnswerRate: share}.About(q.reading, vote.Candidate{SQL: "SELECT 1"}, &result.Table{})
	at := slices.IndexFunc(none, func(f vote.Finding) bool { return f.Rule == "empty" })
	candidates := slices.Clone(q.Candidates)
	for i := range candidates {
		c := &candidates[i]
		if j := slices.IndexFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == "empty" && f.Doubt > 0 }); j >= 0 {
			c.Findings = slices.Clone(c.Findings)
			c.Findings[j].Doubt = none[at].Doubt
		}
	}
	return candidates
}

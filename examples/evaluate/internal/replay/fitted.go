package replay

import (
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// fitted are votes with something in them that other questions taught.
//
// Questions are split into folds by the template of their gold, and a question is
// voted on with what the other folds gave: neither it nor one that differs only
// in its values was seen, in this pool or another. Where all questions have one
// template there is nothing to be fitted on, and they vote as consensus does.
func fitted() []Voter {
	return []Voter{
		{
			Name: "weighted-agreement", About: "consensus with weights of models by their agreement with others; no verdicts",
			Fits: true,
			start: perFold(func(fit []*Question) (elect, error) {
				all := make([][]vote.Candidate, len(fit))
				for i, q := range fit {
					all[i] = byModel(q.Candidates)
				}
				return weighted(vote.WeightsFromAgreement(nil, all)), nil
			}),
		},
		{
			Name: "weighted-labels", About: "consensus with weights of models by how often they were right",
			Fits: true,
			start: perFold(func(fit []*Question) (elect, error) {
				return weighted(vote.WeightsFromLabels(records(fit))), nil
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
				graded := make(map[string]map[string]vote.Record, len(byGrade))
				for grade, questions := range byGrade {
					graded[grade] = records(questions)
				}
				panel := vote.PanelFromLabels(5, graded)
				return func(q *Question) (Decision, error) {
					m := strategy.Consensus{}.Voter()
					m.Weight = panel.Weight(q.Grade)
					return q.count(m, byModel(q.Candidates))
				}, nil
			}),
		},
		{
			Name: "scorer", About: "consensus with a weight for each rule by how often it was right, signs fixed",
			Fits: true,
			start: perFold(func(fit []*Question) (elect, error) {
				weights := ruleWeights(fit)
				return func(q *Question) (Decision, error) {
					return q.count(strategy.Consensus{}.Voter(), reweighed(q.Candidates, weights))
				}, nil
			}),
		},
		{
			Name: "consensus-calibrated", About: "consensus, its confidence mapped to the chance of being right, learned on all pools",
			Fits:  true,
			start: calibrated,
		},
	}
}

// calibrated is the start of consensus with a calibration. One pool alone has too
// few wrong answers to learn it from.
func calibrated(_ Pool, all []Pool, s Settings) (elect, error) {
	var questions []*Question
	for _, p := range all {
		questions = append(questions, p.Questions...)
	}
	return s.perFold(questions, func(fit []*Question) (elect, error) {
		var outcomes []eval.Outcome
		for _, q := range fit {
			d, err := q.count(strategy.Consensus{}.Voter(), q.Candidates)
			if err != nil {
				return nil, err
			}
			outcomes = append(outcomes, q.outcome("", d))
		}
		c, err := eval.Isotonic{}.Fit(outcomes)
		if err != nil {
			return nil, err
		}
		m := strategy.Consensus{Calibration: &c}.Voter()
		return func(q *Question) (Decision, error) { return q.count(m, q.Candidates) }, nil
	})
}

// perFold is the start of a voter that is fitted in its own pool.
func perFold(fit func([]*Question) (elect, error)) start {
	return func(p Pool, _ []Pool, s Settings) (elect, error) {
		elect, err := s.perFold(p.Questions, fit)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", p.Name, err)
		}
		return elect, nil
	}
}

// perFold fits a voter once a fold, on the questions of the others.
func (s Settings) perFold(questions []*Question, fit func([]*Question) (elect, error)) (elect, error) {
	outcomes := make([]eval.Outcome, len(questions))
	for i, q := range questions {
		outcomes[i] = q.outcome("", Decision{})
	}
	folds := eval.Folds(outcomes, eval.ByTemplate, s.folds())
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
func weighted(w vote.Weights) elect {
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
func records(questions []*Question) map[string]vote.Record {
	all := make(map[string]vote.Record)
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

package eval

import (
	"context"
	"errors"
)

// Verdict has the scores of one answer.
type Verdict struct {
	Question Question  // the question as the dataset has it
	Answered bool      // there is an answer; a question without one scores 0
	SQL      string    // the answer as it was given
	Answer   Execution // the execution of SQL; zero without an answer or a database
	Scores   []float64 // the scores in the order of Scorer.Metrics

	Confidence float64 // of the answer; 0 if unknown
	Fault      string  // why the answer has no score: no gold result, or the database is missing or damaged; else ""
	Err        error   // why the question has no answer, in a report of Run; else nil
}

// Scorer scores answers. Safe for concurrent use.
type Scorer struct {
	Store   *Store   // runs golds and answers; required
	Metrics []Metric // nil: VA{}, EX{} and EX{Rule: "bag"}
}

func (s *Scorer) metrics() []Metric {
	if s.Metrics == nil {
		return defaultMetrics()
	}
	return s.Metrics
}

// Names returns the names of the metrics in the order of Verdict.Scores.
func (s *Scorer) Names() []string {
	var names []string
	for _, m := range s.metrics() {
		names = append(names, m.Name())
	}
	return names
}

// Score scores one answer. If the gold has no result, or the database is missing or damaged, the verdict has a Fault
// and scores of 0. Neither is an error.
func (s *Scorer) Score(ctx context.Context, q Question, sql string) (Verdict, error) {
	metrics := s.metrics()
	v := Verdict{Question: q, Answered: true, SQL: sql, Scores: make([]float64, len(metrics))}
	t, err := s.Store.trial(ctx, q, sql)
	if unreadable(err) {
		v.Fault = err.Error()
		return v, nil
	}
	if err != nil {
		return v, err
	}
	v.Answer, v.Fault = t.Answer, faultOf(t.Gold)
	for i, m := range metrics {
		if _, valid := m.(VA); v.Fault != "" && !valid {
			continue // whether the answer runs does not depend on the gold
		}
		if v.Scores[i], err = m.Score(ctx, t); unreadable(err) {
			v.Fault, v.Scores = err.Error(), make([]float64, len(metrics))
			return v, nil
		} else if err != nil {
			return v, err
		}
	}
	return v, nil
}

// Fault returns why no answer to a question can be scored: its gold has no result, or its database is missing or
// damaged. It returns "" if answers can be scored.
func (s *Scorer) Fault(ctx context.Context, q Question) (string, error) {
	gold, err := s.Store.Execute(ctx, q.DB, q.Gold)
	if unreadable(err) {
		return err.Error(), nil
	}
	return faultOf(gold), err
}

// unreadable reports whether err is about one database: a fault of the questions
// about it, not of the scoring.
func unreadable(err error) bool {
	var database *DatabaseError
	return errors.As(err, &database)
}

func faultOf(gold Execution) string {
	if gold.OK() {
		return ""
	}
	return "the gold has no result (" + gold.Status + "): " + gold.Err
}

// trial executes both statements of a trial, the gold first.
func (s *Store) trial(ctx context.Context, q Question, sql string) (*Trial, error) {
	t := &Trial{Question: q, SQL: sql, store: s, gold: &side{}, answer: &side{}}
	var err error
	if t.gold.entry, t.gold.table, err = s.fetch(ctx, q.DB, q.Gold); err != nil {
		return nil, err
	}
	if t.answer.entry, t.answer.table, err = s.fetch(ctx, q.DB, sql); err != nil {
		return nil, err
	}
	t.Gold, t.Answer = t.gold.entry.execution, t.answer.entry.execution
	return t, nil
}

// mean returns the mean of one metric, by its place in Scorer.Metrics, over all
// verdicts: questions without an answer and with a Fault count as 0. Without
// verdicts it is 0.
func mean(verdicts []Verdict, metric int) float64 {
	if len(verdicts) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range verdicts {
		sum += v.Scores[metric]
	}
	return sum / float64(len(verdicts))
}

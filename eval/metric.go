package eval

import (
	"context"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// Metric scores one answer to one question, 1 for perfect and 0 for worthless. The doc comments of the metrics
// in this package give other ranges. The score of a run is the mean over all its questions.
//
// Score is called for questions whose gold has a result. An error means that the metric could not be computed,
// not that the answer is wrong. Implementations are safe for concurrent use and deterministic.
type Metric interface {
	// Name is stable and short: "ex_set". Reports use it as a key.
	Name() string
	// Score gives the number of one trial.
	Score(ctx context.Context, t *Trial) (float64, error)
}

// Trial is one answer and the gold of its question, both executed.
//
// Tables and fingerprints are read on demand; all answers to a question share the data of its gold. Not
// safe for concurrent use.
type Trial struct {
	Question Question  // the question with the gold
	SQL      string    // the answer as it was given
	Gold     Execution // always with a result
	Answer   Execution // the execution of SQL, with a result or without

	store        *Store
	gold, answer *side
}

// side is one of the two statements of a trial.
type side struct {
	entry *entry
	table *result.Table // nil until it is needed
}

// Dialect returns the lexing rules of the database.
func (t *Trial) Dialect() sqltext.Dialect { return t.store.config.Dialect.Language().Text }

// GoldTable returns the rows of the gold. Do not change them.
func (t *Trial) GoldTable(ctx context.Context) (*result.Table, error) {
	return t.store.rows(ctx, t.gold)
}

// AnswerTable returns the rows of the answer, or nil if it has no result. Do not change them.
func (t *Trial) AnswerTable(ctx context.Context) (*result.Table, error) {
	return t.store.rows(ctx, t.answer)
}

func (s *Store) rows(ctx context.Context, x *side) (*result.Table, error) {
	if x.table != nil || !x.entry.execution.OK() {
		return x.table, nil
	}
	var err error
	x.table, err = s.table(ctx, x.entry)
	return x.table, err
}

// Equal reports whether answer and gold have the same result under eq. An answer
// without a result is never equal.
func (t *Trial) Equal(ctx context.Context, eq result.Equality) (bool, error) {
	if !t.Gold.OK() || !t.Answer.OK() {
		return false, nil
	}
	if t.gold.entry == t.answer.entry {
		return true, nil
	}
	// Shapes tell most of the different ones apart without a fingerprint.
	if t.Gold.Columns != t.Answer.Columns || !eq.Set && t.Gold.Rows != t.Answer.Rows {
		return false, nil
	}
	gold, err := t.store.fingerprint(ctx, t.gold.entry, t.gold.table, eq)
	if err != nil {
		return false, err
	}
	answer, err := t.store.fingerprint(ctx, t.answer.entry, t.answer.table, eq)
	return gold == answer, err
}

// defaultMetrics returns valid accuracy, and execution accuracy by sets and by
// bags.
func defaultMetrics() []Metric {
	return []Metric{VA{}, EX{Rule: ruleSet}, EX{Rule: ruleBag}}
}

// VA is valid accuracy: 1 for an answer that runs without an error, under the guard and within the
// limits, whatever its result.
//
// Source: "valid SQL" of 2.METHODOLOGY.md of MacKenzieOBrian/NLtoSQL. It searches for forbidden
// words; we use a guard.
type VA struct{}

// Name returns "va".
func (VA) Name() string { return "va" }

// Score implements [Metric].
func (VA) Score(_ context.Context, t *Trial) (float64, error) { return oneIf(t.Answer.OK()), nil }

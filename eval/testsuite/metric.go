package testsuite

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/eval"
)

// TS is test-suite accuracy: 1 for an answer whose result is that of the gold on
// the base and on every replica of the suite.
//
// Results are compared as eval.EX does with RuleOrder: bags of rows, and in order
// where the gold orders them. A replica does not count where the gold fails, or
// where its rows change when SQLite reads its tables backwards (PRAGMA
// reverse_unordered_selects): there it picks rows at random. Where only their
// order changes, it does not count.
//
// TS is at most EX by order, and that at most VA. Source: Zhong, Yu and Klein
// 2020, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites"; the
// suites are our own, so figures are comparable only on the same suite.
//
// Safe for concurrent use.
type TS struct {
	Suites map[string]*Suite // by id of the database; a question about another one is an error

	// Digits rounds floats to so many significant digits before they are
	// compared. 0: 9, because replicas are full of sums of decimals, whose last
	// bits depend on their order; 17: exact.
	Digits int
	// StrictGold lets an answer fail where its gold fails or is unstable, instead
	// of leaving the replica out.
	StrictGold bool
}

func (m TS) digits() int {
	if m.Digits <= 0 {
		return digits
	}
	return m.Digits
}

// Name returns "ts", or "ts_strict".
func (m TS) Name() string {
	if m.StrictGold {
		return "ts_strict"
	}
	return "ts"
}

// Score implements eval.Metric.
func (m TS) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	v, err := m.Check(ctx, t)
	if err != nil || !v.Right {
		return 0, err
	}
	return 1, nil
}

// Check is Score with the reason.
func (m TS) Check(ctx context.Context, t *eval.Trial) (Verdict, error) {
	s := m.Suites[t.Question.DB]
	if s == nil {
		return Verdict{}, fmt.Errorf("testsuite: no suite for database %s", t.Question.DB)
	}
	base, err := eval.EX{Rule: eval.RuleOrder, Digits: m.digits()}.Score(ctx, t)
	if err != nil {
		return Verdict{}, err
	}
	return s.check(ctx, t.Question, t.SQL, base == 1, m)
}

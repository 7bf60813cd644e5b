package testsuite

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/eval"
)

// TS is test-suite accuracy: 1 for an answer whose result is that of the gold on the base and on every replica of the
// suite.
//
// Results are compared as eval.EX does with RuleOrder and 9 significant digits: as bags of rows, and in order if the
// gold orders them. A replica is skipped if the gold fails on it, or if the gold's rows change when SQLite reads tables
// backwards (PRAGMA reverse_unordered_selects), because then the gold picks rows at random. If only the order of the
// gold's rows changes, the order does not count.
//
// TS is at most EX by order, and that at most VA. Source: Zhong, Yu and Klein 2020, "Semantic Evaluation for
// Text-to-SQL with Distilled Test Suites". The suites are our own, so figures are comparable only on the same suite.
//
// Safe for concurrent use.
type TS struct {
	Suites map[string]*Suite // key: id of the database; a question about a database without a suite is an error
}

// Name returns "ts".
func (TS) Name() string { return "ts" }

// Score implements eval.Metric.
func (m TS) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	s := m.Suites[t.Question.DB]
	if s == nil {
		return 0, fmt.Errorf("testsuite: no suite for database %s", t.Question.DB)
	}
	base, err := eval.EX{Rule: "order", Digits: digits}.Score(ctx, t)
	if err != nil || base < 1 {
		return 0, err
	}
	return s.score(ctx, t.Question, t.SQL)
}

package stats

import (
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/resample"
)

// Grouping names the group of an outcome. It says what a bootstrap draws as
// one, and by what a breakdown is broken down.
type Grouping func(eval.Outcome) string

// ByQuestion groups the outcomes of one question in all pools.
func ByQuestion(o eval.Outcome) string { return o.Question }

// ByTemplate groups the questions of a database that have the same template. An
// outcome without a template is a group of its question.
func ByTemplate(o eval.Outcome) string {
	if o.Template == "" {
		return "question\x00" + o.Question
	}
	return o.Database + "\x00" + o.Template
}

// groups numbers the groups of n outcomes by first appearance.
func groups(by Grouping, n int, at func(int) eval.Outcome) (of []int, names []string) {
	if by == nil {
		by = ByQuestion
	}
	numbers := make(map[string]int, n)
	of = make([]int, n)
	for i := range n {
		name := by(at(i))
		g, ok := numbers[name]
		if !ok {
			g = len(names)
			numbers[name] = g
			names = append(names, name)
		}
		of[i] = g
	}
	return of, names
}

// Bootstrap gives intervals by drawing again from what was observed.
//
// A round draws as many units as there are, with replacement, each with all of
// its outcomes, and computes the figure anew; the interval runs between the
// (1−Level)/2 and the (1+Level)/2 quantile of all rounds (the percentile
// interval of Efron and Tibshirani 1993, chapter 13, over clusters).
//
// Unit must be what varies independently: ByQuestion when several pools share
// questions, ByTemplate when several questions share a pattern. Fewer, larger
// units give wider, more honest intervals. With fewer than about 20 units the
// interval is too narrow whatever the number of rounds.
//
// The same outcomes, order and Seed give the same interval. Safe for concurrent use.
type Bootstrap struct {
	Unit   Grouping // nil: ByQuestion
	Rounds int      // 0 or less: 10,000
	Level  float64  // inside 0..1; anything else: 0.95
	Seed   uint64   // the seed of the draws; 0 is a seed like any other
}

func (b Bootstrap) draws() resample.Bootstrap {
	return resample.Bootstrap{Rounds: b.Rounds, Level: b.Level, Seed: b.Seed}
}

// Mean returns the mean score. Without outcomes it is zero, with an interval
// of 0 to 1.
func (b Bootstrap) Mean(outcomes []eval.Outcome) eval.Estimate {
	if len(outcomes) == 0 {
		return eval.Estimate{High: 1}
	}
	of, names := groups(b.Unit, len(outcomes), func(i int) eval.Outcome { return outcomes[i] })
	e := eval.Estimate{N: len(outcomes), Units: len(names)}
	e.Value, e.Low, e.High = b.draws().Mean(of, len(names), func(i int) float64 { return outcomes[i].Score })
	return e
}

// Statistic returns any figure of outcomes with its interval. stat is given how
// often each outcome was drawn, in the order of outcomes (1 each for the figure
// itself), and returns NaN where the figure is not defined; such rounds are left
// out. ok is false when it is not defined on the outcomes as they are.
//
// stat must not keep or change the slice.
func (b Bootstrap) Statistic(outcomes []eval.Outcome, stat func(times []float64) float64) (e eval.Estimate, ok bool) {
	of, names := groups(b.Unit, len(outcomes), func(i int) eval.Outcome { return outcomes[i] })
	e = eval.Estimate{N: len(outcomes), Units: len(names)}
	e.Value, e.Low, e.High, ok = b.draws().Statistic(of, len(names), stat)
	return e, ok
}

package metrics

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/texttosql/texttosql/eval"
)

// VES is BIRD's valid efficiency score of one answer: 0 for a wrong one, else
// the square root of how much faster than the gold it runs, so 1 for an equal
// speed and no upper limit:
//
//	VES = √(time of the gold ÷ time of the answer)
//
// (Li et al., NeurIPS 2023, section 5; AlibabaResearch/DAMO-ConvAI,
// bird/llm/src/evaluation_ves.py, which multiplies by 100). Right is EX by sets.
// The times are wall times of both statements run in turn, Runs times each; ratios more
// than three standard deviations from their mean are dropped, and the mean of
// the rest is the ratio, as there. Both run as their text says, unwrapped, and
// alone.
//
// It depends on the machine and on what else runs on it, so two runs of a
// program differ: a figure to report, not to compare closely.
type VES struct {
	Store *eval.Store // where both run; required
	Runs  int         // 0: 10; BIRD's scorer has 100
}

// Name returns "ves".
func (VES) Name() string { return "ves" }

// Score implements [eval.Metric].
func (m VES) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	ratio, err := speedup(ctx, m.Store, t, m.Runs)
	return math.Sqrt(ratio), err
}

// RVES is BIRD's reward-based valid efficiency score, which steps instead of
// growing with the ratio of times (bird-bench/mini_dev, evaluation_ves.py): the
// square root of a reward,
//
//	1.25 from a ratio of 2 up, 1 from 1, 0.75 from 0.5, 0.5 from 0.25, 0.25 below, 0 for a wrong answer
//
// so at most 1.118; there it is multiplied by 100. The ratio is that of [VES],
// and so are the reservations.
type RVES struct {
	Store *eval.Store // as of VES
	Runs  int         // 0: 10
}

// Name returns "r_ves".
func (RVES) Name() string { return "r_ves" }

// Score implements [eval.Metric].
func (m RVES) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	ratio, err := speedup(ctx, m.Store, t, m.Runs)
	return math.Sqrt(reward(ratio)), err
}

func reward(ratio float64) float64 {
	switch {
	case ratio >= 2:
		return 1.25
	case ratio >= 1:
		return 1
	case ratio >= 0.5:
		return 0.75
	case ratio >= 0.25:
		return 0.5
	case ratio > 0:
		return 0.25
	}
	return 0
}

// speedup returns the time of the gold ÷ that of the answer, 0 for a wrong one.
func speedup(ctx context.Context, store *eval.Store, t *eval.Trial, runs int) (float64, error) {
	right, err := eval.EX{}.Score(ctx, t)
	if err != nil || right < 1 {
		return 0, err
	}
	if runs <= 0 {
		runs = 10
	}
	times, err := store.Time(ctx, t.Question.DB, runs, t.Question.Gold, t.SQL)
	if err != nil || times == nil {
		return 0, err
	}
	return timeRatio(times[0], times[1]), nil
}

// timeRatio is the mean of the ratios of times taken in pairs, without outliers.
func timeRatio(gold, answer []time.Duration) float64 {
	ratios := make([]float64, 0, len(gold))
	for i := range gold {
		// A clock may not tell two readings apart.
		ratios = append(ratios, float64(max(gold[i], 1))/float64(max(answer[i], 1)))
	}
	mean, deviation := moments(ratios)
	kept := slices.DeleteFunc(slices.Clone(ratios), func(x float64) bool { return math.Abs(x-mean) >= 3*deviation })
	if len(kept) == 0 {
		return mean // all are equal
	}
	mean, _ = moments(kept)
	return mean
}

func moments(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(x)))
}

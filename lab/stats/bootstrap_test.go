package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/texttosql/texttosql/eval"
)

// With two units a round draws aa, ab, ba or bb, each with chance 1/4: the mean
// of 0 and 1 is 0, 1/2, 1/2 or 1, and the 95 % interval must be the whole range.
func TestBootstrapTwoUnits(t *testing.T) {
	got := Bootstrap{}.Mean(outcomesOf(0, 1))
	want := eval.Estimate{Value: 0.5, Low: 0, High: 1, N: 2, Units: 2}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// At level 0.4 the cut is 30 % either side, inside of the two halves.
	got = Bootstrap{Level: 0.4}.Mean(outcomesOf(0, 1))
	want = eval.Estimate{Value: 0.5, Low: 0.5, High: 0.5, N: 2, Units: 2}
	if got != want {
		t.Errorf("at level 0.4: got %+v, want %+v", got, want)
	}
}

func TestBootstrapDegenerate(t *testing.T) {
	for _, test := range []struct {
		why  string
		got  eval.Estimate
		want eval.Estimate
	}{
		{"no outcomes", Bootstrap{}.Mean(nil), eval.Estimate{High: 1}},
		{"one outcome cannot vary", Bootstrap{}.Mean(outcomesOf(1)), eval.Estimate{Value: 1, Low: 1, High: 1, N: 1,
			Units: 1}},
		{"all equal", Bootstrap{}.Mean(outcomesOf(.5, .5, .5)), eval.Estimate{Value: .5, Low: .5, High: .5, N: 3, Units: 3}},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.why, test.got, test.want)
		}
	}
}

// An interval of level 0.95 should hold the truth in about 95 % of samples.
func TestBootstrapCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const samples, n, truth = 400, 100, 0.7
	held := 0
	for s := range samples {
		values := make([]float64, n)
		for i := range values {
			values[i] = oneIf(r.Float64() < truth)
		}
		e := Bootstrap{Rounds: 1000, Seed: uint64(s)}.Mean(outcomesOf(values...))
		if e.Low <= truth && truth <= e.High {
			held++
		}
	}
	if share := float64(held) / samples; share < 0.91 || share > 0.985 {
		t.Errorf("%v of the intervals hold the truth, want about 0.95", share)
	}
}

func TestBootstrapDeterministic(t *testing.T) {
	list := outcomesOf(0, 1, 1, 0, 1, 0, 0, 1, 1, 1)
	a, b := Bootstrap{Seed: 3}.Mean(list), Bootstrap{Seed: 3}.Mean(list)
	if a != b {
		t.Errorf("same seed, other interval: %+v, %+v", a, b)
	}
	// This very interval was written down once: reports must not move with the Go
	// release.
	got := Bootstrap{Seed: 3, Rounds: 101, Level: 0.5}.Mean(outcomesOf(0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1))
	if !nearly(got.Low, goldenLow) || !nearly(got.High, goldenHigh) {
		t.Errorf("got %v to %v, want %v to %v", got.Low, got.High, goldenLow, goldenHigh)
	}
}

const goldenLow, goldenHigh = 4.7 / 11, 6.2 / 11

// A clustered mean is that of what was drawn, and large units weigh more.
func TestBootstrapClusters(t *testing.T) {
	list := []eval.Outcome{
		{Pool: "a", Question: "q0", Score: 1}, {Pool: "b", Question: "q0", Score: 1}, {Pool: "c", Question: "q0", Score: 1},
		{Pool: "a", Question: "q1", Score: 0},
	}
	got := Bootstrap{}.Mean(list)
	if got.Value != 0.75 || got.Low != 0 || got.High != 1 || got.Units != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestStatistic(t *testing.T) {
	list := outcomesOf(0, 1, 1, 0, 1, 1, 1, 0)
	mean := func(times []float64) float64 {
		var sum, n float64
		for i, w := range times {
			sum += w * list[i].Score
			n += w
		}
		return sum / n
	}
	b := Bootstrap{Rounds: 500, Seed: 5}
	got, ok := b.Statistic(list, mean)
	if want := b.Mean(list); !ok || got != want {
		t.Errorf("Statistic of a mean: %+v, %v, want %+v", got, ok, want)
	}
	if e, ok := b.Statistic(list, func([]float64) float64 { return math.NaN() }); ok {
		t.Errorf("an undefined statistic gives %+v", e)
	}
	calls := 0
	e, ok := b.Statistic(list, func([]float64) float64 {
		if calls++; calls == 1 {
			return 2
		}
		return math.NaN()
	})
	if !ok || e.Value != 2 || e.Low != 2 || e.High != 2 {
		t.Errorf("defined only on the whole: %+v, %v", e, ok)
	}
}

func TestGroupings(t *testing.T) {
	o := eval.Outcome{Pool: "p", Question: "q", Template: "t", Database: "d", Difficulty: "x"}
	for _, test := range []struct {
		why  string
		by   Grouping
		want string
	}{
		{"question", ByQuestion, "q"},
		{"a template belongs to its database", ByTemplate, "d\x00t"},
	} {
		if got := test.by(o); got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
	o.Template = ""
	if ByTemplate(o) == ByTemplate(eval.Outcome{Question: "other", Database: "d"}) {
		t.Error("questions without a template share a group")
	}
}

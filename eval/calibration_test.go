package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/vote"
)

// judged makes outcomes from "confidence, right" pairs.
func judged(values ...float64) []Outcome {
	var list []Outcome
	for i := 0; i < len(values); i += 2 {
		list = append(list, Outcome{Question: fmt.Sprint("q", i/2), Confidence: values[i], Score: values[i+1]})
	}
	return list
}

// randomOutcomes makes outcomes with few different confidences, so that many are tied.
func randomOutcomes(r *rand.Rand, n, levels int) []Outcome {
	var list []Outcome
	for i := range n {
		list = append(list, Outcome{
			Question: fmt.Sprint(i), Confidence: float64(r.IntN(levels)) / float64(levels), Score: float64(r.IntN(2)),
		})
	}
	return list
}

func TestIsotonic(t *testing.T) {
	for _, test := range []struct {
		why        string
		list       []Outcome
		min        int
		raw, right []float64
	}{
		{"already rising", judged(.1, 0, .5, 1, .9, 1), 1, []float64{.1, .5, .9}, []float64{0, 1, 1}},
		{"one fall is pooled", judged(.1, 1, .5, 0, .9, 1), 1, []float64{.1, .5, .9}, []float64{.5, .5, 1}},
		{"a fall that pools back to the start: 1 0 0 → 1/3", judged(.1, 1, .2, 0, .3, 0, .9, 1), 1, []float64{.1, .3, .9}, []float64{1.0 / 3, 1.0 / 3, 1}},
		{"ties are one point", judged(.4, 1, .4, 0, .4, 0, .4, 1), 1, []float64{.4}, []float64{.5}},
		{"blocks of two before the fit", judged(.1, 0, .2, 0, .3, 1, .4, 0, .5, 1), 2, []float64{.1, .2, .3, .5}, []float64{0, 0, 2.0 / 3, 2.0 / 3}},
		{"too few for the default block: one level", judged(.1, 0, .9, 1), 0, []float64{.1, .9}, []float64{.5, .5}},
	} {
		got, err := Isotonic{MinBlock: test.min, From: "here"}.Fit(test.list)
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		// Equal neighbours are joined: {0, 1, 1} has its last two in one block.
		want := vote.Calibration{Raw: test.raw, Right: test.right, From: "here", N: len(test.list)}
		golden.Equal(t, want, got, test.why)
	}
}

func TestIsotonicErrors(t *testing.T) {
	for _, test := range []struct {
		why  string
		list []Outcome
		want string
	}{
		{"nothing to fit", nil, "eval: fitting a calibration: no outcomes"},
		{"above one", judged(1.5, 1), `eval: fitting a calibration: question "q0": confidence 1.5 is not in 0..1`},
		{"not a number", judged(math.NaN(), 1), `eval: fitting a calibration: question "q0": confidence NaN is not in 0..1`},
	} {
		if _, err := (Isotonic{}).Fit(test.list); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.why, err, test.want)
		}
	}
}

// A fit is valid, never falls, keeps the share of right answers, and no other
// rising function of the confidence has a smaller squared error.
func TestIsotonicProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		list := randomOutcomes(r, 1+r.IntN(60), 1+r.IntN(12))
		c := need.Value(Isotonic{MinBlock: 1 + r.IntN(8)}.Fit(list))(t)
		need.OK(t, c.Validate())
		var sum, right float64
		for _, o := range list {
			sum += c.At(o.Confidence)
			right += oneIf(o.Right())
		}
		if !nearly(sum, right) {
			t.Fatalf("calibrated sum %v, right %v", sum, right)
		}

		fit := need.Value(Isotonic{MinBlock: 1}.Fit(list))(t)
		best := squared(list, fit.At)
		for range 20 {
			rising := vote.Calibration{}
			for i := range 5 {
				rising.Raw = append(rising.Raw, float64(i)/4)
				rising.Right = append(rising.Right, r.Float64())
			}
			slices.Sort(rising.Right)
			if other := squared(list, rising.At); other < best-1e-9 {
				t.Fatalf("%v is nearer than the fit: %v < %v", rising, other, best)
			}
		}
	}
}

func squared(list []Outcome, at func(float64) float64) float64 {
	var sum float64
	for _, o := range list {
		d := at(o.Confidence) - oneIf(o.Right())
		sum += d * d
	}
	return sum
}

func BenchmarkIsotonic(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	list := randomOutcomes(r, 6350, 200)
	for b.Loop() {
		Isotonic{}.Fit(list)
	}
}

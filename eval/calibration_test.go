package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestReliability(t *testing.T) {
	list := judged(.1, 0, .1, 1, .3, 0, .9, 1, 1, 1, 2, 1, -1, 0, math.NaN(), 0)
	got := Reliability(list, 4)
	var counts []int
	for _, b := range got {
		counts = append(counts, b.N)
	}
	// .1, .1, −1 and NaN; .3; none; .9, 1 and 2: the last bin holds its upper bound.
	if !slices.Equal(counts, []int{4, 1, 0, 3}) {
		t.Fatalf("counts %v", counts)
	}
	if b := got[0]; !nearly(b.Confidence, .05) || b.Right != .25 || b.Low != 0 || b.High != .25 || b.Interval != Wilson(1, 4, .95) {
		t.Errorf("first bin %+v", b)
	}
	if b := got[2]; b.Confidence != 0 || b.Right != 0 || b.Interval != (Interval{0, 1}) {
		t.Errorf("empty bin %+v", b)
	}
	// 4/8·|.25−.05| + 1/8·|0−.3| + 3/8·|1−2.9/3|
	if ece := ECE(got); !nearly(ece, .1+.0375+.0125) {
		t.Errorf("ECE %v", ece)
	}
	if n := len(Reliability(nil, 0)); n != 10 {
		t.Errorf("%d bins by default, want 10", n)
	}
	if ECE(Reliability(nil, 5)) != 0 || Brier(nil) != 0 {
		t.Error("no outcomes should give no error")
	}
	// .01 + .81 + .09 + .01 + 0 + 0 + 0 + 0, over 8
	if b := Brier(list); !nearly(b, .92/8) {
		t.Errorf("Brier %v", b)
	}
}

func TestAUROC(t *testing.T) {
	for _, test := range []struct {
		why  string
		list []Outcome
		want float64
		ok   bool
	}{
		{"nothing", nil, 0, false},
		{"only right ones", judged(.5, 1, .6, 1), 0, false},
		{"only wrong ones", judged(.5, 0), 0, false},
		{"told apart", judged(.9, 1, .8, 1, .2, 0), 1, true},
		{"the wrong way round", judged(.1, 1, .9, 0), 0, true},
		{"all tied says nothing", judged(.5, 1, .5, 0, .5, 1), .5, true},
		{"right .9 .5, wrong .5 .1: (1 + 1 + ½ + 1)/4", judged(.9, 1, .5, 1, .5, 0, .1, 0), 3.5 / 4, true},
		{"right .8 .3, wrong .5 .2 .9: (2 + 1)/6", judged(.8, 1, .3, 1, .5, 0, .2, 0, .9, 0), 3.0 / 6, true},
		{"partial credit is wrong", judged(.9, 1, .1, .99), 1, true},
	} {
		got, ok := Bootstrap{Rounds: 1}.AUROC(test.list)
		if ok != test.ok || !nearly(got.Value, test.want) {
			t.Errorf("%s: %v, %v, want %v, %v", test.why, got.Value, ok, test.want, test.ok)
		}
	}
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

func TestRiskCurve(t *testing.T) {
	// Surest first: right, {right, wrong} tied, wrong.
	list := judged(.2, 0, .5, 1, .9, 1, .5, 0)
	got := RiskCurve(list)
	want := RiskCoverage{
		{Coverage: .25, Risk: 0, Confidence: .9},
		{Coverage: .75, Risk: 1.0 / 3, Confidence: .5},
		{Coverage: 1, Risk: .5, Confidence: .2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	for _, test := range []struct {
		why            string
		coverage, risk float64
	}{
		{"one answer", .25, 0},
		{"one of the two tied ones: half an error of two answers", .5, .25},
		{"three answers", .75, 1.0 / 3},
		{"everything", 1, .5},
		{"less than one answer", .1, 0},
	} {
		if r, ok := (Bootstrap{Rounds: 1}).Risk(list, test.coverage); !ok || !nearly(r.Value, test.risk) {
			t.Errorf("%s: %v, want %v", test.why, r, test.risk)
		}
	}
	for _, coverage := range []float64{0, -1, 1.5, math.NaN()} {
		if e, ok := (Bootstrap{}).Risk(list, coverage); ok {
			t.Errorf("coverage %v gives %+v", coverage, e)
		}
	}
	if _, ok := (Bootstrap{}).Risk(nil, .5); ok || len(RiskCurve(nil)) != 0 {
		t.Error("no outcomes give a risk")
	}
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

func TestFolds(t *testing.T) {
	var list []Outcome
	for i := range 1000 {
		list = append(list, Outcome{Question: fmt.Sprint("q", i/2), Pool: fmt.Sprint(i % 2)})
	}
	folds := Folds(list, nil, 5)
	sizes := make([]int, 5)
	for i, f := range folds {
		sizes[f]++
		if i%2 == 1 && f != folds[i-1] {
			t.Fatalf("question %s is in two folds", list[i].Question)
		}
	}
	for f, n := range sizes {
		if n < 140 || n > 260 {
			t.Errorf("fold %d has %d of 1000", f, n)
		}
	}
	if part := Folds(list[500:], nil, 5); !slices.Equal(part, folds[500:]) {
		t.Error("the fold of a question depends on the others")
	}
	if two := Folds(list, ByQuestion, 0); slices.Max(two) != 1 {
		t.Errorf("fewer than two folds: %d", slices.Max(two)+1)
	}
}

func BenchmarkBootstrapAUROC(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	list := randomOutcomes(r, 6350, 200)
	for b.Loop() {
		Bootstrap{Rounds: 1000}.AUROC(list)
	}
}

func BenchmarkIsotonic(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	list := randomOutcomes(r, 6350, 200)
	for b.Loop() {
		Isotonic{}.Fit(list)
	}
}

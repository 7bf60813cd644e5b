package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }

// outcomesOf makes outcomes of questions q0, q1, ….
func outcomesOf(values ...float64) []eval.Outcome {
	var list []eval.Outcome
	for i, v := range values {
		list = append(list, eval.Outcome{Question: fmt.Sprint("q", i), Score: v})
	}
	return list
}

// judged makes outcomes from "confidence, right" pairs.
func judged(values ...float64) []eval.Outcome {
	var list []eval.Outcome
	for i := 0; i < len(values); i += 2 {
		list = append(list, eval.Outcome{Question: fmt.Sprint("q", i/2), Confidence: values[i], Score: values[i+1]})
	}
	return list
}

// randomOutcomes makes outcomes with few different confidences, so that many are tied.
func randomOutcomes(r *rand.Rand, n, levels int) []eval.Outcome {
	var list []eval.Outcome
	for i := range n {
		list = append(list, eval.Outcome{
			Question: fmt.Sprint(i), Confidence: float64(r.IntN(levels)) / float64(levels), Score: float64(r.IntN(2)),
		})
	}
	return list
}

func TestMcNemar(t *testing.T) {
	for _, test := range []struct {
		why         string
		m           McNemar
		exact, midP float64
	}{
		{"no differences: nothing to test", McNemar{Equal: 9}, 1, 1},
		{"one difference: 2·(1/2) = 1, less 1/2", McNemar{OnlyB: 1}, 1, 0.5},
		{"3 to 0: 2·(1/8) = 1/4, less 1/8", McNemar{OnlyA: 3}, 0.25, 0.125},
		{"both sides equal: C(4,2)/16 = 6/16, so 1 − 3/16", McNemar{OnlyA: 2, OnlyB: 2}, 1, 1 - 3.0/16},
		{"1 to 5: 2·(1+6)/64, less 6/64", McNemar{OnlyA: 1, OnlyB: 5}, 14.0 / 64, 8.0 / 64},
		{"2 to 10: 2·(1+12+66)/4096, less 66/4096", McNemar{OnlyA: 10, OnlyB: 2}, 158.0 / 4096, 92.0 / 4096},
	} {
		if !nearly(test.m.Exact(), test.exact) || !nearly(test.m.MidP(), test.midP) {
			t.Errorf("%s: exact %v, mid-p %v, want %v, %v", test.why, test.m.Exact(), test.m.MidP(), test.exact, test.midP)
		}
	}
}

// McNemar's own distribution must not leave the floats: 2^-n is zero from 1075 on.
func TestMcNemarLarge(t *testing.T) {
	m := McNemar{OnlyA: 2000, OnlyB: 2000}
	if p := m.Exact(); p != 1 {
		t.Errorf("exact of a tie = %v, want 1", p)
	}
	m = McNemar{OnlyA: 2100, OnlyB: 1900}
	if p, chi := m.Exact(), math.Erfc(199/math.Sqrt(2*4000)); math.Abs(p-chi) > 1e-4 {
		t.Errorf("exact %v and chi² %v of 2100 to 1900 should agree", p, chi)
	}
}

func TestNewMcNemar(t *testing.T) {
	pair := func(a, b float64) Pair { return Pair{A: eval.Outcome{Score: a}, B: eval.Outcome{Score: b}} }
	got := NewMcNemar([]Pair{pair(1, 0), pair(0, 1), pair(0.2, 0.4), pair(1, 1), pair(0, 0)})
	if want := (McNemar{OnlyA: 1, OnlyB: 2, Equal: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestWilson(t *testing.T) {
	for _, test := range []struct {
		why       string
		right, n  int
		level     float64
		low, high float64
	}{
		{"nothing known", 0, 0, 0.95, 0, 1},
		{"10 of 10: 10/(10+z²)", 10, 10, 0.95, 0.7224672, 1},
		{"none of 10: its mirror", 0, 10, 0.95, 0, 0.2775328},
		{"5 of 10, symmetric", 5, 10, 0.95, 0.2365931, 0.7634069},
		{"81 of 263, the example of Newcombe (1998)", 81, 263, 0.95, 0.2552577, 0.3662075},
		{"another level", 5, 10, 0.90, 0.2692718, 0.7307282},
		{"a level that is none is 0.95", 5, 10, 2, 0.2365931, 0.7634069},
	} {
		got := Wilson(test.right, test.n, test.level)
		if math.Abs(got.Low-test.low) > 1e-4 || math.Abs(got.High-test.high) > 1e-4 {
			t.Errorf("%s: %+v, want %v to %v", test.why, got, test.low, test.high)
		}
	}
}

func TestPairs(t *testing.T) {
	a := []eval.Outcome{{Question: "x", Score: 1}, {Question: "y", Score: 0}, {Question: "y", Score: 1, Confidence: 1},
		{Pool: "p", Question: "x", Score: .5}}
	b := []eval.Outcome{{Pool: "p", Question: "x", Score: .25}, {Question: "y", Score: 1}, {Question: "x", Score: 0}}
	got := testutil.Value(Pairs(a, b))(t)
	want := []Pair{
		{eval.Outcome{Question: "x", Score: 1}, eval.Outcome{Question: "x", Score: 0}},
		{eval.Outcome{Question: "y", Score: .5, Confidence: .5}, eval.Outcome{Question: "y", Score: 1}},
		{eval.Outcome{Pool: "p", Question: "x", Score: .5}, eval.Outcome{Pool: "p", Question: "x", Score: .25}},
	}
	golden.Equal(t, want, got)

	_, err := Pairs(append(a, eval.Outcome{Question: "only a"}), append(b, eval.Outcome{Pool: "p", Question: "only b"}))
	var unpaired *UnpairedError
	if !errors.As(err, &unpaired) || !slices.Equal(unpaired.OnlyA, []string{"only a"}) ||
		!slices.Equal(unpaired.OnlyB, []string{"p/only b"}) {
		t.Errorf("got %v", err)
	}
	if want := "stats: pairing questions: 1 only in the first (only a), 1 only in the second (p/only b)"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Two runs have other names, and two seeds of one model are no further questions.
func TestPairsOfRuns(t *testing.T) {
	a := []eval.Outcome{{Pool: "a seed 1", Question: "x", Score: 1}, {Pool: "a seed 2", Question: "x", Score: 0}}
	b := []eval.Outcome{{Pool: "b", Question: "x", Score: 1}}
	got := testutil.Value(Pairs(a, b))(t)
	want := []Pair{{eval.Outcome{Question: "x", Score: .5}, eval.Outcome{Question: "x", Score: 1}}}
	golden.Equal(t, want, got)
	if a[0].Pool != "a seed 1" {
		t.Error("the outcomes were changed")
	}
}

func TestCompare(t *testing.T) {
	contract := Contract{Prompt: "1", Schema: "2", Scorer: "ex_set", Limits: "10s"}
	a := Condition{Name: "a", Contract: contract}
	b := Condition{Name: "b", Contract: contract}
	for i := range 8 {
		o := eval.Outcome{Question: fmt.Sprint(i), Template: fmt.Sprint(i / 4), Database: fmt.Sprint("db", i%2),
			Difficulty: "easy"}
		o.Score = oneIf(i < 4) // 0..3
		a.Outcomes = append(a.Outcomes, o)
		o.Score = oneIf(i != 0) // 1..7
		b.Outcomes = append(b.Outcomes, o)
	}
	got := testutil.Value(Compare(a, b, Bootstrap{Rounds: 100}))(t)
	if got.A.Value != .5 || got.B.Value != .875 || got.Difference.Value != .375 || got.ByTemplate.Units != 4 {
		t.Errorf("got %+v", got)
	}
	if want := (McNemar{OnlyA: 1, OnlyB: 4, Equal: 3}); got.McNemar != want || got.MidP != want.MidP() {
		t.Errorf("got %+v and %v, want %+v", got.McNemar, got.MidP, want)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}

	b.Contract.Scorer, b.Contract.Limits = "ex_bag", "30s"
	_, err := Compare(a, b, Bootstrap{})
	var differ *ContractError
	if !errors.As(err, &differ) || len(differ.Fields) != 2 {
		t.Fatalf("got %v", err)
	}
	if want := `stats: comparing a with b: contracts differ: scorer: "ex_set", "ex_bag"; limits: "10s", "30s"`; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestCompareEmpty(t *testing.T) {
	got, err := Compare(Condition{}, Condition{}, Bootstrap{})
	if err != nil || got.MidP != 1 || got.Difference != (eval.Estimate{Low: -1, High: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func BenchmarkBootstrapDifference(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{500, 6350} {
		var pairs []Pair
		for i := range n {
			q := eval.Outcome{Question: fmt.Sprint(i % 2000)}
			p := Pair{q, q}
			p.A.Score, p.B.Score = oneIf(r.Float64() < .7), oneIf(r.Float64() < .72)
			pairs = append(pairs, p)
		}
		b.Run(fmt.Sprint("pairs=", n), func(b *testing.B) {
			for b.Loop() {
				Difference(Bootstrap{}, pairs)
			}
		})
	}
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
	if b := got[0]; !nearly(b.Confidence, .05) || b.Right != .25 || b.Low != 0 || b.High != .25 ||
		b.Interval != Wilson(1, 4, .95) {
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
		list []eval.Outcome
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
		got, ok := AUROC(Bootstrap{Rounds: 1}, test.list)
		if ok != test.ok || !nearly(got.Value, test.want) {
			t.Errorf("%s: %v, %v, want %v, %v", test.why, got.Value, ok, test.want, test.ok)
		}
	}
}

func TestRisk(t *testing.T) {
	// Surest first: right, {right, wrong} tied, wrong.
	list := judged(.2, 0, .5, 1, .9, 1, .5, 0)
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
		if r, ok := Risk(Bootstrap{Rounds: 1}, list, test.coverage); !ok || !nearly(r.Value, test.risk) {
			t.Errorf("%s: %v, want %v", test.why, r, test.risk)
		}
	}
	for _, coverage := range []float64{0, -1, 1.5, math.NaN()} {
		if e, ok := Risk(Bootstrap{}, list, coverage); ok {
			t.Errorf("coverage %v gives %+v", coverage, e)
		}
	}
	if _, ok := Risk(Bootstrap{}, nil, .5); ok {
		t.Error("no outcomes give a risk")
	}
}

func TestFolds(t *testing.T) {
	var list []eval.Outcome
	for i := range 1000 {
		list = append(list, eval.Outcome{Question: fmt.Sprint("q", i/2), Pool: fmt.Sprint(i % 2)})
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
		AUROC(Bootstrap{Rounds: 1000}, list)
	}
}

func TestDifferenceOfNothing(t *testing.T) {
	if got, want := Difference(Bootstrap{}, nil), (eval.Estimate{Low: -1, High: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/sqltext"
)

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }

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
	pair := func(a, b float64) Pair { return Pair{A: Outcome{Score: a}, B: Outcome{Score: b}} }
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

// outcomesOf makes outcomes of questions q0, q1, ….
func outcomesOf(values ...float64) []Outcome {
	var list []Outcome
	for i, v := range values {
		list = append(list, Outcome{Question: fmt.Sprint("q", i), Score: v})
	}
	return list
}

// With two units a round draws aa, ab, ba or bb, each with chance 1/4: the mean
// of 0 and 1 is 0, 1/2, 1/2 or 1, and the 95 % interval must be the whole range.
func TestBootstrapTwoUnits(t *testing.T) {
	got := Bootstrap{}.Mean(outcomesOf(0, 1))
	want := Estimate{Value: 0.5, Low: 0, High: 1, N: 2, Units: 2}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// At level 0.4 the cut is 30 % either side, inside of the two halves.
	got = Bootstrap{Level: 0.4}.Mean(outcomesOf(0, 1))
	want = Estimate{Value: 0.5, Low: 0.5, High: 0.5, N: 2, Units: 2}
	if got != want {
		t.Errorf("at level 0.4: got %+v, want %+v", got, want)
	}
}

func TestBootstrapDegenerate(t *testing.T) {
	for _, test := range []struct {
		why  string
		got  Estimate
		want Estimate
	}{
		{"no outcomes", Bootstrap{}.Mean(nil), Estimate{High: 1}},
		{"no pairs", Bootstrap{}.Difference(nil), Estimate{Low: -1, High: 1}},
		{"one outcome cannot vary", Bootstrap{}.Mean(outcomesOf(1)), Estimate{Value: 1, Low: 1, High: 1, N: 1, Units: 1}},
		{"all equal", Bootstrap{}.Mean(outcomesOf(.5, .5, .5)), Estimate{Value: .5, Low: .5, High: .5, N: 3, Units: 3}},
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
	list := []Outcome{
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

func TestPairs(t *testing.T) {
	a := []Outcome{{Question: "x", Score: 1}, {Question: "y", Score: 0}, {Question: "y", Score: 1, Confidence: 1}, {Pool: "p", Question: "x", Score: .5}}
	b := []Outcome{{Pool: "p", Question: "x", Score: .25}, {Question: "y", Score: 1}, {Question: "x", Score: 0}}
	got := need.Value(Pairs(a, b))(t)
	want := []Pair{
		{Outcome{Question: "x", Score: 1}, Outcome{Question: "x", Score: 0}},
		{Outcome{Question: "y", Score: .5, Confidence: .5}, Outcome{Question: "y", Score: 1}},
		{Outcome{Pool: "p", Question: "x", Score: .5}, Outcome{Pool: "p", Question: "x", Score: .25}},
	}
	golden.Equal(t, want, got)

	_, err := Pairs(append(a, Outcome{Question: "only a"}), append(b, Outcome{Pool: "p", Question: "only b"}))
	var unpaired *UnpairedError
	if !errors.As(err, &unpaired) || !slices.Equal(unpaired.OnlyA, []string{"only a"}) || !slices.Equal(unpaired.OnlyB, []string{"p/only b"}) {
		t.Errorf("got %v", err)
	}
	if want := "eval: pairing questions: 1 only in the first (only a), 1 only in the second (p/only b)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Two runs have other names, and two seeds of one model are no further questions.
func TestPairsOfRuns(t *testing.T) {
	a := []Outcome{{Pool: "a seed 1", Question: "x", Score: 1}, {Pool: "a seed 2", Question: "x", Score: 0}}
	b := []Outcome{{Pool: "b", Question: "x", Score: 1}}
	got := need.Value(Pairs(a, b))(t)
	want := []Pair{{Outcome{Question: "x", Score: .5}, Outcome{Question: "x", Score: 1}}}
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
		o := Outcome{Question: fmt.Sprint(i), Template: fmt.Sprint(i / 4), Database: fmt.Sprint("db", i%2), Difficulty: "easy"}
		o.Score = oneIf(i < 4) // 0..3
		a.Outcomes = append(a.Outcomes, o)
		o.Score = oneIf(i != 0) // 1..7
		b.Outcomes = append(b.Outcomes, o)
	}
	got := need.Value(Compare(a, b, Bootstrap{Rounds: 100}))(t)
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
	if want := `eval: comparing a with b: contracts differ: scorer: "ex_set", "ex_bag"; limits: "10s", "30s"`; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestCompareEmpty(t *testing.T) {
	got, err := Compare(Condition{}, Condition{}, Bootstrap{})
	if err != nil || got.MidP != 1 || got.Difference != (Estimate{Low: -1, High: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRates(t *testing.T) {
	list := outcomesOf(1, 0, 1)
	list[0].Database, list[1].Database, list[2].Database = "b", "a", "b"
	got := Rates(list, ByDatabase, Bootstrap{})
	if len(got) != 2 || got[0].Name != "a" || got[0].Score.Value != 0 || got[1].Name != "b" || got[1].Score.Value != 1 || got[1].Score.N != 2 {
		t.Errorf("got %+v", got)
	}
	if got := Rates(nil, ByDatabase, Bootstrap{}); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestGroupings(t *testing.T) {
	o := Outcome{Pool: "p", Question: "q", Template: "t", Database: "d", Difficulty: "x"}
	for _, test := range []struct {
		why  string
		by   Grouping
		want string
	}{
		{"question", ByQuestion, "q"}, {"database", ByDatabase, "d"}, {"difficulty", ByDifficulty, "x"},
		{"a template belongs to its database", ByTemplate, "d\x00t"},
	} {
		if got := test.by(o); got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
	o.Template = ""
	if ByTemplate(o) == ByTemplate(Outcome{Question: "other", Database: "d"}) {
		t.Error("questions without a template share a group")
	}
	d := sqltext.SQLite()
	if GoldTemplate(d, "SELECT a FROM t WHERE b = 'x'") != GoldTemplate(d, "select A from T where B='y';") {
		t.Error("two instances of a pattern have different templates")
	}
}

func BenchmarkBootstrapDifference(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{500, 6350} {
		var pairs []Pair
		for i := range n {
			q := Outcome{Question: fmt.Sprint(i % 2000)}
			p := Pair{q, q}
			p.A.Score, p.B.Score = oneIf(r.Float64() < .7), oneIf(r.Float64() < .72)
			pairs = append(pairs, p)
		}
		b.Run(fmt.Sprint("pairs=", n), func(b *testing.B) {
			for b.Loop() {
				Bootstrap{}.Difference(pairs)
			}
		})
	}
}

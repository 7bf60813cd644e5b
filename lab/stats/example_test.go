package stats_test

import (
	"fmt"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
)

// Two runs over the same ten questions, which come from five patterns.
func ExampleCompare() {
	a, b := stats.Condition{Name: "one draw"}, stats.Condition{Name: "vote of ten"}
	for i, score := range []struct{ a, b float64 }{
		{1, 1}, {1, 1}, {0, 1}, {0, 1}, {1, 1}, {1, 0}, {0, 1}, {0, 1}, {1, 1}, {0, 0},
	} {
		o := eval.Outcome{Question: fmt.Sprint("q", i), Template: fmt.Sprint("t", i/2)}
		o.Score = score.a
		a.Outcomes = append(a.Outcomes, o)
		o.Score = score.b
		b.Outcomes = append(b.Outcomes, o)
	}
	c, err := stats.Compare(a, b, stats.Bootstrap{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f to %.2f: %+.2f [%+.2f, %+.2f], by template [%+.2f, %+.2f]\n",
		c.A.Value, c.B.Value, c.Difference.Value, c.Difference.Low, c.Difference.High, c.ByTemplate.Low, c.ByTemplate.High)
	fmt.Printf("%d against %d: mid-p %.4f\n", c.McNemar.OnlyB, c.McNemar.OnlyA, c.MidP)
	// Output:
	// 0.50 to 0.80: +0.30 [-0.10, +0.70], by template [-0.20, +0.80]
	// 4 against 1: mid-p 0.2188
}

func ExampleMcNemar() {
	m := stats.McNemar{OnlyA: 2, OnlyB: 10}
	fmt.Printf("exact %.4f, mid-p %.4f\n", m.Exact(), m.MidP())
	// Output:
	// exact 0.0386, mid-p 0.0225
}

func ExampleWilson() {
	fmt.Printf("%.3f\n", stats.Wilson(9, 10, 0.95))
	// Output:
	// {0.596 0.982}
}

// Whether a confidence is worth something, and how much may be kept of it.
func ExampleRiskReduction() {
	var outcomes []eval.Outcome
	for i := range 100 { // every second answer is sure; one in ten of those is wrong, and one in two of the others
		o := eval.Outcome{Question: fmt.Sprint(i), Confidence: .9, Score: 1}
		if i%2 == 1 {
			o.Confidence = .4
		}
		if i%20 == 0 || i%4 == 1 {
			o.Score = 0
		}
		outcomes = append(outcomes, o)
	}
	b := stats.Bootstrap{Seed: 1}
	all, _ := stats.Risk(b, outcomes, 1)
	half, _ := stats.Risk(b, outcomes, .5)
	gain, _ := stats.RiskReduction(b, outcomes, .5)
	fmt.Printf("wrong: %.2f of all, %.2f of the surer half\n", all.Value, half.Value)
	fmt.Printf("confidence helps: %v\n", gain.Low > 0)
	// Output:
	// wrong: 0.30 of all, 0.10 of the surer half
	// confidence helps: true
}

func ExampleAUROC() {
	area, ok := stats.AUROC(stats.Bootstrap{Seed: 1}, []eval.Outcome{
		{Question: "a", Confidence: .9, Score: 1},
		{Question: "b", Confidence: .5, Score: 1},
		{Question: "c", Confidence: .5, Score: 0},
		{Question: "d", Confidence: .1, Score: 0},
	})
	fmt.Println(area.Value, ok)
	// Output: 0.875 true
}

// A system that says 0.95 and is right in 7 of 10, and says 0.45 and is right in
// 5 of 10.
func ExampleReliability() {
	var outcomes []eval.Outcome
	for i := range 20 {
		o := eval.Outcome{Question: fmt.Sprint(i), Confidence: .95}
		right := i < 7
		if i >= 10 {
			o.Confidence, right = .45, i < 15
		}
		if right {
			o.Score = 1
		}
		outcomes = append(outcomes, o)
	}
	bins := stats.Reliability(outcomes, 10)
	for _, b := range bins {
		if b.N > 0 {
			fmt.Printf("%.1f to %.1f: said %.2f, right %.2f [%.2f, %.2f]\n", b.Low, b.High, b.Confidence, b.Right,
				b.Interval.Low, b.Interval.High)
		}
	}
	fmt.Printf("ECE %.3f, Brier score %.3f\n", stats.ECE(bins), stats.Brier(outcomes))
	// Output:
	// 0.4 to 0.5: said 0.45, right 0.50 [0.24, 0.76]
	// 0.9 to 1.0: said 0.95, right 0.70 [0.40, 0.89]
	// ECE 0.150, Brier score 0.262
}

// Questions of one pattern are never on both sides of a fit.
func ExampleFolds() {
	outcomes := []eval.Outcome{
		{Question: "a", Template: "SELECT count(*) FROM t0"},
		{Question: "b", Template: "SELECT max(c0) FROM t0"},
		{Question: "c", Template: "SELECT count(*) FROM t0"},
	}
	folds := stats.Folds(outcomes, stats.ByTemplate, 5)
	fmt.Println(folds)
	// Output: [2 3 2]
}

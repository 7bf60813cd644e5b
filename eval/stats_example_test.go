package eval_test

import (
	"encoding/json"
	"fmt"

	"github.com/texttosql/texttosql/eval"
)

// Two runs over the same ten questions, which come from five patterns.
func ExampleCompare() {
	a, b := eval.Condition{Name: "one draw"}, eval.Condition{Name: "vote of ten"}
	for i, score := range []struct{ a, b float64 }{
		{1, 1}, {1, 1}, {0, 1}, {0, 1}, {1, 1}, {1, 0}, {0, 1}, {0, 1}, {1, 1}, {0, 0},
	} {
		o := eval.Outcome{Question: fmt.Sprint("q", i), Template: fmt.Sprint("t", i/2)}
		o.Score = score.a
		a.Outcomes = append(a.Outcomes, o)
		o.Score = score.b
		b.Outcomes = append(b.Outcomes, o)
	}
	c, err := eval.Compare(a, b, eval.Bootstrap{Seed: 1})
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
	m := eval.McNemar{OnlyA: 2, OnlyB: 10}
	chi, p := m.ChiSquared()
	fmt.Printf("exact %.4f, mid-p %.4f, chi² %.2f with p %.4f\n", m.Exact(), m.MidP(), chi, p)
	// Output:
	// exact 0.0386, mid-p 0.0225, chi² 4.08 with p 0.0433
}

func ExampleWilson() {
	fmt.Printf("%.3f\n", eval.Wilson(9, 10, 0.95))
	// Output:
	// {0.596 0.982}
}

// Whether a confidence is worth something, and how much may be kept of it.
func ExampleBootstrap_RiskReduction() {
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
	b := eval.Bootstrap{Seed: 1}
	all, _ := b.Risk(outcomes, 1)
	half, _ := b.Risk(outcomes, .5)
	gain, _ := b.RiskReduction(outcomes, .5)
	fmt.Printf("wrong: %.2f of all, %.2f of the surer half\n", all.Value, half.Value)
	fmt.Printf("confidence helps: %v\n", gain.Low > 0)
	// Output:
	// wrong: 0.30 of all, 0.10 of the surer half
	// confidence helps: true
}

func ExampleAUROC() {
	area, ok := eval.AUROC([]eval.Outcome{
		{Question: "a", Confidence: .9, Score: 1},
		{Question: "b", Confidence: .5, Score: 1},
		{Question: "c", Confidence: .5, Score: 0},
		{Question: "d", Confidence: .1, Score: 0},
	})
	fmt.Println(area, ok)
	// Output: 0.875 true
}

// A calibration is fitted once, saved, and given to strategy.Consensus.
func ExampleIsotonic() {
	var outcomes []eval.Outcome
	for i := range 60 { // unanimous answers are right in 4 of 5, others in 1 of 2
		o := eval.Outcome{Question: fmt.Sprint(i), Confidence: 1}
		if i%2 == 1 {
			o.Confidence = .6
		}
		if i%10 != 0 && i%4 != 1 {
			o.Score = 1
		}
		outcomes = append(outcomes, o)
	}
	c, err := eval.Isotonic{From: "sixty questions"}.Fit(outcomes)
	if err != nil {
		fmt.Println(err)
		return
	}
	saved, _ := json.Marshal(c)
	fmt.Println(string(saved))
	fmt.Println(c.At(.8))
	// Output:
	// {"raw":[0.6,1],"right":[0.5,0.8],"from":"sixty questions","n":60}
	// 0.65
}

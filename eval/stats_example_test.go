package eval_test

import (
	"encoding/json"
	"fmt"

	"github.com/texttosql/texttosql/eval"
)

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

// Forty questions of ten patterns: what varies independently is the pattern, so
// the interval by question is too narrow.
func ExampleBootstrap_Mean() {
	var outcomes []eval.Outcome
	for i := range 40 {
		o := eval.Outcome{Question: fmt.Sprint("q", i), Template: fmt.Sprint("t", i/4)}
		if i/4%5 != 0 { // two patterns are wrong, in all their questions
			o.Score = 1
		}
		outcomes = append(outcomes, o)
	}
	for _, unit := range []eval.Grouping{eval.ByQuestion, eval.ByTemplate} {
		e := eval.Bootstrap{Unit: unit, Seed: 1}.Mean(outcomes)
		fmt.Printf("%.2f [%.2f, %.2f] of %d units\n", e.Value, e.Low, e.High, e.Units)
	}
	// Output:
	// 0.80 [0.68, 0.93] of 40 units
	// 0.80 [0.50, 1.00] of 10 units
}

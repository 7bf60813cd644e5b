package stats_test

import (
	"fmt"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
)

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
	for _, unit := range []stats.Grouping{stats.ByQuestion, stats.ByTemplate} {
		e := stats.Bootstrap{Unit: unit, Seed: 1}.Mean(outcomes)
		fmt.Printf("%.2f [%.2f, %.2f] of %d units\n", e.Value, e.Low, e.High, e.Units)
	}
	// Output:
	// 0.80 [0.68, 0.93] of 40 units
	// 0.80 [0.50, 1.00] of 10 units
}

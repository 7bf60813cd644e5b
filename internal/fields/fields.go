// Package fields checks the numbers in the fields of a configuration.
package fields

import (
	"fmt"
	"math"
	"time"
)

// MaxSamples is the most samples of a question. More are a mistake, and each takes memory before the first is made.
const MaxSamples = 10_000

// Check reports a number that is negative, over most, infinite or no number. The field is named as in
// "strategy: Direct.Shots". most 0 stands for no limit.
func Check[T int | float64 | time.Duration](field string, value, most T) error {
	if value >= 0 && float64(value) <= math.MaxFloat64 && (most == 0 || value <= most) {
		return nil
	}
	want := "or more"
	if most > 0 {
		want = fmt.Sprintf("to %v", most)
	}
	return fmt.Errorf("%s is %v; want 0 (the default) %s", field, value, want)
}

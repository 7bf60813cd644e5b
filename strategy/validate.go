package strategy

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// field is a number that a user of a preset may set; 0 is its default.
type field struct {
	name, text  string
	value, most float64
}

func number[T int | float64 | time.Duration](name string, value T) field {
	return field{name, fmt.Sprint(value), float64(value), math.MaxFloat64}
}

// draws is a number of draws.
func draws(name string, n int) field {
	return field{name, fmt.Sprint(n), float64(n), MaxSamples}
}

// inRange names each field of a preset that is negative, too great or no number.
func inRange(preset string, fields ...field) error {
	var errs []error
	for _, f := range fields {
		if f.value >= 0 && f.value <= f.most {
			continue
		}
		want := "or more"
		if f.most == MaxSamples {
			want = fmt.Sprintf("to %d", MaxSamples)
		}
		errs = append(errs, fmt.Errorf("strategy: %s.%s is %s; want 0 (the default) %s", preset, f.name, f.text, want))
	}
	return errors.Join(errs...)
}

package vote

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// Calibration maps a raw confidence to the chance of being right, by straight
// lines between points. It is fitted elsewhere (package eval, by isotonic
// regression on questions with known answers) and saved as JSON. The zero
// Calibration changes nothing. Safe for concurrent use.
type Calibration struct {
	Raw   []float64 `json:"raw"`   // ascending, in 0..1
	Right []float64 `json:"right"` // not falling, in 0..1; as long as Raw

	// From says what it was fitted on, N on how many questions.
	From string `json:"from,omitempty"`
	N    int    `json:"n,omitempty"` // 0: unknown
}

// At returns the chance of being right for a raw confidence. Outside of the
// points it is that of the nearest one. Use it as Majority.Calibrate. Without
// points, or with lists of different lengths, raw comes back as it is; anything
// else that Validate rejects gives figures without meaning.
func (c Calibration) At(raw float64) float64 {
	n := len(c.Raw)
	if n == 0 || n != len(c.Right) || math.IsNaN(raw) {
		return raw
	}
	i := sort.SearchFloat64s(c.Raw, raw) // the first point at or above raw
	switch {
	case i == 0:
		return c.Right[0]
	case i == n:
		return c.Right[n-1]
	}
	x0, x1 := c.Raw[i-1], c.Raw[i]
	return c.Right[i-1] + (c.Right[i]-c.Right[i-1])*(raw-x0)/(x1-x0)
}

// Validate says what is wrong with a Calibration that was read from a file.
func (c Calibration) Validate() error {
	if len(c.Raw) != len(c.Right) {
		return fmt.Errorf("vote: calibration has %d raw and %d right values", len(c.Raw), len(c.Right))
	}
	var errs []error
	for i := range c.Raw {
		if !(c.Raw[i] >= 0 && c.Raw[i] <= 1) || !(c.Right[i] >= 0 && c.Right[i] <= 1) {
			errs = append(errs, fmt.Errorf("vote: calibration point %d (%v, %v) is not in 0..1", i, c.Raw[i], c.Right[i]))
		} else if i > 0 && (c.Raw[i] <= c.Raw[i-1] || c.Right[i] < c.Right[i-1]) {
			errs = append(errs, fmt.Errorf("vote: calibration point %d does not rise above the one before", i))
		}
	}
	return errors.Join(errs...)
}

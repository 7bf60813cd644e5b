package vote

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// Calibration maps a raw confidence to the chance of being right, by straight lines between points. Package eval fits
// it, by isotonic regression on questions with known answers. It is saved as JSON. The zero Calibration changes
// nothing. Safe for concurrent use.
type Calibration struct {
	Raw   []float64 `json:"raw"`            // raw confidences, ascending, in 0..1
	Right []float64 `json:"right"`          // chance of being right at each of Raw, not falling, in 0..1
	From  string    `json:"from,omitempty"` // what it was fitted on
	N     int       `json:"n,omitempty"`    // number of questions it was fitted on; 0: unknown
}

// At returns the chance of being right for a raw confidence; outside of the points that of the nearest one. Use it as
// Majority.Calibrate. Without points, or with lists of different lengths, it returns raw. Whatever else Validate
// rejects gives figures without meaning.
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

// Validate says what is wrong with a calibration that was read from a file.
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

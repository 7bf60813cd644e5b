package vote

import (
	"math"
	"testing"

	"github.com/texttosql/texttosql/internal/need"
)

func TestCalibration(t *testing.T) {
	c := Calibration{Raw: []float64{0.2, 0.4, 0.8}, Right: []float64{0.1, 0.5, 0.9}}
	need.OK(t, c.Validate())
	for raw, want := range map[float64]float64{0: 0.1, 0.2: 0.1, 0.3: 0.3, 0.4: 0.5, 0.6: 0.7, 0.8: 0.9, 1: 0.9} {
		if got := c.At(raw); math.Abs(got-want) > 1e-12 {
			t.Errorf("At(%v) = %v, want %v", raw, got, want)
		}
	}
	if got := c.At(math.NaN()); !math.IsNaN(got) {
		t.Errorf("NaN stays NaN: %v", got)
	}
	for _, raw := range []float64{0, 0.5, 1} {
		if got := (Calibration{}).At(raw); got != raw {
			t.Errorf("the zero Calibration turns %v into %v", raw, got)
		}
	}
	one := Calibration{Raw: []float64{0.5}, Right: []float64{0.7}}
	if one.At(0) != 0.7 || one.At(1) != 0.7 {
		t.Error("a single point holds everywhere")
	}
	for why, bad := range map[string]Calibration{
		"lengths": {Raw: []float64{1}}, "range": {Raw: []float64{2}, Right: []float64{1}},
		"falling": {Raw: []float64{0.1, 0.2}, Right: []float64{0.9, 0.1}}, "equal": {Raw: []float64{0.1, 0.1}, Right: []float64{0, 1}},
		"NaN": {Raw: []float64{math.NaN()}, Right: []float64{1}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: no error", why)
		}
	}
}

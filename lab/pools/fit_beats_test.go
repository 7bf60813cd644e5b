package pools

import (
	"fmt"
	"slices"
	"testing"
)

// TestBeats: a way of voting is better by one question, by 1 %, and by more than half a standard error, in which the
// questions of one template are one observation.
func TestBeats(t *testing.T) {
	for _, tt := range []struct {
		better, worse, equal int // questions
		unit                 int // questions of one template, in that order
		want                 bool
		why                  string
	}{
		{1, 0, 9, 1, true, "one question: the error is 1, half of it less than the lead"},
		{0, 0, 10, 1, false, "nothing is not better"},
		{1, 2, 9, 1, false, "worse"},
		{3, 1, 96, 1, true, "a lead of 2, an error of 2"},
		{4, 3, 93, 1, false, "a lead of 1, an error of 2.6"},
		{10, 6, 84, 1, true, "a lead of 4, an error of 4: more than half of it"},
		{9, 7, 84, 1, false, "a lead of 2 is half of an error of 4, and not more"},
		{1, 0, 99, 1, true, "1 of 100"},
		{1, 0, 100, 1, false, "1 of 101 is less than 1 %"},
		{8, 6, 86, 2, false, "templates of two: a lead of 2, an error of 5.3"},
		{8, 4, 86, 2, true, "templates of two: a lead of 4, an error of 4.9"},
		{8, 4, 86, 4, true, "templates of four: a lead of 4, an error of 6.9"},
		{16, 12, 70, 4, false, "templates of four: a lead of 4, an error of 10.6"},
	} {
		a := slices.Concat(slices.Repeat([]bool{true}, tt.better), make([]bool, tt.worse+tt.equal))
		b := slices.Concat(make([]bool, tt.better), slices.Repeat([]bool{true}, tt.worse), make([]bool, tt.equal))
		units := make([]string, len(a))
		for i := range units {
			units[i] = fmt.Sprint(i / tt.unit)
		}
		if got := beats(a, b, units); got != tt.want {
			t.Errorf("%d better, %d worse, %d equal in units of %d: %v: %s", tt.better, tt.worse, tt.equal, tt.unit, got, tt.why)
		}
	}
}

package result

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestOverlap(t *testing.T) {
	a := rows(row("x"), row("y"), row("z"))
	tests := []struct {
		name string
		why  string
		e    Equality
		k    int
		a, b *Table
		want float64
	}{
		{"same", "all rows in common", Equality{}, 64, a, rows(row("z"), row("x"), row("y")), 1},
		{"half", "two of four", Equality{}, 64, a, rows(row("x"), row("y"), row("w")), 0.5},
		{"none", "nothing in common", Equality{}, 64, a, rows(row("w")), 0},
		{"columns", "rows of other width are other rows", Equality{}, 64, rows(row("x")), rows(row("x", "x")), 0},
		{"copies", "a bag counts the copy as a row", Equality{}, 64, rows(row("x"), row("x")), rows(row("x")), 0.5},
		{"many copies", "two of three of each of five rows", Equality{}, 64, copies(3), copies(2), 2.0 / 3},
		{"copies, set", "a set does not", Equality{Mode: Set}, 64, rows(row("x"), row("x")), rows(row("x")), 1},
		{"numbers", "equal cells make equal rows", Equality{Digits: 9}, 64, rows(row(0.30000000000000004)), rows(row(0.3)), 1},
		{"empty", "two empty results share no row", Equality{}, 64, &Table{}, &Table{}, 0},
		{"truncated", "rows are missing", Equality{}, 64, &Table{Columns: a.Columns, Rows: a.Rows, Truncated: true}, a, 0},
		{"nil", "no result", Equality{}, 64, nil, a, 0},
		{"one hash", "k is at least 1", Equality{}, 0, a, a, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Overlap(tt.e.Sketch(tt.a, tt.k), tt.e.Sketch(tt.b, tt.k))
			if got != tt.want {
				t.Errorf("overlap %v, want %v: %s", got, tt.want, tt.why)
			}
		})
	}
}

// copies is a table of five rows, each n times.
func copies(n int) *Table {
	t := &Table{Columns: []string{"c"}}
	for i := range 5 * n {
		t.Rows = append(t.Rows, []any{int64(i % 5)})
	}
	return t
}

func TestOverlapEstimate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const k, trials = 64, 200
	worst, sum := 0.0, 0.0
	for range trials {
		shared, own := 500+r.IntN(1500), 1+r.IntN(1500)
		base := r.Int64()
		var a, b Table
		for i := range shared + own {
			v := base + int64(i)
			a.Rows = append(a.Rows, []any{v})
			if i >= own {
				b.Rows = append(b.Rows, []any{v})
			}
		}
		want := float64(shared) / float64(shared+own)
		diff := Overlap(Equality{}.Sketch(&a, k), Equality{}.Sketch(&b, k)) - want
		worst = max(worst, math.Abs(diff))
		sum += diff * diff
	}
	// The doc promises a standard error of about 0.5/√k.
	if se := math.Sqrt(sum / trials); se > 0.6/math.Sqrt(k) {
		t.Errorf("standard error %.3f, want about %.3f", se, 0.5/math.Sqrt(k))
	}
	if worst > 0.25 {
		t.Errorf("worst error %.3f", worst)
	}
}

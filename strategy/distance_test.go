package strategy

import "testing"

func TestEditDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"name", "nmae", 2}, {"product_name", "products_name", 1},
	}
	for _, tt := range tests {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// FuzzEditDistance: a distance is symmetric, at least the difference in length,
// at most the longer length, and 0 for equal texts alone.
func FuzzEditDistance(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 200 || len(b) > 200 {
			t.Skip("the cost is their product")
		}
		d := editDistance(a, b)
		if d != editDistance(b, a) || d < max(len(a)-len(b), len(b)-len(a)) || d > max(len(a), len(b)) || (d == 0) != (a == b) {
			t.Errorf("%q to %q: %d", a, b, d)
		}
	})
}

package result

import "testing"

func TestZero(t *testing.T) {
	for _, tt := range []struct {
		why  string
		rows [][]any
		want bool
	}{
		{"a count of nothing", [][]any{{int64(0)}}, true},
		{"a share of nothing", [][]any{{0.0}}, true},
		{"a count and a sum over nothing", [][]any{{int64(0), nil}}, true},
		{"a count", [][]any{{int64(1)}}, false},
		{"a count beside a zero", [][]any{{int64(0), int64(1)}}, false},
		{"nothing but NULL", [][]any{{nil}}, false},
		{"no rows", nil, false},
		{"groups", [][]any{{int64(0)}, {int64(0)}}, false},
		{"a text", [][]any{{"0"}}, false},
	} {
		if got := (&Table{Rows: tt.rows}).Zero(); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
	if (*Table)(nil).Zero() {
		t.Error("no table")
	}
}

package doubt

import (
	"testing"
	"unicode"
)

// TestStandsAlone: a part of a text that is no piece of a longer number or word.
func TestStandsAlone(t *testing.T) {
	for _, tt := range []struct {
		why, text, part string
		kind            func(rune) bool
		want            bool
	}{
		{"the whole text", "100", "100", unicode.IsDigit, true},
		{"the beginning of a number", "1000", "100", unicode.IsDigit, false},
		{"the end of a number", "2100", "100", unicode.IsDigit, false},
		{"the second time", "1000 > 100", "100", unicode.IsDigit, true},
		{"beside a unit", "100kg", "100", unicode.IsDigit, true},
		{"words in words", "data and beta", "a and b", unicode.IsLetter, false},
		{"words side by side", "types a and b", "a and b", unicode.IsLetter, true},
		{"beside a letter of another alphabet", "öl or gas", "l or gas", unicode.IsLetter, false},
		{"nothing", "100", "", unicode.IsDigit, false},
	} {
		if got := standsAlone(tt.text, tt.part, tt.kind); got != tt.want {
			t.Errorf("%s: %q in %q: %v", tt.why, tt.part, tt.text, got)
		}
	}
}

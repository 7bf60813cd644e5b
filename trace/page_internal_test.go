package trace

import (
	"math"
	"testing"
	"time"
)

func TestDurationText(t *testing.T) {
	tests := map[time.Duration]string{
		0: "0 ms", 1: "0.000 ms", 420 * time.Microsecond: "0.420 ms", 38 * time.Millisecond: "38.0 ms",
		99_949 * time.Microsecond: "99.9 ms", 99_950 * time.Microsecond: "100 ms", 420 * time.Millisecond: "420 ms",
		999_600 * time.Microsecond: "1.00 s", 2750 * time.Millisecond: "2.75 s", 59_994 * time.Millisecond: "59.99 s",
		59_996 * time.Millisecond: "1 min 00 s", 83 * time.Second: "1 min 23 s", 2 * time.Hour: "120 min 00 s",
		-time.Second: "-1.00 s",
	}
	for d, want := range tests {
		if got := durationText(d); got != want {
			t.Errorf("durationText(%d) = %q, want %q", d, got, want)
		}
	}
	durationText(math.MinInt64)
	durationText(math.MaxInt64)
}

func TestVisible(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"plain", "a\n\tb", "a\n\tb"},
		{"overrides show", "a\u202Eb", "a⟨U+202E⟩b"},
		{"carriage return hides what is before it", "a\rb", "a⟨U+000D⟩b"},
		{"line separators look like lines", "a\u2028b", "a⟨U+2028⟩b"},
		{"tag characters", "a\U000E0041", "a⟨U+E0041⟩"},
		{"joiners belong to some scripts", "क्\u200dष", "क्\u200dष"},
		{"no UTF-8", "a\xff", "a\uFFFD"},
	}
	for _, tt := range tests {
		if got := visible(tt.text); got != tt.want {
			t.Errorf("%s: visible(%q) = %q, want %q", tt.why, tt.text, got, tt.want)
		}
	}
}

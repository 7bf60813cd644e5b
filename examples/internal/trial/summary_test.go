package trial

import (
	"testing"
	"time"
)

// TestSummary says for each expectation whether it was met.
func TestSummary(t *testing.T) {
	two := 2
	for _, tt := range []struct {
		item Statement
		v    Verdict
		met  bool
	}{
		{Statement{Expect: "refuse"}, Verdict{Verdict: refused}, true},
		{Statement{Expect: "refuse"}, Verdict{Verdict: failed}, false},
		{Statement{Expect: "accept"}, Verdict{Verdict: answered, Rows: 7}, true},
		{Statement{Expect: "accept", Rows: &two}, Verdict{Verdict: answered, Rows: 2}, true},
		{Statement{Expect: "accept", Rows: &two}, Verdict{Verdict: answered, Rows: 3}, false},
		{Statement{Expect: "accept"}, Verdict{Verdict: failed}, false},
		{Statement{Expect: "survive"}, Verdict{Verdict: answered, Seconds: 1.15}, true},
		{Statement{Expect: "survive"}, Verdict{Verdict: failed, Seconds: 1.16}, false},
		{Statement{Expect: "survive"}, Verdict{Verdict: answered, MiB: 63.9}, true},
		{Statement{Expect: "survive"}, Verdict{Verdict: answered, MiB: 64}, false},
	} {
		var s Summary
		s.Count(tt.item, tt.v, time.Second)
		if (len(s.Unexpected) == 0) != tt.met || s.Expected != 1 {
			t.Errorf("%s, %+v: %+v", tt.item.Expect, tt.v, s)
		}
	}
}

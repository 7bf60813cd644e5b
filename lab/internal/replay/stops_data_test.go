package replay

import (
	"testing"

	"github.com/texttosql/texttosql/vote"
)

// TestStopsReproduceTheReference: samples and right answers of the flat vote by
// result that stops early, in file order.
func TestStopsReproduceTheReference(t *testing.T) {
	type figures struct{ samples, right int }
	tests := []struct {
		pool              string
		k                 int
		full              figures
		decided, by4, by3 figures
	}{
		{"samples/spider_samples_k16", 12, figures{3012, 205}, figures{1803, 205}, figures{1059, 205}, figures{806, 205}},
		{"samples/spider_samples_multi", 8, figures{1960, 163}, figures{1300, 163}, figures{1094, 163}, figures{845, 163}},
		{"classicmodels/base_k3", 12, figures{1188, 65}, figures{900, 65}, figures{732, 65}, figures{622, 65}},
		{"classicmodels/qwen_base_k3", 10, figures{990, 72}, figures{708, 72}, figures{587, 72}, figures{493, 72}},
		{"samples/grok-4-1-fast-non-reasoning_k=12", 12, figures{600, 41}, figures{396, 41}, figures{273, 41}, figures{205, 41}},
	}
	pools := map[string]Pool{}
	for _, p := range reference(t) {
		pools[p.Name] = p
	}
	for _, tt := range tests {
		for _, stop := range []struct {
			name string
			stop vote.Stop
			want figures
		}{
			{"none", nil, tt.full},
			{"decided", vote.Decided, tt.decided},
			{"4 ahead", vote.AheadBy(4).Or(vote.Decided), tt.by4},
			{"3 ahead", vote.AheadBy(3).Or(vote.Decided), tt.by3},
		} {
			var got figures
			for _, q := range pools[tt.pool].Questions {
				ballot, spent, err := countUntil(vote.Majority{}, q.Candidates[:min(tt.k, len(q.Candidates))], stop.stop)
				d, err := q.decision(ballot, spent.Sampled, err)
				if err != nil {
					t.Fatal(err)
				}
				got.samples += spent.Sampled
				got.right += int(d.Score)
			}
			t.Logf("%-42s %-8s %4d samples, %d right", tt.pool, stop.name, got.samples, got.right)
			if d := 100 * (got.samples - stop.want.samples); d > stop.want.samples || d < -stop.want.samples {
				t.Errorf("%s, %s: %d samples, want %d within 1 %%", tt.pool, stop.name, got.samples, stop.want.samples)
			}
			if d := got.right - stop.want.right; d > 1 || d < -1 {
				t.Errorf("%s, %s: %d right, want %d within 1", tt.pool, stop.name, got.right, stop.want.right)
			}
		}
	}
}

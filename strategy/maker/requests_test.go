package maker

import (
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// TestMAKERRequests: our first sample of each phase is greedy, the published ones all have one temperature and go out
// as they are.
func TestMAKERRequests(t *testing.T) {
	for _, tt := range []struct {
		reason    string
		maker     Strategy
		published bool
	}{{"ours", Strategy{}, false}, {"as published", Strategy{}.Published(), true}} {
		script := &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
		testutil.Value(tt.maker.Generate(t.Context(), makerEnv(t, script), usaTask))(t)
		first := map[string]int{}
		for _, req := range script.Requests() {
			if at, seen := first[req.Purpose]; !seen || req.Sample < at {
				first[req.Purpose] = req.Sample
			}
		}
		for _, req := range script.Requests() {
			greedy := *req.Temperature == 0
			if want := !tt.published && req.Sample == first[req.Purpose]; greedy != want || req.Plain != tt.published {
				t.Errorf("%s: sample %d of %s: temperature %v, plain %v", tt.reason, req.Sample, req.Purpose, *req.Temperature,
					req.Plain)
			}
		}
	}
}

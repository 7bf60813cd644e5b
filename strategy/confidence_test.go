package strategy_test

import (
	"errors"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/tracepage"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestConfidenceKnowsWhatWasNoVote: answers that nothing confirms, or that cannot be
// answers, were believed with 0.67 to 1.00 and without a word.
func TestConfidenceKnowsWhatWasNoVote(t *testing.T) {
	const (
		misspelt = `SELECT "nmae" FROM customers`
		one      = "SELECT 1"
		sorry    = "SELECT 'I am sorry, I cannot answer that.'"
		prose    = "I think there are two."
		refused  = "SELECT load_extension('x') FROM customers"
	)
	times := func(n int, reply string) []string { return slices.Repeat([]string{reply}, n) }
	consensus := strategy.Consensus{}
	several := []strategy.Strategy{consensus, strategy.SelfConsistency{},
		strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12}}}
	doubted := func(why string) func(vote.Ballot, vote.Cluster) bool {
		return func(b vote.Ballot, w vote.Cluster) bool { return w.Doubt > 0 && strings.Contains(b.Explain(), why) }
	}
	abstained := func(b vote.Ballot, _ vote.Cluster) bool { return len(b.Abstained) == 11 }
	failed := func(b vote.Ballot, _ vote.Cluster) bool { return b.Missing == 11 }
	single := func(_ vote.Ballot, w vote.Cluster) bool { return len(w.Members) == 1 && w.Repeated == 0 }
	repaired := func(_ vote.Ballot, w vote.Cluster) bool {
		return len(w.Members) == 12 && len(w.Members)-w.Repeated <= 1
	}
	tests := []struct {
		why        string
		strategies []strategy.Strategy
		replies    []string // the last one again and again
		repair     string
		most       float64 // the greatest confidence
		because    func(b vote.Ballot, w vote.Cluster) bool
		warning    string
	}{
		{"a name taken for a string", several, times(12, misspelt), "", 0.56, doubted("taken for a string"), ""},
		{"no table", several, times(12, one), "", 0.56, doubted("no table is read"), ""},
		{"an apology", several, times(12, sorry), "", 0.56, doubted("no table is read"), ""},
		{"a text that no column holds", several, times(12, "SELECT name FROM customers WHERE country = 'Chile'"), "", 0.27,
			doubted("holds none of the texts"), ""},
		{"one sample with SQL of twelve", several, append([]string{usa}, times(11, prose)...), "", 0.15, abstained,
			"one-voter"},
		{"eleven refused of twelve", several, append(times(11, refused), usa), "", 0.15, abstained, "one-voter"},
		{"eleven invalid of twelve", several, append([]string{usa}, times(11, broken)...), "", 0.19, abstained, "one-voter"},
		{"eleven failed calls of twelve", several, append([]string{usa}, times(11, "")...), "", 0.19, failed, "one-voter"},
		{"one voter of one", []strategy.Strategy{strategy.Direct{}, strategy.SelfConsistency{Samples: 1},
			strategy.Consensus{Samples: 1}},
			times(1, usa), "", 0.67, single, ""},
		{"twelve votes of one repair", []strategy.Strategy{consensus}, times(12, broken), usa, 0.19, repaired, ""},
	}
	for _, tt := range tests {
		for _, s := range tt.strategies {
			generate := llmtest.Rule{Purpose: "generate", Replies: llmtest.Texts(tt.replies...),
				Repeat: tt.replies[len(tt.replies)-1] != ""}
			for i, reply := range tt.replies {
				if reply == "" {
					generate.Replies[i] = llmtest.Reply{Err: errors.New("no service")}
				}
			}
			script := &llmtest.Script{Rules: []llmtest.Rule{generate, always("repair", tt.repair)}}
			root := trace.Tracer{}.New("question")
			out, err := s.Generate(trace.NewContext(t.Context(), root), shopEnv(t, script), usaTask)
			root.End()
			if err != nil {
				t.Errorf("%s, %T: %v", tt.why, s, err)
				continue
			}
			if out.Confidence > tt.most+0.005 || !(out.Confidence > 0) || out.Confidence != out.Ballot.Confidence {
				t.Errorf("%s, %T: confidence %.3f, want %.2f at most", tt.why, s, out.Confidence, tt.most)
			}
			explained := out.Ballot.Explain()
			if !tt.because(out.Ballot, out.Ballot.Clusters[0]) {
				t.Errorf("%s, %T: %s", tt.why, s, explained)
			}
			var page strings.Builder
			if err := root.WritePage(&page, tracepage.Page{}, trace.PrivateSQL); err != nil ||
				!strings.Contains(page.String(), html.EscapeString(explained)) {
				t.Errorf("%s, %T: the page does not say %q (%v)", tt.why, s, explained, err)
			}
			if warned := strings.Contains(page.String(), "one-voter"); warned != (tt.warning != "") {
				t.Errorf("%s, %T: warning: %v", tt.why, s, warned)
			}
		}
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestAnswerWarnsOnce: a warning that the closing line has is printed once.
func TestAnswerWarnsOnce(t *testing.T) {
	doubted := vote.Ballot{Sampled: 6, Voted: 6, Confidence: .6, Clusters: []vote.Cluster{{
		Members: []int{0, 1, 2, 3, 4, 5}, Doubt: 1,
		Doubts: []vote.Finding{{Doubt: 1, Detail: "the question says 2024, the statement 2023"}},
	}}}
	res := texttosql.Result{
		SQL: "SELECT 1", Ballot: doubted, Candidates: make([]vote.Candidate, 6),
		Warnings: []trace.Warning{
			{Code: "nothing-changed", Message: "Nothing was changed: this program only reads."},
			{Code: "contradiction-year", Message: "The question says 2024, the statement 2023."},
			{Code: "ties", Message: "the row behind the last one shown is equal in the order"},
		},
	}
	var b strings.Builder
	testutil.OK(t, Answer(&b, &res, Look{Dialect: sqltext.SQLite()}, func(*result.Table) error { return nil }))
	for text, times := range map[string]int{
		"says 2024, the statement 2023": 1, "Nothing was changed": 1, "  warning: the row behind": 1, "warning: ": 1,
		"Nothing was changed: this program only reads. Check this: the question says 2024, the statement 2023.\n": 1,
	} {
		if n := strings.Count(b.String(), text); n != times {
			t.Errorf("%q stands %d times, not %d, in\n%s", text, n, times, b.String())
		}
	}
}

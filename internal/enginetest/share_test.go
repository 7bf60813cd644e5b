package enginetest_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
)

// TestShares: the table of an answer and its summary show a share in percent where the question asks for one.
func TestShares(t *testing.T) {
	const tables = "CREATE TABLE visits(id INTEGER PRIMARY KEY, section TEXT, paid INT);" +
		"INSERT INTO visits VALUES (1, 'a', 1), (2, 'a', 0), (3, 'b', 1), (4, 'b', 1);"
	const quotient = "SELECT section, 1.0 * sum(paid) / count(*) AS x FROM visits GROUP BY section"
	for _, tt := range []struct{ why, question, sql, want, found string }{
		{"a share", "What share of the visits is paid by section?", quotient, "50 %", "b, 100 %; then a, 50 %."},
		{"no share", "How much is paid for a visit of a section?", quotient, "0.50", "b, 1.00; then a, 0.50."},
		{"a percentage by the statement", "What share of the visits is paid by section?",
			strings.Replace(quotient, "1.0", "100.0", 1),
			"50", "b, 100 %; then a, 50 %."},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true, Replies: llmtest.Texts(tt.sql)}}}
		e := testutil.Value(texttosql.New(open(t, tables), model, texttosql.WithStrategy(strategy.Direct{})))(t)
		res := testutil.Value(e.Ask(t.Context(), tt.question))(t)
		text := res.Rows.Texts(1).Text(res.Rows.Rows[0][1])
		golden.Equal(t, tt.want, text, tt.why)
		if !strings.HasSuffix(res.Summary, tt.found) {
			t.Errorf("%s: the summary %q does not end in %q", tt.why, res.Summary, tt.found)
		}
	}
}

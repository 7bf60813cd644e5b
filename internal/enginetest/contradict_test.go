package enginetest_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestContradicted: an answer that says something else than its question is doubted in words, and the words stay out of
// the log.
func TestContradicted(t *testing.T) {
	const norway = "Which customers live in Norway?"
	var logged strings.Builder
	log := texttosql.WithLogger(slog.New(slog.NewTextHandler(&logged, nil)))
	told := func(r *texttosql.Result) (list []string) {
		for _, w := range r.Warnings {
			list = append(list, w.Message)
		}
		return list
	}

	e := engine(t, always(usa), log, texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}}))
	r := testutil.Value(e.Ask(t.Context(), norway))(t)
	if want := "The question says Norway, the statement USA."; r.Confidence > 0.6 || strings.Join(told(r), "") != want {
		t.Errorf("confidence %.2f and warnings %q; want at most .6 and %q", r.Confidence, told(r), want)
	}
	if text := r.Ballot.Explain(); !strings.Contains(text, "the question says Norway") {
		t.Errorf("the vote does not tell the doubt: %s", text)
	}
	if strings.Contains(logged.String(), "Norway") || strings.Contains(logged.String(), "USA") {
		t.Errorf("the log has words of the question:\n%s", logged.String())
	}

	if r := testutil.Value(e.Ask(t.Context(), whoInUSA))(t); r.Confidence < 0.85 || len(r.Warnings) > 0 {
		t.Errorf("the right answer has confidence %.2f and warnings %q", r.Confidence, told(r))
	}
	if r := testutil.Value(e.Generate(t.Context(), norway))(t); r.Confidence > 0.6 || len(r.Warnings) != 1 {
		t.Errorf("without rows: confidence %.2f and warnings %q", r.Confidence, told(r))
	}

	testutil.OK(t, e.Confirm(t.Context(), norway, usa))
	if r := testutil.Value(e.Ask(t.Context(), norway))(t); r.Confidence < 0.85 {
		t.Errorf("what a person confirmed has confidence %.2f and warnings %q", r.Confidence, told(r))
	}
}

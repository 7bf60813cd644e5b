package eval_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestThreshold: the lowest confidence from which on at most so many of the answers are wrong.
func TestThreshold(t *testing.T) {
	of := func(pairs ...float64) (all []eval.Outcome) { // confidence, score
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, eval.Outcome{Confidence: pairs[i], Score: pairs[i+1]})
		}
		return all
	}
	mixed := of(.9, 1, .8, 1, .7, 0, .6, 1, .5, 0)
	for _, tt := range []struct {
		why      string
		outcomes []eval.Outcome
		wrong    int
		least    float64
		coverage float64
		ok       bool
	}{
		{"none wrong", mixed, 0, .8, .4, true},
		{"one wrong", mixed, 1, .6, .8, true},
		{"as many as there are", mixed, 2, .5, 1, true},
		{"equal confidences stand together", of(.9, 1, .9, 0, .5, 1), 0, 0, 0, false},
		{"the surest is wrong", of(.9, 0, .5, 1), 0, 0, 0, false},
		{"all right", of(.9, 1, .1, 1), 0, .1, 1, true},
		{"no outcomes", nil, 3, 0, 0, false},
	} {
		confidence, coverage, ok := eval.Threshold(tt.outcomes, tt.wrong)
		if diff := cmp.Diff([]any{tt.least, tt.coverage, tt.ok}, []any{confidence, coverage, ok}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.why, diff)
		}
	}
}

// TestAnswersConfidence: files of answers may say how sure their system was.
func TestAnswersConfidence(t *testing.T) {
	for text, want := range map[string]float64{
		`{"id": "a", "sql": "SELECT 1", "confidence": 0.75}`: .75, `{"id": "a", "sql": "SELECT 1"}`: 0,
		`{"id": "a", "sql": "SELECT 1", "confidence": 1.5}`: -1, `{"id": "a", "sql": "SELECT 1", "confidence": "sure"}`: -1,
	} {
		path := filepath.Join(t.TempDir(), "answers.jsonl")
		testutil.OK(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		for a, err := range eval.Answers(path) {
			if (err != nil) != (want < 0) || err == nil && a.Confidence != want {
				t.Errorf("%s: %v, %v", text, a.Confidence, err)
			}
		}
	}
}

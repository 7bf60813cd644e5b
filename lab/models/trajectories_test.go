package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

const walked = `{"run": "a", "qid": 4, "steps": [{"thought": "t", "action": "query", "sql": "SELECT x", "ok": false, "text": "Error"}, ` +
	`{"thought": "u", "action": "query", "sql": "SELECT 1", "ok": true, "text": "Success"}, ` +
	`{"thought": "v", "action": "finish", "sql": "SELECT 1"}], "sql": "SELECT 1", "label": 1}
{"run": "b", "qid": "4", "steps": [{"thought": "t", "action": "query", "sql": "SELECT 2", "ok": true, "text": "Success"}], "sql": "SELECT 2"}
`

// written writes a file of trajectories.
func written(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "walks.jsonl")
	testutil.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestTrajectories: a request gets the step that follows those in it, and a warning where its observation is another
// one.
func TestTrajectories(t *testing.T) {
	list := testutil.Value(models.ReadTrajectories(written(t, walked)))(t)
	m := testutil.Value(models.NewTrajectories("walks", list, []models.Question{{ID: "4", Text: "How many?"},
		{ID: "5", Text: "Why?"}}))(t)
	user := func(text string) llm.Message { return llm.Message{Role: llm.User, Text: text} }
	said := llm.Message{Role: llm.Assistant, Text: "Thought: t"}
	asked := user("### Question\nHow many?\n")
	for _, tt := range []struct {
		messages []llm.Message
		sample   int
		want     string // end of the reply; "": not recorded
		diverged bool
		why      string
	}{
		{[]llm.Message{asked}, 0, "query[SELECT x]", false, "the first step"},
		{[]llm.Message{asked, said, user("Observation: Error: x")}, 0, "query[SELECT 1]", false, "the second"},
		{[]llm.Message{asked, said, user("Observation: Success: rows=1")}, 0, "query[SELECT 1]", true,
			"it ran, and did not then"},
		{[]llm.Message{asked, said, user("Observation: Error"), said, user("Observation: Success")}, 0, "finish[SELECT 1]",
			false, "the third"},
		{[]llm.Message{asked, said, user("Observation: Success"), said, user("Observation: Success")}, 0, "finish[SELECT 1]",
			false, "told once, at its step"},
		{[]llm.Message{asked, said, user("Observation: Error"), said, user("Observation: Success"), said,
			user("Observation: x")},
			0, "", false, "no more steps"},
		{[]llm.Message{user("### Question\nWhy?"), said, user("Observation: x\n\n### Question\nHow many?\n")},
			1, "query[SELECT 2]", false, "an example stands before, and it is the other walk"},
		{[]llm.Message{asked}, 2, "", false, "there are two walks"},
		{[]llm.Message{user("### Question\nWhy?")}, 0, "", false, "no walk of this question"},
		{[]llm.Message{user("### Question\nWho?")}, 0, "", false, "an unknown question"},
	} {
		root := trace.Tracer{}.New("call")
		resp, err := m.Complete(trace.NewContext(t.Context(), root), llm.Request{Purpose: "agent.step", Sample: tt.sample,
			Messages: tt.messages})
		if (tt.want == "") != errors.Is(err, models.ErrNotRecorded) || !strings.HasSuffix(resp.Text, tt.want) {
			t.Errorf("%s: %q, %v", tt.why, resp.Text, err)
		}
		if got := len(root.Warnings()) == 1; got != tt.diverged {
			t.Errorf("%s: %v", tt.why, root.Warnings())
		}
	}
	if _, err := m.Complete(t.Context(), llm.Request{Purpose: "generate", Messages: []llm.Message{asked}}); !errors.Is(err,
		models.ErrNotRecorded) {
		t.Errorf("another purpose: %v", err)
	}
}

// TestDiverged: statements are compared in order, those that were not reached aside.
func TestDiverged(t *testing.T) {
	list := testutil.Value(models.ReadTrajectories(written(t, walked)))(t)
	for _, tt := range []struct {
		ran  []bool
		want int
		why  string
	}{
		{nil, -1, "nothing yet"},
		{[]bool{false}, -1, "as stored"},
		{[]bool{false, true}, -1, "all as stored"},
		{[]bool{true}, 0, "the first one"},
		{[]bool{false, false}, 1, "the second one"},
		{[]bool{false, true, true}, 2, "more than are stored"},
	} {
		if got := list[0].Diverged(tt.ran); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.why, got, tt.want)
		}
	}
}

// TestReadTrajectoriesFaults: what is wrong is told with the line.
func TestReadTrajectoriesFaults(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"{", "walks.jsonl:1", "no JSON"},
		{walked + `{"run": "a", "qid": 1}`, "walks.jsonl:3", "no steps"},
	} {
		var fault *fileerr.Questions
		if _, err := models.ReadTrajectories(written(t, tt.text)); !errors.As(err, &fault) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}

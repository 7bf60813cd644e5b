package langchain_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// TestRawReply: what a server sent in place of a reply stands in the trace, where that shows replies, and in no error.
func TestRawReply(t *testing.T) {
	for _, status := range []int{200, 502} {
		for _, w := range wires {
			m := llm.Chain(w.model(t, true, answer(status, "<html><p>internal-host-7</p></html>")), llm.Trace())
			for _, keep := range []trace.Sensitivity{0, trace.PrivatePrompts, trace.PrivateReplies} {
				root := trace.Tracer{Keep: keep}.New("question")
				_, err := m.Complete(trace.NewContext(t.Context(), root), ask("One?"))
				root.End()
				if err == nil || !strings.Contains(err.Error(), "a web page") || strings.Contains(err.Error(), "internal-host-7") {
					t.Errorf("%s, status %d: %v", w.name, status, err)
				}
				text := testutil.Value(root.JSON(keep))(t)
				if got, want := strings.Contains(string(text), "internal-host-7"), keep == trace.PrivateReplies; got != want {
					t.Errorf("%s, status %d, kinds %v: shown %v, want %v\n%s", w.name, status, keep, got, want, text)
				}
			}
		}
	}
}

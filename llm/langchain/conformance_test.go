package langchain_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func TestConformance(t *testing.T) {
	eachWire(t, func(t *testing.T, w wire, ours bool) {
		llmtest.Conformance(t, func(t *testing.T, b llmtest.Behaviour) llm.Model {
			switch b {
			case llmtest.Answers:
				return w.model(t, ours, answer(200, w.reply("SELECT count(*) FROM singer")))
			case llmtest.Empties:
				return w.model(t, ours, answer(200, w.reply("")))
			case llmtest.Fails:
				return w.model(t, ours, answer(400, w.fault("bad request", "")))
			case llmtest.Hangs:
				return w.model(t, ours, func(_ http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				})
			}
			return nil
		})
	})
}

package langchain_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wiretest"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func TestConformance(t *testing.T) {
	eachWire(t, func(t *testing.T, w wire, ours bool) {
		llmtest.Conformance(t, func(t *testing.T, b string) llm.Model {
			switch b {
			case "answers":
				return w.model(t, ours, answer(200, w.reply("SELECT count(*) FROM singer")))
			case "empties":
				return w.model(t, ours, answer(200, w.reply("")))
			case "fails":
				return w.model(t, ours, answer(400, w.fault("bad request", "")))
			case "busy":
				if ours { // else the wait is lost, and Ollama's client loses the status
					return w.model(t, ours, wiretest.Answer(429, "Retry-After: 1", w.fault("busy", "")))
				}
			case "down":
				if ours {
					return w.model(t, ours, answer(503, w.fault("down", "")))
				}
			case "hangs":
				return w.model(t, ours, func(_ http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				})
			}
			return nil
		})
	})
}

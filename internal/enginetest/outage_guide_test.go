package enginetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// ownModel asks the server at url, which returns {"text": "…"}. Without the temperature all samples may be the same
// reply, and the confidence would mean nothing.
func ownModel(url string) llm.Model {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		body, err := json.Marshal(map[string]any{"messages": req.Messages, "temperature": req.Temperature,
			"max_tokens": req.MaxTokens, "stop": req.Stop})
		if err != nil {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Err: err}
		}
		call, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Err: err}
		}
		text, err := send(call)
		if ctx.Err() != nil {
			return llm.Response{}, ctx.Err() // whatever the server says
		}
		return llm.Response{Text: text}, err
	})
}

func send(call *http.Request) (string, error) {
	reply, err := http.DefaultClient.Do(call)
	if err != nil {
		return "", &llm.Error{Class: llm.ClassOverloaded, Err: err}
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		wait, _ := strconv.Atoi(reply.Header.Get("Retry-After")) // 0 without one
		return "", llm.StatusError(reply.StatusCode, time.Duration(wait)*time.Second, nil)
	}
	var out struct{ Text string }
	if err := json.NewDecoder(reply.Body).Decode(&out); err != nil || out.Text == "" {
		return "", &llm.Error{Message: "no text in the reply", Err: err}
	}
	return out.Text, nil
}

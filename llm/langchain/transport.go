package langchain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/texttosql/texttosql/llm/internal/wire"
)

// HTTPClient returns a client for the WithHTTPClient option of a langchaingo provider. For each call it stores what
// langchaingo drops: status, Retry-After and error code of a failed response, and the cause of a broken connection.
// The package comment lists the effects of their loss.
//
// It is a copy of base with a wrapped transport. nil means [http.DefaultClient], which has no time-out: use
// [llm.Timeout]. A reply over 8 MiB is an error; the body of a failed response is cut at 64 KiB. One client serves any
// number of providers. Safe for concurrent use if base is.
func HTTPClient(base *http.Client) *http.Client { return wire.HTTPClient(base) }

// notes is what one call of a client wants of the transport, and what that tells. Its Call travels in the context, so
// that concurrent calls of one client do not mix.
type notes struct {
	*wire.Call
	dropTemperature bool        // the transport takes the temperature out of the request
	topP            float64     // the transport puts it into a request that has none; 0: it does not
	sentTopP        atomic.Bool // the request has a top_p
}

// begin returns the context of a call with notes.
func (n *notes) begin(ctx context.Context) context.Context {
	ctx, n.Call = wire.Begin(ctx)
	if n.dropTemperature || n.topP != 0 {
		n.Edit = n.edited
	}
	return ctx
}

// edited is a body as n asks for. One that is no JSON object stays as it is.
func (n *notes) edited(body []byte) []byte {
	// The clients cannot leave the temperature out. It stands at the top (OpenAI, Anthropic) or among the options
	// (Ollama).
	if n.dropTemperature {
		if changed, ok := deleteKey(body, "temperature"); ok {
			body = changed
		}
	}
	if n.topP != 0 {
		var sent bool
		body, sent = withTopP(body, n.topP)
		n.sentTopP.Store(sent)
	}
	return body
}

// withTopP puts top_p where OpenAI's client drops it: at the top of a request with messages and without options. sent
// says that the request has one, there or where the other clients have theirs.
func withTopP(body []byte, topP float64) (changed []byte, sent bool) {
	var top struct {
		TopP     *float64        `json:"top_p"`
		Messages json.RawMessage `json:"messages"`
		Options  *struct {
			TopP *float64 `json:"top_p"`
		} // Ollama
		Generation *struct{ TopP *float64 } `json:"generationConfig"` // Google
	}
	if json.Unmarshal(body, &top) != nil {
		return body, false
	}
	if top.TopP != nil || top.Options != nil && top.Options.TopP != nil || top.Generation != nil &&
		top.Generation.TopP != nil {
		return body, true
	}
	if top.Messages == nil || top.Options != nil {
		return body, false
	}
	return fmt.Appendf(nil, `{"top_p":%g,%s`, topP, bytes.TrimLeft(body, " \t\r\n{")), true
}

// deleteKey removes key from the object and from its member "options". It returns false for anything but an object.
func deleteKey(object []byte, key string) ([]byte, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return nil, false
	}
	delete(members, key)
	if options, ok := deleteKey(members["options"], key); ok {
		members["options"] = options
	}
	out, err := json.Marshal(members)
	return out, err == nil
}

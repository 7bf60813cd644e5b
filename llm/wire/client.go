package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// ErrEmpty is the cause of a reply without text.
var ErrEmpty = errors.New("the reply is empty")

// Client is an [llm.Model] of a provider's client: everything but the one call. Safe for concurrent use if Send is; the fields
// do not change after its first call.
type Client struct {
	Model string // the model's name
	Key   string // where the key is set, for messages: "OPENAI_API_KEY"
	Base  string // where the address of the server is set, for messages
	Home  string // the provider's own host, which is never asked without a key; "": none

	// Parameters are the provider's names for fields of a request: name, field of [llm.Error.Parameter], name, field, ….
	Parameters []string

	// Send makes one call with its ctx, of a request without empty messages, and maps the reply. It leaves retries,
	// streaming and the reading of errors alone. why is the provider's word for the stop reason. Beside an error resp counts
	// the calls, where Send made more than one.
	Send func(ctx context.Context, call *Call, r Request) (resp llm.Response, why string, err error)
}

// Request is a request with its messages as [Messages] returns them.
type Request struct {
	llm.Request
	System, Turns []Message
}

// Complete makes one call. Its error is an [*llm.Error] that says what to change, or that of ctx once that has ended.
func (c *Client) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := Ended(ctx); err != nil {
		return llm.Response{}, err
	}
	system, turns, err := Messages(req)
	if err != nil {
		return llm.Response{}, err
	}
	var resp llm.Response
	var why string
	call, err := c.do(ctx, func(ctx context.Context, call *Call) (err error) {
		resp, why, err = c.Send(ctx, call, Request{req, system, turns})
		return err
	})
	if err == nil {
		limit := 0
		if req.MaxTokens != nil {
			limit = *req.MaxTokens
		}
		if resp, err = call.Finish(resp, why, limit); err == nil {
			return resp, nil
		}
	}
	call.TellRaw(ctx)
	var failed *llm.Error
	if errors.As(err, &failed) {
		failed.Parameter = c.refused(req, call, failed)
		if n := resp.Usage.Calls; n > 1 && failed.Usage == (llm.Usage{}) { // Send made more than one
			failed.Usage = llm.Usage{Calls: n, Known: failed.Status != 0, Partial: failed.Status == 0}
		}
	}
	return llm.Response{}, err
}

// do makes one call and maps its error. It turns a runtime error of an SDK into an error, because a reply must not end the
// program. Other panics are not about the reply and go on.
func (c *Client) do(ctx context.Context, send func(context.Context, *Call) error) (call *Call, err error) {
	inner, call := Begin(ctx)
	call.home = c.Home
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = call.Failure(fmt.Errorf("the client cannot read the reply: %w", r))
		default:
			panic(r)
		}
		if ended := Ended(ctx); ended != nil {
			err = ended
		}
	}()
	if err = send(inner, call); err == nil {
		return call, nil
	}
	e := call.Failure(err)
	if !call.Sent() {
		e.Class = llm.ClassPermanent // the SDK could not make the request
	}
	e.Message = c.advice(e, call) + e.Message
	return call, e
}

// advice says what to change, before the words of the server. Those may be long, and error texts are cut.
func (c *Client) advice(e *llm.Error, call *Call) string {
	o, op := call.outcome(), (*net.OpError)(nil)
	codes := parseProblem(o.body).codes
	switch {
	case errors.Is(o.err, errNoKey):
		e.Message = "set " + c.Key
		return "the server wants a key: "
	case o.status == http.StatusUnauthorized && len(call.secrets) == 0:
		return "the server wants a key, set " + c.Key + ": "
	case o.status == http.StatusUnauthorized, slices.Contains(codes, "API_KEY_INVALID"):
		return "the server does not know the key, set " + c.Key + " to one of its own: "
	case o.status == http.StatusForbidden:
		return "the key (" + c.Key + ") may not do this: "
	case o.status == http.StatusNotFound && (strings.Contains(e.Message, c.Model) || slices.Contains(codes, "DeploymentNotFound")):
		return "there is no model " + c.Model + " for this key, name another: "
	case o.status == http.StatusNotFound, o.status == http.StatusMethodNotAllowed:
		return "the server has nothing at " + call.url + ", look at " + c.Base + ": "
	case errors.As(o.err, &op) && op.Op == "dial", errors.Is(o.err, errNoURL), strings.HasSuffix(e.Message, "is its address right?"):
		return "look at " + c.Base + ": "
	}
	return ""
}

// refused returns the field of req that the server names as the cause of e.
func (c *Client) refused(req llm.Request, call *Call, e *llm.Error) string {
	if e.Class != llm.ClassPermanent {
		return ""
	}
	has := map[string]bool{
		"temperature": req.Temperature != nil, "top_p": req.TopP != nil, "max_tokens": req.MaxTokens != nil, "seed": req.Seed != nil,
		"stop": len(req.Stop) > 0, "effort": req.Effort != "", "schema": req.Schema != nil,
	}
	for i := 0; i+1 < len(c.Parameters); i += 2 {
		if name, field := c.Parameters[i], c.Parameters[i+1]; has[field] && call.Names(name) {
			return field
		}
	}
	return ""
}

// Names reports whether the last response refuses the parameter of that name: in the field for it, or, from servers that
// have none, at the beginning of the message or as an identifier, which a prompt that is repeated there hardly has.
func (c *Call) Names(name string) bool {
	o := c.outcome()
	if o.status != http.StatusBadRequest && o.status != http.StatusUnprocessableEntity {
		return false
	}
	p := parseProblem(o.body)
	if p.param != "" {
		return p.param == name || strings.HasSuffix(p.param, "."+name)
	}
	if strings.HasPrefix(p.message, name+":") || strings.ContainsAny(name, "_ ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.Contains(p.message, name) {
		return true
	}
	for _, quote := range []string{"'", "`", `"`, `\"`} {
		if strings.Contains(string(o.body), quote+name+quote) {
			return true
		}
	}
	return false
}

// Finish returns the reply of a call that succeeded, or the error of one that says nothing: held back by a filter, without
// room for a word in its limit of tokens (0: unknown), or empty. why is the provider's word for its end.
func (c *Call) Finish(r llm.Response, why string, limit int) (llm.Response, error) {
	r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
	e := &llm.Error{}
	switch {
	case r.StopReason == llm.StopFilter:
		e.Class, e.Message = llm.ClassRefused, fmt.Sprintf("the provider held the reply back (%s)", why)
	case strings.TrimSpace(r.Text) != "":
		return r, nil
	case r.StopReason == llm.StopLength && limit > 0:
		e.Class, e.Message = llm.ClassNoRoom, fmt.Sprintf("the reply is empty: its %d tokens were used up before the first word; allow more", limit)
	case r.StopReason == llm.StopLength:
		e.Class, e.Message = llm.ClassNoRoom, "the reply is empty: its tokens were used up before the first word"
	default:
		e = c.Failure(ErrEmpty)
	}
	if r.Usage.Known {
		e.Usage = r.Usage
	}
	return llm.Response{}, e
}

// TellRaw puts what the server sent into the trace, which shows it only where replies are allowed.
func (c *Call) TellRaw(ctx context.Context) {
	if raw := c.Raw(); len(raw) > 0 {
		trace.From(ctx).Set("raw", trace.Secret{Kind: trace.PrivateReplies, Text: c.withoutKeys(string(raw[:min(len(raw), maxHead)]))})
	}
}

// Embedder makes vectors of texts. It fits memory.Embedder. Its errors are those of [Client.Complete].
type Embedder struct {
	*Client     // Send is not used
	Batch   int // texts a request, at most
	// Embed returns a vector for each text, in their order.
	Embed func(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

// EmbedDocuments returns a vector for each text, in their order.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, texts, false)
}

// EmbedQuery returns the vector of a question.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, []string{text}, true)
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func (e *Embedder) embed(ctx context.Context, texts []string, query bool) (vectors [][]float32, err error) {
	for batch := range slices.Chunk(texts, e.Batch) {
		if err := Ended(ctx); err != nil {
			return nil, err
		}
		var some [][]float32
		call, err := e.do(ctx, func(ctx context.Context, _ *Call) (err error) {
			some, err = e.Embed(ctx, batch, query)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(some) != len(batch) || slices.ContainsFunc(some, func(v []float32) bool { return len(v) == 0 }) {
			return nil, call.Failure(fmt.Errorf("%w: want a vector for each of %d texts", ErrEmpty, len(batch)))
		}
		vectors = append(vectors, some...)
	}
	return vectors, nil
}

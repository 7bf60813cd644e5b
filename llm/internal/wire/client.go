package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// ErrEmpty is the cause of a reply without text.
var ErrEmpty = errors.New("the reply is empty")

// Client is an [llm.Model] of a provider's client: everything but the one call. Safe for concurrent use if Send is; the
// fields do not change after its first call.
type Client struct {
	Model string // the model's name
	Key   string // where the key is set, for messages: "OPENAI_API_KEY"
	Base  string // where the address of the server is set, for messages
	Home  string // the provider's own host, which is never asked without a key; "": none

	// Parameters are the provider's names for fields of a request: name, field of [llm.Error.Parameter], name, field, ….
	Parameters []string

	// Send makes one call with its ctx, of a request without empty messages, and maps the reply. It leaves retries,
	// streaming and the reading of errors alone. why is the provider's word for the stop reason. Beside an error resp
	// counts the calls, where Send made more than one.
	Send func(ctx context.Context, call *Call, r Request) (resp llm.Response, why string, err error)

	folds atomic.Bool // messages of the system go to the user's
}

// Request is a request with its messages as [Messages] returns them.
type Request struct {
	llm.Request
	System, Turns []Message
}

// Complete makes one call, and a second one where the server refuses messages of the system ([Fold]). Its error is an
// [*llm.Error] that says what to change, or that of ctx once that has ended.
func (c *Client) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := Ended(ctx); err != nil {
		return llm.Response{}, err
	}
	return Fold(&c.folds, req, func(req llm.Request) (llm.Response, *Call, error) { return c.attempt(ctx, req) })
}

func (c *Client) attempt(ctx context.Context, req llm.Request) (llm.Response, *Call, error) {
	system, turns, err := Messages(req)
	if err != nil {
		return llm.Response{}, new(Call), err
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
			return resp, call, nil
		}
		e := llm.AsError(err)
		e.Advice = c.advice(e, call)
	}
	call.TellRaw(ctx)
	var failed *llm.Error
	if errors.As(err, &failed) {
		failed.Parameter = c.refused(req, call, failed)
		if n := resp.Usage.Calls; n > 1 && failed.Usage == (llm.Usage{}) { // Send made more than one
			addCalls(failed, n-1)
		}
	}
	return llm.Response{}, call, err
}

// Fold makes a call by ask. Where the server refuses messages of the system, it is made once more, with what they say
// at the beginning of the first message of the user. folds remembers that the model wants this.
func Fold(folds *atomic.Bool, req llm.Request, ask func(llm.Request) (llm.Response, *Call, error)) (llm.Response,
	error) {
	system := slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.System })
	if system && folds.Load() {
		req, system = folded(req), false
	}
	resp, call, err := ask(req)
	if err == nil || !system || !call.RefusesSystem() {
		return resp, err
	}
	failed := llm.AsError(err)
	lost := max(failed.Usage.Calls, 1)
	resp, call, err = ask(folded(req))
	if err == nil {
		folds.Store(true)
		resp.Usage.Calls = max(resp.Usage.Calls, 1) + lost
		return resp, nil
	}
	if errors.As(err, &failed) {
		addCalls(failed, lost)
		if failed.Status != 0 && !call.RefusesSystem() {
			folds.Store(true) // whatever else is wrong
		}
	}
	return llm.Response{}, err
}

// addCalls adds calls to the cost of a failed one.
func addCalls(e *llm.Error, n int) {
	if e.Usage == (llm.Usage{}) {
		e.Usage = llm.Usage{Calls: 1, Known: e.Status != 0, Partial: e.Status == 0}
	}
	e.Usage.Calls += n
}

// folded has what the system says at the beginning of the first message of the user.
func folded(req llm.Request) llm.Request {
	system, turns, err := Messages(req)
	if err != nil {
		return req
	}
	req.Messages, req.CachePrefix = nil, 0
	for _, t := range turns {
		if t.Role == llm.User && system != nil {
			t.Text, system = Joined(system)+"\n\n"+t.Text, nil
		}
		req.Messages = append(req.Messages, t.Message)
	}
	return req
}

// do makes one call and maps its error. It turns a runtime error of an SDK into an error, because a reply must not end
// the program. Other panics are not about the reply and go on.
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
		e.Class = llm.ClassPermanent // the client could not make the request
	}
	e.Advice = c.advice(e, call)
	return call, e
}

// advice says what to change.
func (c *Client) advice(e *llm.Error, call *Call) string {
	o, op := call.outcome(), (*net.OpError)(nil)
	status, p, _ := call.report()
	switch {
	case errors.Is(o.err, errNoKey):
		e.Message = ""
		return "the server wants a key, set " + c.Key
	case errors.Is(e.Err, llmerr.ErrAccount):
		return "look at the balance, the billing and the limits of the key (" + c.Key + ")"
	case e.Class == llm.ClassRefused:
		return ""
	case status == http.StatusUnauthorized && len(call.secrets) == 0:
		return "the server wants a key, set " + c.Key
	case status == http.StatusUnauthorized, slices.Contains(p.codes, "API_KEY_INVALID"):
		return "the server does not know the key, set " + c.Key + " to a valid one"
	case status == http.StatusForbidden:
		return "the key (" + c.Key + ") may not do this"
	case status == http.StatusNotFound && (c.isNamed(e.Message) || slices.Contains(p.codes, "DeploymentNotFound")):
		return "there is no model " + c.Model + " for this key, name another"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status/100 == 3:
		e.Message = "the server has nothing at " + call.url + ": " + e.Message
		return "look at " + c.Base
	case errors.As(o.err, &op) && op.Op == "dial", errors.Is(o.err, errNoURL), strings.HasSuffix(e.Message, addressed):
		return "look at " + c.Base
	}
	return ""
}

// isNamed reports whether the name of the model stands in a text, and not as a part of a word.
func (c *Client) isNamed(text string) bool {
	return regexp.MustCompile(`(?:^|\W)` + regexp.QuoteMeta(c.Model) + `(?:\W|$)`).MatchString(text)
}

// refused returns the field of req that the server names as the cause of e.
func (c *Client) refused(req llm.Request, call *Call, e *llm.Error) string {
	if e.Class != llm.ClassPermanent {
		return ""
	}
	has := map[string]bool{
		"temperature": req.Temperature != nil, "top_p": req.TopP != nil, "max_tokens": req.MaxTokens != nil,
		"seed": req.Seed != nil,
		"stop": len(req.Stop) > 0, "effort": req.Effort != "", "schema": req.Schema != nil,
	}
	for i := 0; i+1 < len(c.Parameters); i += 2 {
		if name, field := c.Parameters[i], c.Parameters[i+1]; has[field] && call.Names(name) {
			return field
		}
	}
	return ""
}

// Finish returns the reply of a call that succeeded, or the error of one that says nothing: held back by a filter,
// without room for a word in its limit of tokens (0: unknown), or empty. why is the provider's word for its end.
func (c *Call) Finish(r llm.Response, why string, limit int) (llm.Response, error) {
	r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
	e := &llm.Error{}
	short := r.StopReason == llm.StopLength && (why == "" || lengths[plain(why)])
	switch {
	case r.StopReason == llm.StopFilter:
		e.Class, e.Message = llm.ClassRefused, fmt.Sprintf("the provider held the reply back (%s)", why)
	case strings.TrimSpace(r.Text) != "":
		return r, nil
	case short && limit > 0:
		e.Class, e.Message = llm.ClassOutOfTokens,
			fmt.Sprintf("the reply is empty: its %d tokens were used up before the first word; allow more", limit)
	case short:
		e.Class, e.Message = llm.ClassOutOfTokens, "the reply is empty: its tokens were used up before the first word"
	default:
		e = c.Failure(ErrEmpty)
		if _, _, reported := c.report(); !reported {
			e.Message += nothingBut(c.Raw())
			if why != "" {
				e.Message += " (the provider's reason: " + why + ")"
			}
		}
	}
	if r.Usage.Known {
		e.Usage = r.Usage
	}
	return llm.Response{}, e
}

// Stop returns what a provider's word for the end of a reply means, in any spelling. A word that is not known to mean
// that the model was done is a cut: such a reply has no vote. No word says nothing.
func Stop(why string) string {
	switch word := plain(why); {
	case word == "", word == "null", word == "none", word == "unspecified":
		return ""
	case ends[word]:
		return llm.StopEnd
	case filters[word]:
		return llm.StopFilter
	}
	return llm.StopLength
}

// plain is a word as the tables below have it.
func plain(why string) string {
	word := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(why))
	return strings.TrimPrefix(word, "finishreason")
}

func words(all string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(all) {
		m[word] = true
	}
	return m
}

var (
	ends = words("stop stopped stopsequence stoptoken stopword end ended endturn endoftext endoftoken eos eostoken eot " +
		"complete completed done finish " +
		"finished success normal toolcall toolcalls tooluse functioncall")
	filters = words("contentfilter contentfiltered refusal guardrailintervened guardrail safety recitation " +
		"prohibitedcontent blocklist spii imagesafety " +
		"modelarmor sensitive moderation blocked")
	lengths = words("length maxtokens maxoutputtokens modellength modelcontextwindowexceeded maxlength contextlength " +
		"tokenlimit limit truncated")
)

// TellRaw puts what the server sent into the trace, which shows it only where replies are allowed.
func (c *Call) TellRaw(ctx context.Context) {
	if raw := c.Raw(); len(raw) > 0 {
		trace.FromContext(ctx).Set("raw", trace.PrivateReplies.Secret(c.withoutKeys(string(raw[:min(len(raw), maxTold)]))))
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

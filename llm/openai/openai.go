// Package openai calls OpenAI's models, and models of any server that speaks OpenAI's protocol:
//
//	engine, err := texttosql.New(db, openai.Model("gpt-5-mini"))
//
// The key and the address come from OPENAI_API_KEY and OPENAI_BASE_URL, or from a [Client]:
//
//	openai.Client{BaseURL: "http://localhost:11434/v1"}.Model("qwen2.5-coder")  // Ollama, vLLM, llama.cpp, …
//	openai.Client{BaseURL: "https://NAME.openai.azure.com/openai/v1", Header: http.Header{"Api-Key": {key}}}.Model("deployment")
//
// The package uses no SDK. It does not retry, so [llm.Retry], budgets and recordings see every call. It sets no
// time-out; [llm.Timeout] does. Only OpenAI itself requires a key. [llm.StatusError] has the classes of failures.
//
// Servers differ, and the client adapts to them. It sends a limit on tokens as max_completion_tokens, which counts
// reasoning too. Servers other than OpenAI's also receive max_tokens, because some ignore one of the two silently and
// others reject the other. If a server rejects this, or system messages, the client repeats the call in another form
// and remembers it; both calls are counted. A reply may be a list of parts, or a stream that nobody requested.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
)

const (
	// home is OpenAI's own server.
	home = "api.openai.com"

	// maxBatch is how many texts go into a request for vectors: a part of the 300,000 tokens that OpenAI takes, for texts
	// of up to 1,000 tokens.
	maxBatch = 256
)

// Client configures where models are called. The zero Client reads OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_ORG_ID and
// OPENAI_PROJECT_ID from the environment when a model is created. With a BaseURL it reads nothing from the environment,
// so that a key is sent only to its own server. A Client is safe for concurrent use.
type Client struct {
	BaseURL string       // the address without /chat/completions; most end in /v1
	Key     string       // sent as a bearer token; "": none
	Header  http.Header  // sent with every request, in place of the client's own headers
	HTTP    *http.Client // nil: http.DefaultClient

	// KeyFrom and BaseFrom name, for messages, the settings for key and address; "": OPENAI_API_KEY, OPENAI_BASE_URL.
	KeyFrom, BaseFrom string
}

// Model returns the model with that name, configured by the environment.
func Model(name string) llm.Model { return Client{}.Model(name) }

// Embedder returns the embedding model with that name ("text-embedding-3-small") as a memory.Embedder, configured by
// the environment.
func Embedder(name string) *wire.Embedder { return Client{}.Embedder(name) }

// Model returns the model with that name; on Azure, the deployment. It does not connect and never fails: the first call
// returns any error. It is safe for concurrent use.
func (c Client) Model(name string) llm.Model {
	m := &model{client: c.ready(), name: name}
	if at, err := url.Parse(m.BaseURL); err == nil && at.Host == home {
		m.as.Store(asNew)
	}
	d := m.described(name)
	d.Send = m.send
	return d
}

// Embedder returns the embedding model with that name as a memory.Embedder.
func (c Client) Embedder(name string) *wire.Embedder {
	ready := c.ready()
	return &wire.Embedder{Client: ready.described(name), Batch: maxBatch, Embed: func(ctx context.Context, texts []string,
		_ bool) ([][]float32, error) {
		var reply struct {
			Data []struct {
				Index     int
				Embedding []float32
			}
		}
		if err := ready.post(ctx, "/embeddings", map[string]any{"model": name, "input": texts}, &reply); err != nil {
			return nil, err
		}
		out := make([][]float32, len(texts))
		for _, e := range reply.Data {
			if e.Index >= 0 && e.Index < len(texts) { // the place of any other stays empty, which is an error
				out[e.Index] = e.Embedding
			}
		}
		return out, nil
	}}
}

// client is a Client with all that it sends.
type client struct {
	Client
	http *http.Client
}

func (c Client) ready() client {
	header := http.Header{}
	if strings.TrimSpace(c.BaseURL) == "" {
		env := func(name string) string { return strings.TrimSpace(os.Getenv(name)) }
		c.BaseURL, c.Key = cmp.Or(env("OPENAI_BASE_URL"), "https://"+home+"/v1"), cmp.Or(c.Key, env("OPENAI_API_KEY"))
		for name, variable := range map[string]string{"OpenAI-Organization": "OPENAI_ORG_ID",
			"OpenAI-Project": "OPENAI_PROJECT_ID"} {
			if value := env(variable); value != "" {
				header.Set(name, value)
			}
		}
	}
	if key := strings.TrimSpace(c.Key); key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	maps.Copy(header, c.Header)
	c.Header, c.KeyFrom, c.BaseFrom = header, cmp.Or(c.KeyFrom, "OPENAI_API_KEY"), cmp.Or(c.BaseFrom, "OPENAI_BASE_URL")
	return client{c, wire.HTTPClient(c.HTTP)}
}

func (c client) post(ctx context.Context, path string, body, out any) error {
	base := strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(c.BaseURL), "/"), "/chat/completions")
	return wire.Post(ctx, c.http, base, path, c.Header, body, out)
}

func (c client) described(name string) *wire.Client {
	return &wire.Client{
		Model: name, Home: home, Key: c.KeyFrom, Base: c.BaseFrom + " (most end in /v1)",
		Parameters: []string{
			"temperature", "temperature", "top_p", "top_p", "top p", "top_p", "seed", "seed", "stop", "stop", "stop sequences",
			"stop",
			"reasoning_effort", "effort", "reasoning.effort", "effort", "reasoning effort", "effort",
			"response_format", "schema", "json_schema", "schema", "structured output", "schema",
			"max_completion_tokens", "max_tokens", "max_tokens", "max_tokens",
		},
	}
}

type model struct {
	client
	name string
	as   atomic.Int32 // how a limit is sent
}

const (
	asBoth   = iota // in both fields
	asNew           // as max_completion_tokens
	asLegacy        // as max_tokens
)

// unknown is how servers refuse a field, rather than its value.
var unknown = regexp.MustCompile(`(?i)unsupported|not supported|unrecognized|unknown|unexpected|not permitted|not allowed|same time`)

func (m *model) send(ctx context.Context, call *wire.Call, r wire.Request) (resp llm.Response, why string, err error) {
	used := m.as.Load()
	reply, err := m.ask(ctx, r, used)
	resp.Usage.Calls = 1
	if err != nil && r.MaxTokens != nil && unknown.Match(call.Raw()) {
		as := used
		switch {
		case call.Names("max_tokens"):
			as = asNew
		case call.Names("max_completion_tokens"):
			as = asLegacy
		}
		if as != used {
			resp.Usage.Calls++
			if reply, err = m.ask(ctx, r, as); err == nil || !call.Names("max_tokens") && !call.Names("max_completion_tokens") {
				m.as.Store(as) // whatever else is wrong
			}
		}
	}
	if err != nil {
		return resp, "", err
	}
	resp.Model, resp.Usage = reply.Model, reply.Usage.usage(resp.Usage.Calls)
	if len(reply.Choices) == 0 {
		return resp, "", nil
	}
	choice := reply.Choices[0]
	resp.Text = cmp.Or(choice.Message.Content.text, choice.Delta.Content.text, choice.Text)
	why = choice.FinishReason
	if resp.StopReason = wire.Stop(why); why == "error" { // of a gateway whose server broke off
		resp.Text = ""
	}
	if refusal := cmp.Or(choice.Message.Refusal, choice.Message.Content.refusal); refusal != "" && resp.Text == "" {
		resp.StopReason, why = llm.StopFilter, "refusal: "+refusal
	}
	return resp, why, nil
}

// request is the body of a request.
type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                *float64       `json:"top_p,omitempty"`
	Seed                *int           `json:"seed,omitempty"`
	Stop                []string       `json:"stop,omitempty"`
	MaxTokens           *int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int           `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	ResponseFormat      map[string]any `json:"response_format,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (m *model) ask(ctx context.Context, r wire.Request, as int32) (out reply, err error) {
	body := request{Model: m.name, Temperature: r.Temperature, TopP: r.TopP, Seed: r.Seed, Stop: r.Stop,
		ReasoningEffort: r.Effort}
	if len(r.System) > 0 { // as one, because templates of open models refuse a second
		body.Messages = append(body.Messages, message{llm.System, wire.Joined(r.System)})
	}
	for _, t := range r.Turns {
		body.Messages = append(body.Messages, message{t.Role, t.Text})
	}
	if as != asNew {
		body.MaxTokens = r.MaxTokens
	}
	if as != asLegacy {
		body.MaxCompletionTokens = r.MaxTokens
	}
	if r.Schema != nil {
		body.ResponseFormat = map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": "reply", "strict": true, "schema": r.Schema},
		}
	}
	if err = m.post(ctx, "/chat/completions", body, &out); err == nil && out.Choices == nil {
		err = wire.ErrForm
	}
	return out, err
}

// reply is the body of a reply.
type reply struct {
	Model   string
	Choices []struct {
		Message struct {
			Content content
			Refusal string
		}
		Delta struct { // of a gateway that sends the whole reply as a part
			Content content
		}
		Text         string // of a server that answers as completions do
		FinishReason string `json:"finish_reason"`
	}
	Usage usage
}

// usage is the cost of a call. Some servers write numbers with a point.
type usage struct {
	Prompt        float64 `json:"prompt_tokens"`
	Completion    float64 `json:"completion_tokens"`
	PromptDetails struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u usage) usage(calls int) llm.Usage {
	if u.PromptDetails.Cached > u.Prompt { // counted apart
		u.Prompt += u.PromptDetails.Cached
	}
	return llm.Usage{
		Calls: calls, PromptTokens: int(u.Prompt), CompletionTokens: int(u.Completion),
		CachedTokens: int(u.PromptDetails.Cached), ReasoningTokens: int(u.CompletionDetails.Reasoning),
		Known: u.Prompt > 0 && u.Completion > 0,
	}
}

// content is the text of a message: one text, or a list of parts. Parts of unknown kinds are left out.
type content struct{ text, refusal string }

func (c *content) UnmarshalJSON(raw []byte) error {
	var parts []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
	} else {
		parts = append(parts, raw)
	}
	for _, part := range parts {
		text, refusal := partOf(part)
		if strings.HasPrefix(text, "```") || strings.HasSuffix(c.text, "```") {
			c.text = strings.TrimRight(c.text, "\n") + "\n" // a fence stays on a line of its own
		}
		c.text, c.refusal = c.text+text, c.refusal+refusal
	}
	c.text = strings.TrimPrefix(c.text, "\n")
	return nil
}

// partOf returns the text of one part of a reply. Parts with reasoning and parts of unknown kinds have no text.
func partOf(raw json.RawMessage) (text, refusal string) {
	var part struct {
		Type    string
		Text    json.RawMessage
		Refusal string
		Thought bool
	}
	if json.Unmarshal(raw, &text) == nil || json.Unmarshal(raw, &part) != nil || part.Thought {
		return text, ""
	}
	switch part.Type {
	case "", "text", "output_text":
		var value struct{ Value string } // of OpenAI's assistants
		if json.Unmarshal(part.Text, &text) != nil && json.Unmarshal(part.Text, &value) == nil {
			text = value.Value
		}
	}
	return text, part.Refusal
}

// Package anthropic calls Anthropic's models:
//
//	engine, err := texttosql.New(db, anthropic.Model("claude-sonnet-4-5"))
//
// The key and the address come from ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL, or from a [Client]. The package uses no
// SDK. It does not retry, so [llm.Retry], budgets and recordings see every call. It sets no time-out; [llm.Timeout]
// does. [llm.StatusError] has the classes of failures.
//
// Anthropic requires a limit on tokens with every call. A request without one is sent with 32,768. If the model
// allows fewer, the client reads its maximum from the error and uses that. The mark of a request's CachePrefix
// becomes a cache_control. A seed is not sent, because Anthropic has none. A temperature over 1, its highest, is sent
// as 1. There are no embeddings. Anthropic's models on AWS and Google Cloud can be called through gateways that speak
// this protocol, or through llm/langchain.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
)

const (
	// home is Anthropic's own server.
	home = "api.anthropic.com"

	// version is the version of the protocol, which every request names.
	version = "2023-06-01"

	// defaultMaxTokens is sent if a request has no limit. It is enough for the reasoning of most questions.
	defaultMaxTokens = 32768
)

// Client configures where models are called. The zero Client reads ANTHROPIC_BASE_URL, and ANTHROPIC_API_KEY or
// ANTHROPIC_AUTH_TOKEN, from the environment when a model is created. With a BaseURL it reads nothing from the
// environment, so that a key is sent only to its own server. A Client is safe for concurrent use.
type Client struct {
	BaseURL string       // the address, with or without /v1
	Key     string       // sent as x-api-key; "": none
	Header  http.Header  // sent with every request, in place of the client's own headers
	HTTP    *http.Client // nil: http.DefaultClient
}

// Model returns the model with that name, configured by the environment.
func Model(name string) llm.Model { return Client{}.Model(name) }

// Model returns the model with that name. It does not connect and never fails: the first call returns any error. It is
// safe for concurrent use.
func (c Client) Model(name string) llm.Model {
	header := http.Header{"Anthropic-Version": {version}}
	if strings.TrimSpace(c.BaseURL) == "" {
		env := func(name string) string { return strings.TrimSpace(os.Getenv(name)) }
		c.BaseURL, c.Key = cmp.Or(env("ANTHROPIC_BASE_URL"), "https://"+home), cmp.Or(c.Key, env("ANTHROPIC_API_KEY"))
		if token := env("ANTHROPIC_AUTH_TOKEN"); token != "" && c.Key == "" {
			header.Set("Authorization", "Bearer "+token)
		}
	}
	if key := strings.TrimSpace(c.Key); key != "" {
		header.Set("X-Api-Key", key)
	}
	maps.Copy(header, c.Header)
	c.Header = header
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(c.BaseURL), "/"), "/v1")
	m := &model{Client: c, http: wire.HTTPClient(c.HTTP), name: name}
	m.most.Store(defaultMaxTokens)
	return &wire.Client{
		Model: name, Home: home, Key: "ANTHROPIC_API_KEY", Base: "ANTHROPIC_BASE_URL",
		Parameters: []string{
			"top_p", "top_p", "temperature", "temperature", "stop_sequences", "stop", "max_tokens", "max_tokens",
			"output_config.effort", "effort", "effort", "effort", "effort parameter", "effort",
			"output_config.format", "schema", "output_config", "schema", "output format", "schema",
		},
		Send: m.send,
	}
}

type model struct {
	Client
	http *http.Client
	name string
	most atomic.Int64 // sent where a request has no limit
}

// tooMany is how Anthropic refuses a limit: "max_tokens: 32768 > 8192, which is the maximum allowed number of …".
var tooMany = regexp.MustCompile(`max_tokens: \d+ (?:>|\\u003e) (\d+)`)

func (m *model) send(ctx context.Context, call *wire.Call, r wire.Request) (resp llm.Response, why string, err error) {
	body := m.request(r)
	reply, err := m.ask(ctx, body)
	resp.Usage.Calls = 1
	if err != nil && r.MaxTokens == nil && call.Names("max_tokens") {
		if found := tooMany.FindSubmatch(call.Raw()); found != nil {
			body.MaxTokens, _ = strconv.ParseInt(string(found[1]), 10, 64)
			m.most.Store(body.MaxTokens)
			resp.Usage.Calls++
			reply, err = m.ask(ctx, body)
		}
	}
	if err != nil {
		return resp, "", err
	}
	var texts []string
	for _, block := range reply.Content {
		if block.Type == "text" && block.Text != "" {
			texts = append(texts, block.Text)
		}
	}
	u := reply.Usage
	resp.Text, resp.Model = strings.Join(texts, "\n"), reply.Model // a fence that ends a block stays on a line of its own
	resp.Usage.PromptTokens = u.Input + u.CacheRead + u.CacheWrite
	resp.Usage.CompletionTokens, resp.Usage.ReasoningTokens = u.Output, u.Details.Thinking
	resp.Usage.CachedTokens, resp.Usage.CacheWriteTokens = u.CacheRead, u.CacheWrite
	resp.Usage.Known = resp.Usage.PromptTokens > 0 && u.Output > 0
	why, resp.StopReason = reply.StopReason, wire.Stop(reply.StopReason)
	if resp.StopReason == llm.StopFilter && reply.StopDetails.Explanation != "" {
		why += ": " + reply.StopDetails.Explanation
	}
	return resp, why, nil
}

func (m *model) ask(ctx context.Context, body request) (out reply, err error) {
	if err = wire.Post(ctx, m.http, m.BaseURL, "/v1/messages", m.Header, body, &out); err == nil && out.Content == nil {
		err = wire.ErrForm
	}
	return out, err
}

// reply is the body of a reply.
type reply struct {
	Model       string
	Content     []struct{ Type, Text string }
	StopReason  string                       `json:"stop_reason"`
	StopDetails struct{ Explanation string } `json:"stop_details"`
	Usage       struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
		Details    struct {
			Thinking int `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
}

// request is the body of a request.
type request struct {
	Model         string         `json:"model"`
	MaxTokens     int64          `json:"max_tokens"`
	System        []block        `json:"system,omitempty"`
	Messages      []message      `json:"messages"`
	Temperature   *float64       `json:"temperature,omitempty"`
	TopP          *float64       `json:"top_p,omitempty"`
	StopSequences []string       `json:"stop_sequences,omitempty"`
	OutputConfig  map[string]any `json:"output_config,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type         string            `json:"type"`
	Text         string            `json:"text"`
	CacheControl map[string]string `json:"cache_control,omitempty"`
}

func blockOf(m wire.Message) block {
	b := block{Type: "text", Text: m.Text}
	if m.Mark {
		b.CacheControl = map[string]string{"type": "ephemeral"}
	}
	return b
}

func (m *model) request(r wire.Request) request {
	body := request{Model: m.name, MaxTokens: m.most.Load(), TopP: r.TopP, StopSequences: r.Stop,
		OutputConfig: map[string]any{}}
	for _, s := range r.System {
		body.System = append(body.System, blockOf(s))
	}
	for _, t := range r.Turns {
		body.Messages = append(body.Messages, message{t.Role, []block{blockOf(t)}})
	}
	if r.MaxTokens != nil {
		body.MaxTokens = int64(*r.MaxTokens)
	}
	if r.Temperature != nil {
		most := min(*r.Temperature, 1)
		body.Temperature = &most
	}
	switch r.Effort {
	case "":
	case "minimal": // a word that Anthropic lacks
		body.OutputConfig["effort"] = "low"
	default:
		body.OutputConfig["effort"] = r.Effort
	}
	var schema map[string]any
	if json.Unmarshal(r.Schema, &schema) == nil && len(schema) > 0 {
		body.OutputConfig["format"] = map[string]any{"type": "json_schema", "schema": schema}
	}
	return body
}

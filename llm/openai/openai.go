// Package openai asks models of OpenAI, and of every server that speaks its protocol, through the official SDK
// (github.com/openai/openai-go):
//
//	engine, err := texttosql.New(db, openai.Model("gpt-5-mini"))
//
// The SDK reads OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID and OPENAI_PROJECT_ID; its options come before them:
//
//	openai.Model("qwen2.5-coder", option.WithBaseURL("http://localhost:11434/v1"))  // Ollama, vLLM, llama.cpp, …
//	openai.Model("deployment", option.WithBaseURL("https://NAME.openai.azure.com/openai/v1"), option.WithHeader("Api-Key", key))
//
// The SDK's packages azure and bedrock have options for the other ways into those clouds. Only OpenAI itself is never asked
// without a key. The SDK's own retries are off, unless an option sets them: [llm.Retry], budgets and recordings see every
// call. A call has no time-out but the SDK's 10 minutes for the head of a reply; [llm.Timeout] sets one. Package wire has
// the classes of failures.
//
// A limit on tokens is sent as max_completion_tokens, which counts reasoning too. Servers that are not OpenAI's are sent
// max_tokens beside it, because some ignore the one without a word and others refuse the other: the first call that is
// refused for this is made twice, and counted so.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/wire"
)

// maxBatch is how many texts go into a request for vectors: a part of the 300,000 tokens that OpenAI takes, for texts of up
// to 1,000 tokens.
const maxBatch = 256

// Model returns the model of that name; on Azure, the deployment. It makes no connection and never fails: what is wrong is
// the error of the first call. Safe for concurrent use.
func Model(name string, options ...option.RequestOption) llm.Model {
	m := &model{chat: client(options).Chat.Completions, name: name}
	c := described(name)
	c.Send = m.send
	return c
}

// Embedder returns the embedding model of that name ("text-embedding-3-small") as a memory.Embedder.
func Embedder(name string, options ...option.RequestOption) *wire.Embedder {
	vectors := client(options).Embeddings
	return &wire.Embedder{Client: described(name), Batch: maxBatch, Embed: func(ctx context.Context, texts []string, _ bool) ([][]float32, error) {
		reply, err := vectors.New(ctx, openai.EmbeddingNewParams{
			Model: name, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
		})
		if err != nil {
			return nil, err
		}
		out := make([][]float32, len(texts))
		for _, e := range reply.Data {
			if e.Index < 0 || e.Index >= int64(len(texts)) {
				continue // its place stays empty, which is an error
			}
			v := make([]float32, len(e.Embedding))
			for i, f := range e.Embedding {
				v[i] = float32(f)
			}
			out[e.Index] = v
		}
		return out, nil
	}}
}

func client(options []option.RequestOption) openai.Client {
	all := append([]option.RequestOption{option.WithMaxRetries(0)}, options...)
	return openai.NewClient(append(all, option.WithMiddleware(both, wire.RoundTrip))...) // the last ones, which see what is sent
}

// home is OpenAI's own server.
const home = "api.openai.com"

type bothKey struct{}

// both adds max_tokens to a request that is not for OpenAI itself.
func both(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	if n, ok := r.Context().Value(bothKey{}).(int); ok && r.URL.Host != home {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = fmt.Appendf(nil, `{"max_tokens":%d,%s`, n, bytes.TrimPrefix(body, []byte("{")))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return next(r)
}

func described(name string) *wire.Client {
	return &wire.Client{
		Model: name, Home: home,
		Key:  "OPENAI_API_KEY or option.WithAPIKey",
		Base: "OPENAI_BASE_URL or option.WithBaseURL (most end in /v1)",
		Parameters: []string{
			"temperature", "temperature", "top_p", "top_p", "seed", "seed", "stop", "stop",
			"reasoning_effort", "effort", "reasoning.effort", "effort", "response_format", "schema", "json_schema", "schema",
			"max_completion_tokens", "max_tokens", "max_tokens", "max_tokens",
		},
	}
}

type model struct {
	chat openai.ChatCompletionService
	name string
	as   atomic.Int32 // how a limit is sent
}

const (
	asBoth   = iota // in both fields, but to OpenAI
	asNew           // as max_completion_tokens
	asLegacy        // as max_tokens
)

// unknown is how servers refuse a field, rather than its value.
var unknown = regexp.MustCompile(`(?i)unsupported|not supported|unrecognized|unknown|unexpected|not permitted|not allowed|same time`)

func (m *model) send(ctx context.Context, call *wire.Call, r wire.Request) (resp llm.Response, why string, err error) {
	params := m.params(r)
	used := m.as.Load()
	reply, err := m.ask(ctx, params, r, used)
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
			if reply, err = m.ask(ctx, params, r, as); err == nil || !call.Names("max_tokens") && !call.Names("max_completion_tokens") {
				m.as.Store(as) // whatever else is wrong
			}
		}
	}
	if err != nil {
		return resp, "", err
	}
	u := reply.Usage
	resp.Model, resp.Usage = reply.Model, llm.Usage{
		Calls: resp.Usage.Calls, PromptTokens: int(u.PromptTokens), CompletionTokens: int(u.CompletionTokens),
		CachedTokens: int(u.PromptTokensDetails.CachedTokens), ReasoningTokens: int(u.CompletionTokensDetails.ReasoningTokens),
		Known: u.PromptTokens > 0 && u.CompletionTokens > 0,
	}
	if len(reply.Choices) == 0 {
		return resp, "", nil
	}
	choice := reply.Choices[0]
	resp.Text, why = choice.Message.Content, choice.FinishReason
	switch why {
	case "stop":
		resp.StopReason = llm.StopEnd
	case "length":
		resp.StopReason = llm.StopLength
	case "content_filter":
		resp.StopReason = llm.StopFilter
	case "error": // of a gateway whose server broke off
		resp.Text = ""
	}
	if choice.Message.Refusal != "" && resp.Text == "" {
		resp.StopReason, why = llm.StopFilter, "refusal: "+choice.Message.Refusal
	}
	return resp, why, nil
}

// params is a request but for its limit.
func (m *model) params(r wire.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: m.name, ReasoningEffort: shared.ReasoningEffort(r.Effort)}
	if len(r.System) > 0 { // as one, because templates of open models refuse a second
		p.Messages = append(p.Messages, openai.SystemMessage(wire.Joined(r.System)))
	}
	for _, t := range r.Turns {
		if t.Role == llm.Assistant {
			p.Messages = append(p.Messages, openai.AssistantMessage(t.Text))
		} else {
			p.Messages = append(p.Messages, openai.UserMessage(t.Text))
		}
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	if r.TopP != nil {
		p.TopP = openai.Float(*r.TopP)
	}
	if r.Seed != nil {
		p.Seed = openai.Int(int64(*r.Seed))
	}
	if len(r.Stop) > 0 {
		p.Stop.OfStringArray = r.Stop
	}
	if r.Schema != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "reply", Schema: json.RawMessage(r.Schema), Strict: openai.Bool(true)},
		}
	}
	return p
}

func (m *model) ask(ctx context.Context, p openai.ChatCompletionNewParams, r wire.Request, as int32) (*openai.ChatCompletion, error) {
	switch {
	case r.MaxTokens == nil:
	case as == asLegacy:
		p.MaxTokens = openai.Int(int64(*r.MaxTokens))
	default:
		p.MaxCompletionTokens = openai.Int(int64(*r.MaxTokens))
		if as == asBoth {
			ctx = context.WithValue(ctx, bothKey{}, *r.MaxTokens)
		}
	}
	return m.chat.New(ctx, p)
}

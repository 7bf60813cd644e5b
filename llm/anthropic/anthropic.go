// Package anthropic asks models of Anthropic through the official SDK (github.com/anthropics/anthropic-sdk-go):
//
//	engine, err := texttosql.New(db, anthropic.Model("claude-sonnet-4-5"))
//
// The SDK reads ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and its other sources of credentials; its options come before them
// (option.WithAPIKey, package bedrock of the SDK for AWS, package vertex for Google Cloud). Its own retries are off, unless
// an option sets them: [llm.Retry], budgets and recordings see every call. A call may take an hour, unless
// option.WithRequestTimeout or [llm.Timeout] ends it before. Package wire has the classes of failures.
//
// Anthropic wants a limit on tokens with every call. A request without one is sent with 32,768, or with what the model takes
// at most, learnt from its refusal. The mark of a request's CachePrefix becomes a cache_control. A seed is not sent, since
// Anthropic has none, and a temperature over 1, its highest, is sent as 1. There are no embeddings.
package anthropic

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/wire"
)

// defaultMaxTokens is what is sent where a request has no limit: room for the reasoning of most questions.
const defaultMaxTokens = 32768

// Model returns the model of that name. It makes no connection and never fails: what is wrong is the error of the first
// call. Safe for concurrent use.
func Model(name string, options ...option.RequestOption) llm.Model {
	// Without a time-out of its own the SDK refuses more than 21,333 tokens that are not streamed.
	all := append([]option.RequestOption{option.WithMaxRetries(0), option.WithRequestTimeout(time.Hour)}, options...)
	all = append(all, option.WithMiddleware(wire.RoundTrip)) // the last one, so that it sees what is sent
	m := &model{messages: anthropic.NewClient(all...).Messages, name: name}
	m.most.Store(defaultMaxTokens)
	return &wire.Client{
		Model: name, Home: "api.anthropic.com",
		Key:  "ANTHROPIC_API_KEY or option.WithAPIKey",
		Base: "ANTHROPIC_BASE_URL or option.WithBaseURL (without /v1)",
		Parameters: []string{
			"top_p", "top_p", "temperature", "temperature", "stop_sequences", "stop", "max_tokens", "max_tokens",
			"output_config.effort", "effort", "effort", "effort", "effort parameter", "effort",
			"output_config.format", "schema", "output_config", "schema", "output format", "schema",
		},
		Send: m.send,
	}
}

type model struct {
	messages anthropic.MessageService
	name     string
	most     atomic.Int64 // sent where a request has no limit
}

// tooMany is how Anthropic refuses a limit: "max_tokens: 32768 > 8192, which is the maximum allowed number of …".
var tooMany = regexp.MustCompile(`max_tokens: \d+ (?:>|\\u003e) (\d+)`)

func (m *model) send(ctx context.Context, call *wire.Call, r wire.Request) (resp llm.Response, why string, err error) {
	params := m.params(r)
	reply, err := m.messages.New(ctx, params)
	resp.Usage.Calls = 1
	if err != nil && r.MaxTokens == nil && call.Names("max_tokens") {
		if found := tooMany.FindSubmatch(call.Raw()); found != nil {
			most, _ := strconv.ParseInt(string(found[1]), 10, 64)
			m.most.Store(most)
			params.MaxTokens = most
			resp.Usage.Calls++
			reply, err = m.messages.New(ctx, params)
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
	resp.Usage.PromptTokens = int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens)
	resp.Usage.CompletionTokens, resp.Usage.ReasoningTokens = int(u.OutputTokens), int(u.OutputTokensDetails.ThinkingTokens)
	resp.Usage.CachedTokens, resp.Usage.CacheWriteTokens = int(u.CacheReadInputTokens), int(u.CacheCreationInputTokens)
	resp.Usage.Known = resp.Usage.PromptTokens > 0 && u.OutputTokens > 0
	switch why = string(reply.StopReason); reply.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		resp.StopReason = llm.StopEnd
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		resp.StopReason = llm.StopLength
	case anthropic.StopReasonRefusal:
		resp.StopReason = llm.StopFilter
		if reply.StopDetails.Explanation != "" {
			why += ": " + reply.StopDetails.Explanation
		}
	}
	return resp, why, nil
}

func (m *model) params(r wire.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: m.name, MaxTokens: m.most.Load(), StopSequences: r.Stop}
	for _, s := range r.System {
		block := anthropic.TextBlockParam{Text: s.Text}
		if s.Mark {
			block.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		p.System = append(p.System, block)
	}
	for _, t := range r.Turns {
		block := anthropic.NewTextBlock(t.Text)
		if t.Mark {
			block.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		if t.Role == llm.Assistant {
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(block))
		} else {
			p.Messages = append(p.Messages, anthropic.NewUserMessage(block))
		}
	}
	if r.MaxTokens != nil {
		p.MaxTokens = int64(*r.MaxTokens)
	}
	if r.Temperature != nil {
		p.Temperature = anthropic.Float(min(*r.Temperature, 1))
	}
	if r.TopP != nil {
		p.TopP = anthropic.Float(*r.TopP)
	}
	switch r.Effort {
	case llm.EffortMinimal: // a word that Anthropic lacks
		p.OutputConfig.Effort = anthropic.OutputConfigEffortLow
	default:
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(r.Effort)
	}
	var schema map[string]any
	if json.Unmarshal(r.Schema, &schema) == nil && len(schema) > 0 {
		p.OutputConfig.Format.Schema = schema
	}
	return p
}

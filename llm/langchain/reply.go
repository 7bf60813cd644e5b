package langchain

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
	"github.com/tmc/langchaingo/llms"
)

// response reads the outcome of a call that the client takes for a success.
func response(out *llms.ContentResponse, maxTokens int, n *notes) (llm.Response, error) {
	var choices []*llms.ContentChoice
	if out != nil {
		choices = slices.DeleteFunc(slices.Clone(out.Choices), func(c *llms.ContentChoice) bool { return c == nil })
	}
	if len(choices) == 0 {
		return llm.Response{}, n.Failure(wire.ErrEmpty)
	}
	// The clients copy usage and stop reason to every choice.
	resp := llm.Response{
		Text:       textOf(choices),
		StopReason: wire.Stop(choices[0].StopReason),
		Usage:      usageOf(choices[0].GenerationInfo),
	}
	if resp.StopReason == "" && resp.Usage.CompletionTokens >= maxTokens {
		resp.StopReason = llm.StopLength // Ollama's client gives no reason
	}
	return n.Finish(resp, choices[0].StopReason, maxTokens)
}

// textOf returns the reply. The choices of Anthropic's client, which alone names its tokens so, are the blocks of one
// reply; blocks of thinking have no text. The choices of other clients are alternatives, and the request asked for one.
func textOf(choices []*llms.ContentChoice) string {
	if _, blocks := choices[0].GenerationInfo["InputTokens"]; !blocks {
		return choices[0].Content
	}
	var texts []string
	for _, c := range choices {
		if c.Content != "" {
			texts = append(texts, c.Content)
		}
	}
	return strings.Join(texts, "\n") // a fence that ends a block stays on a line of its own
}

// usageOf reads the tokens of one call from the information of a choice. They are known if both counts are above 0. The
// clients write 0 for a count that the provider left out.
func usageOf(info map[string]any) llm.Usage {
	if usage, ok := info["usage"]; ok { // Mistral's client: a struct
		info = fieldsOf(usage)
	}
	u := llm.Usage{
		Calls:            1,
		CachedTokens:     firstCount(info, "PromptCachedTokens", "CacheReadInputTokens"),
		CacheWriteTokens: firstCount(info, "CacheCreationInputTokens"),
		ReasoningTokens:  firstCount(info, "ReasoningTokens", "ThinkingTokens"),
		PromptTokens:     firstCount(info, "PromptTokens", "InputTokens", "input_tokens"),
		CompletionTokens: firstCount(info, "CompletionTokens", "OutputTokens", "output_tokens"),
	}
	if _, ok := info["InputTokens"]; ok {
		// Anthropic counts tokens that it reads from or writes to its prompt cache apart.
		u.PromptTokens += u.CachedTokens + u.CacheWriteTokens
	}
	u.Known = u.PromptTokens > 0 && u.CompletionTokens > 0
	return u
}

func firstCount(info map[string]any, keys ...string) int {
	for _, key := range keys {
		if n := count(info[key]); n > 0 {
			return n
		}
	}
	return 0
}

// count returns v as a number of tokens; 0 if it is none.
func count(v any) int {
	const most = math.MaxInt32
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return int(min(max(r.Int(), 0), most))
	case r.CanUint():
		return int(min(r.Uint(), most))
	case r.CanFloat() && r.Float() > 0 && r.Float() < most: // false for NaN
		return int(r.Float())
	}
	return 0
}

// fieldsOf returns the exported fields of a struct or of a pointer to one; nil for any other value.
func fieldsOf(v any) map[string]any {
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return nil
	}
	fields := make(map[string]any, r.NumField())
	for f, value := range r.Fields() {
		if f.IsExported() {
			fields[f.Name] = value.Interface()
		}
	}
	return fields
}

package langchain

import (
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
	"github.com/tmc/langchaingo/llms"
)

// messagesOf returns the messages of a request as langchaingo takes them: one text part a message, because Ollama
// refuses two, and all system messages joined into the first, because Anthropic's client joins them without a space.
func messagesOf(req llm.Request) ([]llms.MessageContent, error) {
	system, turns, err := wire.Messages(req)
	if err != nil {
		return nil, err
	}
	var out []llms.MessageContent
	if len(system) > 0 {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, wire.Joined(system)))
	}
	for _, m := range turns {
		role := llms.ChatMessageTypeHuman
		if m.Role == llm.Assistant {
			role = llms.ChatMessageTypeAI
		}
		out = append(out, llms.TextParts(role, m.Text))
	}
	return out, nil
}

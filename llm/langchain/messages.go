package langchain

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/tmc/langchaingo/llms"
)

// messagesOf returns in as langchaingo takes it:
//   - one text part a message, because Ollama refuses two;
//   - all system messages joined into the first message, because Anthropic's client joins them without a space;
//   - no empty message, which Anthropic refuses;
//   - at least one message of the user, without which Google refuses.
func messagesOf(in []llm.Message) ([]llms.MessageContent, error) {
	var system []string
	var turns []llms.MessageContent
	user := false
	for _, m := range in {
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		switch m.Role {
		case llm.System:
			system = append(system, m.Text)
		case llm.User:
			user = true
			turns = append(turns, llms.TextParts(llms.ChatMessageTypeHuman, m.Text))
		case llm.Assistant:
			turns = append(turns, llms.TextParts(llms.ChatMessageTypeAI, m.Text))
		default:
			return nil, &llm.Error{Class: llm.ClassPermanent, Message: fmt.Sprintf("a message has the unknown role %q", m.Role)}
		}
	}
	if !user {
		return nil, &llm.Error{Class: llm.ClassPermanent, Message: "the request has no user message with text"}
	}
	if len(system) == 0 {
		return turns, nil
	}
	first := llms.TextParts(llms.ChatMessageTypeSystem, strings.Join(system, "\n\n"))
	return append([]llms.MessageContent{first}, turns...), nil
}

package wire

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/llm"
)

// Message is one message of a request. Mark says that a prompt cache ends with it.
type Message struct {
	llm.Message
	Mark bool
}

// Messages returns the messages of a request as every provider takes them: those of the system apart, none that is
// empty, which Anthropic refuses, and at least one of the user, without which Google refuses. Its error is an
// [*llm.Error].
func Messages(req llm.Request) (system, turns []Message, err error) {
	user := false
	for i, m := range req.Messages {
		if i == req.CachePrefix && i > 0 {
			mark(system, turns)
		}
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		switch m.Role {
		case llm.System:
			system = append(system, Message{Message: m})
			continue
		case llm.User:
			user = true
		case llm.Assistant:
		default:
			return nil, nil, &llm.Error{Class: llm.ClassPermanent, Message: fmt.Sprintf("a message has the unknown role %q",
				m.Role)}
		}
		turns = append(turns, Message{Message: m})
	}
	if req.CachePrefix >= len(req.Messages) {
		mark(system, turns)
	}
	if !user {
		return nil, nil, &llm.Error{Class: llm.ClassPermanent, Message: "the request has no user message with text"}
	}
	return system, turns, nil
}

// mark marks the last of the messages so far; those of the system come first wherever they stood.
func mark(system, turns []Message) {
	for _, messages := range [][]Message{turns, system} {
		if n := len(messages); n > 0 {
			messages[n-1].Mark = true
			return
		}
	}
}

// Joined returns the texts of messages with an empty line between them.
func Joined(messages []Message) string {
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, "\n\n")
}

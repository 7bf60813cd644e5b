package prompttext

import (
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// OneLine returns a text from outside as one line without control characters, code fences, and the marks by which chat
// templates separate turns (<|im_start|>, [INST]).
func OneLine(text string) string { return words.Inert(words.Line(text)) }

// AnswerText returns a reply without the reasoning in front of it, which ends at the last </think>, or as other models
// mark it.
func AnswerText(reply string) string {
	reply, _ = words.AfterReasoning(reply)
	return strings.TrimSpace(strings.ReplaceAll(reply, "\r\n", "\n"))
}

// ErrorLine returns the first line of an engine's message as a prompt may show it: an [OneLine] of at most 300 runes.
// With mask it replaces each quoted part, because engines quote stored values.
func ErrorLine(message string, mask bool) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	line = OneLine(line)
	if mask {
		line = maskQuoted(line)
	}
	if runes := []rune(line); len(runes) > 300 {
		line = string(runes[:300])
	}
	return line
}

// maskQuoted replaces what stands in quotes.
func maskQuoted(line string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(line, `'"`)
		if i < 0 {
			break
		}
		j := strings.IndexByte(line[i+1:], line[i])
		if j < 0 {
			b.WriteString(line[:i] + "…")
			return b.String()
		}
		b.WriteString(line[:i] + "…")
		line = line[i+j+2:]
	}
	b.WriteString(line)
	return b.String()
}

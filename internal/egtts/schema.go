package egtts

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// PublishedPrompt is the one user message of galah92/egtts: schema, question and hint, one line each, then what is
// wanted. Ours also has corrections and earlier questions behind the hint, where there are some.
func PublishedPrompt(schemaText string, t strategy.Task, want string) []llm.Message {
	text := schemaText + "\n\nQuestion: " + prompttext.OneLine(t.Question) + "\n"
	if evidence := prompttext.OneLine(t.Evidence); evidence != "" {
		text += "Hint: " + evidence + "\n"
	}
	for _, line := range t.Constraints() {
		text += "Correction: " + line + "\n"
	}
	for _, e := range t.Recent() {
		text += "Earlier question: " + prompttext.OneLine(e.Question) + "\nIts query: " + prompttext.OneLine(e.SQL) + "\n"
	}
	return []llm.Message{{Role: llm.User, Text: text + "\n" + want}}
}

// PublishedSchema writes s for the prompt of a sample as M10 does: the CREATE texts by name of the table, each with up
// to three rows behind it, names and texts as they are. A text over 8,000 characters has no row at all, and views are
// left out. Unlike the source it lets no value leave its line. The error is ctx.Err().
func PublishedSchema(ctx context.Context, env *strategy.Env, s *schema.Schema, sample int) (string, error) {
	return AugmentedPrompt{Published: true}.Schema(ctx, env, s, sample)
}

// publishedText writes a text in single quotes that are not doubled, more inside the quotes.
// Unlike in the source no value leaves its line: control characters become a blank, format characters and bytes that
// are no UTF-8 go.
func publishedText(text, more string) string {
	return "'" + strings.Map(func(r rune) rune {
		switch {
		case r < 0x20 || 0x7F <= r && r < 0xA0 || r == '\u2028' || r == '\u2029':
			return ' '
		case words.Hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")) + more + "'"
}

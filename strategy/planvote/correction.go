package planvote

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// correction is a Prompter that adds a section on earlier attempts to the last message of another one.
type correction struct {
	Prompter strategy.Prompter // writes at least one message
	// SQL and Problem are shown, quoted text masked where values may not be; none: nothing is added
	Tried []strategy.Step
}

// Prompt writes the messages.
func (c correction) Prompt(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	messages, err := c.Prompter.Prompt(ctx, env, in)
	if err != nil || len(c.Tried) == 0 {
		return messages, err
	}
	var b strings.Builder
	last := &messages[len(messages)-1]
	b.WriteString(strings.TrimRight(last.Text, "\n") + "\n\n### Earlier attempts\nThese statements do not answer the " +
		"question. Write a different one.\n")
	for _, s := range c.Tried {
		// On one line each, so that nothing in them looks like a section of ours.
		b.WriteString("Statement: " + prompttext.OneLine(s.SQL) + "\nProblem: " + env.ErrorLine(s.Problem) + "\n")
	}
	last.Text = b.String()
	return messages, nil
}

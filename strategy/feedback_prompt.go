package strategy

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/llm"
)

// Attempt is a statement that was tried and what was wrong with it.
type Attempt struct {
	SQL     string // the statement that did not do
	Problem string // one line; what is quoted in it is masked where values may not be shown

	votes int
}

// Feedback is a Prompter that adds a section on earlier attempts to the last
// message of another one.
type Feedback struct {
	Prompter Prompter  // nil: Prompt{}
	Attempts []Attempt // none: nothing is added
}

// Prompt writes the messages.
func (f Feedback) Prompt(ctx context.Context, env *Env, in PromptInput) ([]llm.Message, error) {
	p := f.Prompter
	if p == nil {
		p = Prompt{}
	}
	messages, err := p.Prompt(ctx, env, in)
	if err != nil || len(f.Attempts) == 0 || len(messages) == 0 {
		return messages, err
	}
	var b strings.Builder
	last := &messages[len(messages)-1]
	b.WriteString(strings.TrimRight(last.Text, "\n") + "\n\n### Earlier attempts\nThese statements do not answer the question. Write a different one.\n")
	for _, a := range f.Attempts {
		// On one line each, so that nothing in them looks like a section of ours.
		b.WriteString("Statement: " + oneLine(a.SQL) + "\nProblem: " + ErrorLine(a.Problem, env.SkipValues) + "\n")
	}
	last.Text = b.String()
	return messages, nil
}

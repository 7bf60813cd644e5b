package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Augmented is a Prompter that shows the CREATE text of each table with its
// first rows behind it: the "augmented schema" of galah92/egtts (strategy M10),
// in the prompt contract of Prompt. See schema.Augmented for the layout and for
// what is shortened when it gets too long; what was is an event of the draw.
//
// It sends stored values to the model, unless Env.SkipValues is set. Rows are
// read through Env.Rows.
//
// The zero Augmented is ready for use. Safe for concurrent use.
type Augmented struct {
	MaxChars  int  // characters of the schema; 0 means 8,000, negative: no limit
	Rows      int  // rows a table at most; 0 means 3, negative: none
	Reasoning bool // let the model think before it answers

	// Compat writes the schema and the one user message as published.
	Compat bool
}

// Prompt writes the messages.
func (a Augmented) Prompt(ctx context.Context, env *Env, in PromptInput) ([]llm.Message, error) {
	text, err := a.write(ctx, env, in.Schema, in.Draw)
	if err != nil {
		return nil, err
	}
	if a.Compat {
		return compatPrompt(text, in.Task, compatQuery), nil
	}
	values := ""
	if !env.SkipValues {
		values = valueLines(env, in.Links)
	}
	return []llm.Message{
		{Role: llm.System, Text: Prompt{Reasoning: a.Reasoning}.rules(env)},
		{Role: llm.User, Text: "### Schema\n" + text + "\n\n" + ask(in.Task.Question, in.Task.Evidence, values)},
	}, nil
}

// Schema writes s with sample rows, without a line end. The error is ctx.Err().
func (a Augmented) Schema(ctx context.Context, env *Env, s *schema.Schema) (string, error) {
	return a.write(ctx, env, s, 0)
}

func (a Augmented) write(ctx context.Context, env *Env, s *schema.Schema, draw int) (string, error) {
	samples, failed, err := env.Rows.Samples(ctx, env, s, cmp.Or(a.Rows, 3))
	if err != nil {
		return "", err
	}
	for _, err := range failed {
		trace.From(ctx).Event("sample-failed", trace.Attr{Key: "error", Value: err})
	}
	rendering := schema.Augmented{
		MaxChars: a.MaxChars, Rows: a.Rows, Quote: env.Quote,
		WithoutValues: env.SkipValues, Compat: a.Compat,
	}.Render(s, samples)
	env.rendered(draw, rendering)
	if what := reduced(rendering); what != "" {
		trace.From(ctx).Event("schema-shortened", trace.Attr{Key: "how", Value: what})
	}
	return strings.TrimRight(rendering.Text, "\n"), nil
}

// reduced says in one line how a rendering was shortened.
func reduced(r schema.Rendering) string {
	var steps []string
	count := map[string]int{}
	for _, x := range r.Reduced {
		step := fmt.Sprint(x.Step)
		if count[step]++; count[step] == 1 {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	for i, step := range steps {
		steps[i] = fmt.Sprintf("%s: %d tables", step, count[step])
	}
	if r.OverBudget {
		steps = append(steps, "the CREATE texts alone are over the budget")
	}
	return strings.Join(steps, ", ")
}

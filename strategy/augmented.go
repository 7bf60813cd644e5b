package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Augmented is a Prompter that shows the CREATE text of each table with its first rows behind it: the "augmented
// schema" of galah92/egtts (strategy M10), in the prompt contract of Prompt. schema.Augmented has the layout,
// schema.Reduction how a text that is too long is shortened. The span of the sample tells what was.
//
// It sends stored values to the model, unless Env.WithoutValues is set. Rows are kept in Env.Snapshot.
//
// The zero Augmented is ready for use. Safe for concurrent use.
type Augmented struct {
	MaxChars int // most characters of the schema; 0 means 8,000, as published; negative: no limit
	Rows     int // most rows of a table; 0 means 3, negative: none
}

// Prompt writes the messages.
func (a Augmented) Prompt(ctx context.Context, env *Env, in PromptInput) ([]llm.Message, error) {
	text, err := a.Schema(ctx, env, in.Schema, in.Sample)
	if err != nil {
		return nil, err
	}
	return []llm.Message{
		{Role: llm.System, Text: Prompt{}.System(env)},
		{Role: llm.User, Text: "### Schema\n" + text + "\n\n" + env.ValueSection(in.Links) + env.Advice(in.Schema, in.Task) + in.Task.Section()},
	}, nil
}

// Schema writes s with sample rows for the prompt of a sample, without a line end. The error is ctx.Err().
func (a Augmented) Schema(ctx context.Context, env *Env, s *schema.Schema, sample int) (string, error) {
	rows, err := env.Samples(ctx, s, exec.SampleOptions{Rows: cmp.Or(a.Rows, 3)})
	if err != nil {
		return "", err
	}
	rendering, err := env.Render(ctx, sample, schema.Renderer{Form: schema.Augmented, MaxChars: max(cmp.Or(a.MaxChars, 8000), 0)}, s, rows...)
	if err != nil {
		return "", err
	}
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
		if count[x.Step]++; count[x.Step] == 1 {
			steps = append(steps, x.Step)
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

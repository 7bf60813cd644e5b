package qasql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// written is the prompt of a sample: samples go round the contexts.
func (r *run) written(_ context.Context, _ *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	return r.messages[in.Sample%len(r.messages)], nil
}

// named returns the links with the stored texts that the question names.
func (r *run) named(ctx context.Context) (schema.Links, error) {
	in := r.env.LinkerInput(r.task, r.focused)
	in.DB = nil // it does not query the database
	found, err := linker.Values{}.Link(ctx, in)
	links := r.report.Linking.Links
	links.Tables = append(slices.Clone(links.Tables), found.Tables...)
	return links, err
}

// write writes the prompts of the contexts, and says why some are left out.
func (r *run) write(ctx context.Context) error {
	tokens, err := r.env.SchemaTokens(ctx, r.env.Schema)
	if err != nil {
		return err
	}
	expert, model := described(r.env.Schema)
	expert = expert || strings.TrimSpace(r.task.Evidence) != ""
	ctx, span := trace.Start(ctx, "contexts")
	defer span.End()
	links, err := r.named(ctx)
	if err != nil {
		return err
	}
	var names []string // of r.messages
	for i, c := range r.contexts() {
		told := contextReport{ID: fmt.Sprintf("Q%d", i+1), Name: c.Name}
		switch {
		case c.readsExpert() && !expert:
			told.Skipped = "no_sme"
		case c.readsModel() && !model:
			told.Skipped = "no_profile"
		default:
			in := strategy.PromptInput{Task: r.task, Schema: r.focused, Whole: r.env.Schema, Links: links,
				Sample: len(r.messages)}
			messages, err := c.Prompt.Prompt(ctx, &r.env, in)
			if err != nil {
				return err
			}
			if tokens > r.env.Budget() && c.Prompt.Whole && r.focused != r.env.Schema {
				linked := c.Prompt
				linked.Whole = false
				shorter, err := linked.Prompt(ctx, &r.env, in)
				if err != nil {
					return err
				}
				told.Focused = slices.Equal(messages, shorter)
			}
			if same := slices.IndexFunc(r.messages, func(m []llm.Message) bool { return slices.Equal(m, messages) }); same >= 0 {
				told.Skipped = "duplicate_of:" + names[same]
				break
			}
			for _, m := range messages {
				told.Tokens += prompttext.EstimateTokens(m.Text)
			}
			r.messages, names = append(r.messages, messages), append(names, c.Name)
		}
		span.Event("context", trace.Attr{Key: "context", Value: told.ID + " " + told.Name},
			trace.Attr{Key: "tokens", Value: told.Tokens}, trace.Attr{Key: "skipped", Value: told.Skipped})
		r.report.Contexts = append(r.report.Contexts, told)
	}
	if tokens > r.env.Budget() {
		r.env.Schema = r.focused // also for corrections, the judge and the last resort
	}
	if len(r.messages) == 0 {
		return &strategy.ConfigError{Field: "qasql: Strategy.Contexts",
			Problem: "each needs descriptions, and there are none: give texttosql.WithDescriptions, " +
				"or a context that shows none"}
	}
	return nil
}

// described says whether a schema has descriptions of experts, and those of a model.
func described(s *schema.Schema) (expert, model bool) {
	for i := range s.Tables {
		t := &s.Tables[i]
		expert = expert || t.Description != ""
		for _, c := range t.Columns {
			expert = expert || c.Title != "" || c.Description != "" || c.Values != ""
			model = model || c.Described != ""
		}
	}
	return expert, model
}

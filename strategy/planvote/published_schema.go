package planvote

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// PublishedPrompt is the one user message of galah92/egtts: schema, question and hint, one line each, then what is
// wanted. Ours also has behind the hint how the database writes days (Task.Dates), corrections and earlier questions,
// where there are some.
func PublishedPrompt(schemaText string, t strategy.Task, want string) []llm.Message {
	text := schemaText + "\n\nQuestion: " + strategy.OneLine(t.Question) + "\n"
	if evidence := strategy.OneLine(t.Evidence); evidence != "" {
		text += "Hint: " + evidence + "\n"
	}
	if dates := strategy.OneLine(t.Dates); dates != "" {
		text += "Dates: " + dates + "\n"
	}
	for _, line := range t.Constraints() {
		text += "Correction: " + line + "\n"
	}
	for _, e := range t.Recent() {
		text += "Earlier question: " + strategy.OneLine(e.Question) + "\nIts query: " + strategy.OneLine(e.SQL) + "\n"
	}
	return []llm.Message{{Role: llm.User, Text: text + "\n" + want}}
}

// PublishedSchema writes s for the prompt of a sample as M10 does: the CREATE texts by name of the table, each with up
// to three rows behind it, names and texts as they are. A text over 8,000 characters has no row at all, and views are
// left out. Unlike the source it lets no value leave its line. The error is ctx.Err().
func PublishedSchema(ctx context.Context, env *strategy.Env, s *schema.Schema, sample int) (string, error) {
	return publishedPrompt{rows: 3, maxChars: 8000}.schema(ctx, env, s, sample)
}

// publishedPrompt is the prompt of M10, or of M7 with neither rows nor limit.
type publishedPrompt struct{ rows, maxChars int }

func (p publishedPrompt) Prompt(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	text, err := p.schema(ctx, env, in.Schema, in.Sample)
	if err != nil {
		return nil, err
	}
	return PublishedPrompt(text, in.Task, "Write only the SQL query, no explanation, no markdown."), nil
}

func (p publishedPrompt) schema(ctx context.Context, env *strategy.Env, s *schema.Schema, sample int) (string, error) {
	rows, err := env.Samples(ctx, s, exec.SampleOptions{Rows: p.rows})
	if err != nil {
		return "", err
	}
	r, err := p.render(ctx, env, s, rows)
	env.Host.Omissions.Add(sample, r)
	return strings.TrimRight(r.Text, "\n"), err
}

// render writes s with sample rows. The error is ctx.Err().
func (p publishedPrompt) render(ctx context.Context, env *strategy.Env, s *schema.Schema, rows []schema.Sample) (schema.Rendering, error) {
	s, left := s.Presentable()
	// A table without a CREATE text of the engine has one of ours, with quoted names.
	written, err := schema.Renderer{Names: env, WithoutValues: true, Text: schema.NoText}.Render(ctx, s)
	if err != nil {
		return schema.Rendering{}, err
	}
	shown := schema.Schema{Dialect: s.Dialect}
	for i, create := range strings.Split(written.Text, "\n\n")[:len(s.Tables)] {
		if t := s.Tables[i]; t.Kind != schema.View {
			t.Definition = cmp.Or(t.Definition, create)
			shown.Tables = append(shown.Tables, t)
		}
	}
	slices.SortStableFunc(shown.Tables, func(a, b schema.Table) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name))
	})
	form := schema.Renderer{
		Form: schema.Augmented, Text: schema.NoText,
		Names: schema.QuoterFunc(func(name string) string { return name }), Value: publishedText,
	}
	r, err := form.Render(ctx, &shown, rows...)
	over := func() bool { return p.maxChars > 0 && utf8.RuneCountInString(r.Text) > p.maxChars }
	if err == nil && over() {
		var reduced []schema.Reduction
		for _, t := range shown.Tables {
			name := t.TableName()
			if strings.Contains(r.Text, "\n-- Sample data from "+name.String()+":\n") {
				reduced = append(reduced, schema.Reduction{Table: name, Step: "no_rows", OnlyValues: true})
			}
		}
		if r, err = form.Render(ctx, &shown); err == nil {
			r.Reduced, r.OverBudget = reduced, over()
		}
	}
	r.LeftOut = append(left, r.LeftOut...)
	return r, err
}

// publishedText writes a text in single quotes that are not doubled, cut at 50 characters with "..." inside the quotes.
// Unlike in the source no value leaves its line: control characters become a blank, format characters and bytes that
// are no UTF-8 go.
func publishedText(v any) (string, bool) {
	text, ok := v.(string)
	if !ok {
		return "", false // as the form does
	}
	end, n := "", 0
	for i := range text {
		if n++; n > 50 {
			text, end = text[:i], "..."
			break
		}
	}
	return "'" + strings.Map(func(r rune) rune {
		switch {
		case r < 0x20 || 0x7F <= r && r < 0xA0 || r == '\u2028' || r == '\u2029':
			return ' '
		case words.Hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")) + end + "'", true
}

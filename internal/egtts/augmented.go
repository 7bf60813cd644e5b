package egtts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// AugmentedPrompt is a strategy.Prompter that shows the CREATE text of each table, as the engine has it, with its first
// rows behind it: the "augmented schema" of galah92/egtts (M10), in the prompt contract of strategy.Prompt.
//
// Tables come by name; those whose names start with "sqlite_" are left out. Comments inside a CREATE text are cleaned
// as prompttext.Comment does, and white space between its words is one blank or line end. Where there is none, or it
// holds something that must not reach a prompt, the table is written as schema.DDL without values.
//
// A row keeps its places, so no value is left out without a mark. A text is written as prompttext.Literal writes it; of
// one over 50 characters the first 50, with "..." behind the quotes; "(not shown)" stands for one with control or
// format characters, and "<blob n bytes>" for a blob.
//
// A text over MaxChars loses the rows of the table with most characters of rows, then of the next, until it fits. It
// sends stored values to the model, unless Env.WithoutValues is set. Rows are kept in Env.Snapshot. The zero
// AugmentedPrompt is ready for use. Safe for concurrent use.
type AugmentedPrompt struct {
	MaxChars int // most characters of the schema; 0 means 8,000, as published; negative: no limit
	Rows     int // most rows of a table; 0 means 3, negative: none

	Published bool // the form of the source
}

// Prompt writes the messages.
func (a AugmentedPrompt) Prompt(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
	error) {
	text, err := a.Schema(ctx, env, in.Schema, in.Sample)
	if err != nil {
		return nil, err
	}
	if a.Published {
		return PublishedPrompt(text, in.Task, "Write only the SQL query, no explanation, no markdown."), nil
	}
	return []llm.Message{
		{Role: llm.System, Text: strategy.Prompt{}.System(env)},
		{Role: llm.User, Text: "### Schema\n" + text + "\n\n" + env.ValueSection(in.Links) + env.Advice(in.Schema, in.Task) +
			in.Task.Section()},
	}, nil
}

// Schema writes s with sample rows for the prompt of a sample, without a line end. The error is ctx.Err().
func (a AugmentedPrompt) Schema(ctx context.Context, env *strategy.Env, s *schema.Schema, sample int) (string, error) {
	rows, err := env.Samples(ctx, s, exec.SampleOptions{Rows: cmp.Or(a.Rows, 3)})
	if err != nil {
		return "", err
	}
	r, err := a.render(ctx, env, s, rows)
	env.Host.Omissions.Add(sample, r)
	return strings.TrimRight(r.Text, "\n"), err
}

// plainNames writes names without quotes.
type plainNames struct{}

func (plainNames) Quote(name string) string { return name }

// render writes s with sample rows. The error is ctx.Err().
func (a AugmentedPrompt) render(ctx context.Context, env *strategy.Env, s *schema.Schema,
	samples []schema.Sample) (schema.Rendering, error) {
	s, left := s.Presentable()
	ddl := schema.Renderer{Names: env, WithoutValues: true}
	if a.Published {
		ddl.WithoutExpertText, ddl.WithoutModelText = true, true
	}
	written, err := ddl.Render(ctx, s)
	if err != nil {
		return schema.Rendering{}, err
	}
	var tables []*table
	for i, create := range strings.Split(written.Text, "\n\n")[:len(s.Tables)] {
		t := &s.Tables[i]
		if t.Definition != "" {
			clean, fault := cleanDefinition(t.Definition, !a.Published)
			if fault != "" {
				left = append(left, schema.Omitted{Item: "definition", Table: t.TableName(), Reason: fault})
			} else {
				create = clean
			}
		}
		isInternal := strings.HasPrefix(strings.ToLower(t.Name), "sqlite_") // SQLite keeps such names for itself
		if !isInternal && !(a.Published && t.Kind == "view") {
			tables = append(tables, a.table(env, s, t, strings.TrimSuffix(create, "\n")+"\n", samples))
		}
	}
	slices.SortStableFunc(tables, func(a, b *table) int {
		return cmp.Or(strings.Compare(a.name.Schema, b.name.Schema), strings.Compare(a.name.Name, b.name.Name))
	})
	out := a.fit(tables)
	out.LeftOut = left
	return out, nil
}

// table is a table in the text.
type table struct {
	name         schema.TableName
	create, rows string
	isShort      bool // the rows were taken away
}

// table writes t with the first sample that is of it.
func (a AugmentedPrompt) table(env *strategy.Env, s *schema.Schema, t *schema.Table, create string,
	samples []schema.Sample) *table {
	out := &table{name: t.TableName(), create: create}
	isOf := func(sample schema.Sample) bool {
		of, ok := s.Lookup(sample.Table.Schema, sample.Table.Name)
		return ok && of == t
	}
	at := slices.IndexFunc(samples, isOf)
	if at < 0 || len(samples[at].Rows) == 0 {
		return out
	}
	var names schema.Quoter = env
	if a.Published && env.DB.Language().Name == "sqlite" { // elsewhere such a name may be another one
		names = plainNames{}
	}
	var columns []string
	var places []int
	for i, name := range samples[at].Columns {
		if c, ok := t.Column(name); ok && !c.Sensitive {
			columns, places = append(columns, names.Quote(c.Name)), append(places, i)
		}
	}
	out.rows = "-- Sample data from " + out.name.Quoted(names) + ":\n-- Columns: " + strings.Join(columns, ", ") + "\n"
	for _, row := range samples[at].Rows {
		var cells []string
		for _, i := range places {
			cells = append(cells, a.cell(row[i]))
		}
		out.rows += "-- Example: (" + strings.Join(cells, ", ") + ")\n"
	}
	return out
}

// maxCell is the longest text of a row, in characters.
const maxCell = 50

// cell writes a value of a row.
func (a AugmentedPrompt) cell(v any) string {
	more := ""
	switch value := v.(type) {
	case string:
		if short := words.Short(value, maxCell); short != value {
			value, more = strings.TrimSuffix(short, "…"), "..."
		}
		if a.Published {
			return publishedText(value, more)
		}
		v = value
	case []byte:
		return fmt.Sprintf("<blob %d bytes>", len(value))
	}
	literal, ok := prompttext.Literal(v)
	if !ok {
		return "(not shown)"
	}
	return literal + more
}

// fit joins the tables, without rows of some where they are too long: of all, in the published form.
func (a AugmentedPrompt) fit(tables []*table) (out schema.Rendering) {
	runes := utf8.RuneCountInString
	most, size := cmp.Or(a.MaxChars, 8000), len(tables)-1
	for _, t := range tables {
		size += runes(t.create + t.rows)
	}
	isOver := func() bool { return most >= 0 && size > most }
	note := ""
	if isOver() {
		order := slices.Clone(tables)
		slices.SortStableFunc(order, func(a, b *table) int { return runes(b.rows) - runes(a.rows) })
		if !a.Published && len(order) > 0 && order[0].rows != "" {
			note = "\n-- Sample rows are shortened or left out to save space.\n"
			size += len(note)
		}
		for _, t := range order {
			if t.rows != "" && (a.Published || isOver()) {
				size -= runes(t.rows)
				t.rows, t.isShort = "", true
			}
		}
	}
	var texts []string
	for _, t := range tables {
		if texts = append(texts, t.create+t.rows); t.isShort {
			out.Reduced = append(out.Reduced, schema.Reduction{Table: t.name, Step: "no_rows", OnlyValues: true})
		}
	}
	out.Text, out.OverBudget = strings.Join(texts, "\n")+note, len(tables) > 0 && isOver()
	out.Tokens = prompttext.EstimateTokens(out.Text)
	return out
}

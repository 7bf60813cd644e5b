package threephase

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// prompter writes the prompt of a statement: Strategy.Prompt with the joins and requirements in front of the question.
// The schema is shortened so that it fits CallTokens.
type prompter struct {
	*run
	beside int // tokens of what follows the prompt: a statement and what is wrong with it
}

// Prompt writes the messages.
func (p prompter) Prompt(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	in.Links.Tables = append(slices.Clone(p.out.Links.Tables), in.Links.Tables...) // with the values of both
	in.Whole, in.Schema = nil, &schema.Schema{}
	frame, err := p.written(ctx, env, in)
	if err != nil {
		return nil, err
	}
	left := p.CallTokens - p.beside - prompttext.EstimateTokens(env.Advice(p.needed, in.Task))
	for _, m := range frame {
		left -= prompttext.EstimateTokens(m.Text)
	}
	narrow := *env
	narrow.SchemaBudget = max(left, p.CallTokens/4)
	if left < narrow.SchemaBudget {
		trace.FromContext(ctx).Warn("call-too-long",
			fmt.Sprintf("question, notes and attempts leave %d of %d tokens for the schema: the call takes more", left,
				p.CallTokens))
	}
	in.Whole, in.Schema = p.whole, p.needed
	return p.written(ctx, &narrow, in)
}

// written is the prompt as Strategy.Prompt writes it, and what the first steps found out.
func (p prompter) written(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	messages, err := p.Strategy.Prompt.Prompt(ctx, env, in)
	if err != nil {
		return nil, err
	}
	last := &messages[len(messages)-1]
	question := strategy.Task{Question: in.Task.Question}.Section()
	last.Text = strings.TrimSuffix(last.Text, question) + p.plan(env) + question
	return messages, nil
}

// plan writes the joins and what the question asks of the tables; "" if there is nothing to say.
func (r *run) plan(env *strategy.Env) string {
	var b strings.Builder
	if len(r.report.Joins.Joins) > 0 {
		b.WriteString("### Joins to use\n")
		for _, j := range r.report.Joins.Joins {
			b.WriteString(prompttext.OneLine(j.Left.Quoted(env)+" = "+j.Right.Quoted(env)) + "\n")
		}
		b.WriteString("\n")
	}
	id, head := r.report.Tables, "### Requirements, as far as they were understood\n"
	for _, part := range []struct{ name, text string }{
		{"Filters", id.Filters}, {"Aggregations", id.Aggregations}, {"Ordering", id.Ordering},
		{"Tables are combined by", combined[id.Combine]},
	} {
		if text := prompttext.OneLine(part.text); text != "" {
			b.WriteString(head + part.name + ": " + text + "\n")
			head = ""
		}
	}
	if head == "" {
		b.WriteString("\n")
	}
	return b.String()
}

// combined are the ways to combine tables that a prompt tells; joins are listed.
var combined = map[string]string{"union": "UNION", "subquery": "a subquery"}

// repairer asks for a correction in the conversation of the statement.
type repairer struct {
	*run
	next strategy.Repairer // nil: strategy.TypedRepair
}

// Repair shortens the statements of earlier attempts, and notes what the model failed with.
func (r repairer) Repair(ctx context.Context, env *strategy.Env, in strategy.RepairInput) (llm.Response, error) {
	beside := frameTokens + prompttext.EstimateTokens(in.SQL) +
		prompttext.EstimateTokens(env.Lessons.ForError(in.Err.Error()))
	in.Earlier = slices.Clone(in.Earlier)
	for i := range in.Earlier {
		s := &in.Earlier[i]
		s.SQL = words.Short(s.SQL, r.CallTokens/2) // an eighth of the tokens
		beside += prompttext.EstimateTokens(s.SQL) + lineTokens
	}
	next := r.next
	if next == nil {
		next = strategy.TypedRepair{Prompter: prompter{r.run, beside}}
	}
	reply, err := next.Repair(ctx, env, in)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed = append(r.failed, fmt.Errorf("threephase: the correction of sample %d: %w", in.Sample, err))
	}
	return reply, err
}

// The tokens of an error line at most, and of what else a complaint has: the error of the last statement, names that
// are close, and what is asked.
const (
	lineTokens  = 100
	frameTokens = 400
)

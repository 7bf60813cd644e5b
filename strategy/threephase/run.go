package threephase

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// run is one question.
type run struct {
	Strategy
	env    *strategy.Env
	task   strategy.Task
	input  linker.Input // of the linkers
	out    *strategy.Outcome
	report Report

	tables []schema.TableName // of the statement
	whole  *schema.Schema     // they, with all columns
	needed *schema.Schema     // they, with the columns that the question needs, and keys

	state  session.State // announced last
	mu     sync.Mutex
	failed []error // what corrections failed with; guarded by mu
}

// laterCalls is what a question takes behind the verdicts on its tables: together, synthesis, both once more with the
// tables that were missing, a statement.
const laterCalls = 5

// start fills in what Strategy leaves open.
func (s Strategy) start(env *strategy.Env, t strategy.Task) *run {
	s.CallTokens = cmp.Or(s.CallTokens, 4000)
	s.Tables.Model, s.Tables.Seed = env.Models[0], env.SeedOf
	s.Tables.TableTokens, s.Tables.CallTokens = cmp.Or(s.Tables.TableTokens, s.CallTokens),
		cmp.Or(s.Tables.CallTokens, s.CallTokens)
	if left, bounded := env.CallsLeft(); bounded { // waves behind the first one leave the later steps their calls
		first, perCall := s.Tables.FirstWave(env.Schema)
		s.Tables.Tables = min(cmp.Or(s.Tables.Tables, math.MaxInt), perCall*max(first, left-laterCalls))
	}
	s.Joins.Model, s.Joins.Seed, s.Joins.CallTokens = env.Models[0], env.SeedOf, cmp.Or(s.Joins.CallTokens, s.CallTokens)
	s.Prompt.Whole = true
	return &run{
		Strategy: s, env: env, task: t, out: &strategy.Outcome{},
		input: env.LinkerInput(t, nil),
	}
}

// enter announces a stage to the session, if there is one. With one sample that is each attempt of a statement; several
// run at once, so they are one stage.
func (r *run) enter(ctx context.Context, s session.State) {
	if ctx.Err() == nil && s != r.state {
		r.state = s
		r.env.Tell(ctx, s)
	}
}

// unclear decides what becomes of a question that is not clear: nil stands for its first option.
func (r *run) unclear(ctx context.Context, q *session.QuestionError) error {
	switch r.OnAmbiguity {
	case "pick":
		r.out.Warn(ctx, "picked", "the question is not clear, the first option is taken: %s", q.Options[0].Label)
		return nil
	case "fail":
		return &unclearError{q}
	}
	return q
}

// restrict makes the schemas that the statement is written from: the tables chosen, and those of the last answer, which
// a follow-up may refer to. Keys lead to no other table.
func (r *run) restrict(ctx context.Context) error {
	chosen := linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
		return r.report.Joins.Extend(schema.Links{Tables: slices.DeleteFunc(slices.Clone(r.report.Tables.Links.Tables),
			func(l schema.TableLink) bool {
				return !slices.Contains(r.tables, l.Name())
			})}), nil
	})
	links, err := linker.Conversation{Linker: chosen}.Link(ctx, r.input)
	if err != nil {
		return err
	}
	r.tables = nil
	for _, l := range links.Tables {
		r.tables = append(r.tables, l.Name())
	}
	r.whole = r.input.Schema.Project(func(t *schema.Table) bool {
		return slices.Contains(r.tables, t.TableName())
	}, nil)
	if r.input.Schema == r.env.Schema { // else it is profiled
		if r.whole, err = r.env.Profiled(ctx, r.out, r.whole); err != nil {
			return err
		}
	}
	r.needed, _ = r.whole.Restrict(links)
	r.out.Links = links
	return nil
}

// restricted is the environment of the statement. Nothing of its schema is linked any more: it is what was chosen.
func (r *run) restricted() *strategy.Env {
	env := *r.env
	env.Schema, env.Profiles, env.SchemaBudget = r.whole, false, math.MaxInt32
	if r.task.Samples < 2 {
		env.Models = slices.Clone(env.Models)
		for i, m := range env.Models {
			env.Models[i] = llm.Wrap(m, func(ctx context.Context, req llm.Request) (llm.Response, error) {
				r.enter(ctx, dialogue.GeneratingSQL)
				reply, err := m.Complete(ctx, req)
				if err == nil {
					r.enter(ctx, dialogue.ExecutingQuery)
				}
				return reply, err
			})
		}
	}
	return &env
}

// told completes the outcome and the error.
func (r *run) told(err error) (*strategy.Outcome, error) {
	err = r.failure(err)
	r.out.Report = r.report
	return r.out, err
}

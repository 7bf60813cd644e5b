package maker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// run is Strategy at work on one question.
type run struct {
	Strategy
	env     *strategy.Env
	task    strategy.Task
	prompts prompts
	out     *strategy.Outcome
	report  Report

	calls     atomic.Int64 // made by the phases
	explained sync.Map     // verdict by statement
}

func (m Strategy) start(ctx context.Context, env *strategy.Env, t strategy.Task) (*run, error) {
	r := &run{Strategy: m.filled(t), env: env, task: t, out: &strategy.Outcome{}}
	shown, err := env.Part(ctx, t, m.Linker, r.out)
	if err != nil {
		return nil, err
	}
	write := egtts.AugmentedPrompt{}.Schema
	if m.published {
		write = egtts.PublishedSchema
	}
	text, err := write(ctx, env, shown, 0)
	if err != nil {
		return nil, err
	}
	r.prompts = prompts{env: env, task: t, schema: text, published: m.published}
	if !m.published {
		r.prompts.advice, r.prompts.values = env.Advice(shown, t), env.ValueSection(r.out.Links)
	}
	r.out.Links = schema.Links{} // those of the answer are the agreed tables
	return r, nil
}

// answer runs the phases, and the fallback where they give no answer.
func (r *run) answer(ctx context.Context) error {
	if !r.affordable() {
		r.out.Warn(ctx, "budget-spent", "the budget of calls does not cover three phases and a fallback")
		return r.fallback(ctx, whyBudget)
	}
	why, err := r.phases(ctx)
	if err != nil || why == "" {
		return err
	}
	return r.fallback(ctx, why)
}

// phases runs the three, one after the other. why says that they led nowhere.
func (r *run) phases(ctx context.Context) (why string, err error) {
	s, why, err := r.scope(ctx)
	if err != nil || why != "" {
		return why, err
	}
	for _, t := range slices.Compact(slices.Clone(s.Tables)) {
		r.out.Links.Tables = append(r.out.Links.Tables, t.Link())
	}
	f, why, err := r.filter(ctx, s)
	if err != nil || why != "" {
		return why, err
	}
	return r.projection(ctx, s, f)
}

// affordable reports whether the question's budget covers the first wave of each phase and the spare calls.
func (r *run) affordable() bool {
	phases := 3
	if len(r.env.Schema.Tables) == 1 {
		phases = 2
	}
	return r.budget() >= phases*vote.State{Remaining: r.Samples}.Wave(r.until(), r.minWave())
}

// left is how many calls the phases may still make.
func (r *run) left() int {
	return min(r.MaxCalls-int(r.calls.Load()), r.budget())
}

// budget is how many calls of the question's budget are left to the phases.
func (r *run) budget() int {
	if n, bounded := r.env.CallsLeft(); bounded {
		return n - r.spare()
	}
	return math.MaxInt
}

// ask makes one call of a phase.
func (r *run) ask(ctx context.Context, purpose string, messages []llm.Message, i int) (llm.Response, error) {
	r.calls.Add(1)
	most, _ := r.maxTokens(purpose)
	return r.env.Send(ctx, i%len(r.env.Models), strategy.Sampler{
		Temperature: r.Temperature, FirstGreedy: !r.published, MaxTokens: most, Purpose: purpose, Plain: r.published,
	}.Request(r.env, i, messages))
}

// scope is phase 1. why says that it led nowhere.
func (r *run) scope(ctx context.Context) (agreed tableScope, why string, err error) {
	ctx, span := trace.Start(ctx, phaseScope)
	defer span.End()
	s := r.env.Schema
	if len(s.Tables) == 1 {
		agreed = newScope([]schema.TableName{s.Tables[0].TableName()}, nil)
		r.out.Note("the schema has one table: nothing to vote on")
		r.end(ctx, Phase{Phase: phaseScope, Valid: true, Winner: agreed.String(), Share: 1, Stop: "skipped"})
		return agreed, "", nil
	}
	p := phase[tableScope]{
		run: r, name: phaseScope, purpose: purposeScope, messages: r.prompts.scope(),
		read: func(_ context.Context, reply string) (tableScope, error) {
			return readScope(s, r.env.DB.Dialect(), reply)
		},
		valid: func(members []reading[tableScope]) bool { _, ok, _ := r.path(ctx, members); return ok },
	}
	voted, report, why, err := p.elect(ctx)
	defer func() {
		report.Fallback = why
		r.end(ctx, report)
	}()
	if err != nil || why != "" {
		if why != "" && report.Samples > 0 && len(voted) == 0 {
			why = whyInvalid
		}
		return agreed, why, err
	}
	for i, members := range voted {
		scope, ok, err := r.path(ctx, members)
		if err != nil {
			return agreed, "", err
		}
		if !ok {
			continue
		}
		report.Valid, report.Winner, report.Share = true, scope.String(), report.Clusters[i].Share
		if len(scope.Joins) > 0 {
			report.Winner += " on " + scope.JoinText()
		}
		return scope, "", nil
	}
	return agreed, whyInvalid, nil
}

// path is the scope of a party with its most frequent joins, completed by foreign keys. ok says that these join all its
// tables, and that the engine takes it.
func (r *run) path(ctx context.Context, members []reading[tableScope]) (s tableScope, ok bool, err error) {
	s = tableScope{Tables: members[0].value.Tables, Joins: usualJoins(members)}.completed(r.env.Schema)
	sql, joined := s.Statement(r.env.DB.Dialect(), rowFilter{})
	if !joined {
		return s, false, nil
	}
	refused, err := r.refusal(ctx, phaseScope, sql)
	return s, refused == nil && err == nil, err
}

// usualJoins is the most frequent set of joins; ties go to the earliest, and a reply without joins has no say.
func usualJoins(members []reading[tableScope]) []schema.Join {
	var count vote.State
	sets := map[string][]schema.Join{}
	for _, m := range members {
		if text := m.value.JoinText(); text != "" {
			count.Vote(text, 1, 0)
			sets[text] = m.value.Joins
		}
	}
	return sets[count.Leader().Key]
}

// refusal is why the engine does not take a statement of a phase; nil: it does. The error says that the engine could
// not be asked.
func (r *run) refusal(ctx context.Context, phase, sql string) (refused, err error) {
	if known, ok := r.explained.Load(sql); ok {
		return known.(verdict).refused, nil
	}
	_, refused = r.env.DB.Explain(ctx, sql)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case refused != nil && !exec.IsRejection(refused):
		return nil, fmt.Errorf("maker: %s: checking a statement: %w", phase, refused)
	}
	r.explained.Store(sql, verdict{refused})
	return refused, nil
}

// verdict is the engine's word about a statement.
type verdict struct{ refused error }

// filter is phase 2. why says that it led nowhere.
func (r *run) filter(ctx context.Context, s tableScope) (f rowFilter, why string, err error) {
	ctx, span := trace.Start(ctx, phaseFilter)
	defer span.End()
	if len(s.Tables) == 0 {
		r.out.Note("no table, so nothing to filter")
		r.end(ctx, Phase{Phase: phaseFilter, Valid: true, Winner: f.String(), Share: 1, Stop: "skipped"})
		return f, "", nil
	}
	if r.left() < 1 {
		r.end(ctx, Phase{Phase: phaseFilter, Stop: "budget", Fallback: whyBudget})
		return f, whyBudget, nil
	}
	p := phase[rowFilter]{
		run: r, name: phaseFilter, purpose: purposeFilter, messages: r.prompts.filter(s),
		read: func(ctx context.Context, reply string) (rowFilter, error) { return r.readFilter(ctx, s, reply) },
	}
	voted, report, why, err := p.elect(ctx)
	if err == nil && why == "" {
		f = voted[0][0].value
		report.Valid, report.Winner, report.Share = true, f.String(), report.Clusters[0].Share
	}
	report.Fallback = why
	r.end(ctx, report)
	return f, why, err
}

// fallback answers by another strategy.
func (r *run) fallback(ctx context.Context, why string) error {
	ctx, span := trace.Start(ctx, "fallback", trace.Attr{Key: "why", Value: why})
	defer span.End()
	t := r.task
	t.Samples = 0 // that was the number of a phase
	out, err := r.Fallback.Generate(ctx, r.env, t)
	if out != nil {
		out.Notes = append(r.out.Notes, out.Notes...)
		out.Saved += r.out.Saved
		*r.out = *out
	}
	r.report.Fallback = why
	if err == nil || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), err)
	}
	span.Fail(err)
	return fmt.Errorf("maker: %s; fallback (%s): %w", r.report.story(), why, err)
}

package maker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
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
	calls   atomic.Int64 // made by the phases
}

func (m Strategy) start(ctx context.Context, env *strategy.Env, t strategy.Task) (*run, error) {
	r := &run{Strategy: m.filled(t), env: env, task: t, out: &strategy.Outcome{}}
	shown, err := env.Part(ctx, t, m.Linker, r.out)
	if err != nil {
		return nil, err
	}
	write := planvote.AugmentedPrompt{}.Schema
	if m.published {
		write = planvote.PublishedSchema
	}
	text, err := write(ctx, env, shown, 0)
	if err != nil {
		return nil, err
	}
	r.prompts = prompts{env: env, task: t, schema: text, published: m.published}
	if !m.published {
		r.prompts.advice = env.Advice(shown, t)
	}
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
		Temperature: r.Temperature, FirstGreedy: !r.published, MaxTokens: most, Purpose: purpose,
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
		read: func(reply string) (tableScope, []string, error) {
			scope, err := readScope(s, r.env.DB.Language().Text, reply)
			return scope, nil, cmp.Or(err, r.against(scope))
		},
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
	votes := report.Samples - report.Flagged
	for i, v := range voted {
		if i > 0 && len(v) < 2 {
			break
		}
		scope, joined, valid, err := r.check(ctx, v)
		switch {
		case err != nil:
			return agreed, "", err
		case valid:
			report.Valid, report.Winner, report.Share = true, scope.String(), report.Clusters[i].Share
			if len(scope.Joins) > 0 {
				report.Winner += " on " + scope.JoinText()
			}
			return scope, "", nil
		case i == 0 && !joined && 2*len(v) > votes:
			return agreed, whyUnjoined, nil
		}
	}
	return agreed, whyInvalid, nil
}

// check makes the scope of a party: its most frequent joins, corrected by the user, completed, and seen by the engine.
func (r *run) check(ctx context.Context, v []reading[tableScope]) (s tableScope, joined, valid bool, err error) {
	s = tableScope{Tables: v[0].value.Tables, Joins: r.corrected(usualJoins(v))}.Complete(r.env.Schema)
	sql, joined := s.Statement(r.env.DB.Dialect(), rowFilter{})
	if !joined {
		return s, false, false, nil
	}
	valid, err = r.compiles(ctx, phaseScope, sql)
	return s, true, valid, err
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

// compiles asks the engine whether it takes a statement of a phase. The error says that the engine could not be asked.
func (r *run) compiles(ctx context.Context, phase, sql string) (bool, error) {
	_, err := r.env.DB.Explain(ctx, sql)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case exec.IsRejection(err):
		return false, nil
	}
	return false, fmt.Errorf("maker: %s: checking a statement: %w", phase, err)
}

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
		read: func(reply string) (rowFilter, []string, error) {
			return readFilter(r.env.Schema, r.env.DB.Dialect(), s, reply)
		},
	}
	voted, report, why, err := p.elect(ctx)
	defer func() {
		report.Fallback = why
		r.end(ctx, report)
	}()
	if err != nil || why != "" {
		return f, why, err
	}
	report.Valid, report.Winner = true, f.String()
	for i, v := range voted {
		sql, _ := s.Statement(r.env.DB.Dialect(), v[0].value)
		ok, err := r.compiles(ctx, phaseFilter, sql)
		if err != nil {
			return f, "", err
		}
		if ok {
			f = v[0].value
			report.Winner, report.Share = f.String(), report.Clusters[i].Share
			return f, "", nil
		}
	}
	r.out.Note("no filter compiles, so none is agreed on")
	return f, "", nil
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

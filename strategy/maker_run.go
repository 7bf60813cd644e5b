package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// makerRun is MAKER at work on one question.
type makerRun struct {
	MAKER
	env     *Env
	task    Task
	prompts makerPrompts
	out     *Outcome
	attempt int // ways back taken so far

	calls atomic.Int64 // made by the phases
	ahead *speculation // for the phase to come; nil: none
	made  *speculation // for the phase that runs, made while the one before did; nil: none
}

func (m MAKER) start(ctx context.Context, env *Env, t Task) (*makerRun, error) {
	env = env.watched()
	run := &makerRun{MAKER: m.filled(t), env: env, task: t, out: &Outcome{}}
	if m.K > run.Samples {
		run.out.note("K %d is more than the %d samples, and was lowered to them", m.K, run.Samples)
	}
	shown, err := run.shown(ctx)
	if err != nil {
		return nil, err
	}
	text, err := Augmented{Compat: m.Compat}.Schema(ctx, env, shown)
	if err != nil {
		return nil, err
	}
	env.tell(ctx, run.out)
	run.prompts = makerPrompts{env: env, task: t, schema: text, compat: m.Compat}
	return run, nil
}

// shown is the schema that prompts hold: linked to the question where all of it
// is over the budget.
func (run *makerRun) shown(ctx context.Context) (*schema.Schema, error) {
	s := run.env.Schema
	if schema.EstimateTokens(schema.Renderer{WithoutValues: true}.Render(s).Text) <= run.env.schemaBudget() {
		return s, nil
	}
	links, err := linker.Lexical{}.Link(ctx, linker.Input{
		Question: run.task.Question, Evidence: run.task.Evidence, Schema: s, WithoutValues: true,
	})
	if err != nil {
		return nil, err
	}
	s, _ = s.Restrict(links)
	run.out.warn(ctx, "schema-linked", "the schema is over its budget: it is linked to the question")
	return s, nil
}

// answer runs the phases.
func (run *makerRun) answer(ctx context.Context) (*Outcome, error) {
	scopes, why, err := run.scopes(ctx)
	if err != nil {
		return run.out, err
	}
	for i := range scopes {
		run.attempt = i
		why, err = run.build(ctx, scopes[i])
		if err != nil || why == "" {
			return run.out, err
		}
		if why == FallbackBudget {
			break
		}
		if i+1 < len(scopes) {
			run.out.note("%s: the tables %s are given up for %s", why, scopes[i], scopes[i+1])
			trace.From(ctx).Event("backtrack", trace.Attr{Key: "why", Value: why})
		}
	}
	return run.out, run.fallback(ctx, why)
}

// build runs phases 2 and 3 on a scope. why says that they led nowhere.
func (run *makerRun) build(ctx context.Context, s Scope) (why string, err error) {
	run.out.Links = s.links()
	f, why, err := run.filter(ctx, s)
	if err != nil || why != "" {
		return why, err
	}
	return run.projection(ctx, s, f)
}

func (s Scope) links() schema.Links {
	var l schema.Links
	for _, t := range slices.Compact(slices.Clone(s.Tables)) {
		l.Tables = append(l.Tables, schema.TableLink{Schema: t.Schema, Table: t.Name})
	}
	return l
}

// left is how many calls the phases may still make; false: any number.
func (run *makerRun) left() int {
	left := run.MaxCalls + 2*run.Samples*run.attempt - int(run.calls.Load())
	if run.env.CallsLeft != nil {
		if n, bounded := run.env.CallsLeft(); bounded {
			left = min(left, n)
		}
	}
	return left
}

// room is Election.Room.
func (run *makerRun) room() (int, bool) { return run.left(), true }

// ask makes one call of a phase, or takes the reply of one that was made ahead.
func (run *makerRun) ask(ctx context.Context, purpose string, messages []llm.Message, i int) (llm.Response, error) {
	if a := run.made; a != nil && i < len(a.slots) {
		return a.reply(ctx, i)
	}
	return run.call(ctx, purpose, messages, i)
}

func (run *makerRun) call(ctx context.Context, purpose string, messages []llm.Message, i int) (llm.Response, error) {
	run.calls.Add(1)
	model, _ := run.env.Model(i)
	most, _ := run.maxTokens(purpose)
	return model.Complete(ctx, Sampler{
		Temperature: run.Temperature, FirstGreedy: !run.NoFirstGreedy, MaxTokens: most, Purpose: purpose,
	}.Request(run.env, i, messages))
}

// failure turns the error of an election into the reason for a fallback, or into
// the error of the question: where nothing came back, whatever is down would not
// serve a fallback either.
func failure(ctx context.Context, r PhaseReport, err error) (string, error) {
	var few *quorumError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !errors.As(err, &few):
	case len(few.failed) == r.Draws:
		err = &NoCandidateError{Failed: few.failed}
	case r.Stop == "budget" && r.Phase == "scope": // later ones have a way back, with calls of its own
		return FallbackBudget, nil
	default:
		return FallbackQuorum, nil
	}
	return "", fmt.Errorf("strategy: MAKER: %s: %w", r.Phase, err)
}

// scopes is phase 1: the scopes to build on, best first. why says that there is
// none.
func (run *makerRun) scopes(ctx context.Context) (found []Scope, why string, err error) {
	ctx, span := trace.Start(ctx, "scope")
	defer span.End()
	s := run.env.Schema
	if len(s.Tables) == 1 {
		only := NewScope([]TableName{{s.Tables[0].Schema, s.Tables[0].Name}}, nil)
		run.out.note("the schema has one table: nothing to vote on")
		run.end(ctx, PhaseReport{Phase: "scope", Valid: true, Winner: only.String(), Share: 1, Stop: "skipped"})
		return []Scope{only}, "", nil
	}
	p := phase[Scope]{
		run: run, name: "scope", purpose: PurposeScope, messages: run.prompts.scope(),
		read: func(reply string) (Scope, []string, error) {
			scope, err := ReadScope(s, run.env.DB.Dialect().Text(), reply)
			return scope, nil, err
		},
	}
	voted, report, err := p.elect(ctx, func(drawn int, voted []party[Scope]) { run.lookAhead(ctx, drawn, voted) })
	defer func() { run.end(ctx, report) }()
	if why, err = failure(ctx, report, err); err != nil || why != "" {
		if why != "" && report.Draws > 0 && len(voted) == 0 {
			why = FallbackScopeInvalid
		}
		report.Fallback = why
		return nil, why, err
	}
	votes := report.Draws - report.Flagged
	for i, v := range voted {
		if i > 0 && len(v.members) < 2 {
			break
		}
		scope, joined, valid, err := run.check(ctx, v)
		if err != nil {
			return nil, "", err
		}
		switch {
		case valid:
			found = append(found, scope)
			if len(found) == 1 {
				report.Valid, report.Winner, report.Share = true, scope.String(), report.Clusters[i].Share
				if len(scope.Joins) > 0 {
					report.Winner += " on " + scope.JoinText()
				}
			}
		case i == 0 && !joined && 2*len(v.members) > votes:
			report.Fallback = FallbackScopeUnjoined
			return nil, FallbackScopeUnjoined, nil
		}
		if len(found) > run.MaxBacktracks {
			break
		}
	}
	if len(found) == 0 {
		report.Fallback = FallbackScopeInvalid
		return nil, FallbackScopeInvalid, nil
	}
	return found, "", nil
}

// check makes the scope of a party: its most frequent joins, completed, and seen
// by the engine.
func (run *makerRun) check(ctx context.Context, v party[Scope]) (s Scope, joined, valid bool, err error) {
	s = Scope{Tables: v.members[0].value.Tables, Joins: usualJoins(v.members)}.Complete(run.env.Schema)
	sql, joined := s.Statement(run.env.DB.Dialect(), Filter{})
	if !joined {
		return s, false, false, nil
	}
	valid, err = run.compiles(ctx, "scope", sql)
	return s, true, valid, err
}

// usualJoins is the most frequent set of joins; ties go to the earliest, and a
// reply without joins has no say.
func usualJoins(members []reading[Scope]) []Join {
	var count vote.Counter
	sets := map[string][]Join{}
	for _, m := range members {
		if text := m.value.JoinText(); text != "" {
			count.Vote(text, 1, 0)
			sets[text] = m.value.Joins
		}
	}
	leader, _ := count.Leader()
	return sets[leader]
}

// compiles asks the engine, for a phase. The error is not about the statement.
func (run *makerRun) compiles(ctx context.Context, phase, sql string) (bool, error) {
	_, err := run.env.DB.Explain(ctx, sql)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case exec.IsRejection(err):
		return false, nil
	}
	return false, fmt.Errorf("strategy: MAKER: %s: checking a statement: %w", phase, err)
}

// filter is phase 2.
func (run *makerRun) filter(ctx context.Context, s Scope) (f Filter, why string, err error) {
	ctx, span := trace.Start(ctx, "filter")
	defer span.End()
	if len(s.Tables) == 0 {
		run.out.note("no table, so nothing to filter")
		run.end(ctx, PhaseReport{Phase: "filter", Attempt: run.attempt, Valid: true, Winner: f.String(), Share: 1, Stop: "skipped"})
		return f, "", nil
	}
	if run.left() < 1 {
		run.end(ctx, PhaseReport{Phase: "filter", Attempt: run.attempt, Stop: "budget", Fallback: FallbackBudget})
		return f, FallbackBudget, nil
	}
	p := phase[Filter]{
		run: run, name: "filter", purpose: PurposeFilter, messages: run.prompts.filter(s),
		read: func(reply string) (Filter, []string, error) {
			return ReadFilter(run.env.Schema, run.env.DB.Dialect(), s, reply)
		},
	}
	voted, report, err := p.elect(ctx, func(drawn int, voted []party[Filter]) { run.lookFurtherAhead(ctx, drawn, s, voted) })
	defer func() { run.end(ctx, report) }()
	if why, err = failure(ctx, report, err); err != nil || why != "" {
		report.Fallback = why
		return f, why, err
	}
	report.Valid = true
	for i, v := range voted {
		sql, _ := s.Statement(run.env.DB.Dialect(), v.members[0].value)
		ok, err := run.compiles(ctx, "filter", sql)
		if err != nil {
			return f, "", err
		}
		if ok {
			f = v.members[0].value
			report.Winner, report.Share = f.String(), report.Clusters[i].Share
			return f, "", nil
		}
	}
	run.out.note("no filter compiles, so none is agreed on")
	report.Winner = Filter{}.String()
	return Filter{}, "", nil
}

// fallback answers by another method.
func (run *makerRun) fallback(ctx context.Context, why string) error {
	ctx, span := trace.Start(ctx, "fallback", trace.Attr{Key: "why", Value: why})
	defer span.End()
	run.stop()
	t := run.task
	t.Samples = 0 // that was the number of a phase
	out, err := run.Fallback.Generate(ctx, run.env, t)
	if out != nil {
		out.Phases, out.Notes = run.out.Phases, append(run.out.Notes, out.Notes...)
		out.Saved += run.out.Saved
		*run.out = *out
	}
	run.out.Fallback = why
	if err == nil || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), err)
	}
	span.Fail(err)
	return fmt.Errorf("strategy: MAKER: %s; fallback (%s): %w", run.story(), why, err)
}

// story says in one line what became of the phases.
func (run *makerRun) story() string {
	var parts []string
	for _, r := range run.out.Phases {
		part := fmt.Sprintf("%s: %d draws, %d flagged", r.Phase, r.Draws, r.Flagged)
		if r.Fallback != "" {
			part += ", " + r.Fallback
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

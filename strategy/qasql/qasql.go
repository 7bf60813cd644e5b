// Package qasql is QA-SQL (Chansokheang/Map-Reduce-Schema-Agent-Text-to-SQL, docs/README.md): a map-reduce agent chooses
// the tables, five views of the schema give five statements, each is executed and refined, and a judge picks among the
// answers.
//
//	engine, err := texttosql.New(db, model, texttosql.WithDescriptions(d), texttosql.WithStrategy(qasql.Strategy{}))
//
// The source describes the method. It has no code for generation, refinement and judge and no figures, so there is no
// published form. These differ from its description:
//   - Statements are executed before the judge chooses (JudgeFirst: after). It sees rows, letters and no numbers of candidates, in turned order, and
//     two calls have to agree. Rubric{Votes: 1} makes its one call, and the place of an option may decide.
//   - Words overrule the model's score of a table only where few tables have them, and foreign keys close the linked tables.
//   - A context without its descriptions is left out, and an empty result is refined once.
//   - If nothing runs, one more call asks for a simple statement (WithoutLastResort: none).
//   - The confidence is a share of votes, not what the model says of itself.
//   - A statement has the time that exec.Limits gives a candidate, 3 s, and not 30 s: five contexts and their corrections run fifteen.
//   - No relationship between components is kept, and columns have names and no scores: no step of the method reads either.
package qasql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Strategy answers in four steps: link, write one statement a context, execute and refine each, and choose.
//
// The statements come from views of the schema (Contexts), not from temperature. Each is taken to one that runs by
// strategy.Refine, in at most 3 executions. Equal results are one answer; where there are several, strategy.Rubric
// judges them, and without a verdict the largest wins, then the earliest. If nothing runs, a last call asks for a simple
// statement in view of the failures. Descriptions of texttosql.WithDescriptions fill the contexts (describe.Columns makes
// them).
//
// WithSamples(n) draws n statements a context, at temperature 0.7 if n > 1. Calls a question with T tables and S
// contexts: at most 1 + T + 3·n·S + 3 (JudgeFirst: 1 + T + n·S + 13), and one more for each reply that is no JSON. Where
// a budget covers no call for each table and context, words alone link. Outcome.Report is a Report. Safe for concurrent use.
type Strategy struct {
	Linker   linker.MapReduce // its Model and Seed are filled in
	Contexts []Context        // nil: Contexts()
	Refine   strategy.Refine  // the zero value makes the three executions of the source; EmptyResult is set
	Judge    strategy.Judge   // nil: strategy.Rubric{}

	MinShare         float64 // the judge is asked if the largest answer has less than this share of the votes, 0..1; 0 means 1
	MaxContextTokens int     // the most tokens of the schema in a prompt, estimated; 0 means 24,000

	// JudgeFirst is the order of the source's diagram: the judge picks among the texts, and only what it picked is
	// executed and refined; where that fails, it picks among the rest, three times at most. A reply without a statement
	// is not refined then, and MinShare is not looked at.
	JudgeFirst        bool
	WithoutJudge      bool // the vote alone chooses
	WithoutLastResort bool // a question of which no statement runs is a *strategy.NoCandidateError
}

// Context is one view of the schema that a statement is written from.
type Context struct {
	Name   string          // the context's name in the steps and the report
	Prompt strategy.Prompt // the prompt; with Text ExpertText or ModelText the context is left out where there are no such descriptions
}

// Contexts are the five of the source: the whole schema alone, with the descriptions of experts, with those of a model,
// the linked tables with 3 values a column, and the whole schema with everything and 15 values a column.
func Contexts() []Context {
	return []Context{
		{"full_schema", strategy.Prompt{Whole: true, Text: schema.NoText, Examples: -1}},
		{"sme_metadata", strategy.Prompt{Whole: true, Text: schema.ExpertText, Examples: -1}},
		{"minimal_profile", strategy.Prompt{Whole: true, Text: schema.ModelText, Examples: -1}},
		{"focused_schema", strategy.Prompt{Text: schema.NoText}},
		{"full_profile", strategy.Prompt{Whole: true, Examples: 15}},
	}
}

// Validate refuses numbers out of range, and contexts without a name or with one that another has.
func (p Strategy) Validate(samples int) error {
	errs := []error{
		p.Linker.Validate(), p.Refine.Validate(), strategy.Sampler{}.Validate(min(samples, strategy.MaxSamples+1) * len(p.contexts())),
		fields.Check("qasql: Strategy.MinShare", p.MinShare, 1),
		fields.Check("qasql: Strategy.MaxContextTokens", p.MaxContextTokens, 0),
	}
	if v, ok := p.Judge.(interface{ Validate() error }); ok {
		errs = append(errs, v.Validate())
	}
	if p.Contexts != nil && len(p.Contexts) == 0 {
		errs = append(errs, &strategy.ConfigError{Field: "qasql: Strategy.Contexts", Problem: "the list is empty; leave it nil for the five of the source"})
	}
	names := map[string]bool{}
	for i, c := range p.Contexts {
		if c.Name == "" || names[c.Name] {
			errs = append(errs, &strategy.ConfigError{Field: fmt.Sprintf("qasql: Strategy.Contexts[%d].Name", i), Problem: fmt.Sprintf("it is %q; want a name that no other context has", c.Name)})
		}
		names[c.Name] = true
	}
	return errors.Join(errs...)
}

// Generate answers one question. Its errors are those of strategy.Pipeline.
func (p Strategy) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := cmp.Or(env.Validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	run := &run{Strategy: p, task: t, votes: map[string]int{}}
	if err := run.link(ctx, env); err != nil {
		return nil, err
	}
	if err := run.write(ctx); err != nil {
		return nil, err
	}
	run.report.Asked = max(t.Samples, 1) * len(run.messages)
	run.examiner = strategy.NewExaminer(ctx, &run.env, t, nil, nil)
	defer run.examiner.Close()
	answer := run.pipeline().Generate
	if p.JudgeFirst {
		answer = run.judgeFirst
	}
	t.Samples = 0 // the pipeline has as many as there are prompts
	out, err := answer(ctx, &run.env, t)
	if out == nil {
		return nil, err
	}
	if errors.Is(err, strategy.ErrNoCandidate) && !p.WithoutLastResort {
		err = run.lastResort(ctx, out, err)
	}
	return run.told(out), err
}

// pipeline is the composition.
func (r *run) pipeline() strategy.Pipeline {
	refine := r.Refine
	refine.EmptyResult = true
	p := strategy.Pipeline{
		Linker:   linker.Func(func(context.Context, linker.Input) (schema.Links, error) { return r.report.Linking.Links, nil }),
		Prompter: strategy.PrompterFunc(r.written),
		Sampler:  strategy.Sampler{Samples: r.report.Asked, MaxTokens: 2048},
		Refine:   &refine,
		Examiner: r.examiner,
		Voter:    vote.Majority{Prior: 1, MinShare: cmp.Or(r.MinShare, 1), Tie: vote.Earliest},
		Judge:    r.judge(),
	}
	if r.task.Samples > 1 {
		p.Sampler.Temperature = 0.7
	}
	return p
}

// contexts are those asked for.
func (p Strategy) contexts() []Context {
	if p.Contexts != nil {
		return p.Contexts
	}
	return Contexts()
}

// run is one question.
type run struct {
	Strategy
	task     strategy.Task
	env      strategy.Env   // with the profiled schema and the budget of the contexts
	focused  *schema.Schema // what was linked
	messages [][]llm.Message
	examiner *strategy.Examiner
	votes    map[string]int // of the judge, by statement
	notes    []string
	report   Report
}

// link studies the question.
func (r *run) link(ctx context.Context, env *strategy.Env) error {
	var out strategy.Outcome
	r.env = *env
	r.env.SchemaBudget = cmp.Or(r.MaxContextTokens, 24_000)
	whole, err := r.env.Profiled(ctx, &out, env.Schema)
	if err != nil {
		return err
	}
	r.env.Schema, r.focused = whole, whole
	l := r.Linker
	l.Model, l.Seed = env.Models[0], env.SeedOf
	first := linker.FirstWave(whole, l.Tables)
	switch left, bounded := env.CallsLeft(); {
	case !bounded || l.LexicalOnly:
	case left < 1+first+len(r.contexts()):
		l.LexicalOnly = true
		out.Warn(ctx, "budget-spent", "the budget of %d calls does not cover one for each of %d tables: words alone link them", left, first)
	default: // further waves leave the contexts their calls
		l.Tables = min(cmp.Or(l.Tables, math.MaxInt), left-1-len(r.contexts()))
	}
	linkCtx, span := trace.Start(ctx, "link")
	defer span.End()
	var reduced linker.MapReduceResult
	links, err := linker.Conversation{Linker: linker.Func(func(ctx context.Context, in linker.Input) (links schema.Links, err error) {
		reduced, err = l.Run(ctx, in)
		return reduced.Links, err
	})}.Link(linkCtx, env.LinkerInput(r.task, whole))
	reduced.Links = links
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		span.Fail(err)
		out.Warn(ctx, "no-links", "linking failed, the whole schema is used: %v", err)
		reduced.Links = schema.Links{Whole: true}
	default:
		r.focused, _ = whole.Restrict(reduced.Links)
		if whole == env.Schema { // else it is profiled
			if r.focused, err = env.Profiled(ctx, &out, r.focused); err != nil {
				return err
			}
		}
	}
	r.env.Profiles = false
	span.Set("tables", len(r.focused.Tables))
	for _, c := range reduced.Components {
		span.Event("component", trace.Attr{Key: "type", Value: c.Type}, trace.Attr{Key: "text", Value: trace.Secret{Kind: trace.PrivateReplies, Text: c.Text}})
	}
	for _, t := range reduced.Tables {
		span.Event("table", trace.Attr{Key: "table", Value: trace.SQL(t.Table.String())}, trace.Attr{Key: "score", Value: t.Score}, trace.Attr{Key: "kept", Value: t.Relevant})
	}
	r.report.Linking, r.notes = reduced, out.Notes
	return nil
}

// Package qasql is QA-SQL (Chansokheang/Map-Reduce-Schema-Agent-Text-to-SQL, docs/README.md). A map-reduce agent
// chooses the tables, five views of the schema give five statements, each is executed and refined, and a judge
// picks among the answers.
//
//	engine, err := texttosql.New(db, model, texttosql.WithDescriptions(d), texttosql.WithStrategy(qasql.Strategy{}))
//
// The source describes the method. It has no figures and no code for generation, refinement and judge, so there is no
// published form. These points differ from its description:
//   - Statements are executed before the judge chooses (JudgeFirst: after). The judge sees rows, and letters instead
//     of candidate numbers, in rotated order. Two calls must agree. Rubric{Votes: 1} makes one call, as the source
//     does; then the position of an option may decide.
//   - Words overrule the model's score of a table only if few tables have them. Foreign keys
//     connect the linked tables.
//   - A context whose descriptions are missing is left out, and an empty result is refined once.
//   - If no statement runs, one more call asks for a simple statement (WithoutLastResort: none).
//   - The confidence is a share of votes, not the model's own estimate.
//   - The time limit of a statement is 3 s (exec.Limits.Candidate) and not 30 s, because five contexts with their
//     corrections run up to 15 statements.
//   - Relationships between components and scores of columns are not stored: no step of the method reads them.
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

// Strategy answers in four steps: link, write one statement per context, execute and refine each, and choose.
//
// The statements come from views of the schema (Contexts), not from temperature. strategy.Refine corrects each until
// it runs, in at most 3 executions. Equal results are one answer. If there are several answers, strategy.Rubric
// judges them; without a verdict the largest wins, then the earliest. If no statement runs, a last call asks for a
// simple statement and shows the failures. Descriptions of texttosql.WithDescriptions fill the contexts. "texttosql
// describe" writes such descriptions.
//
// WithSamples(n) draws n statements per context, at temperature 0.7 if n > 1. Let T be the calls about tables
// (linker.MapReduce.PerCall) and S the contexts. A question takes at most 1 + T + 3·n·S + 3 calls (JudgeFirst: 1 + T
// + n·S + 13), and one more for each reply that is not JSON. If a budget does not cover a call for each table and
// context, only words link. Outcome.Report is a Report. Safe for concurrent use.
type Strategy struct {
	Linker   linker.MapReduce // its Model and Seed are filled in
	Contexts []Context        // nil: DefaultContexts()
	Refine   strategy.Refine  // the zero value makes the three executions of the source; EmptyResult is set
	Judge    strategy.Judge   // nil: strategy.Rubric{}

	MinShare         float64 // call the judge if the largest answer has a smaller share of the votes, 0..1; 0 means 1
	MaxContextTokens int     // maximum tokens of the schema in a prompt, estimated; 0 means 24,000

	// JudgeFirst uses the order of the source's diagram: the judge picks among the texts, and only the picked
	// statement is executed and refined. If it fails, the judge picks among the rest, three times at most. A reply
	// without a statement is then not refined, and MinShare is ignored.
	JudgeFirst        bool
	WithoutJudge      bool // no judge: the vote decides
	WithoutLastResort bool // return a *strategy.NoCandidateError if no statement runs
}

// Context is one view of the schema, for the prompt of a statement.
type Context struct {
	Name   string          // the context's name in the steps and the report
	Prompt strategy.Prompt // if it shows one kind of descriptions and there are none, the context is left out
}

// readsExpert reports whether the prompt shows the descriptions of people only.
func (c Context) readsExpert() bool { return c.Prompt.WithoutModelText && !c.Prompt.WithoutExpertText }

// readsModel reports whether the prompt shows the descriptions of a model only.
func (c Context) readsModel() bool { return c.Prompt.WithoutExpertText && !c.Prompt.WithoutModelText }

// DefaultContexts returns the five contexts of the source:
//   - the whole schema without descriptions;
//   - the whole schema with the descriptions of experts;
//   - the whole schema with the descriptions of a model;
//   - the linked tables with 3 values per column;
//   - the whole schema with all descriptions and the values of the profile, at most 15. An engine's profile has 5
//     examples per column (exec.ProfileOptions.Examples).
func (Strategy) DefaultContexts() []Context {
	return []Context{
		{"full_schema", strategy.Prompt{Whole: true, WithoutExpertText: true, WithoutModelText: true, Examples: -1}},
		{"sme_metadata", strategy.Prompt{Whole: true, WithoutModelText: true, Examples: -1}},
		{"minimal_profile", strategy.Prompt{Whole: true, WithoutExpertText: true, Examples: -1}},
		{"focused_schema", strategy.Prompt{WithoutExpertText: true, WithoutModelText: true}},
		{"full_profile", strategy.Prompt{Whole: true, Examples: 15}},
	}
}

// Validate rejects numbers out of range, and contexts without a name or with a duplicate name.
func (p Strategy) Validate(samples int) error {
	linker := p.Linker
	linker.LexicalOnly = true // its Model is filled in
	errs := []error{
		linker.Validate(), p.Refine.Validate(),
		strategy.Sampler{}.Validate(min(samples, fields.MaxSamples+1) * len(p.contexts())),
		fields.Check("qasql: Strategy.MinShare", p.MinShare, 1),
		fields.Check("qasql: Strategy.MaxContextTokens", p.MaxContextTokens, 0),
	}
	if v, ok := p.Judge.(interface{ Validate() error }); ok {
		errs = append(errs, v.Validate())
	}
	if p.Contexts != nil && len(p.Contexts) == 0 {
		errs = append(errs, &strategy.ConfigError{Field: "qasql: Strategy.Contexts",
			Problem: "the list is empty; leave it nil for the five of the source"})
	}
	names := map[string]bool{}
	for i, c := range p.Contexts {
		if c.Name == "" || names[c.Name] {
			errs = append(errs, &strategy.ConfigError{Field: fmt.Sprintf("qasql: Strategy.Contexts[%d].Name", i),
				Problem: fmt.Sprintf("it is %q; want a name that no other context has", c.Name)})
		}
		names[c.Name] = true
	}
	return errors.Join(errs...)
}

// Generate answers one question. It returns the errors of strategy.Pipeline.
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
	run.examiner = strategy.NewChecker(ctx, &run.env, t, nil, nil)
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
		Linker: linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
			return r.report.Linking.Links, nil
		}),
		Prompter: strategy.PrompterFunc(r.written),
		Sampler:  strategy.Sampler{Samples: r.report.Asked, MaxTokens: 2048},
		Refine:   &refine,
		Examiner: r.examiner,
		Voter:    vote.Majority{Prior: 1, MinShare: cmp.Or(r.MinShare, 1), Tie: vote.Ties()},
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
	return p.DefaultContexts()
}

// run is one question.
type run struct {
	Strategy
	task     strategy.Task
	env      strategy.Env   // with the profiled schema and the budget of the contexts
	focused  *schema.Schema // the linked tables
	messages [][]llm.Message
	examiner *strategy.Checker
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
	first, perCall := l.FirstWave(whole)
	switch left, bounded := env.CallsLeft(); {
	case !bounded || l.LexicalOnly:
	case left < 1+first+len(r.contexts()):
		l.LexicalOnly = true
		out.Warn(ctx, "budget-spent", "the budget of %d calls does not cover the %d about tables: words alone link them",
			left, first)
	default: // further waves leave the contexts their calls
		l.Tables = min(cmp.Or(l.Tables, math.MaxInt), perCall*(left-1-len(r.contexts())))
	}
	linkCtx, span := trace.Start(ctx, "link")
	defer span.End()
	var reduced linker.MapReduceResult
	links, err := linker.Conversation{Linker: linker.Func(func(ctx context.Context, in linker.Input) (links schema.Links,
		err error) {
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
		r.focused, _ = env.Snapshot.Graph(whole).Restrict(reduced.Links)
		if whole == env.Schema { // else it is profiled
			if r.focused, err = env.Profiled(ctx, &out, r.focused); err != nil {
				return err
			}
		}
	}
	r.env.Profiles = false
	span.Set("tables", len(r.focused.Tables))
	for _, c := range reduced.Components {
		span.Event("component", trace.Attr{Key: "type", Value: c.Type},
			trace.Attr{Key: "text", Value: trace.PrivateReplies.Secret(c.Text)})
	}
	for _, t := range reduced.Tables {
		span.Event("table", trace.Attr{Key: "table", Value: trace.PrivateSQL.Secret(t.Table.String())},
			trace.Attr{Key: "score", Value: t.Score}, trace.Attr{Key: "kept", Value: t.Relevant})
	}
	r.report.Linking, r.notes = reduced, out.Notes
	return nil
}

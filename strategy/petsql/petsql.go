// Package petsql is PET-SQL (arXiv 2403.09732): a first statement links the schema, then several models answer with
// the linked tables, and their results vote.
//
//	engine, err := texttosql.New(db, first, texttosql.WithModels(second, third), texttosql.WithStrategy(petsql.Strategy{}))
//
// The source published its prompt and its linking, but not the code of its vote; that part is ours.
package petsql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Strategy answers in two rounds.
//
// In round 1 the first model answers the REp prompt with the whole schema, or with the tables that words link if
// the schema is over Env.SchemaBudget. Its statement is the PreSQL; the tables that it reads are the links. In
// round 2 every model of texttosql.WithModels answers the same prompt with the linked tables only, and the results
// vote. A statement may read other tables. If both prompts are equal, the PreSQL is the first model's answer,
// without a second call.
//
// A model that fails loses its vote. If round 1 fails, round 2 has the whole schema. If no statement of round 2 may
// vote, the PreSQL is the answer, or the error is a *strategy.NoCandidateError. Ties go to the model of the greater
// weight, then to the order of the models. strategy.Refine changes names without a call, but not in the published form.
//
// WithSamples(n) asks each model n times, at temperature 0.7 if n > 1. Calls per question: 1 + n·models, or one less.
// Outcome.Notes report a vote of a single model, and prompts that are zero-shot because the Env has no exemplars.
// Outcome.Report is a Report.
type Strategy struct {
	Prompter REp           // the prompter of both rounds; the zero value is the documented default
	Linker   linker.PreSQL // Model, Prompt and Seed are filled in; the zero value links tables with Names

	PerModelTimeout time.Duration // the limit of each call; 0 means 60 s
	MaxTokens       int           // the most tokens of a reply; 0 means 512
	TopP            float64       // the top_p of round 2 (nucleus sampling), up to 1; 0: the models' defaults

	// Weights are the weights of the models' votes, by name; nil: equal. Fit them on other questions, so that no
	// label affects an answer.
	Weights *Weights
	// Panel chooses the models to call, and their weights, by the Spider hardness of the PreSQL
	// (sqltext.Statement.Hardness): the difficulty-aware vote of the source. If no model of the panel gives a
	// vote, the other models are called. Panel.FromLabels fits one. A question without a PreSQL counts as
	// "extra". nil: all models.
	Panel *Panel
}

// Report is Strategy's report on an answer, in Outcome.Report.
type Report struct {
	PreSQL     string   `json:"presql"`              // "" if round 1 gave none
	Rejected   string   `json:"rejected,omitempty"`  // why the PreSQL could not be an answer
	Grade      string   `json:"grade"`               // the grade of the PreSQL
	Tables     int      `json:"tables"`              // tables of the schema
	Shown      int      `json:"shown"`               // tables of the schema in round 2
	FullTokens int      `json:"full_tokens"`         // estimated tokens of the prompt with the whole schema
	Tokens     int      `json:"tokens"`              // estimated tokens of the prompt of round 2
	Asked      []string `json:"asked,omitempty"`     // models, in the order of samples
	Reused     bool     `json:"reused,omitempty"`    // both prompts were equal: the PreSQL was the first model's answer
	Statements int      `json:"statements"`          // distinct statements examined
	FellBack   bool     `json:"fell_back,omitempty"` // no statement of round 2 may vote: the answer is the PreSQL
}

// Method returns "petsql".
func (Report) Method() string { return "petsql" }

// Validate rejects numbers out of range, weights that are not above 0, and grades of a Panel that do not exist.
func (p Strategy) Validate(samples int) error {
	errs := []error{
		fields.Check("petsql: Strategy.PerModelTimeout", p.PerModelTimeout, 0),
		fields.Check("petsql: Strategy.MaxTokens", p.MaxTokens, 0),
		fields.Check("petsql: Strategy.TopP", p.TopP, 1),
		fields.Check("petsql: Strategy.Prompter.Values", p.Prompter.Values, 0),
		fields.Check("petsql: Strategy.Prompter.MaxTokens", p.Prompter.MaxTokens, 0),
		strategy.Sampler{}.Validate(samples),
	}
	if p.Weights != nil {
		errs = append(errs, p.Weights.Validate())
	}
	if p.Panel != nil {
		errs = append(errs, p.Panel.Validate())
		for _, grade := range slices.Sorted(maps.Keys(p.Panel.Grades)) {
			if !slices.Contains([]string{"easy", "medium", "hard", "extra"}, grade) {
				errs = append(errs, fmt.Errorf("petsql: the panel has the grade %q; there are easy, medium, hard and extra", grade))
			}
		}
	}
	return errors.Join(errs...)
}

// Generate answers one question. It returns the errors of strategy.Pipeline. It also rejects two models with one
// name, and a Panel that names a model outside of the question's models.
func (p Strategy) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := cmp.Or(checkModels(env.Models), env.Validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	var cut strategy.Outcome
	if len(env.Schema.Tables) > wholeTables {
		part, err := env.Part(ctx, t, nil, &cut)
		if err != nil {
			return nil, err
		}
		round := *env
		round.Schema, env = part, &round
	}
	examiner := strategy.NewChecker(ctx, env, t, nil, nil)
	defer examiner.Close()
	first, err := p.first(ctx, env, t, examiner)
	if err != nil {
		return nil, err
	}
	first.notes = append(cut.Notes, first.notes...)
	voters, err := p.voters(env, first.report.Grade)
	if err != nil {
		return nil, err
	}
	out, err := p.second(ctx, env, t, examiner, first, voters)
	if out == nil {
		out = &strategy.Outcome{}
	}
	out.Links, out.Notes = first.links, append(first.notes, out.Notes...)
	if errors.Is(err, strategy.ErrNoCandidate) && first.candidate.SQL != "" && first.candidate.Rejected == "" {
		err = p.fallBack(ctx, env, first, out, err)
		// one of several samples has its warning
	} else if err == nil && out.Ballot.Sampled+out.Ballot.Missing == 1 && len(env.Models) > 1 {
		out.Warn(ctx, "one-voter", "only one model has a vote: nothing confirms the answer")
	}
	first.report.Statements = examiner.Statements()
	out.Report = first.report
	return out, err
}

// Pipeline returns the method as one composition, as a starting point for your own pipeline. A first statement links,
// each model of env answers about the tables that it reads, and the results vote by Weights. Generate also passes
// results from one round to the other. The PreSQL is a vote if both prompts are equal. It is the answer if no other
// remains. Its shape chooses exemplars, and its grade chooses from a Panel.
func (p Strategy) Pipeline(env *strategy.Env) strategy.Pipeline {
	l := p.Linker
	if l.Model == nil && len(env.Models) > 0 {
		l.Model = env.Models[0]
	}
	l.Model = p.plain(l.Model)
	l.Seed, l.MaxTokens = env.SeedOf, cmp.Or(l.MaxTokens, p.MaxTokens)
	l.Prompt = func(ctx context.Context, in linker.Input) ([]llm.Message, error) {
		t := strategy.Task{Question: in.Question, Evidence: in.Evidence, Corrections: in.Corrections, Earlier: in.Earlier}
		return p.Prompter.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: in.Schema})
	}
	majority := vote.Majority{Key: env.Key(), Prior: 1}
	if p.Weights != nil {
		majority.Weight = p.Weights.Weight
	}
	pipeline := strategy.Pipeline{
		Linker:   l,
		Prompter: p.Prompter,
		Sampler: strategy.Sampler{Samples: len(env.Models), TopP: p.TopP, MaxTokens: cmp.Or(p.MaxTokens, 512),
			Plain: p.Prompter.published},
		Voter: majority,
	}
	if !p.Prompter.published {
		pipeline.Refine = &strategy.Refine{Executions: 1}
	}
	return pipeline
}

// plain is a model whose requests go out byte for byte, where p is published.
func (p Strategy) plain(m llm.Model) llm.Model {
	if m == nil || !p.Prompter.published {
		return m
	}
	return llm.Wrap(m, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		req.Plain = true
		return m.Complete(ctx, req)
	})
}

// fallBack makes the PreSQL the answer. none is the error without an answer; it stays where the PreSQL has nothing to
// be compared by.
func (p Strategy) fallBack(ctx context.Context, env *strategy.Env, first *firstRound, out *strategy.Outcome,
	none error) error {
	ballot, err := vote.Majority{Key: env.Key(), Prior: 1}.Count([]vote.Candidate{first.candidate})
	if err != nil {
		first.report.Rejected = err.Error()
		return none
	}
	out.SQL, out.Confidence, out.Ballot, first.report.FellBack = first.candidate.SQL, ballot.Confidence, ballot, true
	out.Candidates = []vote.Candidate{first.candidate}
	out.Warn(ctx, "presql-only", "no statement of round 2 may vote: the answer is the preliminary SQL")
	return nil
}

// wholeTables is the size of the largest schema that round 1 sees whole, as published, whatever tokens it takes.
const wholeTables = 40

// firstRound is what round 1 found out for all voters.
type firstRound struct {
	draft     string         // the PreSQL; "": none
	reply     llm.Response   // with the PreSQL
	candidate vote.Candidate // the PreSQL, examined
	links     schema.Links
	schema    *schema.Schema // restricted to the links
	prompt    []llm.Message  // of round 2
	notes     []string
	report    Report
}

// first asks for the PreSQL and links what it reads.
func (p Strategy) first(ctx context.Context, env *strategy.Env, t strategy.Task,
	examiner *strategy.Checker) (*firstRound, error) {
	ctx, span := trace.Start(ctx, "round 1")
	defer span.End()
	var fitted strategy.Outcome
	whole, err := env.Part(ctx, t, nil, &fitted)
	if err != nil {
		return nil, err
	}
	profiled, err := env.Profiled(ctx, &fitted, env.Schema)
	if err != nil {
		return nil, err
	}
	full, err := p.Prompter.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: whole, Links: fitted.Links})
	if err != nil {
		return nil, err
	}
	l := p.Linker
	model, name := env.Model(0)
	if l.Model == nil {
		l.Model = model
	} else {
		name = llm.NameOf(l.Model)
	}
	l.Model = p.timeout()(p.plain(l.Model))
	l.Seed, l.MaxTokens = env.SeedOf, cmp.Or(l.MaxTokens, p.MaxTokens)
	l.Prompt = func(context.Context, linker.Input) ([]llm.Message, error) { return full, nil }
	l.Extract = func(ctx context.Context, reply string) (replies.Extraction, error) {
		return examiner.Extract(ctx, 0, reply, false)
	}
	l.Analyze = examiner.Analyze
	in := env.LinkerInput(t, profiled)

	f := &firstRound{notes: fitted.Notes, report: Report{Grade: "extra", Tables: len(env.Schema.Tables),
		FullTokens: promptTokens(full)}}
	switch {
	case len(env.Models) == 1 && t.Samples > 1:
		f.notes = append(f.notes, "one model: its samples vote, and no other model confirms them")
	case len(env.Models) == 1:
		f.notes = append(f.notes, "one model was asked once: there was no vote")
	}
	if pool := cmp.Or(p.Prompter.Exemplars.Pool, env.Exemplars); p.Prompter.Exemplars.K >= 0 &&
		(pool == nil || len(pool.Pairs) == 0) {
		f.notes = append(f.notes, "no pool of exemplars: the prompts show no solved question (zero-shot)")
	}
	f.draft, f.reply, err = l.Draft(ctx, in, 0)
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	failed := err != nil
	if failed {
		span.Fail(err)
		f.notes = append(f.notes, fmt.Sprintf("round 1 failed, round 2 sees the whole schema: %v", err))
		trace.FromContext(ctx).Warn("no-links", f.notes[len(f.notes)-1])
	}
	f.report.PreSQL = f.draft
	if f.draft != "" {
		if f.candidate, err = examiner.ExamineSQL(ctx, 0, name, f.draft); err != nil {
			return nil, err
		}
		f.report.Grade = f.candidate.Parsed(env.DB.Language().Text).Hardness()
		f.report.Rejected = f.candidate.Rejected
		span.Set("sql", trace.PrivateSQL.Secret(f.draft))
	}
	if f.links = (schema.Links{Whole: true}); !failed {
		read := linker.Func(func(ctx context.Context, in linker.Input) (schema.Links, error) {
			return l.Read(ctx, in, f.draft)
		})
		if f.links, err = (linker.Conversation{Linker: read}).Link(ctx, in); err != nil {
			return nil, err
		}
	}
	f.notes = append(f.notes, f.links.Notes...)
	if f.schema, _ = env.Snapshot.Graph(env.Schema).Restrict(f.links); f.schema == env.Schema {
		f.schema = whole
	}
	fitted.Links.Tables = slices.DeleteFunc(fitted.Links.Tables, func(l schema.TableLink) bool {
		_, ok := f.schema.Lookup(l.Schema, l.Table)
		return !ok
	})
	again := p.Prompter
	again.Exemplars.Draft = f.draft
	if f.prompt, err = again.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: f.schema,
		Links: fitted.Links}); err != nil {
		return nil, err
	}
	f.report.Shown, f.report.Tokens = len(f.schema.Tables), promptTokens(f.prompt)
	f.report.Reused = f.reply.Text != "" && slices.Equal(full, f.prompt)
	span.Set("tables", f.report.Shown)
	span.Set("grade", f.report.Grade)
	return f, nil
}

// second samples from the voters and counts. A panel comes first, the other models only where nobody of the panel has a
// vote.
func (p Strategy) second(ctx context.Context, env *strategy.Env, t strategy.Task, examiner *strategy.Checker,
	first *firstRound, v voters) (*strategy.Outcome, error) {
	ctx, span := trace.Start(ctx, "round 2")
	defer span.End()
	n := max(t.Samples, 1)
	pipeline := p.Pipeline(env)
	pipeline.Linker, pipeline.Examiner, pipeline.Sampler.Samples = nil, examiner, n*v.panel
	pipeline.Prompter = strategy.PrompterFunc(func(context.Context, *strategy.Env, strategy.PromptInput) ([]llm.Message,
		error) {
		return first.prompt, nil
	})
	pipeline.Voter = vote.Majority{Key: env.Key(), Prior: 1, Weight: v.weight}
	if n > 1 {
		pipeline.Sampler.Temperature = 0.7
		first.report.Reused = false // the PreSQL has another temperature
	}
	round := *env
	round.Profiles, round.SchemaBudget = false, math.MaxInt // the prompt is written already
	round.Models = p.guarded(env, first, v.models[:v.panel])
	first.report.Asked = v.names[:v.panel]
	t.Samples = n * v.panel
	out, err := pipeline.Generate(ctx, &round, t)
	if !errors.Is(err, strategy.ErrNoCandidate) || v.panel == len(v.models) {
		return out, err
	}
	// The others vote as equals: the panel's weights do not know them.
	others := len(v.models) - v.panel
	pipeline.Voter = vote.Majority{Key: env.Key(), Prior: 1}
	// Sample i goes to model i modulo their number: the first one after the panel's samples that goes to the first of
	// them.
	pipeline.Sampler.Offset = (n*v.panel + others - 1) / others * others
	round.Models = p.guarded(env, first, v.models[v.panel:])
	first.report.Asked = v.names
	t.Samples = n * others
	more, moreErr := pipeline.Generate(ctx, &round, t)
	if more == nil {
		return out, moreErr
	}
	more.Notes = append(append(out.Notes, "nobody of the panel has a vote: the other models were asked"), more.Notes...)
	if moreErr != nil {
		moreErr = joinCandidateErrors(err, moreErr)
	}
	return more, moreErr
}

// joinCandidateErrors adds the causes of two elections.
func joinCandidateErrors(a, b error) error {
	var x, y *strategy.NoCandidateError
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return b
	}
	return &strategy.NoCandidateError{Rejected: append(x.Rejected, y.Rejected...), Failed: append(x.Failed, y.Failed...)}
}

// guarded gives each call of round 2 its own time and its errors the name of the model, if it has one. Where both
// prompts are equal the first model answers with its PreSQL.
func (p Strategy) guarded(env *strategy.Env, first *firstRound, models []llm.Model) []llm.Model {
	timeout := p.timeout()
	out := make([]llm.Model, len(models))
	for i, m := range models {
		name := llm.NameOf(m)
		answered := first.report.Reused && p.Linker.Model == nil && name == llm.NameOf(env.Models[0])
		timed := timeout(m)
		out[i] = llm.Wrap(m, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if answered {
				reply := first.reply
				reply.Usage = llm.Usage{} // counted in round 1
				return reply, nil
			}
			reply, err := timed.Complete(ctx, req)
			if err != nil && ctx.Err() == nil && name != "" {
				err = fmt.Errorf("model %s: %w", name, err)
			}
			return reply, err
		})
	}
	return out
}

// timeout bounds each call.
func (p Strategy) timeout() llm.Middleware {
	return llm.Timeout(cmp.Or(p.PerModelTimeout, time.Minute))
}

func promptTokens(messages []llm.Message) (n int) {
	for _, m := range messages {
		n += prompttext.EstimateTokens(m.Text)
	}
	return n
}

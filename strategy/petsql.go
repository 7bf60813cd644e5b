package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// PETSQL is PET-SQL (arXiv 2403.09732): two rounds, and cross-consistency over
// several models.
//
// Round 1: the first model answers the REp prompt with the whole schema. What
// its statement, the PreSQL, reads are the links (linker.PreSQL). Round 2: every
// model (texttosql.WithModels) answers the same prompt with the linked tables
// only, once at temperature 0, in parallel, and the results vote. Where the
// links keep the whole schema the prompts are equal, and the PreSQL is the first
// model's answer, without a second call.
//
// A model that fails or hangs loses its own vote and is reported; when round 1
// fails, round 2 sees the whole schema. A statement may read tables outside of
// the links. When no statement of round 2 may vote, the PreSQL is the answer if
// it passes the checks (Outcome.Fallback is FallbackPreSQL); else the error is a
// *NoCandidateError with the cause of every model.
//
// All models have equal votes, unless Weights or Panel say otherwise. A Panel
// chooses the models to call by the Spider hardness of the PreSQL (the source's
// difficulty-aware vote); when none of them gives a vote, the others are called.
// Ties go to the model of the greater weight, then to the order of the models.
//
// WithSamples(n) draws each model n times, at temperature 0.7 where n > 1; with
// one model that is self-consistency. Calls a question: 1 + n·models asked, or
// one less. The preset sends stored values to every model, unless
// texttosql.WithoutSampleValues is given. No label reaches it: weights and panels
// are fitted by eval.PanelFit on other questions.
//
// The voting code of the source was never published, so that part is ours
// (methods/pet-sql.md 3.5 to 3.7).
type PETSQL struct {
	Prompter REp           // of both rounds; its zero value is the documented default
	Linker   linker.PreSQL // Model, Prompt and Seed are filled in; the zero value links tables with Names

	PerModelTimeout time.Duration // of each call; 0 means 60 s
	MaxTokens       int           // of a reply; 0 means 512

	Weights *vote.Weights // of the models' votes, by name; nil: equal
	Panel   *vote.Panel   // models and weights by sqltext.Grade; nil: all models
	Unknown sqltext.Grade // grade of a question without a PreSQL; "" means sqltext.Extra
}

// FallbackPreSQL in Outcome.Fallback: no statement of round 2 may vote, so the
// answer is that of round 1.
const FallbackPreSQL = "presql_only"

// Rounds tells what PETSQL did.
type Rounds struct {
	PreSQL     string        `json:"presql"`             // "" where round 1 gave none
	Rejected   string        `json:"rejected,omitempty"` // why the PreSQL could not be an answer
	Grade      sqltext.Grade `json:"grade"`              // of the PreSQL
	Tables     int           `json:"tables"`             // of the schema
	Shown      int           `json:"shown"`              // of them in round 2
	FullTokens int           `json:"full_tokens"`        // estimated, of the prompt with the whole schema
	Tokens     int           `json:"tokens"`             // of the prompt of round 2
	Asked      []string      `json:"asked,omitempty"`    // models, in the order of draws
	Reused     bool          `json:"reused,omitempty"`   // both prompts were equal: the PreSQL was the first model's answer
	Statements int           `json:"statements"`         // distinct statements examined
}

// Validate refuses numbers and names that cannot be right: a *PanelError for a
// grade that does not exist, a *vote.WeightError for a weight that is none.
func (p PETSQL) Validate(samples int) error {
	errs := []error{inRange("PETSQL", number("PerModelTimeout", p.PerModelTimeout), number("MaxTokens", p.MaxTokens),
		number("Prompter.Values", p.Prompter.Values), number("Prompter.MaxTokens", p.Prompter.MaxTokens)), checkSamples(samples)}
	if p.Weights != nil {
		errs = append(errs, p.Weights.Validate())
	}
	if p.Panel != nil {
		errs = append(errs, p.Panel.Validate())
		for _, grade := range slices.Sorted(maps.Keys(p.Panel.Grades)) {
			switch sqltext.Grade(grade) {
			case sqltext.Easy, sqltext.Medium, sqltext.Hard, sqltext.Extra:
			default:
				errs = append(errs, &PanelError{Grade: grade})
			}
		}
	}
	return errors.Join(errs...)
}

// Generate answers one question. Its errors are those of Pipeline, and
// *ModelError, *PanelError and *vote.WeightError for what does not fit.
func (p PETSQL) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := cmp.Or(checkModels(env.Models), env.validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	env = env.watched() // both rounds have one say
	admission := NewAdmission(ctx, env, t, nil, nil)
	defer admission.Close()
	first, err := p.first(ctx, env, t, admission)
	if err != nil {
		return nil, err
	}
	voters, err := p.voters(env, first.report.Grade)
	if err != nil {
		return nil, err
	}
	out, err := p.second(ctx, env, t, admission, first, voters)
	if out == nil {
		out = &Outcome{}
	}
	out.Links, out.Rounds = first.links, &first.report
	out.Notes = append(first.notes, out.Notes...)
	out.Rounds.Statements = admission.Statements()
	if errors.Is(err, ErrNoCandidate) && first.candidate.SQL != "" && first.candidate.Rejected == "" {
		err = p.fallBack(ctx, env, first, out, err)
	} else if err == nil && out.Ballot.Voted < 2 {
		out.warn(ctx, "one-voter", "only one model has a vote: nothing confirms the answer")
	}
	return out, err
}

// fallBack makes the PreSQL the answer; none is the error without it, which stays
// where there is nothing to compare the PreSQL by.
func (p PETSQL) fallBack(ctx context.Context, env *Env, first *firstRound, out *Outcome, none error) error {
	ballot, err := vote.Majority{Key: env.Key()}.Count([]vote.Candidate{first.candidate})
	if err != nil {
		first.report.Rejected = err.Error()
		return none
	}
	out.SQL, out.Confidence, out.Ballot, out.Fallback = first.candidate.SQL, ballot.Confidence, ballot, FallbackPreSQL
	out.Candidates = []vote.Candidate{first.candidate}
	out.warn(ctx, "presql-only", "no statement of round 2 may vote: the answer is the preliminary SQL")
	return nil
}

// firstRound is what round 1 found out for all voters.
type firstRound struct {
	draft     linker.Draft
	candidate vote.Candidate // the PreSQL, examined
	links     schema.Links
	schema    *schema.Schema // restricted to them
	prompt    []llm.Message  // of round 2
	notes     []string
	report    Rounds
}

// first asks for the PreSQL and links what it reads.
func (p PETSQL) first(ctx context.Context, env *Env, t Task, admission *Admission) (*firstRound, error) {
	ctx, span := trace.Start(ctx, "round 1")
	defer span.End()
	full, err := p.Prompter.Prompt(ctx, env, PromptInput{Task: t, Schema: env.Schema})
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
	l.Model = p.timeout()(l.Model)
	l.Seed, l.MaxTokens = env.SeedOf, cmp.Or(l.MaxTokens, p.MaxTokens)
	l.Prompt = func(context.Context, linker.Input) ([]llm.Message, error) { return full, nil }
	in := linker.Input{Question: t.Question, Evidence: t.Evidence, Schema: env.Schema, DB: env.DB, WithoutValues: env.SkipValues}

	f := &firstRound{report: Rounds{Grade: cmp.Or(p.Unknown, sqltext.Extra), Tables: len(env.Schema.Tables), FullTokens: promptTokens(full)}}
	f.draft, err = l.Draft(ctx, in, 0)
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		span.Fail(err)
		f.notes = append(f.notes, fmt.Sprintf("round 1 failed, round 2 sees the whole schema: %v", err))
		trace.From(ctx).Warn(linker.NoLinks, f.notes[0])
	}
	f.report.PreSQL = f.draft.SQL
	if f.draft.SQL != "" {
		f.report.Grade = env.DB.Dialect().Text().Hardness(f.draft.SQL)
		if f.candidate, err = admission.AdmitSQL(ctx, 0, name, f.draft.SQL); err != nil {
			return nil, err
		}
		f.report.Rejected = f.candidate.Rejected
		span.Set("sql", trace.SQL(f.draft.SQL))
	}
	if f.draft.Reply.Text != "" || err == nil {
		if f.links, err = l.Read(ctx, in, cmp.Or(f.draft.SQL, f.draft.Torn)); err != nil {
			return nil, err
		}
	} else {
		f.links = schema.Links{Whole: true}
	}
	f.notes = append(f.notes, f.links.Notes...)
	f.schema, _ = env.Schema.Restrict(f.links)
	again := p.Prompter
	again.Exemplars.Draft = f.draft.SQL
	if f.prompt, err = again.Prompt(ctx, env, PromptInput{Task: t, Schema: f.schema, Links: f.links}); err != nil {
		return nil, err
	}
	f.report.Shown, f.report.Tokens = len(f.schema.Tables), promptTokens(f.prompt)
	f.report.Reused = f.draft.Reply.Text != "" && equalMessages(full, f.prompt)
	span.Set("tables", f.report.Shown)
	span.Set("grade", string(f.report.Grade))
	return f, nil
}

// second draws from the voters and counts. Panels come first, the others where
// nobody of the panel has a vote.
func (p PETSQL) second(ctx context.Context, env *Env, t Task, admission *Admission, first *firstRound, v voters) (*Outcome, error) {
	ctx, span := trace.Start(ctx, "round 2")
	defer span.End()
	n := max(t.Samples, 1)
	pipeline := Pipeline{
		Prompter:  PrompterFunc(func(context.Context, *Env, PromptInput) ([]llm.Message, error) { return first.prompt, nil }),
		Sampler:   Sampler{Samples: n * v.panel, MaxTokens: cmp.Or(p.MaxTokens, 512)},
		Voter:     vote.Majority{Key: env.Key(), Weight: v.weight},
		Admission: admission,
	}
	if n > 1 {
		pipeline.Sampler.Temperature = 0.7
		first.report.Reused = false // the PreSQL is no draw of that temperature
	}
	round := *env
	round.Schema, round.Profile, round.SchemaBudget = first.schema, nil, math.MaxInt // the prompt is written already
	round.Models = p.guarded(env, first, v.models[:v.panel])
	first.report.Asked = v.names[:v.panel]
	out, err := pipeline.Generate(ctx, &round, Task{Question: t.Question, Evidence: t.Evidence, Samples: n * v.panel})
	if !errors.Is(err, ErrNoCandidate) || v.panel == len(v.models) {
		return out, err
	}
	// The others vote as equals: the panel's weights do not know them.
	pipeline.Voter, pipeline.Sampler.First = vote.Majority{Key: env.Key()}, n*v.panel
	others := p.guarded(env, first, v.models[v.panel:])
	// Draw i goes to model i modulo their number: from First on it must be theirs.
	round.Models = rotated(others, n*v.panel)
	first.report.Asked = v.names
	more, moreErr := pipeline.Generate(ctx, &round, Task{Question: t.Question, Evidence: t.Evidence, Samples: n * len(others)})
	if more == nil {
		return out, moreErr
	}
	more.Notes = append(append(out.Notes, "nobody of the panel has a vote: the other models were asked"), more.Notes...)
	if moreErr != nil {
		moreErr = joinCandidateErrors(err, moreErr)
	}
	return more, moreErr
}

// voters are the models of round 2, the panel first.
type voters struct {
	models []llm.Model
	names  []string
	panel  int // how many are called at once; the rest only if none of them has a vote
	weight func(vote.Candidate) float64
}

// rotated is models in an order in which draw first goes to the first of them.
func rotated(models []llm.Model, first int) []llm.Model {
	out := make([]llm.Model, len(models))
	for i, m := range models {
		out[(first+i)%len(models)] = m
	}
	return out
}

// joinCandidateErrors adds the causes of two elections.
func joinCandidateErrors(a, b error) error {
	var x, y *NoCandidateError
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return b
	}
	return &NoCandidateError{Rejected: append(x.Rejected, y.Rejected...), Failed: append(x.Failed, y.Failed...)}
}

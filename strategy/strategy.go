package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/host"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/vote"
)

// Strategy turns one question into one checked statement.
//
// Generate returns an Outcome, an error, or both. With an error the Outcome has the results so far (candidates,
// ballot, the best answer). It returns ctx.Err() promptly once ctx ends and leaves no goroutine behind. It must be
// safe for concurrent use and must not change env.
//
// texttosql.New calls two optional methods, so that a bad configuration fails before the first question.
// Validate(samples int) error gets the number of WithSamples, 0 without it. ValidateModels(n int) error gets the number
// of models.
type Strategy interface {
	Generate(ctx context.Context, env *Env, t Task) (*Outcome, error)
}

// Func turns a function into a Strategy.
type Func func(ctx context.Context, env *Env, t Task) (*Outcome, error)

// Generate calls f; a nil Func fails.
func (f Func) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := f.Validate(0); err != nil {
		return nil, err
	}
	return f(ctx, env, t)
}

// Validate refuses a nil Func.
func (f Func) Validate(int) error {
	if f == nil {
		return errors.New("strategy: the Func is nil")
	}
	return nil
}

// Task is one question.
type Task struct {
	Question string // the question in any language; not blank
	Evidence string // knowledge given with the question (BIRD's evidence); advice in prose
	Dates    string // how the database writes days (exec.Language.Dates); "": no time in the question
	Lacks    string // a line about functions that the question may need and the database lacks; "": none
	Samples  int    // overrides the preset's number of samples, at most 10,000; 0: the preset's default

	// Corrections are the user's corrections of the question. Every prompt has them, and a statement that contradicts
	// one does not vote.
	Corrections []session.Correction
	// Earlier has answered questions of the same conversation, oldest first. The question may refer to them.
	Earlier []session.PreviousTurn
}

// Env has what a Strategy needs: one database, one or more models and the settings that apply to every question. The
// engine builds one per question; a program may build one by hand.
type Env struct {
	DB     *exec.DB       // required; refuses to run candidates under WithoutExecution
	Models []llm.Model    // the models, at least one; samples use them in turn, by index
	Schema *schema.Schema // required; the schema for this question with descriptions: Snapshot's schema or a part of it

	// Snapshot caches data about the database between questions: rows, profiles, texts, indexes. Its Schema is the
	// whole one. nil: everything is read for each prompt.
	Snapshot *snapshot.Snapshot
	// Profiles lets prompts and linkers use example values from profiled columns; see Profiled.
	Profiles bool
	// Past has statements that ran before; see linker.Input.
	Past []memory.Exemplar

	// Lessons has the lessons from earlier questions that prompts may show; see Advice. nil: none.
	Lessons *memory.RetrievedLessons

	// Knowledge is what people know about the database, limited to the policy and Schema (knowledge.Model.Restrict).
	// nil: none.
	Knowledge *knowledge.Model

	Instructions     string       // the embedding program's own rules; trusted, part of the system message
	Exemplars        *memory.Pool // solved questions to pick exemplars from; nil: none
	SchemaBudget     int          // tokens a schema may take in a prompt; 0 means 6,000
	EmptyAnswerRate  float64      // how often a confirmed answer has no value, see doubt.Rules; 0: unknown
	Concurrency      int          // model calls in flight for one question; 0 means 16
	Seed             int64        // base of the seeds of samples; 0: no seeds
	AskBelow         float64      // ask the user if the best answer has a smaller share of samples, see AskUser; 0: never
	WithoutExecution bool         // candidates are only planned: votes go by plan
	WithoutValues    bool         // no stored value reaches a prompt

	Host host.Hooks // functions of the engine; strategies call them through methods of Env. The zero value has none
}

// Validate reports why a Strategy cannot work on t: an Env without a required part, a question without a word
// (ErrEmptyQuestion), or a number of samples outside 0..10,000. A Strategy calls it first.
func (e *Env) Validate(t Task) error {
	switch {
	case e.DB == nil || len(e.Models) == 0 || e.Schema == nil:
		return fmt.Errorf("strategy: Env needs DB, Schema and at least one model")
	case words.Line(t.Question) == "":
		return ErrEmptyQuestion
	case t.Samples < 0:
		return fmt.Errorf("strategy: Task.Samples is %d; want 0 (the preset's default) or more", t.Samples)
	}
	return checkSamples(t.Samples)
}

// Key returns the key by which candidates are compared: by result, or by plan if none may run.
func (e *Env) Key() func(vote.Candidate) (key string, ok bool) {
	if e.WithoutExecution {
		return vote.ByPlan
	}
	return vote.ByResult
}

// Checks returns the checks that a candidate must pass before it votes: exec.DefaultChecks, or exec.PlanChecks if
// none may run. A struct literal made before the Env may use append(exec.DefaultChecks(), mine) instead: checks that
// would run a statement do nothing if none may run.
func (e *Env) Checks() []exec.Check {
	if e.WithoutExecution {
		return exec.PlanChecks()
	}
	return exec.DefaultChecks()
}

// StrictChecks returns Checks with one more, which rejects a name that the engine reads as a string. A plan does not
// distinguish SELECT "nosuchcol" from SELECT col.
func (e *Env) StrictChecks() []exec.Check {
	checks := slices.Clone(e.Checks())
	for i, c := range checks {
		if names, ok := c.(interface{ Strict() exec.Check }); ok {
			checks[i] = names.Strict()
		}
	}
	return checks
}

// Model returns the model of sample i and its name.
func (e *Env) Model(i int) (llm.Model, string) {
	m := e.Models[i%len(e.Models)]
	return m, llm.NameOf(m)
}

// SeedOf returns the seed of sample i: Seed + i, or nil if Seed is 0. A Seed outside 1..2³⁰ is first mapped into this
// range, because providers accept only small seeds above 0.
func (e *Env) SeedOf(i int) *int {
	if e.Seed == 0 {
		return nil
	}
	return new(int(uint64(e.Seed-1)%(1<<30)) + 1 + i)
}

// Samples returns rows of the tables of s, which is Schema or a part of it, as exec.DB.Samples does. It returns no
// rows under WithoutValues, or if the number of rows is below 1. The error is ctx.Err().
func (e *Env) Samples(ctx context.Context, s *schema.Schema, o exec.SampleOptions) ([]schema.Sample, error) {
	if e.WithoutValues || o.Rows < 1 {
		return nil, nil
	}
	return e.DB.Samples(ctx, e.Snapshot, s, o)
}

// CallsLeft returns how many model calls the question's budget has left; false: no limit.
func (e *Env) CallsLeft() (calls int, bounded bool) {
	if e.Host.CallsLeft == nil {
		return 0, false
	}
	return e.Host.CallsLeft()
}

// Tell reports the progress of the question to the engine's listener: "query_understanding", "inferring_joins",
// "generating_sql" and "executing_query", in the order that session.State.May allows. A strategy need not call it.
func (e *Env) Tell(ctx context.Context, s session.State) {
	if e.Host.Stage != nil {
		e.Host.Stage(ctx, s)
	}
}

// Quote writes a name for a prompt: quoted if necessary.
func (e *Env) Quote(name string) string { return e.DB.Language().PromptQuoter().Quote(name) }

// QuoteSchema writes the name of a schema, which may belong to another catalog, for a prompt.
func (e *Env) QuoteSchema(name string) string {
	return e.DB.Language().PromptQuoter().QuoteSchema(name)
}

// Parallel returns Concurrency, or its default if it is 0.
func (e *Env) Parallel() int { return cmp.Or(max(e.Concurrency, 0), 16) }

// Budget returns SchemaBudget, or its default if it is 0.
func (e *Env) Budget() int { return cmp.Or(max(e.SchemaBudget, 0), 6000) }

package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/vote"
)

// Strategy turns one question into one checked statement.
//
// Generate returns an Outcome, an error, or both: beside an error the Outcome holds what there is to show (candidates,
// ballot, the best answer so far). It returns ctx.Err() promptly once ctx ends and leaves no goroutine behind. It must
// be safe for concurrent use and must not change env.
type Strategy interface {
	Generate(ctx context.Context, env *Env, t Task) (*Outcome, error)
}

// Func makes a Strategy of a function.
type Func func(ctx context.Context, env *Env, t Task) (*Outcome, error)

// Generate calls f; a nil one has no answer.
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

// Validator is a Strategy that can tell a bad configuration before the first question. texttosql.New calls it; samples
// is what WithSamples gave, 0 without. A Strategy that has a method ValidateModels(n int) error is asked that, too, with
// the number of models.
type Validator interface {
	Validate(samples int) error
}

// Task is one question.
type Task struct {
	Question string // the question in any language; not blank
	Evidence string // knowledge that belongs to the question (BIRD's evidence); advice in prose
	Dates    string // how the database writes days (exec.Language.Dates), where the question speaks of time; "": it does not
	Lacks    string // functions that the question may ask for and the database lacks, as [Lacks] says; "": none
	Samples  int    // overrides the preset's number of samples, at most MaxSamples; 0: the preset's default

	// Corrections are what the user said about the question. Every prompt states them, and no statement that goes
	// against one has a vote.
	Corrections []session.Correction
	// Earlier are answered questions of the same conversation, the oldest first, which the question may refer to.
	Earlier []session.Earlier
}

// Env is what a Strategy works with: one database, one or more models and the settings that hold for every question.
// The engine builds one a question; a program may build one by hand.
type Env struct {
	DB     *exec.DB       // required; refuses to run candidates under WithoutExecution
	Models []llm.Model    // the models, at least one; samples go round them in index order
	Schema *schema.Schema // required; what this question is asked about, descriptions merged in: that of Snapshot, or a part of it

	// Snapshot keeps what is known of the database from question to question: rows, profiles, texts, indexes. Its Schema is the
	// whole one. nil: all of it is read anew for each prompt.
	Snapshot *snapshot.Snapshot
	// Profiles has columns profiled, so that prompts and linkers may use examples of their values; see Profiled.
	Profiles bool
	// Past are statements that were run before; see linker.Input.
	Past []memory.Pair

	// Lessons are what prompts may show of what was learned from earlier questions; see Advice. nil: nothing.
	Lessons *memory.Recall

	// Knowledge is what people know of the database, as far as the policy and Schema have it (knowledge.Model.Within). nil:
	// nothing.
	Knowledge *knowledge.Model

	Instructions     string       // the embedding program's own rules; trusted, part of the system message
	Exemplars        *memory.Pool // solved questions to pick exemplars from; nil: none
	SchemaBudget     int          // tokens a schema may take in a prompt; 0 means 6,000
	EmptyAnswerRate  float64      // how often a confirmed answer has no value, see doubt.Rules; 0: not known
	Concurrency      int          // model calls in flight for one question; 0 means 16
	Seed             int64        // base of the seeds of samples; 0: none are sent
	AskBelow         float64      // the user is asked where the best answer holds a smaller share of the samples, see AskUser; 0: never
	WithoutExecution bool         // candidates are planned, never run: votes go by plan
	WithoutValues    bool         // no stored value reaches a prompt

	Host Host // what the engine does for the question; strategies reach it by methods of Env
}

// Host is what an engine does for a question, behind the methods of [Env]. A field that is nil does nothing.
type Host struct {
	// CallsLeft says how many model calls the question's budget has left; false: no limit. nil: no limit.
	CallsLeft func() (calls int, bounded bool)
	// Learners know of Env.Models, by index, whether they have replied before; until then the first call of one goes alone.
	// nil: all have.
	Learners []*llm.Learner
	// Stage hears how far the question is: session.QueryUnderstanding, InferringJoins, GeneratingSQL and ExecutingQuery,
	// as session.State.May allows. A strategy need not tell. nil: nobody listens.
	Stage func(ctx context.Context, s session.State)
	// Shown collects what the prompts of the question leave out of the schema. The engine makes one a question and
	// tells it. nil: it is not collected.
	Omissions *Omissions
}

// Validate reports what makes it impossible to work on t: an Env without a part that is required, a question without a
// word (ErrEmptyQuestion), a number of samples out of 0..MaxSamples. A Strategy calls it first.
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

// Key is how candidates are compared: by result, or by plan where none may run.
func (e *Env) Key() vote.Key {
	if e.WithoutExecution {
		return vote.ByPlan
	}
	return vote.ByResult
}

// Checks are the checks that a candidate passes before it votes: exec.DefaultChecks, or exec.PlanChecks where none may
// run. A struct literal that is made before the Env may use append(exec.DefaultChecks(), mine) instead: checks that
// would run a statement do nothing where none may run.
func (e *Env) Checks() []exec.Check {
	if e.WithoutExecution {
		return exec.PlanChecks()
	}
	return exec.DefaultChecks()
}

// StrictChecks are Checks that also reject a name which the engine takes for a string: a plan does not tell SELECT
// "nosuchcol" from SELECT col.
func (e *Env) StrictChecks() []exec.Check {
	checks := slices.Clone(e.Checks())
	for i, c := range checks {
		if _, ok := c.(exec.UnknownNames); ok {
			checks[i] = exec.UnknownNames{Reject: true}
		}
	}
	return checks
}

// Model returns the model of sample i and its name.
func (e *Env) Model(i int) (llm.Model, string) {
	m := e.Models[i%len(e.Models)]
	return m, llm.NameOf(m)
}

// SeedOf returns the seed of sample i: Seed + i, nil when Seed is 0. A Seed out of 1..2³⁰ is first brought into it:
// providers take small seeds above 0 only.
func (e *Env) SeedOf(i int) *int {
	if e.Seed == 0 {
		return nil
	}
	return new(int(uint64(e.Seed-1)%(1<<30)) + 1 + i)
}

// Samples returns rows of the tables of s, which is Schema or a part of it, as exec.DB.Samples does. There are none
// WithoutValues, and for a number of rows below 1. The error is ctx.Err().
func (e *Env) Samples(ctx context.Context, s *schema.Schema, o exec.SampleOptions) ([]schema.Sample, error) {
	if e.WithoutValues || o.Rows < 1 {
		return nil, nil
	}
	return e.DB.Samples(ctx, e.Snapshot, s, o)
}

// CallsLeft says how many model calls the question's budget has left; false: no limit.
func (e *Env) CallsLeft() (calls int, bounded bool) {
	if e.Host.CallsLeft == nil {
		return 0, false
	}
	return e.Host.CallsLeft()
}

// Tell says how far the question is, to whom the engine listens for: session.QueryUnderstanding, InferringJoins,
// GeneratingSQL and ExecutingQuery, as session.State.May allows. A strategy need not tell.
func (e *Env) Tell(ctx context.Context, s session.State) {
	if e.Host.Stage != nil {
		e.Host.Stage(ctx, s)
	}
}

// Quote writes a name as a prompt shows it: quoted where it must be.
func (e *Env) Quote(name string) string { return exec.Names{Dialect: e.DB.Dialect()}.Quote(name) }

// QuoteSchema writes the name of a schema, which may be of another catalog, as a prompt shows it.
func (e *Env) QuoteSchema(name string) string {
	return exec.Names{Dialect: e.DB.Dialect()}.QuoteSchema(name)
}

// Parallel is Concurrency, its default filled in.
func (e *Env) Parallel() int { return cmp.Or(max(e.Concurrency, 0), 16) }

// Budget is SchemaBudget, its default filled in.
func (e *Env) Budget() int { return cmp.Or(max(e.SchemaBudget, 0), 6000) }

package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
)

// Strategy turns one question into one checked statement.
//
// Generate returns an Outcome, an error, or both: with an error the Outcome,
// where it is not nil, holds what there is to show (candidates, ballot, the
// best answer so far). It returns ctx.Err() promptly once ctx ends and leaves
// no goroutine behind. It must be safe for concurrent use and must not change
// env.
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

// Validator is a Strategy that can tell a bad configuration before the first
// question. texttosql.New calls it; samples is what WithSamples gave, 0 without.
type Validator interface {
	Validate(samples int) error
}

// Env is what a Strategy works with: one database, one or more models and the
// settings that hold for every question. It is built once a question by the
// engine, or by hand in a program of your own.
type Env struct {
	DB     *exec.DB    // required
	Models []llm.Model // at least one; draws go round them in index order

	// Schema is the snapshot that this question uses, descriptions merged in.
	Schema *schema.Schema
	// Profile returns Schema with column profiles, taken at most once a
	// version of the schema. nil: nothing is profiled.
	Profile func(ctx context.Context) (*schema.Schema, error)

	// Rows keeps the sample rows of prompts from question to question; see
	// Augmented. nil: they are read anew for each prompt.
	Rows *RowCache

	// Index keeps the pool of exemplars indexed from question to question; see
	// Exemplars. nil: it is indexed anew for each prompt.
	Index *ExemplarIndex

	// CallsLeft says how many model calls the question's budget has left; false:
	// no limit. nil: no limit.
	CallsLeft func() (calls int, bounded bool)

	Instructions  string // the embedding program's own rules; trusted, part of the system message
	Exemplars     []Pair // pool of solved questions
	SchemaBudget  int    // tokens a schema may take in a prompt; 0 means 6,000
	Concurrency   int    // model calls in flight for one question; 0 means 16
	Seed          int64  // base of the per-draw seeds; 0: none are sent
	SkipExecution bool   // candidates are planned, never run: votes go by plan; an engine's DB is then without execution
	SkipValues    bool   // no stored value reaches a prompt

	shown *shown // what prompts leave out; nil: nobody asks
}

// Task is one question.
type Task struct {
	Question string // in any language; not blank
	Evidence string // knowledge that belongs to the question (BIRD's evidence); advice in prose
	Samples  int    // overrides the preset's number of draws, at most MaxSamples; 0: the preset's default
}

// Outcome is what a Strategy found.
type Outcome struct {
	SQL        string           // the winner; "" when there is none
	Confidence float64          // 0..1
	Ballot     vote.Ballot      // the count that elected it
	Candidates []vote.Candidate // every candidate, in draw order, rejected ones included
	Links      schema.Links     // what the linker chose; zero: the whole schema
	Saved      int              // draws that an early stop made unnecessary
	Notes      []string         // decisions in words, in the order they were taken

	Phases   []PhaseReport // of a strategy that decides in phases, in the order they were run
	Rounds   *Rounds       // of PETSQL
	Fallback string        // why another method had to answer, one of the Fallback… words; "": none had to
}

func (o *Outcome) note(format string, args ...any) {
	o.Notes = append(o.Notes, brief(fmt.Sprintf(format, args...)))
}

// Key is how candidates are compared: by result, or by plan where running them
// is not allowed.
func (e *Env) Key() vote.Key {
	if e.SkipExecution {
		return vote.ByPlan
	}
	return vote.ByResult
}

// Checks are the checks a candidate passes before it votes: exec.DefaultChecks,
// without those that run it where that is not allowed. In a struct literal,
// append(exec.DefaultChecks(), mine) stands for these and mine: where running it is
// not allowed, those that would do nothing.
func (e *Env) Checks() []exec.Check {
	if e.SkipExecution {
		return exec.PlanChecks()
	}
	return exec.DefaultChecks()
}

// Model returns the model of draw i and its name.
func (e *Env) Model(i int) (llm.Model, string) {
	m := e.Models[i%len(e.Models)]
	return m, llm.NameOf(m)
}

// SeedOf returns the seed of draw i: Seed + i, or 0 when Seed is 0. A Seed out of
// 1..2³⁰ is first brought into it: providers take small seeds above 0 only.
func (e *Env) SeedOf(i int) int {
	if e.Seed == 0 {
		return 0
	}
	return int(uint64(e.Seed-1)%(1<<30)) + 1 + i
}

// Quote writes a name as a prompt shows it: quoted where it must be.
func (e *Env) Quote(name string) string {
	return exec.QuoteName(e.DB.Dialect(), name)
}

func (e *Env) concurrency() int {
	if e.Concurrency > 0 {
		return e.Concurrency
	}
	return 16
}

func (e *Env) schemaBudget() int {
	if e.SchemaBudget > 0 {
		return e.SchemaBudget
	}
	return 6000
}

// validate reports what makes it impossible to work on t.
func (e *Env) validate(t Task) error {
	switch {
	case e.DB == nil || len(e.Models) == 0 || e.Schema == nil:
		return fmt.Errorf("strategy: Env needs DB, Schema and at least one model")
	case oneLine(t.Question) == "":
		return ErrEmptyQuestion
	case t.Samples < 0:
		return fmt.Errorf("strategy: Task.Samples is %d; want 0 (the preset's default) or more", t.Samples)
	}
	return checkSamples(t.Samples)
}

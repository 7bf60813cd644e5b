// Package threephase is the three-phase agent (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md): a model judges each table alone,
// then the relevant ones together, then says what the question asks of them. Joins come from keys, names and the model,
// the user is asked where the model cannot tell, and one statement is refined until it runs.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(threephase.Strategy{}))
//
// It is for schemas too large for one prompt, and for users who can be asked (texttosql.Engine.Converse). The source
// publishes no figures, and its code cannot run all loops that it documents.
package threephase

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Strategy answers in three steps: choose the tables, join them, write a statement and refine it.
//
// A question that is not clear is answered by a *session.QuestionError, which is an error: several tables stay though nothing
// joins them, or the joins of two tables are equally likely. A Correction of the Task decides it. A question that has no
// answer is a *FailureError, which says what the user can do. A model that fails is neither: its error is returned, and
// the question can be asked again. So does one whose replies about tables are no JSON (*llm.ReplyError), unless the whole
// schema fits CallTokens: then the statement is written from that, with the warning "no-links".
//
// WithSamples(n) draws n statements at temperature 0.7, which vote; each is refined. Calls a question with T tables: at
// most T + 2 for the tables, one for each pair of tables that neither keys nor names join, 3·n for the statement, and one
// more for each reply of the first two steps that is no JSON. No prompt of these shows stored values. Outcome.Report is a
// Report. Safe for concurrent use.
type Strategy struct {
	Tables linker.PerTable // its Model, Seed and limits of tokens are filled in
	Joins  linker.Joins    // the same
	Prompt strategy.Prompt // writes the statement; Whole is set: columns go only where the tables do not fit
	Refine strategy.Refine // Executions is the number of attempts, 0 means 3; Repairer nil: strategy.TypedRepair

	OnAmbiguity OnAmbiguity // what happens to a question that is not clear; zero: Ask
	CallTokens  int         // most tokens of a prompt, as schema.EstimateTokens counts; 0 means 4000
}

// OnAmbiguity says what happens to a question that is not clear.
type OnAmbiguity uint8

// The ways.
const (
	Ask     OnAmbiguity = iota // the error is a *session.QuestionError
	PickTop                    // the first option is taken, with the warning "picked"
	Fail                       // the error is a *FailureError
)

// Validate refuses numbers out of range.
func (s Strategy) Validate(samples int) error {
	errs := []error{
		s.Tables.Validate(), s.Joins.Validate(), s.Refine.Validate(), strategy.Sampler{}.Validate(samples),
		fields.Check("threephase: Strategy.CallTokens", s.CallTokens, 0),
	}
	if s.OnAmbiguity > Fail {
		errs = append(errs, &strategy.ConfigError{Field: "threephase: Strategy.OnAmbiguity", Problem: fmt.Sprintf("it is %d; want Ask, PickTop or Fail", s.OnAmbiguity)})
	}
	return errors.Join(errs...)
}

// Generate answers one question. Its errors are *session.QuestionError, *FailureError, those of the Env and the Task,
// ctx.Err(), and what a model or the database failed with.
func (s Strategy) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := cmp.Or(env.Validate(t), s.Validate(t.Samples)); err != nil {
		return nil, err
	}
	r := s.start(env, t)
	for _, phase := range []func(context.Context) error{r.choose, r.join, r.answer} {
		if err := phase(ctx); err != nil {
			return r.told(err)
		}
	}
	return r.told(nil)
}

// choose finds the tables: each judged alone, then the relevant ones together, then what is asked of them.
func (r *run) choose(ctx context.Context) (err error) {
	r.enter(ctx, session.QueryUnderstanding)
	ctx, span := trace.Start(ctx, "tables")
	defer span.End()
	if r.input.Schema, err = r.env.Profiled(ctx, r.out, r.env.Schema); err != nil {
		return err
	}
	r.report.Tables, err = r.Tables.Run(ctx, r.input)
	if errors.As(err, new(*llm.ReplyError)) {
		return r.chooseAll(ctx, err)
	}
	if err != nil {
		return err
	}
	r.out.Notes = append(r.out.Notes, r.report.Tables.Links.Notes...)
	r.tables = r.report.Tables.Final
	question := r.report.Tables.Ambiguity(r.input)
	if question == nil {
		return nil
	}
	if err := r.unclear(ctx, question); err != nil {
		return err
	}
	r.tables = append(r.tables[:0:0], *question.Options[0].Table)
	return nil
}

// chooseAll takes every table where they fit one prompt: the model's replies about most of them cannot be read.
func (r *run) chooseAll(ctx context.Context, unread error) error {
	all, _ := r.input.Schema.Presentable()
	tokens, err := r.env.SchemaTokens(ctx, all)
	if err != nil || tokens > r.CallTokens {
		return cmp.Or(err, unread)
	}
	r.out.Warn(ctx, "no-links", "linking failed, the whole schema is used: %v", unread)
	for i := range all.Tables {
		name := all.Tables[i].TableName()
		r.tables = append(r.tables, name)
		r.report.Tables.Links.Tables = append(r.report.Tables.Links.Tables, name.Link())
	}
	return nil
}

// join finds out how the tables are joined, unless the question does not need it.
func (r *run) join(ctx context.Context) (err error) {
	if len(r.tables) < 2 || !r.report.Tables.JoinsNeeded {
		return nil
	}
	r.enter(ctx, session.InferringJoins)
	ctx, span := trace.Start(ctx, "joins")
	defer span.End()
	r.report.Joins, err = r.Joins.Connect(ctx, r.input, r.tables)
	if question := (*session.QuestionError)(nil); errors.As(err, &question) {
		err = r.unclear(ctx, question)
	}
	r.tables = append(r.tables[:len(r.tables):len(r.tables)], r.report.Joins.Bridges...)
	return err
}

// answer writes statements and refines them.
func (r *run) answer(ctx context.Context) error {
	if err := r.restrict(ctx); err != nil {
		return err
	}
	refine := r.Refine
	refine.Repairer = repairer{r, refine.Repairer}
	examiner := strategy.NewExaminer(ctx, r.env, r.task, nil, nil)
	defer examiner.Close()
	p := strategy.Pipeline{Prompter: prompter{r, 0}, Refine: &refine, Examiner: examiner}
	if r.task.Samples > 1 {
		p.Sampler.Temperature = 0.7
	}
	env := r.restricted()
	r.enter(ctx, session.GeneratingSQL)
	out, err := p.Generate(ctx, env, r.task)
	if out != nil {
		out.Links, out.Notes = r.out.Links, append(r.out.Notes, out.Notes...)
		r.out = out
	}
	if err == nil {
		r.enter(ctx, session.ExecutingQuery)
	}
	return err
}

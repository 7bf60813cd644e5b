// Package threephase is the three-phase agent (hjf1997/text2sql, WORKFLOW_DIAGRAMS.md). A model judges each table
// alone, then the relevant tables together, and then describes their use in the answer. Joins come from keys, names
// and the model. If the model cannot decide, the user is consulted. One statement is refined until it runs.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(threephase.Strategy{}))
//
// It is for schemas too large for one prompt, and for users who can answer questions (texttosql.Conversation). The
// source publishes no figures, and its code cannot run all loops that it documents.
package threephase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Strategy answers in three steps: choose the tables, join them, write a statement and refine it.
//
// An unclear question returns a *session.QuestionError: several tables remain that nothing joins, or the joins of two
// tables are equally likely. A Correction of the Task decides it. Without an answer, the error is a *FailureError
// with advice for the user. If a model fails, its error is returned, and the question can be asked again. The same
// holds if its replies about tables are not JSON (*llm.ReplyError), unless the whole schema fits CallTokens. Then the
// whole schema is used, with the warning "no-links".
//
// WithSamples(n) draws n statements at temperature 0.7, which vote; each is refined. A question takes at most
// one call per table, fewer with over 40 tables (linker.PerTable.PerCall), and 2 for the tables. It takes one
// for each pair of tables that neither keys nor names join, and 3·n for the statement. Each reply of the first two
// steps that is not JSON costs one more. Prompts of these two steps show no stored values. Outcome.Report is a
// Report. Safe for concurrent use.
type Strategy struct {
	Tables linker.PerTable // its Model, Seed and limits of tokens are filled in
	Joins  linker.Joins    // its Model, Seed and CallTokens are filled in
	Prompt strategy.Prompt // writes the statement; Whole is set: columns are left out only if the tables do not fit
	Refine strategy.Refine // Executions is the number of attempts, 0 means 3; Repairer nil: strategy.TypedRepair

	// OnAmbiguity defines what happens to an unclear question:
	//   - "ask" or "": the error is a *session.QuestionError;
	//   - "pick": the first option is used, with the warning "picked";
	//   - "fail": the error is a *FailureError.
	OnAmbiguity string
	CallTokens  int // maximum tokens of a prompt, estimated; 0 means 4000
}

// Validate refuses numbers out of range.
func (s Strategy) Validate(samples int) error {
	s.Tables.Model = llm.Func(nil) // it is filled in
	errs := []error{
		s.Tables.Validate(), s.Joins.Validate(), s.Refine.Validate(), strategy.Sampler{}.Validate(samples),
		fields.Check("threephase: Strategy.CallTokens", s.CallTokens, 0),
	}
	if !slices.Contains([]string{"", "ask", "pick", "fail"}, s.OnAmbiguity) {
		errs = append(errs, &strategy.ConfigError{Field: "threephase: Strategy.OnAmbiguity",
			Problem: fmt.Sprintf("it is %q; want ask, pick or fail", s.OnAmbiguity)})
	}
	return errors.Join(errs...)
}

// Generate answers one question. It returns *session.QuestionError, *FailureError, the errors of the Env and the
// Task, ctx.Err(), or the error of a model or the database that failed.
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

// choose finds the tables: each judged by itself, then the relevant ones together, then the columns and joins.
func (r *run) choose(ctx context.Context) (err error) {
	r.enter(ctx, dialogue.QueryUnderstanding)
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
	r.enter(ctx, dialogue.InferringJoins)
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
	examiner := strategy.NewChecker(ctx, r.env, r.task, nil, nil)
	defer examiner.Close()
	p := strategy.Pipeline{Prompter: prompter{r, 0}, Refine: &refine, Examiner: examiner}
	if r.task.Samples > 1 {
		p.Sampler.Temperature = 0.7
	}
	env := r.restricted()
	r.enter(ctx, dialogue.GeneratingSQL)
	out, err := p.Generate(ctx, env, r.task)
	if out != nil {
		out.Links, out.Notes = r.out.Links, append(r.out.Notes, out.Notes...)
		r.out = out
	}
	if err == nil {
		r.enter(ctx, dialogue.ExecutingQuery)
	}
	return err
}

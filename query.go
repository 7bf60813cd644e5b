package texttosql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/replies"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// NoModel stands in a model's place in New for an engine that asks none: Query, Check and Schema work, questions that people
// verified (WithKnowledge, Confirm) are answered, and every other one ends with ErrNoModel.
var NoModel llm.Model = noModel{}

type noModel struct{}

// Complete is ErrNoModel.
func (noModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, ErrNoModel
}

func (e *Engine) hasNoModel() bool {
	_, none := e.models[0].(noModel)
	return none
}

// pasted is a text of the caller. One that is none is read as what somebody pasted.
func (e *Engine) pasted(sql string) *sqltext.Statement {
	text := e.db.Language().Text
	if checked, err := text.Check(sql); err == nil {
		return checked
	}
	if checked, err := text.Check(replies.Pasted(text, sql)); err == nil {
		return checked
	}
	return text.Parse(sql)
}

// Query runs one statement of untrusted origin, of a person or an agent for example. It passes the text check, the guard,
// the policy and the checks of a candidate, and runs within Limits.Answer. No model is asked. A result that was cut at the
// limit on rows or bytes is no error but a Truncated table.
//
// A statement that may not run is a *exec.RefusedError, one that the database does not take an *exec.InvalidError, one
// over a limit a *exec.LimitError, which matches ErrBudget. If ctx ended, the error is ctx.Err(). The options are
// WithProgress, WithScope, WithPolicy and the ID of a Question. Progress tells the steps "check" and "rows" of the span "statement", and warnings: what is
// suspect about the statement, and that rows are missing.
func (e *Engine) Query(ctx context.Context, sql string, opts ...AskOption) (table *result.Table, err error) {
	err = e.statement(ctx, "Query", sql, opts, func(ctx context.Context, r *exec.Runner, checked *sqltext.Statement, res *Result) error {
		res.Rows, err = rowsOf(ctx, r, checked)
		table = res.Rows
		return err
	})
	return table, err
}

// Stream runs one statement as [Engine.Query] does, and gives its rows one after the other: any number of them, in memory that
// does not grow with them, within Limits.Stream instead of Limits.Answer. It returns once the statement runs; what ends it later
// is told behind the rows. The connection is free again once the loop over Rows has ended, or with Close. Rows of an answer are
// streamed by its statement: e.Stream(ctx, answer.SQL).
//
// The options are those of Query, and so are the errors.
func (e *Engine) Stream(ctx context.Context, sql string, opts ...AskOption) (*result.Stream, error) {
	return result.NewStream(ctx, func(ctx context.Context, to *result.Sink) error {
		return e.statement(ctx, "Stream", sql, opts, func(ctx context.Context, r *exec.Runner, checked *sqltext.Statement, _ *Result) error {
			ctx, span := trace.Start(ctx, "rows")
			defer span.End()
			err := r.Stream(ctx, checked.SQL(), to)
			span.Fail(err)
			return err
		})
	})
}

// statement checks a statement of untrusted origin and gives it to run.
func (e *Engine) statement(ctx context.Context, call, sql string, opts []AskOption,
	run func(ctx context.Context, r *exec.Runner, checked *sqltext.Statement, res *Result) error) error {
	q, err := heeding(call, "", opts, "Question.ID", "WithProgress")
	if err != nil {
		return err
	}
	if e, err = e.within(q); err != nil {
		return err
	}
	res := &Result{}
	ctx, statement := e.begin(ctx, q, res, StepStatement, trace.Attr{Key: "sql", Value: trace.SQL(sql)})
	return statement.end(e.examined(ctx, sql, func(r *exec.Runner, checked *sqltext.Statement) error { return run(ctx, r, checked, res) }))
}

// examined gives a statement that passed the checks to run.
func (e *Engine) examined(ctx context.Context, sql string, run func(r *exec.Runner, checked *sqltext.Statement) error) (err error) {
	runner, err := e.db.Runner(exec.Bounds{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := runner.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("texttosql: giving the connection back: %w", cerr)
		}
	}()
	checking, span := trace.Start(ctx, "check")
	checked, err := runner.Examine(checking, e.pasted(sql), exec.PlanChecks()...)
	for _, f := range checked.Findings {
		if f.Rule != exec.FindingNoTable { // of no question
			span.Warn(f.Rule, f.Detail)
		}
	}
	span.Fail(err)
	span.End()
	if err != nil {
		return e.near(ctx, sql, err)
	}
	return run(runner, checked.Statement)
}

// engineHints are words by which an engine itself says what may be meant.
var engineHints = regexp.MustCompile(`(?i)did you mean|meant to|candidate`)

// near says of a name that is not there which one may be meant, among those that the caller may see: of a column among the columns of
// the tables that the statement names. Of the first word it says which keyword.
func (e *Engine) near(ctx context.Context, sql string, err error) error {
	switch fault := err.(type) {
	case *exec.RefusedError:
		first, ok := strings.CutPrefix(fault.Detail, "the statement starts with ")
		if best := words.Nearest(first, []string{"SELECT", "WITH", "VALUES"}); ok && best != "" {
			told := *fault
			told.Detail += ". Did you mean " + best + "?"
			return &told
		}
	case *exec.InvalidError:
		known, serr := e.Schema(ctx)
		if fault.Fault != exec.FaultSchema || fault.Name == "" || serr != nil || engineHints.MatchString(fault.Message) {
			return err
		}
		if best := words.Nearest(fault.Name[strings.LastIndexByte(fault.Name, '.')+1:], namesNear(e.pasted(sql), known)); best != "" {
			told := *fault
			told.Message += ". Did you mean " + best + "?"
			return &told
		}
	}
	return err
}

// namesNear are the names that a statement may mean: those of all tables, and of the columns of the tables that it reads.
func namesNear(statement *sqltext.Statement, known *schema.Schema) (names []string) {
	for _, t := range known.Tables {
		names = append(names, t.Name)
		if slices.ContainsFunc(statement.Tables(), func(r sqltext.TableRef) bool { return schema.EqualFold(r.Name, t.Name) }) {
			for _, c := range t.Columns {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

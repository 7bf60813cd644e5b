package texttosql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// NoModel takes the place of a model in New for an engine that calls none. Query, Check and Schema work. Questions
// with a verified answer (WithKnowledge, Confirm) are answered; every other question fails with ErrNoModel.
var NoModel llm.Model = noModel{}

type noModel struct{}

// Complete returns ErrNoModel.
func (noModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, ErrNoModel
}

func (e *Engine) hasNoModel() bool {
	_, none := e.models[0].(noModel)
	return none
}

// pasted parses the caller's text as a statement. Other text is parsed like pasted text.
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

// Query runs one untrusted statement, for example from a person or an agent. It passes the text check, the guard, the
// policy and the checks of a candidate, and runs within Limits.Answer. Query calls no model. A result that was cut at
// the limit on rows or bytes is a Truncated table and not an error.
//
// The errors are:
//   - *exec.RefusedError: the statement may not run.
//   - *exec.InvalidError: the database rejects it.
//   - *exec.LimitError: it exceeds a limit; it matches ErrBudget.
//   - ctx.Err(): ctx has ended.
//
// The options are WithProgress, WithScope, WithPolicy and WithID. Progress reports the steps "check" and "rows" of
// the span "statement", and warnings about a suspect statement and about missing rows.
func (e *Engine) Query(ctx context.Context, sql string, opts ...AskOption) (table *result.Table, err error) {
	err = e.statement(ctx, "Query", sql, opts, func(ctx context.Context, r *exec.Runner, checked *sqltext.Statement,
		res *Result) error {
		res.Rows, err = rowsOf(ctx, r, checked)
		table = res.Rows
		return err
	})
	return table, err
}

// Stream runs one statement as [Engine.Query] does, and returns its rows one at a time. It reads any number of rows
// in constant memory, within Limits.Stream instead of Limits.Answer. It returns when the statement starts to run; a
// later failure is an error after the rows.
//
// The connection is free again when the loop over Rows has ended, or after Close. A call inside the loop needs
// another connection: with Limits.Connections 1 it waits until its ctx ends or the time of Limits.Stream is over. To
// stream the rows of an answer, use its statement: e.Stream(ctx, answer.SQL).
//
// The options and the errors are the same as for Query.
func (e *Engine) Stream(ctx context.Context, sql string, opts ...AskOption) (*result.Stream, error) {
	return result.NewStream(ctx, func(ctx context.Context, to *result.RowWriter) error {
		return e.statement(ctx, "Stream", sql, opts, func(ctx context.Context, r *exec.Runner, checked *sqltext.Statement,
			_ *Result) error {
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
	q, err := heeding(call, "", opts, "WithID", "WithProgress")
	if err != nil {
		return err
	}
	if e, err = e.within(q); err != nil {
		return err
	}
	res := &Result{}
	ctx, statement := e.begin(ctx, q, res, StepStatement, trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(sql)})
	err = e.examined(ctx, sql, func(r *exec.Runner, checked *sqltext.Statement) error { return run(ctx, r, checked, res) })
	return statement.end(e.near(ctx, sql, err))
}

// examined gives a statement that passed the checks to run.
func (e *Engine) examined(ctx context.Context, sql string,
	run func(r *exec.Runner, checked *sqltext.Statement) error) (err error) {
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
		if f.Rule != checks.NoTable { // of no question
			span.Warn(f.Rule, f.Detail)
		}
	}
	span.Fail(err)
	span.End()
	if err != nil {
		return err
	}
	return run(runner, checked.Statement)
}

// engineHints are words by which an engine itself says what may be meant.
var engineHints = regexp.MustCompile(`(?i)did you mean|meant to|candidate`)

// near says of a name that is not there which one may be meant, among those that the caller may see: of a column among
// the columns of the tables that the statement names. Of the first word it says which keyword. It reads the schema on a
// connection of its own, so the caller holds no connection.
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
		name := fault.Name
		if fault.Fault == "syntax" {
			name = keywordTable(sql, fault.Message)
		} else if fault.Fault != "schema" {
			name = ""
		}
		if name == "" || engineHints.MatchString(fault.Message) {
			return err
		}
		known, serr := e.Schema(ctx)
		if serr != nil {
			return err
		}
		name = name[strings.LastIndexByte(name, '.')+1:]
		if best := words.Nearest(name, namesNear(e.pasted(sql), known)); best != "" && !schema.EqualFold(best, name) {
			told := *fault
			told.Message += ". Did you mean " + e.db.Language().PromptQuoter().Quote(best) + "?"
			return &told
		}
	}
	return err
}

// readName finds the names behind FROM and JOIN.
var readName = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+(\w+)`)

// keywordTable returns the keyword that a statement names as a table, where the engine's message about the syntax names
// it: "order" in SELECT * FROM order.
func keywordTable(sql, message string) string {
	for _, m := range readName.FindAllStringSubmatch(sql, -1) {
		if near, _ := regexp.MatchString(`(?i)near ["']`+m[1]+`\b`, message); near {
			return m[1]
		}
	}
	return ""
}

// namesNear returns the names that a statement may mean: all tables, and the columns of the tables that it reads.
func namesNear(statement *sqltext.Statement, known *schema.Schema) (names []string) {
	for _, t := range known.Tables {
		names = append(names, t.Name)
		if slices.ContainsFunc(statement.Tables(), func(r sqlshape.TableRef) bool {
			return schema.EqualFold(r.Name, t.Name)
		}) {
			for _, c := range t.Columns {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

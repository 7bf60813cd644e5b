package texttosql

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/memory"
)

// Confirm keeps a question with SQL that a person found to be the right answer, as an exemplar for later questions to
// strategies that show some: PETSQL does, others where their Shots says how many. See memory.Options. Confirmed ones
// come before the configured. At once it also says which tables the words of later questions mean.
//
// The SQL passes the checks of Check first: what the guard refuses or the engine rejects is not kept, and the error is
// theirs. A question that is confirmed again replaces its answer. Where statements may run, it is run for one row: how
// often confirmed answers have no value says how much such an answer is to be doubted (doubt.Rules.EmptyAnswerRate).
//
// The error is memory.ErrForgotten where New got no memory.Options.Confirmed: the answer is kept, and forgotten when the program
// ends.
//
// The stored text goes into prompts of later questions of the same scope. The options are WithScope, WithPolicy and Question.User, which is who
// found it right. Who may call Confirm decides what models are shown.
func (e *Engine) Confirm(ctx context.Context, question, sql string, opts ...AskOption) error {
	q, err := heeding("Confirm", question, opts, "Question.User")
	if err == nil {
		err = q.validate()
	}
	if err != nil {
		return err
	}
	e, err = e.within(q)
	if err != nil {
		return err
	}
	verdict, err := e.Check(ctx, sql)
	if err != nil {
		return fmt.Errorf("texttosql: confirming an answer: %w", err)
	}
	pair := memory.Pair{Scope: e.ScopeKey(), Question: strings.TrimSpace(question), SQL: verdict.SQL, By: q.User, Valueless: e.valueless(ctx, verdict.SQL)}
	if e.clock != nil {
		at := e.clock().Round(0)
		pair.At = &at
	}
	err = e.confirmed.Add(pair)
	if err == nil && e.forgetful {
		return memory.ErrForgotten
	}
	return err
}

// valueless reports whether a statement has no rows or nothing but NULL; nil where that cannot be told.
func (e *Engine) valueless(ctx context.Context, sql string) *bool {
	t, err := e.db.QueryWithin(ctx, sql, exec.Bounds{Rows: 1})
	if err != nil {
		return nil
	}
	none := !t.Truncated && (t.Empty() || t.AllNull())
	return &none
}

// emptyShare estimates how often a right answer has no value; 0 where nobody looked.
func emptyShare(confirmed []memory.Pair) float64 {
	empty, known := 0, 0
	for _, p := range confirmed {
		if p.Valueless == nil {
			continue
		}
		known++
		if *p.Valueless {
			empty++
		}
	}
	if known == 0 {
		return 0
	}
	return doubt.EmptyAnswerRate(empty, known)
}

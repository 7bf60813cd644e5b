package texttosql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// recall returns the lessons that a question may be shown, without those that name what its policy denies. nil: none.
func (e *Engine) recall(ctx context.Context, q asking) (*memory.Recall, error) {
	r, err := e.learnedFor(ctx, q)
	if r == nil || !e.narrowed || len(r.Lessons) == 0 {
		return r, err
	}
	withheld, err := e.db.Withheld(ctx)
	if err != nil {
		return nil, err
	}
	denied := map[string]bool{}
	for _, t := range withheld {
		denied[schema.Fold(t.Name)] = true
	}
	policy := e.db.Policy()
	r.Lessons = slices.DeleteFunc(r.Lessons, func(l memory.Lesson) bool {
		text := strings.Join(append(slices.Clone(l.Tables), l.Table, l.From, l.To, l.Text, l.SQL), " ")
		words := strings.FieldsFunc(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		return policy.Mentions(text) || slices.ContainsFunc(words, func(word string) bool { return denied[schema.Fold(word)] })
	})
	return r, nil
}

// learnedFor returns the lessons that the session of a question kept, or else those of the store. nil: none.
func (e *Engine) learnedFor(ctx context.Context, q asking) (*memory.Recall, error) {
	switch {
	case e.lessons == nil || e.forgets(q) || q.Text == "":
		return nil, nil
	case q.recall != nil:
		return q.recall, nil
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	declared := e.schema
	if declared == nil {
		declared = live
	}
	r, err := e.lessons.Recall(memory.RecallInput{Question: q.Text, Owner: e.ScopeKey(), Schema: declared, Live: live, Check: func(sql string) error {
		_, err := e.db.Examine(ctx, sql, exec.ReadOnly{})
		return err
	}})
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		trace.From(ctx).Warn("lesson-unusable", w)
	}
	return r, ctx.Err()
}

// forgets reports whether a question is answered without what was learned.
func (e *Engine) forgets(q asking) bool { return e.withoutMemory || q.withoutMemory }

// nameable returns the tables that a correction may name: those of prompts, and those of the database that a declared
// schema lacks. They differ where a user says what a table is called now.
func (e *Engine) nameable(ctx context.Context) (*schema.Schema, error) {
	known, err := e.Schema(ctx)
	if err != nil || e.schema == nil {
		return known, err
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	all := *known
	all.Tables = slices.Clip(all.Tables)
	for _, t := range live.Tables {
		if _, ok := known.Lookup(t.Schema, t.Name); !ok {
			all.Tables = append(all.Tables, t)
		}
	}
	return &all, nil
}

// maxAttempts is how many rejected statements of a question teach something.
const maxAttempts = 20

// learnFrom learns from one question of a session that came to its end. ep says what the session knows of it; the rest
// is found out here, from out and the engine, which says what a rejected statement lacks and what the answer reads.
func (e *Engine) learnFrom(ctx context.Context, ep memory.FinishedQuestion, out *strategy.Outcome) (memory.LearnResult, error) {
	if e.lessons == nil || e.withoutMemory {
		return ep.Before, nil
	}
	live, err := e.db.Schema(ctx)
	if err != nil {
		return ep.Before, err
	}
	ep.Live, ep.Declared, ep.Dialect, ep.Owner = live, e.schema, e.db.Language().Text, e.ScopeKey()
	var tried []string
	try := func(sql string) {
		if sql != "" && sql != ep.SQL && len(tried) < maxAttempts && !slices.Contains(tried, sql) {
			tried = append(tried, sql)
		}
	}
	if out != nil {
		for _, s := range out.Steps {
			if s.Status == "rejected" {
				try(s.SQL)
			}
		}
		for _, c := range out.Candidates {
			if c.Rejected != "" {
				try(c.SQL)
			}
		}
	}
	for _, sql := range tried {
		a := memory.Attempt{SQL: sql}
		_, err := e.db.Examine(ctx, sql, exec.ReadOnly{})
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) && invalid.Fault == exec.FaultSchema {
			a.Missing = invalid.Name
		}
		if err != nil {
			ep.Attempts = append(ep.Attempts, a)
		}
	}
	if ep.Completed {
		c, err := e.db.Examine(ctx, ep.SQL, exec.ReadOnly{})
		if err != nil {
			return ep.Before, fmt.Errorf("texttosql: learning from an answer: %w", err)
		}
		for _, t := range c.Analysis.TablesOf(live) {
			name := schema.TableName{Schema: t.Schema, Name: t.Table}
			ep.Tables = append(ep.Tables, name)
			for _, column := range t.Columns {
				ep.Columns = append(ep.Columns, schema.ColumnName{Table: name, Column: column})
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return ep.Before, err
	}
	return e.lessons.Learn(ep)
}

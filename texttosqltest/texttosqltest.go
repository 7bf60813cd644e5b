// Package texttosqltest stands in for an engine in the tests of programs that embed one: it answers from a list, asks no model and
// opens no database.
//
//	type asker interface { // what the program needs of an engine
//		Ask(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
//	}
package texttosqltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/result"
)

// Asker is what most programs need of a *texttosql.Engine. A [Fake] is one, too.
type Asker interface {
	Ask(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
	Generate(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
}

var (
	_ Asker = (*texttosql.Engine)(nil)
	_ Asker = (*Fake)(nil)
)

// Answer is what a Fake says to one question.
type Answer struct {
	SQL        string
	Rows       *result.Table // nil: none
	Confidence float64       // 0..1
	Err        error         // beside the rest, as Ask has it; nil: it is answered
}

// Fake answers from a list. Options are taken and do nothing. Safe for concurrent use.
type Fake struct {
	Answers map[string]Answer // by question, white space around it aside; do not change it while it is asked

	mu    sync.Mutex
	asked []string
}

// Ask gives the answer to the question, with its rows. A question that is not in Answers is an error that lists those that are,
// and one without a word is texttosql.ErrEmptyQuestion. The Result is never nil. If ctx ended, the error is ctx.Err().
func (f *Fake) Ask(ctx context.Context, question string, _ ...texttosql.AskOption) (*texttosql.Result, error) {
	f.mu.Lock()
	f.asked = append(f.asked, question)
	f.mu.Unlock()
	r := &texttosql.Result{Question: question}
	question = strings.TrimSpace(question)
	a, known := f.Answers[question]
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case question == "":
		return r, texttosql.ErrEmptyQuestion
	case !known:
		return r, fmt.Errorf("texttosqltest: no answer to %q; there are answers to %q", question, slices.Sorted(maps.Keys(f.Answers)))
	}
	r.SQL, r.Confidence, r.Rows = a.SQL, a.Confidence, a.Rows
	return r, a.Err
}

// Generate is Ask without rows.
func (f *Fake) Generate(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error) {
	r, err := f.Ask(ctx, question, opts...)
	r.Rows = nil
	return r, err
}

// Asked returns the questions in the order in which they were asked.
func (f *Fake) Asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

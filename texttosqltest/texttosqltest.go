// Package texttosqltest helps to test programs that embed an engine. A [Fake] replaces an engine: it answers from a
// list, calls no model and opens no database. Write an interface of the methods that the program calls:
//
//	type asker interface { // what the program needs of an engine
//		Ask(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
//	}
//
// [Run] tests a real engine on your own questions, in go test. It checks the answers. It also checks which questions
// the engine refuses, or answers with a question to the user.
//
//	func TestQuestions(t *testing.T) { texttosqltest.Run(t, engine, "questions.jsonl") }
//
// It does not measure quality: package eval has metrics and intervals. Each line of the file is a JSON object with a
// question and the optional expectations of [Expectation].
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
	"github.com/texttosql/texttosql/strategy"
)

// asker is the methods of a *texttosql.Engine that a Fake has.
type asker interface {
	Ask(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
	Generate(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
}

var (
	_ asker = (*texttosql.Engine)(nil)
	_ asker = (*Fake)(nil)
)

// Answer is a Fake's answer to one question.
type Answer struct {
	SQL        string
	Rows       *result.Table // nil: none
	Confidence float64       // 0..1
	Err        error         // the error that Ask returns with the result; nil: no error
}

// Fake answers from a list. It accepts options and ignores them. Safe for concurrent use.
type Fake struct {
	Answers map[string]Answer // by question, without white space around it; do not change it during a call

	mu    sync.Mutex
	asked []string
}

// Ask returns the answer to the question, with its rows. For a question that is not in Answers, the error lists the
// known ones. A question without a word is strategy.ErrEmptyQuestion. The Result is never nil. If ctx ended, the
// error is ctx.Err().
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
		return r, strategy.ErrEmptyQuestion
	case !known:
		return r, fmt.Errorf("texttosqltest: no answer to %q; there are answers to %q", question,
			slices.Sorted(maps.Keys(f.Answers)))
	}
	r.SQL, r.Confidence, r.Rows = a.SQL, a.Confidence, a.Rows
	return r, a.Err
}

// Generate returns the same as Ask, without rows.
func (f *Fake) Generate(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error) {
	r, err := f.Ask(ctx, question, opts...)
	r.Rows = nil
	return r, err
}

// Asked returns the questions in the order of the calls.
func (f *Fake) Asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

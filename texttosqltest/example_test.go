package texttosqltest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/texttosqltest"
)

// asker is the part of an engine that the program calls.
type asker interface {
	Ask(ctx context.Context, question string, opts ...texttosql.AskOption) (*texttosql.Result, error)
}

// report is a part of a program that asks.
func report(ctx context.Context, engine asker) string {
	answer, err := engine.Ask(ctx, "How many orders are there?")
	if err != nil {
		return failure.Of(err).Message
	}
	return fmt.Sprintf("%v orders, confidence %.2f", answer.Rows.Rows[0][0], answer.Confidence)
}

func ExampleFake() {
	fake := &texttosqltest.Fake{Answers: map[string]texttosqltest.Answer{
		"How many orders are there?": {
			SQL: "SELECT count(*) FROM orders", Rows: &result.Table{Columns: []string{"count(*)"}, Rows: [][]any{{int64(7)}}},
			Confidence: .9,
		},
	}}
	fmt.Println(report(context.Background(), fake))
	busy := &texttosqltest.Fake{Answers: map[string]texttosqltest.Answer{
		"How many orders are there?": {Err: exec.ErrBusy}}}
	fmt.Println(report(context.Background(), busy))
	// Output:
	// 7 orders, confidence 0.90
	// The database is busy: somebody holds a lock, or all connections.
}

// TestFake: what a Fake says of questions that it does not know, and that it may be asked at once.
func TestFake(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f := &texttosqltest.Fake{Answers: map[string]texttosqltest.Answer{"a?": {SQL: "SELECT 1", Rows: &result.Table{}}}}
	for _, tt := range []struct {
		why, question string
		ctx           context.Context
		want          func(error) bool
	}{
		{"known", " a? ", t.Context(), func(err error) bool { return err == nil }},
		{"unknown", "b?", t.Context(), func(err error) bool {
			return err != nil && err.Error() == `texttosqltest: no answer to "b?"; there are answers to ["a?"]`
		}},
		{"empty", " ", t.Context(), func(err error) bool { return errors.Is(err, strategy.ErrEmptyQuestion) }},
		{"ended", "a?", ended, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		r, err := f.Generate(tt.ctx, tt.question)
		if r == nil || r.Rows != nil || !tt.want(err) {
			t.Errorf("%s: %+v, %v", tt.why, r, err)
		}
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { f.Ask(t.Context(), "a?") })
	}
	all.Wait()
	if asked := f.Asked(); len(asked) != 14 || !slices.Contains(asked, "b?") {
		t.Errorf("asked: %q", asked)
	}
}

package texttosql_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/trace"
)

func TestProgressAndLog(t *testing.T) {
	var log bytes.Buffer
	steps := map[string]int{} // not guarded: calls never overlap, or the race detector tells
	var busy atomic.Bool
	e := engine(t, always(usa+" AND password <> 's3cret-9'"),
		texttosql.WithLogger(slog.New(ofRequest{slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})})),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if busy.Swap(true) {
				t.Error("calls overlap")
			}
			if p.Kind == trace.Ended {
				steps[p.Step]++
			}
			runtime.Gosched()
			busy.Store(false)
		}))
	ctx := context.WithValue(t.Context(), ofRequest{}, "r-17")
	for a := range e.AskAll(ctx, slices.Values(asked(slices.Repeat([]string{"Which of my secret customers live in the USA?"}, 4)...)), texttosql.Batch{}) {
		if a.Err != nil {
			t.Error(a.Err)
		}
	}
	if steps["question"] != 4 || steps["sample"] < 4*7 || steps["vote"] != 4 {
		t.Errorf("steps: %v", steps)
	}
	for _, private := range []string{"s3cret", "secret customers", "SELECT", "Ada"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("%q is in the log:\n%s", private, log.String())
		}
	}
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "request=r-17") {
			t.Fatalf("without the context of the question: %s", line)
		}
	}
	for id := range 4 {
		if want := fmt.Sprintf("outcome=answered id=%d ", id); !strings.Contains(log.String(), want) {
			t.Errorf("no record with %q:\n%s", want, log.String())
		}
	}
}

// ofRequest adds what the context of a request carries to its records.
type ofRequest struct{ slog.Handler }

func (h ofRequest) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(ofRequest{}).(string); ok {
		r.AddAttrs(slog.String("request", id))
	}
	return h.Handler.Handle(ctx, r)
}

package llm_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// The system message ends with the day, so that "last month" is decidable.
func ExampleToday() {
	day := llm.DayLine(time.Date(2026, 11, 27, 9, 30, 0, 0, time.UTC))
	model := llm.Chain(llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: req.Messages[0].Text}, nil
	}), llm.Today(day))
	reply, _ := model.Complete(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "Answer with SQL.\n"}}})
	fmt.Println(reply.Text)
	// Output:
	// Answer with SQL.
	//
	// Today is Friday, 2026-11-27 (time zone UTC).
}

func FuzzParseDay(f *testing.F) {
	f.Add("Today is Friday, 2026-11-27 (time zone CET, UTC+01:00).")
	f.Add("Today is Friday, 2026-11-27 (time zone ")
	f.Fuzz(func(t *testing.T, line string) {
		if day, ok := llm.ParseDay(line); ok {
			if again, ok := llm.ParseDay(llm.DayLine(day)); !ok || again.YearDay() != day.YearDay() {
				t.Fatalf("%q is %v, and then %v", line, day, again)
			}
		}
	})
}

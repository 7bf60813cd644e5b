package texttosql_test

import (
	"context"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// BenchmarkAsk measures the SDK's own time and allocations for a warm question:
// the model answers at once and the schema is known.
func BenchmarkAsk(b *testing.B) {
	for _, bench := range []struct {
		name     string
		strategy strategy.Strategy
	}{
		{"Direct", strategy.Direct{}},
		{"Consensus", strategy.Consensus{}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			reply := llm.Response{Text: "```sql\n" + usa + ";\n```", StopReason: llm.StopEnd}
			model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return reply, nil })
			e := engine(b, model, texttosql.WithStrategy(bench.strategy))
			ask := func() {
				if _, err := e.Ask(b.Context(), "Which customers live in the USA?"); err != nil {
					b.Fatal(err)
				}
			}
			ask()
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	}
}

package enginetest_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// asks are the questions that are measured: the model answers at once, and the schema is known.
var asks = []struct {
	name     string
	strategy strategy.Strategy
	options  []texttosql.Option
}{
	{"Direct", strategy.Direct{}, nil},
	{"Consensus", strategy.Consensus{}, []texttosql.Option{texttosql.WithSamples(12)}},
}

// warm returns a function that asks a question which was asked before.
func warm(tb testing.TB, s strategy.Strategy, options []texttosql.Option) (ask func()) {
	reply := llm.Response{Text: "```sql\n" + usa + ";\n```", StopReason: llm.StopEnd}
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return reply, nil })
	e := engine(tb, model, append(options, texttosql.WithStrategy(s))...)
	ask = func() { testutil.Value(e.Ask(tb.Context(), "Which customers live in the USA?"))(tb) }
	ask()
	return ask
}

// BenchmarkAsk measures the SDK's own time and allocations for a warm question.
func BenchmarkAsk(b *testing.B) {
	for _, bench := range asks {
		b.Run(bench.name, func(b *testing.B) {
			ask := warm(b, bench.strategy, bench.options)
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	}
}

// TestAllocations compares the allocations of a warm question with the limits in testdata/allocations.txt. Lower a
// limit when a change beats it.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates too")
	}
	limits := map[string]float64{}
	for line := range strings.Lines(string(testutil.Value(os.ReadFile("testdata/allocations.txt"))(t))) {
		var name string
		var limit float64
		testutil.Value(fmt.Sscan(line, &name, &limit))(t)
		limits[name] = limit
	}
	for _, tt := range asks {
		ask, least := warm(t, tt.strategy, tt.options), math.Inf(1)
		for range 10 {
			least = min(least, testing.AllocsPerRun(10, ask))
		}
		t.Logf("%s: %.0f allocations a question", tt.name, least)
		if limit, known := limits[tt.name]; !known || least > limit {
			t.Errorf("%s: %.0f allocations a question, at most %.0f", tt.name, least, limit)
		}
	}
}

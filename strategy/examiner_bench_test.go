package strategy_test

import (
	"strconv"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// BenchmarkAdmission is what twelve distinct small statements on superhero cost
// from reply to candidate: extraction, guard, plan, rows and fingerprint.
func BenchmarkAdmission(b *testing.B) {
	env := strategytest.Heroes(b)
	table := env.Schema.Tables[0]
	for b.Loop() {
		a := strategy.NewExaminer(b.Context(), env, usaTask, nil, &doubt.Rules{})
		for i := range 12 {
			sql := "SELECT count(*) FROM " + env.Quote(table.Name) + " WHERE " + env.Quote(table.Columns[0].Name) + " > " + strconv.Itoa(i)
			c, err := a.Examine(b.Context(), i, "", llm.Response{Text: sql})
			if err != nil || c.Rejected != "" {
				b.Fatal(c.Rejected, err)
			}
		}
		a.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/12, "µs/candidate")
}

package vote

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/texttosql/texttosql/sqltext"
)

// benchPool is n candidates as a real pool has them: half of them agree, some
// fail, the texts differ.
func benchPool(n int) []Candidate {
	r := rand.New(rand.NewPCG(1, 1))
	out := make([]Candidate, n)
	for i := range out {
		k := 0
		if r.IntN(2) == 0 {
			k = r.IntN(10)
		}
		c := Candidate{
			SQL: fmt.Sprintf("SELECT T1.name, count(*) FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id "+
				"WHERE T2.year > %d "+
				"GROUP BY T1.name ORDER BY count(*) DESC LIMIT %d", 1990+i%7, k),
			Sample:      i,
			Model:       fmt.Sprintf("model %d", i%5),
			Fingerprint: fmt.Sprintf("%032x", k*7919),
			Cost:        float64(50 * (i % 4)),
		}
		c.Statement = sqltext.SQLite().Parse(c.SQL) // as an examiner gives it
		if i%11 == 10 {
			c.Rejected, c.Fingerprint = "no such column: x", ""
		}
		if k%3 == 1 {
			c.Findings = []Finding{{Rule: "more_columns", Detail: "more columns than asked", Doubt: 1}}
		}
		out[i] = c
	}
	return out
}

func reportCandidate(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/candidate")
}

func BenchmarkMajority(b *testing.B) {
	for _, n := range []int{12, 100, 1000} {
		c := benchPool(n)
		for name, m := range map[string]Majority{
			"plain":   {},
			"penalty": {Penalty: 1, MaxDoubt: 6},
			"weights": {Weight: func(c Candidate) float64 { return 0.7 }},
		} {
			b.Run(fmt.Sprintf("candidates=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Count(c); err != nil {
						b.Fatal(err)
					}
				}
				reportCandidate(b, n)
			})
		}
	}
}

func BenchmarkTally(b *testing.B) {
	c := benchPool(100)
	m := Majority{Penalty: 1, MaxDoubt: 6}
	b.ReportAllocs()
	for b.Loop() {
		state, err := m.State(c, 200)
		if err != nil || Decided(state) {
			b.Fatal("decided", err)
		}
	}
	reportCandidate(b, len(c))
}

package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
)

func BenchmarkStoreExecute(b *testing.B) {
	store := newStore(b, shop(b))
	b.Run("distinct", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := store.Execute(b.Context(), "shop", fmt.Sprintf("SELECT a FROM t WHERE a > %d", i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			if _, err := store.Execute(b.Context(), "shop", "SELECT a, b FROM t"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMetrics scores one pair of statements of 1,000 rows that are known.
func BenchmarkMetrics(b *testing.B) {
	store := newStore(b, numbers(b))
	many := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT i, i %% 7, %s FROM n"
	q := eval.Question{ID: "1", DB: "n", Gold: fmt.Sprintf(many, "i % 5")}
	for _, m := range []eval.Metric{eval.EX{}, eval.EX{Rule: "order"}} {
		b.Run(m.Name(), func(b *testing.B) {
			s := eval.Scorer{Store: store, Metrics: []eval.Metric{m}}
			for b.Loop() {
				if _, err := s.Score(b.Context(), q, fmt.Sprintf(many, "i % 5 + 0")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAnswers(b *testing.B) {
	line := `{"run": "a/system", "qid": 717, "db_id": "superhero", "sql": "SELECT T1.\"name\" FROM t AS T1 WHERE T1.a = 'x'", ` +
		`"label": 1, "exec": {"status": "ok", "set_match": true, "nrows": 4}}` + "\n"
	path := write(b, "a.jsonl", strings.Repeat(line, 1000))
	b.SetBytes(int64(1000 * len(line)))
	for b.Loop() {
		for _, err := range eval.Answers(path) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

package postgres_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
)

// BenchmarkExamine examines statements that are all new, with the default checks. "least" is the fastest one.
func BenchmarkExamine(b *testing.B) {
	s := server.Get(b)
	pool, err := sql.Open("pgx", "postgres://postgres@127.0.0.1:"+itoa(s.Port)+"/postgres?sslmode=disable")
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec("DROP TABLE IF EXISTS bench; CREATE TABLE bench(a INTEGER, b TEXT); INSERT INTO bench VALUES (7, 'x')"); err != nil {
		b.Fatal(err)
	}
	db, err := exec.New(pool, postgres.Dialect{}, exec.Config{})
	if err != nil {
		b.Fatal(err)
	}
	least, n := time.Hour, 0
	for b.Loop() {
		n++
		text := "SELECT a, b FROM bench WHERE a = 7 AND a <> -" + itoa(n) + " ORDER BY b"
		start := time.Now()
		if _, err := db.Examine(b.Context(), text); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Microseconds()), "least-µs")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

package postgres_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
)

func newDB(t testing.TB, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	c.Unwrap = unwrap
	db, err := exec.New(pool, postgres.Dialect{}, c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// BenchmarkGuard compares a statement without a guard, with one, and in a session. "least" is the fastest one: what
// else runs on the machine does not count in it.
func BenchmarkGuard(b *testing.B) {
	const text = "SELECT a FROM t WHERE a = 7"
	pool, _ := open(b, "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7)")
	db := newDB(b, pool, exec.Config{})
	s, err := db.Runner(exec.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	for _, way := range []struct {
		name string
		run  func() error
	}{
		{"bare", func() error { var a int; return pool.QueryRow(text).Scan(&a) }},
		{"single", func() error { _, err := db.Query(b.Context(), text); return err }},
		{"session", func() error { _, err := s.Query(b.Context(), text); return err }},
	} {
		b.Run("pgx/"+way.name, func(b *testing.B) {
			least := time.Hour
			for b.Loop() {
				start := time.Now()
				if err := way.run(); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least.Microseconds()), "least-µs")
		})
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

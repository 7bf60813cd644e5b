package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
)

// BenchmarkGuard tells what the guard costs a statement: alone, in a session, and under a policy that denies a column,
// beside the bare driver.
func BenchmarkGuard(b *testing.B) {
	pool, _ := open(b, people, "")
	const sql = "SELECT a, b FROM t WHERE a > 0"
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			rows, err := pool.Query(sql)
			if err != nil {
				b.Fatal(err)
			}
			for rows.Next() {
			}
			rows.Close()
		}
	})
	for _, bench := range []struct {
		name   string
		policy exec.Policy
	}{{"open", exec.Policy{}}, {"policy", exec.Policy{DenyColumns: []string{"users.password"}}}} {
		db, err := exec.New(pool, mysql.Dialect{}, exec.Config{Policy: bench.policy})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bench.name+"/single", func(b *testing.B) {
			for b.Loop() {
				if _, err := db.Query(b.Context(), sql); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/session", func(b *testing.B) {
			s, err := db.Session(exec.Bounds{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			for b.Loop() {
				if _, err := s.Query(b.Context(), sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package mysql_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/sqltext"
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
			s, err := db.Runner(exec.Bounds{})
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

// BenchmarkExamine tells what the default checks of a statement cost that was not seen before: alone, in a session, and
// under a policy that denies a column.
func BenchmarkExamine(b *testing.B) {
	pool, _ := open(b, people, "")
	n := 0
	next := func() string {
		n++
		return fmt.Sprintf("SELECT u.name, t.b FROM users AS u JOIN t ON t.a = u.id WHERE u.id < %d ORDER BY u.name", 1000+n)
	}
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
				if c, err := db.Examine(b.Context(), next()); err != nil || c.Table == nil || c.Plan == nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/session", func(b *testing.B) {
			s, err := db.Runner(exec.Bounds{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			for b.Loop() {
				if c, err := s.Examine(b.Context(), sqltext.MySQL().Parse(next())); err != nil || c.Table == nil || c.Plan == nil {
					b.Fatal(err)
				}
			}
		})
	}
}

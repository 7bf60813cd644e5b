package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

const benchStatement = "SELECT u.name, count(*) FROM users AS u JOIN t ON t.a = u.id WHERE t.b LIKE 'a%' GROUP BY u.name ORDER BY 2 DESC"

// BenchmarkHold puts the guard on a connection and takes it off.
func BenchmarkHold(b *testing.B) {
	pool, _ := open(b, fixture)
	for _, bench := range []struct {
		name   string
		policy exec.Policy
	}{
		{"plain", exec.Policy{}},
		{"policy", exec.Policy{DenyColumns: []string{"users.password"}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			ctx := context.Background()
			open, err := sqlite.Dialect{}.Guard(exec.GuardConfig{Policy: bench.policy})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				conn, err := pool.Conn(ctx) // anew: the guard drops one after 10,000 installs
				if err != nil {
					b.Fatal(err)
				}
				held, err := open(ctx, conn, time.Second)
				if err != nil {
					b.Fatal(err)
				}
				if err := held.Close(false); err != nil {
					b.Fatal(err)
				}
				conn.Close()
			}
		})
	}
}

// BenchmarkCompile compiles one statement on a bare connection and on a held one.
func BenchmarkCompile(b *testing.B) {
	pool, _ := open(b, fixture)
	ctx := context.Background()
	conn, err := pool.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			stmt, err := conn.PrepareContext(ctx, benchStatement)
			if err != nil {
				b.Fatal(err)
			}
			stmt.Close()
		}
	})
	held := guarded(b, conn, exec.GuardConfig{}, time.Second)
	statement := admitted(b, held, benchStatement)
	b.Run("guarded", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := held.Confirm(ctx, statement); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkQuery runs one statement, from the text check to the rows, and the
// same one with a time-out and nothing else.
func BenchmarkQuery(b *testing.B) {
	pool, _ := open(b, fixture)
	ctx := context.Background()
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			rows, err := pool.QueryContext(ctx, benchStatement)
			if err != nil {
				b.Fatal(err)
			}
			for rows.Next() {
			}
			rows.Close()
			cancel()
		}
	})
	b.Run("guarded", func(b *testing.B) {
		db := newDB(b, pool, exec.Config{})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := db.Query(ctx, benchStatement); err != nil {
				b.Fatal(err)
			}
		}
	})
}

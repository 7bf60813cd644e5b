package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

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

package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// settings are what the guard changes on a connection.
type settings struct {
	limits      [10]int
	queryOnly   int
	busyTimeout int
	cacheSize   int
	authorizer  bool // one denies writing
}

// settingsOf reads the settings of one connection of the pool.
func settingsOf(t testing.TB, pool *sql.DB) settings {
	t.Helper()
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return settingsOn(t, conn)
}

func settingsOn(t testing.TB, conn *sql.Conn) settings {
	t.Helper()
	ctx := context.Background()
	var s settings
	err := conn.Raw(func(dc any) error {
		hooks := dc.(sqlite.Hooks)
		for id := range s.limits {
			s.limits[id] = hooks.SetLimit(id, -1) // negative: leave it as it is
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA query_only").Scan(&s.queryOnly); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA cache_size").Scan(&s.cacheSize); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&s.busyTimeout); err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(ctx, "EXPLAIN CREATE TABLE authorized(a)")
	s.authorizer = err != nil
	return s
}

// ranNothing reports whether a statement failed before any of it ran.
func ranNothing(err error) bool {
	var refused *exec.RefusedError
	var invalid *exec.InvalidError
	return errors.As(err, &refused) || errors.As(err, &invalid) && invalid.Fault != exec.FaultRun
}

// stopwatch starts and returns what tells the time since: that of the clock, or
// what the process had of the CPU where that is less, since a busy machine lets a
// test wait. SQLite never sleeps, so a statement that is over its time is over it
// on both.
func stopwatch() func() time.Duration {
	clock, cpu := time.Now(), cpuTime()
	return func() time.Duration {
		if now := cpuTime(); now > cpu {
			return min(time.Since(clock), now-cpu)
		}
		return time.Since(clock)
	}
}

// cpuTime is what the process has had of the CPU, 0 where the system does not
// say.
func cpuTime() time.Duration {
	stat, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 for every program
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// memoryGrowth starts to watch the memory of the process and returns what tells
// by how many bytes it grew at most since. SQLite's memory is outside of Go's
// heap, so the system has to say; where it does not, nothing grows.
func memoryGrowth() func() int64 {
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // 5 resets the peak
		return func() int64 { return 0 }
	}
	before := memory("VmRSS:")
	return func() int64 { return memory("VmHWM:") - before }
}

// memory reads one figure out of /proc/self/status.
func memory(field string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

//go:build unix

package enginetest_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

var parallelQuestions = flag.Int("parallel-questions", 32,
	"questions at once in TestParallelQuestions; docs/lab/scale.md has the figures of 512")

// modelTime is the time in which a question waits for at least one call.
type modelTime struct {
	mu       sync.Mutex
	inFlight int
	since    time.Time
	total    time.Duration
}

type modelTimeKey struct{}

func (m *modelTime) add(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch now := time.Now(); {
	case m.inFlight == 0:
		m.since = now
	case m.inFlight+n == 0:
		m.total += now.Sub(m.since)
	}
	m.inFlight += n
}

func (m *modelTime) spent() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}

// load is the outcome of many questions at once.
type load struct {
	wall, cpu      time.Duration
	own, model     []time.Duration // of each question: the time without a call in flight, and the time with one
	peakGoroutines int
}

// under asks rounds questions in each of many goroutines.
func under(t *testing.T, e *texttosql.Engine, parallel, rounds int) (l load) {
	t.Helper()
	var mu sync.Mutex
	var group, watch sync.WaitGroup
	var ended atomic.Bool
	watch.Go(func() {
		for ; !ended.Load(); time.Sleep(5 * time.Millisecond) {
			l.peakGoroutines = max(l.peakGoroutines, runtime.NumGoroutine())
		}
	})
	start, spent := time.Now(), cpuTime(t)
	for i := range parallel {
		group.Go(func() {
			for round := range rounds {
				m := &modelTime{}
				begin := time.Now()
				_, err := e.Ask(context.WithValue(t.Context(), modelTimeKey{}, m),
					fmt.Sprintf("How many customers are there beside number %d?", i*rounds+round))
				took, spent := time.Since(begin), m.spent()
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				l.own, l.model = append(l.own, took-spent), append(l.model, spent)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	l.wall, l.cpu = time.Since(start), cpuTime(t)-spent
	ended.Store(true)
	watch.Wait()
	slices.Sort(l.own)
	return l
}

// cpuTime is the processor time of this process so far.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	testutil.OK(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestParallelQuestions asks many questions at once, with a model that takes 200 ms a call. Every question has its
// answer, and no goroutine is left.
func TestParallelQuestions(t *testing.T) {
	model := llm.Named("m", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		m := ctx.Value(modelTimeKey{}).(*modelTime)
		m.add(1)
		defer m.add(-1)
		select {
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		return llm.Response{Text: "```sql\nSELECT count(*) FROM customers\n```", StopReason: llm.StopEnd}, nil
	}))
	const rounds = 4
	parallel := *parallelQuestions
	for _, s := range []strategy.Strategy{strategy.Direct{}, strategy.Consensus{}} {
		t.Run(fmt.Sprintf("%T", s), func(t *testing.T) {
			db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "shop.sqlite")))(t)
			defer db.Close()
			testutil.Value(db.Exec(shop))(t)
			e := testutil.Value(texttosql.New(db, model, texttosql.WithStrategy(s)))(t)
			db.SetMaxIdleConns(4)
			under(t, e, 1, 2) // reads the schema
			before := runtime.NumGoroutine()

			l := under(t, e, parallel, rounds)
			var waited time.Duration
			for _, d := range l.model {
				waited += d
			}
			n := len(l.own)
			ideal := float64(parallel) * float64(n) / waited.Seconds()
			got := float64(n) / l.wall.Seconds()
			t.Logf("%d questions, %d at once: %.0f a second, %.0f%% of the ideal %.0f; own time %v in the middle, %v at p99; "+
				"%v of CPU a question; "+
				"%d goroutines and %d kB at most", n, parallel, got, 100*got/ideal, ideal, l.own[n/2].Round(time.Millisecond),
				l.own[n*99/100].Round(time.Millisecond), (l.cpu / time.Duration(n)).Round(10*time.Microsecond), l.peakGoroutines,
				memoryOf("VmHWM:"))
			if most := 20 * (parallel + 5); l.peakGoroutines > most {
				t.Errorf("%d goroutines", l.peakGoroutines)
			}
			for range 100 {
				if runtime.NumGoroutine() <= before {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d goroutines are left, %d before", runtime.NumGoroutine(), before)
		})
	}
}

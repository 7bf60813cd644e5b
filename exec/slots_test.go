package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/slots"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// TestOneSlot: no method of a DB waits for a second connection while it holds one.
func TestOneSlot(t *testing.T) {
	_, db := open(t, shop, exec.Config{Limits: exec.Limits{Connections: 1}})
	known := testutil.Value(db.Schema(t.Context()))(t)
	const sql = "SELECT name FROM customers WHERE name = 'Nobody'"
	for _, test := range []struct {
		method string
		run    func(ctx context.Context) error
	}{
		{"Ready", db.Ready},
		{"Schema", func(ctx context.Context) error { _, err := db.Schema(ctx); return err }},
		{"Snapshot", func(ctx context.Context) error { _, err := db.Snapshot(ctx); return err }},
		{"Permitted", func(ctx context.Context) error { _, err := db.Permitted(ctx, &schema.Schema{}); return err }},
		{"Withheld", func(ctx context.Context) error { _, err := db.Withheld(ctx); return err }},
		{"Query", func(ctx context.Context) error { _, err := db.Query(ctx, sql); return err }},
		{"Analyze", func(ctx context.Context) error { _, err := db.Analyze(ctx, sql); return err }},
		{"Explain", func(ctx context.Context) error { _, err := db.Explain(ctx, sql); return err }},
		{"Probe", func(ctx context.Context) error { _, err := db.Probe(ctx, "", "customers", "name", "Ada"); return err }},
		{"Examine", func(ctx context.Context) error { _, err := db.Examine(ctx, sql); return err }},
		{"Sample", func(ctx context.Context) error {
			_, err := db.Sample(ctx, known.Tables[0], exec.SampleOptions{Rows: 1})
			return err
		}},
		{"Samples", func(ctx context.Context) error {
			_, err := db.Samples(ctx, nil, known, exec.SampleOptions{Rows: 1})
			return err
		}},
		{"Profile", func(ctx context.Context) error { _, err := db.Profile(ctx, known, exec.ProfileOptions{}); return err }},
		{"Profiled", func(ctx context.Context) error { _, err := db.Profiled(ctx, nil, known); return err }},
	} {
		var counter slots.Counter
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // only a failing test waits for it
		err := test.run(slots.Watch(counter.Watch).Into(ctx))
		cancel()
		if taken, second := counter.Counted(); err != nil || taken == 0 || len(second) > 0 {
			t.Errorf("%s: %v, %d slots, and second ones:\n%s", test.method, err, taken, strings.Join(second, "\n"))
		}
	}
}

// TestCheckAsksBesideItsRunner: a check that requests a second connection of the database gets an error at once,
// however many are free.
func TestCheckAsksBesideItsRunner(t *testing.T) {
	const sql = "SELECT name FROM customers"
	_, other := open(t, shop, exec.Config{})
	for _, connections := range []int{1, 4} {
		_, db := open(t, shop, exec.Config{Limits: exec.Limits{Connections: connections}})
		narrow := testutil.Value(db.For(nil, &exec.Policy{DenyTables: []string{"orders"}}))(t)
		query := func(db *exec.DB) exec.CheckFunc {
			return func(ctx context.Context, _ *exec.Runner, _ *exec.Checked) error {
				_, err := db.Query(ctx, sql)
				return err
			}
		}
		for _, test := range []struct {
			why    string
			check  exec.CheckFunc
			second bool
		}{
			{"through the database", query(db), true},
			{"through a view of the database", query(narrow), true},
			{"the schema of the database", func(ctx context.Context, _ *exec.Runner, _ *exec.Checked) error {
				_, err := db.Schema(ctx)
				return err
			}, true},
			{"from a goroutine that the check waits for", func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
				ended := make(chan error)
				go func() { ended <- query(db)(ctx, s, c) }()
				return <-ended
			}, true},
			{"through another database", query(other), false},
			{"through the runner", func(ctx context.Context, s *exec.Runner, _ *exec.Checked) error {
				_, err := s.Query(ctx, sql)
				return err
			}, false},
			{"through the runner after it lost its connection", func(ctx context.Context, s *exec.Runner,
				_ *exec.Checked) error {
				if err := s.Close(); err != nil {
					return err
				}
				if _, err := s.Schema(ctx); err != nil {
					return err
				}
				_, err := s.Query(ctx, sql)
				return err
			}, false},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // only a failing test waits for it
			for _, checks := range [][]exec.Check{{test.check}, append(exec.PlanChecks(), test.check)} {
				_, err := db.Examine(ctx, sql, checks...)
				if second := err != nil && strings.Contains(err.Error(), "beside that of its Runner"); second != test.second ||
					second != (err != nil) {
					t.Errorf("%s, %d connections: %v", test.why, connections, err)
				}
				if exec.IsRejection(err) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: the error is one of the statement or late: %v", test.why, err)
				}
			}
			cancel()
		}
	}
}

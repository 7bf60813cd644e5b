// Package trial runs the statements of a file on a database under guard, and says what became of each. It is what the
// programs named safety share; the doc comment of examples/safety tells the form of the file and of the output.
package trial

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/cli"
)

// Flags are those of every program of this kind.
type Flags struct {
	lists    []string
	deadline time.Duration
	asJSON   bool
	policy   *exec.Policy
}

// Define defines -statements, -deadline, -json and -policy.
func Define(flags *flag.FlagSet) *Flags {
	f := &Flags{policy: cli.PolicyFlag(flags)}
	flags.Func("statements", "`file` with one JSON object a line, {\"id\": …, \"text\": …} at least; may be given several times; see go doc ./examples/safety",
		func(path string) error { f.lists = append(f.lists, path); return nil })
	flags.DurationVar(&f.deadline, "deadline", time.Second, "time-out of a statement")
	flags.BoolVar(&f.asJSON, "json", false, "write the summary as JSON too")
	return f
}

// Database is what a program runs statements on.
type Database struct {
	Engine string // of the lines to run; a line without an engine is for each
	Flag   string // by which the database is named
	Given  bool   // whether it was named
	// Statements are run where -statements names no file; "": one is needed.
	Statements string
	Open       func(context.Context) (Target, error)
}

// Target is an open database. Not safe for concurrent use.
type Target struct {
	Name    string // for errors
	Pool    *sql.DB
	Dialect exec.Dialect
	Policy  exec.Policy // in force beside the policy of each statement
	// Look returns a text that changes with what is stored, and What says in the summary what it looks at.
	Look func(context.Context) (string, error)
	What string

	dbs map[string]*exec.DB // by policy and deadline
}

// ready returns an error if no statement can run on t.
func (t *Target) ready(ctx context.Context) error {
	db, err := t.db(policy{}, time.Minute)
	if err != nil {
		return err
	}
	if err := db.Ready(ctx); err != nil {
		return err
	}
	_, err = db.Schema(ctx)
	return err
}

// Run reads the statements, opens the database, runs those that are for its engine, and closes its pool.
func (f *Flags) Run(ctx context.Context, d Database, stdout, stderr io.Writer) error {
	switch {
	case !d.Given || len(f.lists) == 0 && d.Statements == "":
		return fmt.Errorf("%s and -statements are needed (-h lists the flags)", d.Flag)
	case f.deadline <= 0:
		return errors.New("-deadline must be positive")
	}
	var items []Statement
	skipped := 0
	if len(f.lists) == 0 {
		var err error
		if items, skipped, err = read("the statements of the program", strings.NewReader(d.Statements), d.Engine); err != nil {
			return err
		}
	}
	for _, list := range f.lists {
		more, others, err := Read(list, d.Engine)
		if err != nil {
			return err
		}
		items, skipped = append(items, more...), skipped+others
	}
	t, err := d.Open(ctx)
	if err != nil {
		return err
	}
	defer t.Pool.Close()
	t.Policy = *f.policy
	if err := t.ready(ctx); err != nil {
		return fmt.Errorf("database %s: %w", t.Name, err)
	}
	before, err := t.Look(ctx)
	if err != nil {
		return err
	}
	s := Summary{Statements: len(items), Skipped: skipped}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	for _, item := range items {
		v, err := t.Try(ctx, item, f.deadline)
		if err != nil {
			return fmt.Errorf("statement %s: %w", item.ID, err)
		}
		if err := out.Encode(v); err != nil {
			return err
		}
		s.Count(item, v, f.deadline)
	}
	after, err := t.Look(ctx)
	if err != nil {
		return err
	}
	s.Unchanged = before == after
	return s.write(stderr, f.asJSON, t.What)
}

// Verdict says what happened to one statement.
type Verdict struct {
	ID      string  `json:"id"`
	Verdict string  `json:"verdict"` // "refused", "failed" or "answered"
	Rule    string  `json:"rule"`    // the rule that refused it, or what it failed on; "" when it answered
	Rows    int     `json:"rows"`
	Seconds float64 `json:"sec"`
	MiB     float64 `json:"mib"` // by which the memory of the process grew at its peak; on Linux only
}

// The verdicts.
const (
	refused  = "refused"
	failed   = "failed"
	answered = "answered"
)

// Try runs one statement. Its error is about the database or the policy, not about the statement.
func (t *Target) Try(ctx context.Context, s Statement, deadline time.Duration) (Verdict, error) {
	v := Verdict{ID: s.ID}
	db, err := t.db(s.Policy, deadline)
	if err != nil {
		return v, err
	}
	grown, start := growth(), time.Now()
	table, err := db.Query(ctx, s.text)
	v.Seconds, v.MiB = math.Round(time.Since(start).Seconds()*1e6)/1e6, grown()
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	switch {
	case err == nil:
		v.Verdict, v.Rows = answered, len(table.Rows)
	default:
		v.Verdict, v.Rule = classify(err)
	}
	return v, nil
}

// db returns the DB for the policy of a statement. If that names a missing table, the verdicts say so.
func (t *Target) db(p policy, deadline time.Duration) (*exec.DB, error) {
	key := fmt.Sprintf("%q %v", p, deadline)
	if t.dbs[key] == nil {
		all := t.Policy
		all.Reveal = []string{"*"} // statements are judged by what they do, not by what columns are called
		all.DenyTables, all.DenyColumns = slices.Concat(all.DenyTables, p.DenyTables), slices.Concat(all.DenyColumns, p.DenyColumns)
		db, err := exec.New(t.Pool, t.Dialect, exec.Config{Policy: all, Limits: exec.Limits{Answer: exec.Bounds{Timeout: deadline}}})
		if err != nil {
			return nil, err
		}
		if t.dbs == nil {
			t.dbs = map[string]*exec.DB{}
		}
		t.dbs[key] = db
	}
	return t.dbs[key], nil
}

// classify says whether anything of a statement ran before its error, and what it failed on.
func classify(err error) (verdict, rule string) {
	var (
		refusal *exec.RefusedError
		invalid *exec.InvalidError
		limit   *exec.LimitError
		unknown *exec.PolicyError
	)
	switch {
	case errors.As(err, &refusal):
		return refused, string(refusal.Reason)
	case errors.As(err, &invalid) && invalid.Fault != exec.FaultRun:
		return refused, string(invalid.Fault)
	case errors.As(err, &unknown):
		return refused, "policy"
	case errors.As(err, &invalid):
		return failed, string(invalid.Fault)
	case errors.As(err, &limit):
		return failed, limit.Limit
	case errors.Is(err, exec.ErrBusy):
		return failed, "busy"
	default:
		return failed, "database"
	}
}

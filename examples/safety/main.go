// Safety shows what the guard does with each statement of a file, so that you can try your guard before you trust it:
//
//	go run ./examples/safety -db shop.sqlite -statements payloads.jsonl
//	go run ./examples/safety -db shop.sqlite -statements payloads.jsonl -deadline 500ms -json
//
// Each line of the file is a JSON object with
//   - an "id";
//   - exactly one of "text", "base64" (bytes that are not UTF-8) and "generator" (a long text: prefix + repeat×times + middle +
//     close×times + suffix);
//   - optionally a "policy" of deny_tables and deny_columns;
//   - optionally an "engine": only statements for "sqlite" are run;
//   - optionally what to "expect" (refuse, survive or accept), which is compared with what happened. To survive is to end within
//     1.15 times the deadline, whatever the verdict, and to take less than 64 MiB of memory.
//
// The output has one line for each statement:
//
//	{"id":"sqlite-001","verdict":"refused","rule":"several-statements","rows":0,"sec":0.000012,"mib":0.1}
//
// "refused" means that nothing of the statement ran, "failed" that it ended with an error while it ran, "answered" that it
// has a result. A summary goes to standard error, with -json as one JSON object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/texttosql/texttosql/examples/internal/cli"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("safety", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: safety -db FILE -statements FILE.jsonl [flags]\n\nShows what the guard makes of each statement in a file.\n\n")
		flags.PrintDefaults()
	}
	path := flags.String("db", "", "SQLite `file` to run the statements on; opened read-only")
	var lists []string
	flags.Func("statements", "`file` with one JSON object a line, {\"id\": …, \"text\": …} at least; may be given several times; see go doc ./examples/safety",
		func(path string) error { lists = append(lists, path); return nil })
	deadline := flags.Duration("deadline", time.Second, "time-out of a statement")
	asJSON := flags.Bool("json", false, "write the summary as JSON too")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *path == "" || len(lists) == 0:
		return errors.New("-db and -statements are needed (-h lists the flags)")
	case *deadline <= 0:
		return errors.New("-deadline must be positive")
	}
	var items []statement
	skipped := 0
	for _, list := range lists {
		more, others, err := readStatements(list)
		if err != nil {
			return err
		}
		items, skipped = append(items, more...), skipped+others
	}
	pool, err := cli.OpenReadOnly(*path)
	if err != nil {
		return fmt.Errorf("database %s: %w", *path, err)
	}
	defer pool.Close()
	if err := ready(ctx, pool); err != nil {
		return fmt.Errorf("database %s: %w", *path, err)
	}
	before, err := lookAt(*path)
	if err != nil {
		return err
	}

	t := trial{pool: pool, deadline: *deadline, dbs: map[string]*exec.DB{}}
	s := summary{Statements: len(items), Skipped: skipped}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	for _, item := range items {
		v, err := t.try(ctx, item)
		if err != nil {
			return fmt.Errorf("statement %s: %w", item.ID, err)
		}
		if err := out.Encode(v); err != nil {
			return err
		}
		s.count(item, v, *deadline)
	}

	after, err := lookAt(*path)
	if err != nil {
		return err
	}
	s.Unchanged = before == after
	return s.write(stderr, *asJSON)
}

// verdict says what happened to one statement.
type verdict struct {
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

// trial runs statements on one pool, with one exec.DB for each policy.
type trial struct {
	pool     pool
	deadline time.Duration
	dbs      map[string]*exec.DB
}

func (t trial) try(ctx context.Context, s statement) (verdict, error) {
	v := verdict{ID: s.ID}
	db, err := t.db(s.Policy)
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

// db returns the DB for a policy. A policy that names a missing table shows in the verdicts.
func (t trial) db(p policy) (*exec.DB, error) {
	key := fmt.Sprintf("%q", p)
	if t.dbs[key] == nil {
		db, err := exec.New(t.pool, sqlite.Dialect{}, exec.Config{
			Policy: exec.Policy{DenyTables: p.DenyTables, DenyColumns: p.DenyColumns},
			Limits: exec.Limits{Answer: exec.Bounds{Timeout: t.deadline}},
		})
		if err != nil {
			return nil, err
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

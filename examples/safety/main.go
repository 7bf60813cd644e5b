// Safety shows what the guard makes of hostile statements, each with the time that it took:
//
//	go run ./examples/safety                                        # twenty of them, on a small shop
//	go run ./examples/safety -db FILE -statements FILE.jsonl -json  # yours, on a SQLite file, which is opened for reading
//	go run ./examples/safety -db postgres://… -statements FILE.jsonl
//
// A line of a file is {"id": …, "text": …} at least. Instead of text it may have base64 or generator, as hostile.jsonl
// has. "engine" is sqlite or postgres, for a statement of one engine only. "policy" has deny_tables and deny_columns.
// "expect" is refuse, accept (with "rows", how many) or survive: the statement must end in time.
//
// The verdict of a statement is "refused", with nothing of it run, "failed", or "answered". The last lines say how many
// of each there were, which did something else than expected, and whether the database is as before.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/exec/sqlite"
)

//go:embed hostile.jsonl
var hostile []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal("safety: ", err)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("safety", flag.ContinueOnError)
	path := flags.String("db", "", "SQLite `file`, or postgres://…, to run the statements on; default: a small shop")
	list := flags.String("statements", "", "`file` with a JSON object a line; default, for the shop: "+
		"hostile.jsonl of this program")
	deadline := flags.Duration("deadline", time.Second, "time-out of a statement")
	asJSON := flags.Bool("json", false, "write verdicts and summary as JSON")
	flags.SetOutput(io.Discard) // main tells the error, once
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return err
	}
	if (*path == "") != (*list == "") || flags.NArg() > 0 {
		return errors.New("-db and -statements go together, and nothing else (-h lists the flags)")
	}
	text := hostile
	if *list != "" {
		var err error
		if text, err = os.ReadFile(*list); err != nil {
			return err
		}
	} else {
		dir, err := os.MkdirTemp("", "texttosql-safety-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*path = filepath.Join(dir, "shop.sqlite")
		if err := shop.Write(*path); err != nil {
			return err
		}
	}
	d, err := open(*path)
	if err != nil {
		return err
	}
	defer d.pool.Close()
	items, err := read(text, d.dialect.Language().Name)
	if err != nil {
		return fmt.Errorf("%s: %w", *list, err)
	}
	before, err := d.look(ctx, *path)
	if err != nil {
		return err
	}
	s := summary{Statements: len(items), Unexpected: []string{}}
	for _, item := range items {
		v, err := d.try(ctx, item, *deadline)
		if err != nil {
			return err
		}
		s.count(item, v, *deadline)
		if *asJSON {
			err = json.NewEncoder(stdout).Encode(v)
		} else { // quoted: no terminal obeys what somebody wrote
			_, err = fmt.Fprintf(stdout, "%-8s %-20s %5.2f s  %.80q\n", v.Verdict, v.Rule, v.Seconds, item.Text)
		}
		if err != nil {
			return err
		}
	}
	after, err := d.look(ctx, *path)
	if err != nil {
		return err
	}
	s.Unchanged = before == after
	if *asJSON {
		return json.NewEncoder(stderr).Encode(s)
	}
	_, err = fmt.Fprintf(stderr, "\n%d statements: %d refused, %d failed, %d answered; %d of %d did what is expected; "+
		"others: %q; the database is as before: %t\n",
		s.Statements, s.Refused, s.Failed, s.Answered, s.Expected-len(s.Unexpected), s.Expected, s.Unexpected, s.Unchanged)
	return err
}

// statement is a line of the file.
type statement struct {
	ID, Engine, Expect, Text string
	Base64                   []byte
	Generator                struct { // of a long text
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
	Rows   *int
	Policy map[string][]string
}

// read reads the statements for an engine.
func read(text []byte, engine string) (items []statement, err error) {
	n := 0
	for line := range bytes.Lines(text) {
		var in struct {
			statement
			Text *string // nil: the key is missing
		}
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &in); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		s := in.statement
		switch {
		case in.Text != nil:
			s.Text = *in.Text
		case s.Base64 == nil && s.Generator.Times == 0:
			return nil, fmt.Errorf("line %d: the key text is missing", n)
		}
		if g := s.Generator; g.Times < 0 || g.Times > 1<<24 {
			return nil, fmt.Errorf("line %d: the generator repeats %d times", n, g.Times)
		} else if g.Times > 0 {
			s.Text = g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle + strings.Repeat(g.Close, g.Times) + g.Suffix
		}
		s.Text += string(s.Base64)
		if s.Engine == "" || s.Engine == engine {
			items = append(items, s)
		}
		for name := range s.Policy {
			if name != "deny_tables" && name != "deny_columns" { // a misspelt one would deny nothing
				return nil, fmt.Errorf("line %d: policy: %s is unknown", n, name)
			}
		}
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("no statement for %s", engine)
	}
	return items, nil
}

// database is what the statements run on.
type database struct {
	pool    *sql.DB
	dialect exec.Dialect
}

func open(path string) (database, error) {
	if strings.HasPrefix(path, "postgres://") {
		pool, err := sql.Open("pgx", path)
		return database{pool, postgres.Dialect{}}, err
	}
	pool, _, err := shop.Open(path)
	return database{pool, sqlite.Dialect{}}, err
}

// look returns a text that changes with what is stored: the file, or the schema and the number of rows of each table.
func (d database) look(ctx context.Context, path string) (string, error) {
	db, err := exec.New(d.pool, d.dialect, exec.Config{})
	if err != nil {
		return "", err
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return "", err
	}
	seen := s.Fingerprint()
	if file, err := os.ReadFile(path); err == nil {
		return fmt.Sprintf("%s %x", seen, sha256.Sum256(file)), nil
	}
	for _, t := range s.Tables {
		n, err := db.Query(ctx, "SELECT count(*) FROM "+db.Language().Quote(s.SchemaOf(&t))+"."+db.Language().Quote(t.Name))
		if err != nil {
			return "", err
		}
		seen += fmt.Sprint(n.Rows)
	}
	return seen, nil
}

type verdict struct {
	ID      string  `json:"id"`
	Verdict string  `json:"verdict"`
	Rule    string  `json:"rule"` // that refused it, or what it failed on
	Rows    int     `json:"rows"`
	Seconds float64 `json:"sec"`
}

// try runs a statement. Its error is that of ctx, or about the database.
func (d database) try(ctx context.Context, s statement, deadline time.Duration) (verdict, error) {
	db, err := exec.New(d.pool, d.dialect, exec.Config{
		Policy: exec.Policy{DenyTables: s.Policy["deny_tables"], DenyColumns: s.Policy["deny_columns"],
			Reveal: []string{"*"}},
		Limits: exec.Limits{Answer: exec.Bounds{Timeout: deadline}},
	})
	if err != nil {
		return verdict{}, err
	}
	began := time.Now()
	table, err := db.Query(ctx, s.Text)
	v := verdict{ID: s.ID, Verdict: "answered", Seconds: math.Round(time.Since(began).Seconds()*1e6) / 1e6}
	var (
		refusal *exec.RefusedError
		invalid *exec.InvalidError
		limit   *exec.LimitError
		policy  *exec.PolicyError
	)
	switch {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err == nil:
		v.Rows = len(table.Rows)
	case errors.As(err, &refusal):
		v.Verdict, v.Rule = "refused", refusal.Reason
	case errors.As(err, &invalid) && invalid.Fault != "run":
		v.Verdict, v.Rule = "refused", invalid.Fault
	case errors.As(err, &policy):
		v.Verdict, v.Rule = "refused", "policy"
	case errors.As(err, &invalid):
		v.Verdict, v.Rule = "failed", invalid.Fault
	case errors.As(err, &limit):
		v.Verdict, v.Rule = "failed", limit.Limit
	default:
		v.Verdict, v.Rule = "failed", "database"
	}
	return v, nil
}

type summary struct {
	Statements int      `json:"statements"`
	Refused    int      `json:"refused"`
	Failed     int      `json:"failed"`
	Answered   int      `json:"answered"`
	Expected   int      `json:"expected"`   // lines that say what to expect
	Unexpected []string `json:"unexpected"` // those of them that did something else
	Unchanged  bool     `json:"unchanged"`
}

func (s *summary) count(item statement, v verdict, deadline time.Duration) {
	switch v.Verdict {
	case "refused":
		s.Refused++
	case "failed":
		s.Failed++
	case "answered":
		s.Answered++
	}
	if item.Expect == "" {
		return
	}
	s.Expected++
	met := map[string]bool{
		"refuse": v.Verdict == "refused", "accept": v.Verdict == "answered" && (item.Rows == nil || *item.Rows == v.Rows),
		"survive": v.Seconds <= 1.15*deadline.Seconds(),
	}
	if !met[item.Expect] {
		s.Unexpected = append(s.Unexpected, item.ID)
	}
}

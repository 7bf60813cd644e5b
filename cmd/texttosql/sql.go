package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/selectstar"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/result"
)

// statement is the verb that runs a statement of the user's own.
type statement struct {
	setup.Database `embed:""`
	output         `embed:""`
	All            bool    `help:"Write every row as it comes, in any number, as csv, tsv, jsonl or xlsx; --timeout bounds the time (10 minutes)."`
	Explain        bool    `help:"Say what it reads and its plan, and do not run it, as texttosql check does."`
	SQL            *string `arg:"" optional:"" help:"The statement; - reads it from standard input. Without it a session begins."`
	about          *entry  // the answer that it comes from; nil: the user wrote it
}

// Help is the part of --help below the flags.
func (statement) Help() string {
	return `Examples:

  texttosql sql "SELECT name FROM customers"
  texttosql sql --csv - < report.sql > report.csv
  texttosql sql --all --csv "SELECT * FROM orders" > orders.csv
  texttosql sql

The last one begins a session: each statement ends with ";", \d lists the tables, \q ends it.

The statement runs as one of a model would: it only reads, under the policy and within the limits. No model is asked.

` + exitHelp
}

// ran is what --json writes about a statement.
type ran struct {
	Exit  int           `json:"exit"`
	Error string        `json:"error,omitempty"`
	SQL   string        `json:"sql"`
	Rows  *result.Table `json:"rows,omitempty"`
}

// Run runs it.
func (s *statement) Run(p *program) error {
	given := ""
	if s.SQL != nil {
		given = *s.SQL
	}
	if s.Explain {
		return (&check{Database: s.Database, JSON: s.form() == "json", SQL: given}).Run(p)
	}
	if s.All && !s.streams() {
		return &setup.UsageError{Err: errors.New("--all writes csv, tsv, jsonl or xlsx: choose one with --format or --csv")}
	}
	if s.SQL == nil && s.Out != "" {
		return &setup.UsageError{Err: errors.New("--out is for one statement: write it after the flags")}
	}
	sql, err := p.typed(given)
	if err != nil {
		return err
	}
	file, err := s.begin(s.DSN(p.getenv))
	if err != nil {
		return err
	}
	defer file.Discard()
	s.Whole = s.All
	e, err := s.Engine(p.ctx, p.getenv)
	if err != nil {
		return err
	}
	defer e.Close()
	if s.about != nil {
		if err := s.about.same(e); err != nil {
			return err
		}
	}
	if s.SQL == nil {
		return (&sqlSession{statement: s, program: p, engine: e}).run()
	}
	return s.execute(p, e, sql, file)
}

// execute runs one statement and writes its rows.
func (s *statement) execute(p *program, e *setup.Engine, sql string, file *atomicfile.File) error {
	if s.All {
		rows, err := starred(p, e, sql, func(sql string) (*result.Stream, error) {
			return e.Stream(p.ctx, sql, p.warnings())
		})
		if err != nil {
			return err
		}
		return s.stream(p, file, rows)
	}
	rows, err := starred(p, e, sql, func(sql string) (*result.Table, error) { return e.Query(p.ctx, sql, p.warnings()) })
	if s.form() == "json" {
		err = cmp.Or(err, s.cut(rows))
		told := ran{Exit: exitCode(err), SQL: sql, Rows: s.numbers(rows)}
		if err != nil && err != errCut {
			told.Error = p.line(err)
		}
		return cmp.Or(p.write(file, func(w io.Writer) error { return writeJSON(w, told) }), err)
	}
	if err != nil {
		return err
	}
	err = p.write(file, func(w io.Writer) error {
		if s.about != nil {
			return s.about.asked(p, w, s.output, e, rows)
		}
		return s.rows(p, w, rows)
	})
	return cmp.Or(err, s.cut(rows))
}

// starred runs a statement, and tells which columns of a star are left out since they look like secrets.
func starred[T any](p *program, e *setup.Engine, sql string, run func(string) (T, error)) (T, error) {
	db, err := e.Guarded()
	if err != nil {
		return *new(T), err
	}
	rows, told, err := selectstar.Run(p.ctx, db, sql, run)
	if told != "" {
		cli.Say(p.err, "texttosql: %s\n", told)
	}
	return rows, err
}

// mostTyped is how much of standard input is read, in bytes.
const mostTyped = 1 << 20

// typed is an argument; "-" is what standard input has.
func (p *program) typed(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	raw, err := io.ReadAll(io.LimitReader(p.in, mostTyped+1))
	if err == nil && len(raw) > mostTyped {
		err = &setup.UsageError{Err: fmt.Errorf("standard input has more than %d bytes", mostTyped)}
	}
	return string(raw), err
}

// warnings tells what is suspect about a statement. That rows are missing the rows say.
func (p *program) warnings() texttosql.AskOption {
	return texttosql.WithProgress(func(step texttosql.Progress) {
		if step.Kind == "warned" && step.Step != "rows" {
			cli.Say(p.err, "texttosql: warning: %s\n", step.Message)
		}
	})
}

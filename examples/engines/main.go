// Engines asks questions about databases on PostgreSQL and MariaDB (or MySQL) servers, and about DuckDB files and folders
// of Parquet and CSV files:
//
//	cd examples/engines
//	go run . demo postgres                # a server of its own, the listed questions, scripted replies
//	go run . ask -engine postgres -dsn postgres://texttosql@localhost/shop -model openai:gpt-4o-mini "How many orders are open?"
//	go run . safety -engine mysql -dsn 'texttosql@tcp(localhost:3306)/shop' -statements payloads.jsonl -deadline 1s -json
//	go run . demo duckdb                  # no server: a folder of Parquet and CSV files
//	go run . ask -engine duckdb -dsn ./reports -model openai:gpt-4o-mini "Which month had the highest revenue?"
//	go run . rules -engine trino -dsn 'https://admin@host:8443?catalog=hive&schema=shop' -policy policy.json -user texttosql
//
// The DSN is that of the driver, github.com/jackc/pgx/v5, github.com/go-sql-driver/mysql or trinodb/trino-go-client; for DuckDB it is the path of the
// file or folder. Without -dsn it is the variable TEXTTOSQL_DSN, since other users of the machine may see the arguments of a
// program. No error repeats one that may hold a password.
//
// "ask" has the flags and the output of examples/quickstart, "safety" those of examples/safety. "demo" needs the programs
// of a server; its error says how to get them. It asks about the shop of the other examples, or about Chinook with its
// published script for the engine, -script FILE. It asks as a role with few rights, made by role_postgres.sql or role_mysql.sql.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/ask"
	"github.com/texttosql/texttosql/examples/internal/trial"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/engines"
	"github.com/texttosql/texttosql/llm/providers"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

const usage = `usage: engines ask -engine ENGINE -dsn DSN [flags] question
       engines safety -engine ENGINE -dsn DSN -statements FILE.jsonl [flags]
       engines demo ENGINE [flags] [question]
       engines rules -engine trino -dsn DSN -policy FILE -user NAME

ENGINE is postgres, mysql, which is MariaDB too, duckdb, whose DSN is a file or a folder, or trino, without a demo. "engines VERB -h" lists the flags.
`

func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	if len(args) == 0 {
		return errors.New("want a verb: ask, safety, demo or rules (-h says more)")
	}
	verb, args := args[0], args[1:]
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(stderr)
	switch verb {
	case "ask":
		return runAsk(ctx, flags, args, stdout, stderr, getenv)
	case "safety":
		return runSafety(ctx, flags, args, stdout, stderr, getenv)
	case "demo":
		return runDemo(ctx, flags, args, stdout, stderr, getenv)
	case "rules":
		return runRules(ctx, flags, args, stdout, getenv)
	case "-h", "-help", "--help", "help":
		io.WriteString(stderr, usage)
		return flag.ErrHelp
	}
	return fmt.Errorf("unknown verb %q: want ask, safety, demo or rules", verb)
}

// server is what -engine and -dsn name.
type server struct{ engine, dsn *string }

func define(flags *flag.FlagSet) server {
	return server{
		flags.String("engine", "", "the `engine` of the server: "+engines.Names(all...)),
		flags.String("dsn", "", "how the driver reaches the database, a `DSN`; default: the variable TEXTTOSQL_DSN"),
	}
}

// choose returns the engine and the DSN, which may be "".
func (s server) choose(getenv func(string) string) (engines.Engine, string, error) {
	if *s.engine == "" {
		return engines.Engine{}, "", fmt.Errorf("-engine is needed: %s", engines.Names(all...))
	}
	e, err := engines.Of(*s.engine, all...)
	if *s.dsn == "" {
		*s.dsn = getenv("TEXTTOSQL_DSN")
	}
	return e, strings.TrimSpace(*s.dsn), err
}

func runAsk(ctx context.Context, flags *flag.FlagSet, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	named, asked := define(flags), ask.Define(flags)
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	e, dsn, err := named.choose(getenv)
	switch {
	case err != nil:
		return err
	case dsn == "":
		return fmt.Errorf("-dsn or TEXTTOSQL_DSN is needed: %s", e.Form)
	case flags.NArg() == 0:
		return errors.New("a question is needed")
	}
	question, err := cli.Question(flags, e.Title)
	if err != nil {
		return err
	}
	open := func(ctx context.Context) (*sql.DB, []texttosql.Option, func(), error) { return connect(ctx, e, dsn) }
	program := ask.Program{Own: e.Title, Question: question, Scripted: cli.Scripted{Model: providers.Model}, Open: open}
	return asked.Run(ctx, program, stdout, stderr, getenv)
}

func runSafety(ctx context.Context, flags *flag.FlagSet, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	named, statements := define(flags), trial.Define(flags)
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	e, dsn, err := named.choose(getenv)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0: // it may be a DSN
		return fmt.Errorf("%d unexpected arguments behind the flags", flags.NArg())
	}
	return statements.Run(ctx, trial.Database{Engine: e.Name, Flag: "-dsn", Given: dsn != "", Open: func(ctx context.Context) (trial.Target, error) {
		return target(ctx, e, dsn)
	}}, stdout, stderr)
}

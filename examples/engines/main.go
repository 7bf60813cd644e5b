// Engines asks about a database of any engine, each through its driver and its dialect:
//
//	cd examples/engines
//	go run .                                  # CSV files in DuckDB, a scripted reply
//	go run . -model openai:gpt-4o-mini -db postgres://texttosql@localhost/shop "How many orders are open?"
//	go run . -model … -db 'texttosql@tcp(localhost:3306)/shop' "…"             # MariaDB and MySQL
//	go run . -model … -db ./reports "…"                                        # a DuckDB file, or a folder of Parquet, CSV and JSON files
//	go run . -model … -db 'https://me@host:8443?catalog=hive&schema=shop' "…"  # Trino
//	go run . -db 'https://admin@host:8443?catalog=hive&schema=shop' -policy policy.json -rules texttosql
//
// The last one prints rules for Trino's file-based access control, by which the server itself holds the user
// "texttosql" to a policy.
//
// Without -db it is the variable TEXTTOSQL_DSN, since other users of the machine may see the arguments of a program.
// docs/databases has a role with few rights for each engine. The command, texttosql, finds driver and dialect in the
// same way.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	driver "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/llm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal("engines: ", err)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("engines", flag.ContinueOnError)
	spec := flags.String("model", "", "the model to ask: openai:NAME, ollama:NAME or anthropic:NAME")
	dsn := flags.String("db", "", "the database: a DSN of its driver, or a `file` or folder for DuckDB; default: "+
		"TEXTTOSQL_DSN")
	file := flags.String("policy", "", "JSON `file` of what may be read, as exec.ReadPolicy reads it")
	user := flags.String("rules", "", "print Trino's rules of the policy for this `user`, and ask nothing")
	flags.SetOutput(io.Discard) // main tells the error, once
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return err
	}
	if *dsn == "" {
		*dsn = getenv("TEXTTOSQL_DSN")
	}
	var policy exec.Policy
	if *file != "" {
		f, err := os.Open(*file)
		if err != nil {
			return err
		}
		defer f.Close()
		if policy, err = exec.ReadPolicy(f); err != nil {
			return err
		}
	}
	model, question := llm.Model(scripted), strings.Join(flags.Args(), " ")
	switch {
	case *spec != "":
		var err error
		if model, err = shop.Model(*spec, getenv); err != nil {
			return err
		}
	case *dsn == "" && question == "":
		folder, err := reports()
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		fmt.Fprintln(stdout, "No model is configured: none is called, the reply is scripted.")
		*dsn, question = folder, "How many orders does each customer have?"
	case *user == "":
		return errors.New("no model is configured; name one before the question: -model openai:NAME")
	}
	pool, dialect, err := open(ctx, *dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	if *user != "" {
		return rules(ctx, stdout, pool, dialect, *dsn, *user, policy)
	}
	engine, err := texttosql.New(pool, model, texttosql.WithDialect(dialect), texttosql.WithPolicy(policy))
	if err != nil {
		return err
	}
	answer, err := engine.Ask(ctx, question)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%q\n\n", answer.SQL) // quoted: no terminal obeys a model
	if err := answer.Rows.WriteTable(stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\n%s\n%s\n", answer.Closing(), answer.Ballot.Explain())
	return err
}

// open opens a database. The engine has the rest of the faults, with its first statement.
func open(ctx context.Context, dsn string) (pool *sql.DB, d exec.Dialect, err error) {
	switch {
	case dsn == "":
		return nil, nil, errors.New("-db or TEXTTOSQL_DSN is needed")
	case strings.HasPrefix(dsn, "postgres://"):
		pool, err = sql.Open("pgx", dsn)
		return pool, postgres.Dialect{}, err
	case strings.HasPrefix(dsn, "https://"), strings.HasPrefix(dsn, "http://"):
		c, err := driver.ParseDSN(dsn)
		if err != nil || c.Catalog == "" {
			// err may have the password
			return nil, nil, errors.New("want https://USER:PASSWORD@HOST:PORT?catalog=CATALOG&schema=SCHEMA")
		}
		pool, err = sql.Open("trino", dsn)
		return pool, trino.Dialect{}, err
	case strings.Contains(dsn, "@tcp("), strings.Contains(dsn, "@unix("):
		if pool, err = sql.Open("mysql", dsn); err != nil {
			return nil, nil, err
		}
		var version string
		if err := pool.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
			return nil, nil, errors.Join(err, pool.Close())
		}
		// a server in ANSI mode needs a field more
		return pool, mysql.Dialect{MariaDB: strings.Contains(version, "MariaDB")}, nil
	case strings.Contains(dsn, "@"):
		return nil, nil, errors.New("the database is of no engine that is known here")
	}
	if info, err := os.Stat(dsn); err == nil && info.IsDir() {
		pool, err = duckdb.OpenFolder(ctx, dsn, duckdb.Options{})
		return pool, duckdb.Dialect{}, err
	}
	pool, err = duckdb.Open(dsn, duckdb.Options{})
	return pool, duckdb.Dialect{}, err
}

// rules prints the rules by which Trino itself holds a policy for a user. The user of the DSN has to see everything.
func rules(ctx context.Context, out io.Writer, pool *sql.DB, d exec.Dialect, dsn, user string,
	policy exec.Policy) error {
	c, err := driver.ParseDSN(dsn)
	if d.Language().Name != "trino" || err != nil {
		return errors.New("-rules: only Trino has such rules; docs/safety.md has a role for the others")
	}
	db, err := exec.New(pool, d, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}) // they name every column
	if err != nil {
		return err
	}
	schema, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	text, err := trino.AccessRules(policy, user, c.Catalog, schema)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}

// reports is what an analyst may have: a folder with a file for each table.
func reports() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "texttosql-reports-"); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"customers.csv": "id,name\n1,Ada\n2,Bo\n",
		"orders.csv": "id,customer_id\n1,1\n2,1\n3,2\n"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder, err
}

var scripted = llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: "SELECT c.name, count(*) AS orders FROM customers AS c JOIN orders AS o " +
		"ON o.customer_id = c.id GROUP BY c.name ORDER BY c.name"}, nil
})

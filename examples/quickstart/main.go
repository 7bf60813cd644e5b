// Quickstart answers questions about a database:
//
//	go run ./examples/quickstart                                  # the listed questions, scripted replies
//	go run ./examples/quickstart -model openai:gpt-4o-mini "Which customers in the USA never ordered?"
//	go run ./examples/quickstart -model ollama:qwen2.5-coder -db shop.sqlite "How many orders are open?"
//
// It prints the question, the statement, its rows, the confidence, the cost and the reasons, and each step of a model on
// standard error. -policy FILE says what may be read
// (exec.ReadPolicy). With -trace FILE.html it writes a page about the last answer.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/ask"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: quickstart [flags] [question]\n\nAnswers a question about a database, or the listed questions about a small shop.\n\n")
		flags.PrintDefaults()
	}
	asked := ask.Define(flags)
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	write := flags.String("write-db", "", "write the shop's database to this `file` and stop")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	if *write != "" {
		return shop.Write(*write)
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	listed := shop.Listed()
	return asked.Run(ctx, ask.Program{
		Scripted: cli.Scripted{Questions: listed.Questions(), Models: []llm.Model{listed.Model()}, File: "internal/shop/replies.json", Model: providers.Model},
		Own:      *path, Question: question,
		Open: func(context.Context) (*sql.DB, []texttosql.Option, func(), error) {
			db, closeDB, err := shop.Open(*path)
			return db, nil, closeDB, err
		},
	}, stdout, stderr, getenv)
}

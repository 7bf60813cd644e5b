// Texttosql asks databases in natural language.
//
//	texttosql ask --db shop.db --model openai:gpt-4o-mini "Which customers in the USA never ordered?"
//
// The README beside this file has every verb, and the exit codes. "texttosql VERB --help" lists the flags.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/cli"
)

func main() {
	p := &program{ctx: cli.Context(), in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	os.Exit(p.main(os.Args[1:]))
}

// verbs are the program's commands.
type verbs struct {
	Ask    ask    `cmd:"" help:"Answer one question."`
	Schema schema `cmd:"" help:"Show the schema as a model sees it."`

	ServeMCP serveMCP `cmd:"" name:"serve-mcp" help:"Serve clients of the Model Context Protocol."`
}

// program holds what every verb needs.
type program struct {
	ctx      context.Context
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
}

// main runs one command line and returns the exit code.
func (p *program) main(args []string) int {
	return p.report(p.run(args), args)
}

func (p *program) run(args []string) error {
	ended := -1
	parser, err := kong.New(&verbs{},
		kong.Name("texttosql"),
		kong.Description("Asks databases in natural language: one checked, read-only statement, its rows and how sure they are."),
		kong.Writers(p.out, p.err),
		kong.Exit(func(code int) { ended = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
	)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	switch {
	case ended == 0: // it was asked for help
		return nil
	case err != nil:
		return &setup.UsageError{Err: fmt.Errorf("%w (--help lists the flags)", err)}
	}
	return parsed.Run(p)
}

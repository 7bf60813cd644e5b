// Texttosql asks databases in natural language.
//
//	texttosql ask --db shop.db --model openai:gpt-4o-mini "Which customers in the USA never ordered?"
//
// The README in this folder lists the verbs and the exit codes. "texttosql VERB --help" lists the flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
)

func main() {
	p := &program{ctx: cli.Context(), in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, args: os.Args[1:]}
	os.Exit(p.report(p.run()))
}

// verbs are the program's commands.
type verbs struct {
	Ask        ask           `cmd:"" group:"Ask" help:"Answer one question."`
	Log        history       `cmd:"" group:"Ask" name:"log" help:"List the last answers: questions, when, and how sure."`
	Last       lastAnswer    `cmd:"" group:"Ask" help:"Run one of the last answers again, without a model: show it, or export it."`
	Talk       conversation  `cmd:"" group:"Ask" help:"Talk about a database: follow-ups, corrections, choices."`
	SQL        statement     `cmd:"" group:"Ask" name:"sql" help:"Run a statement of yours under the guard; no model is asked."`
	Check      check         `cmd:"" group:"Ask" help:"Say whether the guard accepts a statement, what it reads and its plan."`
	Schema     schema        `cmd:"" group:"Look" help:"Show the tables and columns as a model sees them."`
	Describe   describe      `cmd:"" group:"Set up" help:"Have a model describe the columns, once, into a file."`
	Knowledge  knowledge     `cmd:"" group:"Set up" help:"Read and check what people know of a database: metrics, words, verified statements."`
	Eval       evaluate      `cmd:"" group:"Set up" name:"eval" help:"Score questions of yours whose right statement you know."`
	Doctor     doctor        `cmd:"" group:"Set up" help:"Look whether questions can be answered: versions, database, rights, keys."`
	Config     configuration `cmd:"" group:"Set up" help:"Show the settings in force, and where each comes from."`
	List       list          `cmd:"" group:"Look" help:"List the strategies, and the models with the variables of their keys."`
	Completion completion    `cmd:"" group:"Set up" help:"Print the script that completes commands in a shell."`
	Complete   complete      `cmd:"" hidden:"" passthrough:""`

	Serve    serve    `cmd:"" group:"Serve" help:"Serve a page for people: ask, choose, correct, confirm, ask on."`
	ServeMCP serveMCP `cmd:"" group:"Serve" name:"serve-mcp" help:"Serve clients of the Model Context Protocol."`

	Profile string           `placeholder:"NAME" predictor:"profile" help:"The profile of the file of settings; see texttosql config."`
	File    string           `name:"config" placeholder:"FILE" help:"The file of settings; default: ~/.config/texttosql/config.toml."`
	Version kong.VersionFlag `help:"Show the version."`
}

// version is that of the module this program was installed from, such as "v0.1.0"; built in a checkout it is "(devel)",
// or what Go makes of the commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// program holds what every verb needs.
type program struct {
	ctx      context.Context
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	args     []string
	settings *settings
	secrets  []string // DSNs of the file of settings
}

// errBare says that no verb was named. The help says which there are.
var errBare = &setup.UsageError{Err: errors.New("no verb is named")}

// run runs the command line.
func (p *program) run() error {
	ended := -1
	p.settings = &settings{p: p, where: map[string]string{}}
	parser, err := p.parser(&verbs{}, p.settings, kong.Exit(func(code int) { ended = code }))
	if err != nil {
		return err
	}
	args := p.args
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	switch {
	case ended == 0 && len(p.args) == 0:
		return errBare
	case ended == 0: // it was asked for help or its version
		return nil
	case p.settings.err != nil:
		return &setup.UsageError{Err: fmt.Errorf("--config: %w", p.settings.err)}
	case err != nil:
		return &setup.UsageError{Err: fmt.Errorf("%w (--help lists the flags)", err)}
	}
	return parsed.Run(p, parser, parsed)
}

// parser reads command lines into v.
func (p *program) parser(v *verbs, s *settings, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(v, append(more,
		kong.Name("texttosql"),
		kong.Description("Asks databases in natural language: one checked, read-only statement, "+
			"its rows and how sure they are."),
		kong.Writers(p.out, p.err),
		kong.Resolvers(s),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Vars{"forms": formNames(), "version": version()})...)
}

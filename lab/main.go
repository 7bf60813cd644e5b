// Lab measures votes, files of answers and strategies on evaluation data.
//
//	go run . votes --data DIR                      replay recorded answers through voters
//	go run . score --data DIR --dataset NAME --predictions FILE
//	go run . run   --data DIR --dataset NAME --strategy NAME --model SPEC
//	go run . compare A.jsonl B.jsonl               compare two files of run --out
//	go run . export --db FILE --pairs FILE --out train.jsonl
//
// Each verb explains its flags and the keys of its JSON with --help. A progress bar goes to standard error, a table or
// JSON lines to standard output.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/texttosql/texttosql/internal/providers"
)

func main() {
	// Results are short-lived. Collecting twice as often keeps the peak of memory low.
	debug.SetGCPercent(50)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv)
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		// Joined errors have one line each.
		fmt.Fprintln(os.Stderr, "lab: "+strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool {
			return r == '\n' || r == '\r'
		}), "; "))
		os.Exit(1)
	}
}

// verbs are the program's commands.
type verbs struct {
	Votes      votes         `cmd:"" help:"Replay recorded answers through voters and stop rules."`
	Score      score         `cmd:"" help:"Score a file of answers."`
	Run        live          `cmd:"" help:"Run a strategy on a live, recorded or replayed model, resumably."`
	Compare    comparison    `cmd:"" help:"Compare two files of run --out, question by question."`
	Traps      traps         `cmd:"" help:"Count what golds and recorded answers do that no vote can see."`
	Export     exporting     `cmd:"" help:"Write solved questions as training data for an adapter."`
	Link       link          `cmd:"" help:"Measure what linkers keep of a schema."`
	Large      large         `cmd:"" help:"Measure what linkers keep of large schemas."`
	Joins      joins         `cmd:"" help:"Look for hidden foreign keys by names."`
	Ask        asks          `cmd:"" help:"Measure what it helps to ask the user where recorded answers disagree."`
	Answerable answerables   `cmd:"" help:"Measure how well recorded votes tell questions that cannot be answered."`
	Knowledge  knowledgeVerb `cmd:"" help:"Measure metric requests against statements by hand, and votes of both kinds."`
	Load       load          `cmd:"" help:"Copy the databases to PostgreSQL or MariaDB, for --engine of other verbs."`
	Guard      guardVerb     `cmd:"" help:"Run hostile statements through a tool of any server of the Model Context Protocol."`
	Rows       rowsVerb      `cmd:"" help:"Hold rules about rows against a copy without the hidden rows."`
	Scale      scale         `cmd:"" help:"Measure time and memory at many tables."`
	Mutate     mutateVerb    `cmd:"" help:"Change a package place by place, and see whether a test fails."`
	Engines    enginesVerb   `cmd:"" help:"Hold a server against SQLite: what the guard refuses, and results that differ."`

	ReplayAgent agents `cmd:"" name:"replay-agent" help:"Replay what is stored of agents, mechanism by mechanism."`
}

// program holds what every verb needs.
type program struct {
	ctx    context.Context
	out    io.Writer
	err    io.Writer
	getenv func(string) string
}

// note writes one line for a person.
func (p *program) note(format string, args ...any) {
	fmt.Fprintf(p.err, format+"\n", args...)
}

// run runs one command line.
func run(ctx context.Context, args []string, out, errs io.Writer, getenv func(string) string) error {
	parser, err := kong.New(&verbs{},
		kong.Name("lab"),
		kong.Description("Measures votes, files of answers and strategies on evaluation data."),
		kong.Writers(out, errs),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"data": getenv("TEXTTOSQL_DATA"), "asking": getenv("TEXTTOSQL_DATA_ASKING"),
			"knowledge": getenv("TEXTTOSQL_DATA_KNOWLEDGE"),
			"specs":     "pool:NAME[,NAME…], phases:NAME[,NAME…][?keep=scope], traj:NAME, " + providers.Specs, "cpus": cpus(),
			"temp": os.TempDir()},
	)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w (--help lists the flags)", err)
	}
	return parsed.Run(&program{ctx: ctx, out: out, err: errs, getenv: getenv})
}

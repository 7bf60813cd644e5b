// Talk is a conversation with a database: the program asks where a question is not clear, takes follow-ups and
// corrections, learns from them, and goes on where it was stopped.
//
//	go run ./examples/talk                                        # a listed conversation, scripted replies
//	go run ./examples/talk -model openai:gpt-4o-mini              # type your questions
//	go run ./examples/talk -model … -dir DIR -resume ID           # after Ctrl-C or a kill: nothing is paid twice
//
// Each line that you type is one of these:
//
//	t1         chooses the option t1 of the question that the program asked
//	no: TEXT   corrects the answer: "use table customers", "pay means order_items.unit_price", or any other words
//	ok         confirms the answer, which then serves as an example; a follow-up needs words that stand alone: "ok: TEXT"
//	new        begins another session
//	TEXT       a question, or a follow-up to the one before
//
// The command has more of it: texttosql talk.
package main

import (
	"bufio"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy/threephase"
)

//go:embed twin.sql
var twin string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal("talk: ", err)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("talk", flag.ContinueOnError)
	spec := flags.String("model", "", "the model to ask: openai:NAME, ollama:NAME or anthropic:NAME")
	path := flags.String("db", "", "SQLite `file` to talk about; default: the shop, with two tables of customers")
	dir := flags.String("dir", "", "`folder` of sessions and lessons; default: a new one")
	resume := flags.String("resume", "", "`id` of the session to go on with; needs -dir")
	samples := flags.Int("n", 1, "statements that are sampled; where they disagree you are asked")
	flags.SetOutput(io.Discard) // main tells the error, once
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return err
	case err != nil:
		return err
	case flags.NArg() > 0:
		return errors.New("questions are typed once the program runs")
	case *resume != "" && *dir == "":
		return errors.New("-resume needs the -dir of the session")
	case *path != "" && *spec == "":
		return errors.New("no model is configured; name one: -model openai:NAME")
	}
	listed := readScript()
	model := llm.Named("scripted", listed)
	if *spec != "" {
		if model, err = shop.Model(*spec, getenv); err != nil {
			return err
		}
	}
	db, closeDB, err := shop.Open(*path, twin)
	if err != nil {
		return err
	}
	defer closeDB()
	t, err := start(ctx, db, model, *samples, *dir, *resume, stdout)
	if err != nil {
		return err
	}
	if *spec == "" {
		fmt.Fprintln(stdout, "No model is configured: none is called, the replies are scripted.")
		stdin = strings.NewReader(strings.Join(listed.unheard(t.Record()), "\n"))
	}
	return t.listen(ctx, stdin, *spec == "")
}

// talk is a conversation, and where it is kept.
type talk struct {
	*texttosql.Conversation
	out    io.Writer
	engine *texttosql.Engine
	store  session.Store
	dir    string
}

// start opens the folder, and the session of that id; "" begins one.
func start(ctx context.Context, db *sql.DB, model llm.Model, samples int, dir, id string, out io.Writer) (_ *talk,
	err error) {
	t := &talk{out: out, dir: dir}
	if dir == "" {
		if t.dir, err = os.MkdirTemp("", "texttosql-talk-"); err != nil {
			return nil, err
		}
	}
	if t.store, err = session.OpenFiles(filepath.Join(t.dir, "sessions")); err != nil {
		return nil, err
	}
	lessons, err := memory.OpenLessons(filepath.Join(t.dir, "lessons.json"))
	if err != nil {
		return nil, err
	}
	t.engine, err = texttosql.New(db, model, texttosql.WithStrategy(threephase.Strategy{}), texttosql.WithSamples(samples),
		texttosql.WithClarifyBelow(0.6), texttosql.WithMemory(memory.Options{Lessons: lessons}))
	if err != nil {
		return nil, err
	}
	return t, t.open(ctx, id)
}

// listen takes lines until there are no more. With echo they are printed, since nobody typed them.
func (t *talk) listen(ctx context.Context, stdin io.Reader, echo bool) error {
	lines := make(chan string)
	go func() { // reading a terminal cannot be interrupted
		defer close(lines)
		for in := bufio.NewScanner(stdin); in.Scan(); {
			select {
			case lines <- strings.TrimSpace(in.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		fmt.Fprint(t.out, "\n> ")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				return nil
			}
			if echo {
				fmt.Fprintln(t.out, line)
			}
			if err := t.hear(ctx, line); err != nil {
				return err
			}
		}
	}
}

// open begins a session, or goes on with the one of that id: where it was stopped, no call is paid again.
func (t *talk) open(ctx context.Context, id string) (err error) {
	t.Conversation = t.engine.NewConversation(t.store)
	if id != "" {
		if t.Conversation, err = t.engine.OpenConversation(ctx, t.store, id); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.out, "\n── session %s\n   after Ctrl-C or a kill it goes on with -dir %[2]s -resume %[1]s\n",
		t.Record().ID, t.dir)
	if id == "" {
		return nil
	}
	answer, err := t.Resume(ctx)
	if errors.Is(err, session.ErrStale) { // the schema or the configuration is another one
		answer, err = t.Restart(ctx)
	}
	return t.tell(answer, err)
}

// hear does what a line says.
func (t *talk) hear(ctx context.Context, line string) error {
	correction, corrects := strings.CutPrefix(line, "no:")
	wording, confirms := strings.CutPrefix(line, "ok:")
	pending := t.Record().Pending
	switch {
	case line == "":
		return nil
	case line == "new":
		return t.open(ctx, "")
	case corrects:
		return t.tell(t.Correct(ctx, strings.TrimSpace(correction)))
	case line == "ok" || confirms:
		if line == "ok" {
			wording = ""
		}
		err := t.Confirm(ctx, strings.TrimSpace(wording))
		if err == nil || errors.Is(err, memory.ErrNotPersisted) { // until the program ends
			fmt.Fprintln(t.out, "kept")
			return nil
		}
		return t.tell(nil, err)
	case pending != nil && !strings.Contains(line, " "):
		return t.tell(t.Choose(ctx, line))
	}
	return t.tell(t.Ask(ctx, line))
}

// tell prints an answer, a question to the person, or why there is neither. The error ends the program.
func (t *talk) tell(r *texttosql.Result, err error) error {
	var asked *session.QuestionError
	var stopped *session.InterruptedError
	switch {
	case err == nil:
		fmt.Fprintf(t.out, "%s\n\n", printable(r.SQL))
		if err := r.Rows.WriteTable(t.out); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "%s %d calls\n", printable(r.Closing()), r.Usage.Calls)
		var shown memory.RetrievedLessons
		json.Unmarshal(t.Record().Lessons, &shown)
		for _, l := range shown.Lessons {
			fmt.Fprintf(t.out, "by a lesson: %q is %s\n", l.From, printable(l.To))
		}
	case errors.As(err, &asked):
		fmt.Fprintf(t.out, "%s\n", printable(asked.Message))
		for _, o := range asked.Options {
			fmt.Fprintf(t.out, "  %s  %s %s\n", o.ID, printable(o.Label), printable(o.SQL))
		}
	case errors.As(err, &stopped):
		return err
	default:
		f := failure.Of(err)
		fmt.Fprintf(t.out, "no answer: %s %s\n", printable(f.Message), f.Advice)
	}
	return nil
}

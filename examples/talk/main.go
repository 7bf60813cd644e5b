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
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy/threephase"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdin, os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("talk", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: talk [flags]\n\nTalks about a database: a small shop with two tables of customers, or one of yours.\n\n")
		flags.PrintDefaults()
	}
	spec := cli.ModelFlag(flags)
	path := flags.String("db", "", "SQLite `file` to talk about; default: the shop")
	dir := flags.String("dir", "", "`folder` of sessions and lessons; default: a new one")
	resume := flags.String("resume", "", "`id` of the session to go on with; needs -dir")
	samples := flags.Int("n", 1, "statements that are sampled; where they disagree you are asked")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return errors.New("questions are typed once the program runs")
	case *resume != "" && *dir == "":
		return errors.New("-resume needs the -dir of the session")
	}
	listed := readScript()
	scripted := cli.Scripted{Questions: listed.Lines, Models: []llm.Model{llm.Named("scripted", listed)}, File: "examples/talk/replies.json"}
	models, lines, err := scripted.Choose(stdout, getenv, *path, "", *spec)
	if err != nil {
		return err
	}
	t := talk{out: stdout, dir: *dir, samples: *samples, model: models[0]}
	db, closeDB, err := open(*path)
	if err != nil {
		return err
	}
	defer closeDB()
	if err := t.open(ctx, db, *resume); err != nil {
		return err
	}
	if *spec != "" {
		return t.typed(ctx, stdin)
	}
	return t.listed(ctx, lines)
}

//go:embed twin.sql
var twin string

// open opens a database for reading: that of the file, or the shop with the twin of its customers.
func open(path string) (db *sql.DB, closeDB func(), err error) {
	if path != "" {
		return shop.Open(path)
	}
	dir, err := os.MkdirTemp("", "texttosql-talk-db-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "shop.sqlite")
	if err = shop.Write(path); err == nil {
		err = addTwin(path)
	}
	if err == nil {
		db, err = cli.OpenReadOnly(path)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return db, func() { db.Close(); remove() }, nil
}

func addTwin(path string) error {
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(twin)
	return err
}

// talk is a conversation in a terminal.
type talk struct {
	out     io.Writer
	dir     string // of sessions and lessons
	samples int
	model   llm.Model

	engine  *texttosql.Engine
	store   session.Store
	lessons *memory.Lessons
	session *texttosql.Session
	resumed bool // the session goes on
}

// open opens the folder and the session of that id, a new one for "".
func (t *talk) open(ctx context.Context, db *sql.DB, id string) (err error) {
	if t.dir == "" {
		if t.dir, err = os.MkdirTemp("", "texttosql-talk-"); err != nil {
			return err
		}
	}
	if t.store, err = session.OpenFiles(filepath.Join(t.dir, "sessions")); err != nil {
		return err
	}
	if t.lessons, err = memory.OpenLessons(filepath.Join(t.dir, "lessons.json")); err != nil {
		return err
	}
	t.engine, err = texttosql.New(db, t.model,
		texttosql.WithStrategy(threephase.Strategy{}),
		texttosql.WithSamples(t.samples),
		texttosql.WithAskBelow(0.6),
		texttosql.WithLessons(t.lessons))
	if err != nil {
		return err
	}
	t.resumed = id != ""
	return t.converse(ctx, id)
}

// converse opens a session.
func (t *talk) converse(ctx context.Context, id string) (err error) {
	if t.session, err = t.engine.Converse(ctx, t.store, id); err != nil {
		return err
	}
	cli.Say(t.out, "\n── session %s\n   after Ctrl-C or a kill it goes on with -dir %s -resume %[1]s\n", t.session.Record().ID, t.dir)
	return nil
}

// listed plays the lines of the script that the session did not hear.
func (t *talk) listed(ctx context.Context, lines []string) error {
	if t.resumed {
		heard := 0
		for _, turn := range t.session.Record().Turns {
			// The turn of a choice has the label of its option as text.
			for i, line := range lines[heard:] {
				if strings.HasSuffix(line, turn.Text) || line == turn.Option {
					heard += i + 1
					break
				}
			}
		}
		lines = lines[heard:]
		if err := t.goOn(ctx); err != nil {
			return err
		}
	}
	for _, line := range lines {
		cli.Say(t.out, "\n> %s\n", line)
		if err := t.say(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// typed takes the lines that a person types.
func (t *talk) typed(ctx context.Context, stdin io.Reader) error {
	if t.resumed {
		if err := t.goOn(ctx); err != nil {
			return err
		}
	}
	lines := make(chan string)
	go func() { // a read of a terminal cannot be interrupted
		defer close(lines)
		for s := bufio.NewScanner(stdin); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		fmt.Fprint(t.out, "\n> ")
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			if err := t.say(ctx, strings.TrimSpace(line)); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// goOn resumes the session.
func (t *talk) goOn(ctx context.Context) error {
	res, err := t.session.Resume(ctx)
	if errors.Is(err, session.ErrStale) {
		cli.Say(t.out, "%v: the question is asked again\n", err)
		res, err = t.session.Restart(ctx)
	}
	return t.report(res, err)
}

// optionID is what ids of options look like.
var optionID = regexp.MustCompile(`^[tjr][0-9]+$`)

// say does what a line says.
func (t *talk) say(ctx context.Context, line string) error {
	correction, corrects := strings.CutPrefix(line, "no:")
	wording, confirms := strings.CutPrefix(line, "ok")
	var (
		res *texttosql.Result
		err error
	)
	switch {
	case line == "":
		return nil
	case line == "new":
		return t.converse(ctx, "")
	case t.session.Record().Pending != nil && optionID.MatchString(line):
		res, err = t.session.Choose(ctx, line)
	case corrects:
		res, err = t.session.Correct(ctx, strings.TrimSpace(correction))
	case line == "ok" || confirms && strings.HasPrefix(wording, ":"):
		if err = t.session.Confirm(ctx, strings.TrimSpace(strings.TrimPrefix(wording, ":"))); err == nil {
			cli.Say(t.out, "kept\n")
			return nil
		}
	default:
		res, err = t.session.Ask(ctx, line)
	}
	return t.report(res, err)
}

// report prints an answer, a question to the user, or why there is neither. The error ends the program.
func (t *talk) report(res *texttosql.Result, err error) error {
	var (
		asked   *session.Question
		failure interface{ Summary() session.Failure }
		stopped *texttosql.InterruptedError
		call    *texttosql.StateError
	)
	switch {
	case err == nil:
		t.shown()
		cli.Say(t.out, "%s\n\n", res.SQL)
		if err := res.Rows.WriteTable(t.out); err != nil {
			return err
		}
		cli.Say(t.out, "confidence %.2f, %d %s\n", res.Confidence, res.Usage.Calls, words.Plural("call", res.Usage.Calls))
		t.learned()
	case errors.As(err, &asked):
		cli.Say(t.out, "%s\n", asked.Message)
		for _, o := range asked.Options {
			cli.Say(t.out, "  %s  %s\n", o.ID, o.Label)
			if o.Rows != nil {
				if err := o.Rows.WriteTable(t.out); err != nil {
					return err
				}
			}
		}
	case errors.As(err, &failure):
		cli.Say(t.out, "no answer: %s\n", failure.Summary().Error)
		for _, advice := range failure.Summary().Recommendations {
			cli.Say(t.out, "  %s\n", advice)
		}
	case errors.As(err, &stopped):
		cli.Say(t.out, "\nstopped; to go on: -dir %s -resume %s\n", t.dir, stopped.ID)
		return stopped.Err
	case errors.As(err, &call), errors.Is(err, session.ErrInvalidCorrection), errors.Is(err, session.ErrMaxCorrections), errors.Is(err, texttosql.ErrNotStandalone):
		cli.Say(t.out, "%v\n", err)
	default:
		return cli.Brief(err)
	}
	return nil
}

// shown prints the lessons that the question was shown.
func (t *talk) shown() {
	var recall memory.Recall
	if json.Unmarshal(t.session.Record().Lessons, &recall) == nil {
		t.print("lesson", recall.Lessons)
	}
}

// learned prints the lessons that the question taught.
func (t *talk) learned() {
	var receipt memory.Receipt
	all, err := t.lessons.All()
	if err != nil || json.Unmarshal(t.session.Record().Learned, &receipt) != nil {
		return
	}
	for _, l := range all {
		for _, id := range receipt.New {
			if l.ID == id {
				t.print("learned", []memory.Lesson{l})
			}
		}
	}
}

func (t *talk) print(what string, lessons []memory.Lesson) {
	for _, l := range lessons {
		says := l.Text
		if l.To != "" {
			says = fmt.Sprintf("%q is %s", l.From, l.To)
		}
		cli.Say(t.out, "%s: %s (%s, %.2f)\n", what, says, l.Source, l.Confidence)
	}
}

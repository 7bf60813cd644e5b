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
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
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
	scripted := cli.Scripted{Questions: listed.Lines, Models: []llm.Model{llm.Named("scripted", listed)}, File: "examples/talk/replies.json", Model: providers.Model}
	models, lines, err := scripted.Choose(stdout, getenv, *path, "", *spec)
	if err != nil {
		return err
	}
	db, closeDB, err := open(*path)
	if err != nil {
		return err
	}
	defer closeDB()
	c := conversation{out: stdout, dir: *dir, samples: *samples, model: models[0]}
	t, err := c.open(ctx, db, *resume)
	if err != nil {
		return err
	}
	if *resume != "" {
		if err := t.GoOn(ctx); err != nil {
			return err
		}
	}
	if *spec != "" {
		return t.Typed(ctx, stdin)
	}
	return play(ctx, t, stdout, lines)
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

// conversation is what the program talks with, and where it keeps that.
type conversation struct {
	out     io.Writer
	dir     string // of sessions and lessons
	samples int
	model   llm.Model
}

// open opens the folder and the session of that id, a new one for "".
func (c *conversation) open(ctx context.Context, db *sql.DB, id string) (_ *cli.Talk, err error) {
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "texttosql-talk-"); err != nil {
			return nil, err
		}
	}
	store, err := session.OpenFiles(filepath.Join(c.dir, "sessions"))
	if err != nil {
		return nil, err
	}
	lessons, err := memory.OpenLessons(filepath.Join(c.dir, "lessons.json"))
	if err != nil {
		return nil, err
	}
	engine, err := texttosql.New(db, c.model,
		texttosql.WithStrategy(threephase.Strategy{}),
		texttosql.WithSamples(c.samples),
		texttosql.WithAskBelow(0.6),
		texttosql.WithLessons(lessons))
	if err != nil {
		return nil, err
	}
	t := &cli.Talk{Out: c.out, Engine: engine, Store: store, Lessons: lessons, Again: func(id string) string {
		return fmt.Sprintf("-dir %s -resume %s", c.dir, id)
	}}
	return t, t.Converse(ctx, id)
}

// play plays the lines of the script that the session did not hear.
func play(ctx context.Context, t *cli.Talk, out io.Writer, lines []string) error {
	heard := 0
	for _, turn := range t.Record().Turns {
		// The turn of a choice has the label of its option as text.
		for i, line := range lines[heard:] {
			if strings.HasSuffix(line, turn.Text) || line == turn.Option {
				heard += i + 1
				break
			}
		}
	}
	for _, line := range lines[heard:] {
		cli.Say(out, "\n> %s\n", line)
		if err := t.Say(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

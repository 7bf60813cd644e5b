package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// conversation is the verb of a conversation.
type conversation struct {
	setup.Asking `embed:""`
	Sessions     string `placeholder:"FOLDER" help:"Keep sessions here, or on PostgreSQL (postgres://…); default: texttosql/sessions in XDG_STATE_HOME or ~/.local/state."`
	Resume       string `placeholder:"ID" help:"Go on with this session: nothing is paid twice."`
	List         bool   `help:"List the sessions, and stop."`
}

// Help is the part of --help below the flags.
func (conversation) Help() string {
	return `Examples:

  texttosql talk --db shop.db --model openai:gpt-4o-mini
  texttosql talk --list
  texttosql talk --resume ID

Type a question or a follow-up; the number of an option to choose it; "no: TEXT" to correct the answer; "ok" to confirm it; /help lists
the rest. Where the best answer has less than 0.6 of the votes you are asked (--ask-below). Each reply is on disk before it is used,
so after Ctrl-C or a kill --resume goes on. A question without an answer does not end the conversation; the code stays 0.

` + exitHelp
}

// Run talks.
func (c *conversation) Run(p *program) error {
	place, err := c.place(p)
	if err != nil {
		return err
	}
	store, place, closeStore, err := setup.OpenSessions(p.ctx, place)
	if err != nil {
		return err
	}
	defer closeStore()
	if c.List {
		return c.list(p, store)
	}
	sent, err := p.telemetry(false)
	if err != nil {
		return err
	}
	defer sent.Close()
	followed, err := sent.Option(c.DSN(p.getenv), nil)
	if err != nil {
		return err
	}
	e, err := c.Open(p.ctx, p.getenv, nil, cli.Progress(p.err), followed)
	if err != nil {
		return err
	}
	defer e.Close()
	t := &cli.Talk{
		Out: p.out, Engine: e.Engine, Store: store, Dialect: e.Dialect.Language().Text, Lessons: e.Lessons, Line: p.line,
		Again: func(id string) string { return fmt.Sprintf("--sessions %s --resume %s", place, id) },
	}
	t.Width = p.width()
	t.Rows = func(rows *result.Table) error { return textformat.Within(p.out, rows, t.Width, "/csv has all", false) }
	lines, restore := p.edited()
	defer restore()
	t.Lines = lines
	if err := t.Converse(p.ctx, c.Resume); err != nil {
		return err
	}
	if c.Resume != "" {
		if err := t.GoOn(p.ctx); err != nil {
			return err
		}
	}
	return t.Typed(p.ctx, p.in)
}

// edited reads lines from a terminal, with the keys of an editor and the lines before by Up; nil where there is none.
// restore gives the terminal back as it was.
func (p *program) edited() (lines func() (string, error), restore func()) {
	in, ok := p.in.(*os.File)
	if !ok || p.width() == 0 {
		return nil, func() {}
	}
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return nil, func() {}
	}
	restore = func() { term.Restore(int(in.Fd()), before) }
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, p.out}, "> ")
	return func() (string, error) {
		if _, err := term.MakeRaw(int(in.Fd())); err != nil {
			return "", err
		}
		defer restore() // Ctrl-C is a signal again while a question runs
		if width, height := sizeOf(p.out); width > 0 {
			t.SetSize(width, height)
		}
		fmt.Fprint(p.out, "\r\n")
		return t.ReadLine()
	}, restore
}

func (c *conversation) place(p *program) (string, error) {
	place := cmp.Or(c.Sessions, p.state("sessions"))
	if place == "" {
		return "", &setup.UsageError{Err: errors.New("--sessions is needed where neither XDG_STATE_HOME nor HOME is set")}
	}
	return place, nil
}

// list prints the sessions, and a line for each whose record cannot be read.
func (c *conversation) list(p *program, store session.Store) error {
	all, err := store.List(p.ctx, session.Filter{})
	for _, s := range all {
		cli.Say(p.out, "%s  %s  %-11s  %s\n", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), s.State, s.Question)
	}
	broken, several := err.(interface{ Unwrap() []error })
	if !several {
		return err
	}
	for _, err := range broken.Unwrap() {
		p.tell("texttosql: " + p.line(err))
	}
	return nil
}

package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// Talk is a conversation with a database in a terminal. Each line that a person types is one of these:
//
//	2          chooses the second option of the question that was asked; its id does too
//	no: TEXT   corrects the answer: "use table customers", "pay means order_items.unit_price", or any other words
//	ok         confirms the answer; a follow-up needs words that stand alone: "ok: TEXT"
//	/sql, /csv, /new, /help, /exit: see talkHelp
//	TEXT       a question, or a follow-up to the one before
//
// Not safe for concurrent use.
type Talk struct {
	Out     io.Writer
	Engine  *texttosql.Engine
	Store   session.Store
	Dialect sqltext.Dialect        // of the database
	Lessons *memory.Lessons        // those of the engine; nil: none are kept
	Again   func(id string) string // the flags that resume a session, for messages
	Line    func(error) string     // an error as one line

	Width int // of the terminal; 0: of any
	// reads a line that was edited, io.EOF at the end; nil: lines come as they are, after a prompt
	Lines func() (string, error)
	Rows  func(*result.Table) error // writes rows

	session *texttosql.Conversation
	last    *texttosql.Result // the last answer
}

// talkHelp is what /help says.
const talkHelp = `a question, or a follow-up to the one before
  2            choose the second of the options that were offered
  no: TEXT     correct the answer: "use table customers", "pay means order_items.unit_price"
  ok           confirm the answer; of a follow-up "ok: THE QUESTION IN FULL"
  /sql         show the last statement
  /csv [FILE]  write the last rows as CSV
  /new         begin another session
  /help /exit
`

// errExit ends a conversation.
var errExit = errors.New("exit")

// Converse opens the session of that id, a new one for "".
func (t *Talk) Converse(ctx context.Context, id string) (err error) {
	if id == "" {
		t.session = t.Engine.NewConversation(t.Store)
	} else if t.session, err = t.Engine.OpenConversation(ctx, t.Store, id); err != nil {
		return err
	}
	id = t.session.Record().ID
	Say(t.Out, "\n── session %s\n   after Ctrl-C or a kill it goes on with %s\n", id, t.Again(id))
	return nil
}

// Typed takes the lines that a person types, until the input or ctx ends, or the person leaves.
func (t *Talk) Typed(ctx context.Context, stdin io.Reader) error {
	next := t.Lines
	if next == nil {
		typed := bufio.NewReader(stdin)
		next = func() (string, error) {
			line, err := typed.ReadString('\n')
			if line != "" { // the last one may have no end
				err = nil
			}
			return line, err
		}
	}
	Say(t.Out, "/help says what else can be typed\n")
	lines, more := make(chan string), make(chan struct{})
	go func() { // a read of a terminal cannot be interrupted
		defer close(lines)
		for range more {
			line, err := next()
			if err != nil {
				return
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer close(more)
	for {
		if t.Lines == nil {
			if _, err := fmt.Fprint(t.Out, "\n> "); err != nil {
				return err
			}
		}
		select {
		case more <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := t.Say(ctx, strings.TrimSpace(line)); err == errExit {
				return nil
			} else if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// GoOn resumes the session. If the schema or the configuration changed, the question is asked again.
func (t *Talk) GoOn(ctx context.Context) error {
	res, err := t.session.Resume(ctx)
	if errors.Is(err, session.ErrStale) {
		Say(t.Out, "%v: the question is asked again\n", err)
		res, err = t.session.Restart(ctx)
	}
	return t.report(ctx, res, err)
}

// optionID is what ids of options look like, or their number.
var optionID = regexp.MustCompile(`^[tjr]?[0-9]+$`)

// command does what a line says that is for this program, and reports whether it is one. A number where nothing is
// asked is no question either.
func (t *Talk) command(ctx context.Context, line string) (done bool, err error) {
	name, rest, _ := strings.Cut(line, " ")
	pending := t.session.Record().Pending
	switch strings.ToLower(name) {
	case "exit", "quit", "/exit", "/quit":
		return rest == "", errExit
	case "help", "/help", "?":
		Say(t.Out, talkHelp)
		return rest == "", nil
	case "new", "/new":
		return true, t.Converse(ctx, "")
	case "/sql", "/csv":
		switch {
		case t.last == nil:
			Say(t.Out, "there is no answer yet\n")
			return true, nil
		case name == "/sql":
			Say(t.Out, "%s\n", textformat.LayoutSQL(t.Dialect, t.last.SQL, t.Width))
			return true, nil
		}
		return true, t.csv(strings.TrimSpace(rest))
	}
	switch {
	case strings.HasPrefix(line, "/"):
		Say(t.Out, "there is no command %s: /help lists them\n", name)
		return true, nil
	case optionID.MatchString(line) && pending == nil:
		Say(t.Out, "nothing is to be chosen now\n")
		return true, nil
	}
	return false, nil
}

// csv writes the last rows to a file, which it makes, or to the terminal.
func (t *Talk) csv(path string) error {
	if path == "" {
		var text strings.Builder
		if err := t.last.Rows.WriteCSV(&text); err != nil {
			return err
		}
		Say(t.Out, "%s", text.String())
		return nil
	}
	var text bytes.Buffer
	err := t.last.Rows.WriteCSV(&text)
	if err == nil {
		err = atomicfile.Write(path, text.Bytes(), 0o644)
	}
	if err != nil {
		Say(t.Out, "%s: %v\n", path, PathlessError(err))
		return nil
	}
	Say(t.Out, "%d %s in %s\n", len(t.last.Rows.Rows), words.Plural("row", len(t.last.Rows.Rows)), path)
	return nil
}

// Say does what a line says, and prints what comes of it. A question without an answer is no error.
func (t *Talk) Say(ctx context.Context, line string) error {
	correction, corrects := strings.CutPrefix(line, "no:")
	wording, confirms := strings.CutPrefix(line, "ok")
	var (
		res *texttosql.Result
		err error
	)
	if done, err := t.command(ctx, line); done {
		return err
	}
	switch {
	case line == "":
		return nil
	case t.session.Record().Pending != nil && optionID.MatchString(line):
		if n, nerr := strconv.Atoi(line); nerr == nil && n >= 1 && n <= len(t.session.Record().Pending.Options) {
			line = t.session.Record().Pending.Options[n-1].ID
		}
		res, err = t.session.Choose(ctx, line)
	case corrects:
		res, err = t.session.Correct(ctx, strings.TrimSpace(correction))
	case line == "ok" || confirms && strings.HasPrefix(wording, ":"):
		switch err = t.session.Confirm(ctx, strings.TrimSpace(strings.TrimPrefix(wording, ":"))); {
		case err == nil:
			Say(t.Out, "kept\n")
			return nil
		case errors.Is(err, memory.ErrNotPersisted):
			Say(t.Out, "kept until the program ends\n")
			return nil
		}
	default:
		res, err = t.session.Ask(ctx, line)
	}
	return t.report(ctx, res, err)
}

// report prints an answer, a question to the user, or why there is neither. Its error ends the program: the end of ctx,
// and an error of the store or of the output.
func (t *Talk) report(ctx context.Context, res *texttosql.Result, err error) error {
	var (
		asked   *session.QuestionError
		stopped *session.InterruptedError
	)
	unstored := errors.As(err, new(*atomicfile.StoreError))
	if err == nil || unstored && res != nil && res.Rows != nil {
		return errors.Join(t.answer(res), err)
	}
	if errors.As(err, &stopped) {
		err = stopped.Err
	}
	switch ends := ctx.Err() != nil || unstored; {
	case errors.As(err, &asked):
		if err := Readings(t.Out, t.Dialect, t.Width, asked); err != nil {
			return err
		}
		Say(t.Out, "Type the number of the one that is meant.\n")
		return nil
	case ends && stopped != nil:
		Say(t.Out, "\nstopped; to go on: %s\n", t.Again(stopped.ID))
		return err
	case ends, errors.Is(err, session.ErrConflict), errors.As(err, new(*session.RecordError)),
		errors.As(err, new(*fileerr.Recording)):
		return err
	}
	_, err = io.WriteString(t.Out, textformat.Wrap(t.Line(err), t.Width)+"\n")
	return err
}

// answer prints an answer.
func (t *Talk) answer(res *texttosql.Result) error {
	t.last = res
	t.shown()
	if res.Summary != "" {
		Say(t.Out, "%s\n\n", textformat.Wrap(res.Summary, t.Width))
	}
	Say(t.Out, "%s\n\n", textformat.LayoutSQL(t.Dialect, res.SQL, t.Width))
	if err := t.Rows(res.Rows); err != nil {
		return err
	}
	Say(t.Out, "%s", textformat.Wrap(fmt.Sprintf("%s %d %s\n", res.Closing(), res.Usage.Calls,
		words.Plural("call", res.Usage.Calls)), t.Width))
	for _, text := range warned(res) {
		Say(t.Out, "%s", textformat.Wrap("  warning: "+text+"\n", t.Width))
	}
	t.learned()
	return nil
}

// shown prints the lessons that the question was shown.
func (t *Talk) shown() {
	var recall memory.RetrievedLessons
	if json.Unmarshal(t.session.Record().Lessons, &recall) == nil {
		t.print("lesson", recall.Lessons)
	}
}

// learned prints the lessons that the question taught.
func (t *Talk) learned() {
	var learned memory.LearnResult
	if t.Lessons == nil {
		return
	}
	all, err := t.Lessons.All()
	if err != nil || json.Unmarshal(t.session.Record().Learned, &learned) != nil {
		return
	}
	for _, l := range all {
		for _, id := range learned.New {
			if l.ID == id {
				t.print("learned", []memory.Lesson{l})
			}
		}
	}
}

func (t *Talk) print(what string, lessons []memory.Lesson) {
	for _, l := range lessons {
		says := cmp.Or(l.Text, l.SQL)
		switch {
		case l.To != "":
			says = fmt.Sprintf("%q is %s", l.From, l.To)
		case l.Kind == "choice":
			says = fmt.Sprintf("for %q you chose %q", l.From, says)
		}
		Say(t.Out, "%s: %s (%s, %.2f)\n", what, says, l.Source, l.Confidence)
	}
}

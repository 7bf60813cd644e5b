package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
)

// Talk is a conversation with a database in a terminal. Each line that a person types is one of these:
//
//	t1         chooses the option t1 of the question that was asked
//	no: TEXT   corrects the answer: "use table customers", "pay means order_items.unit_price", or any other words
//	ok         confirms the answer; a follow-up needs words that stand alone: "ok: TEXT"
//	new        begins another session
//	TEXT       a question, or a follow-up to the one before
//
// Not safe for concurrent use.
type Talk struct {
	Out     io.Writer
	Engine  *texttosql.Engine
	Store   session.Store
	Lessons *memory.Lessons        // those of the engine; nil: none are kept
	Again   func(id string) string // the flags that resume a session, for messages

	session *texttosql.Conversation
}

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

// Record returns the session as it was saved last.
func (t *Talk) Record() session.Record { return t.session.Record() }

// Typed takes the lines that a person types, until the input or ctx ends.
func (t *Talk) Typed(ctx context.Context, stdin io.Reader) error {
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
		if _, err := fmt.Fprint(t.Out, "\n> "); err != nil {
			return err
		}
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			if err := t.Say(ctx, strings.TrimSpace(line)); err != nil {
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
	return t.report(res, err)
}

// optionID is what ids of options look like.
var optionID = regexp.MustCompile(`^[tjr][0-9]+$`)

// Say does what a line says, and prints what comes of it. A question without an answer is no error.
func (t *Talk) Say(ctx context.Context, line string) error {
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
		return t.Converse(ctx, "")
	case t.session.Record().Pending != nil && optionID.MatchString(line):
		res, err = t.session.Choose(ctx, line)
	case corrects:
		res, err = t.session.Correct(ctx, strings.TrimSpace(correction))
	case line == "ok" || confirms && strings.HasPrefix(wording, ":"):
		switch err = t.session.Confirm(ctx, strings.TrimSpace(strings.TrimPrefix(wording, ":"))); {
		case err == nil:
			Say(t.Out, "kept\n")
			return nil
		case errors.Is(err, texttosql.ErrForgotten):
			Say(t.Out, "kept until the program ends\n")
			return nil
		}
	default:
		res, err = t.session.Ask(ctx, line)
	}
	return t.report(res, err)
}

// report prints an answer, a question to the user, or why there is neither. The error ends the program.
func (t *Talk) report(res *texttosql.Result, err error) error {
	var (
		asked   *session.QuestionError
		failure interface{ Summary() session.Failure }
		stopped *texttosql.InterruptedError
		call    *texttosql.StateError
	)
	switch {
	case err == nil:
		t.shown()
		Say(t.Out, "%s\n\n", res.SQL)
		if err := res.Rows.WriteTable(t.Out); err != nil {
			return err
		}
		Say(t.Out, "confidence %.2f, %d %s\n", res.Confidence, res.Usage.Calls, words.Plural("call", res.Usage.Calls))
		t.learned()
	case errors.As(err, &asked):
		Say(t.Out, "%s\n", asked.Message)
		for _, o := range asked.Options {
			Say(t.Out, "  %s  %s\n", o.ID, o.Label)
			if o.Rows != nil {
				if err := o.Rows.WriteTable(t.Out); err != nil {
					return err
				}
			}
		}
	case errors.As(err, &failure):
		Say(t.Out, "no answer: %s\n", failure.Summary().Error)
		for _, advice := range failure.Summary().Recommendations {
			Say(t.Out, "  %s\n", advice)
		}
	case errors.As(err, &stopped):
		Say(t.Out, "\nstopped; to go on: %s\n", t.Again(stopped.ID))
		return stopped.Err
	case errors.As(err, &call), errors.Is(err, session.ErrInvalidCorrection), errors.Is(err, session.ErrMaxCorrections), errors.Is(err, texttosql.ErrNotStandalone):
		Say(t.Out, "%v\n", err)
	default:
		return Brief(err)
	}
	return nil
}

// shown prints the lessons that the question was shown.
func (t *Talk) shown() {
	var recall memory.Recall
	if json.Unmarshal(t.session.Record().Lessons, &recall) == nil {
		t.print("lesson", recall.Lessons)
	}
}

// learned prints the lessons that the question taught.
func (t *Talk) learned() {
	var receipt memory.LearnResult
	if t.Lessons == nil {
		return
	}
	all, err := t.Lessons.All()
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

func (t *Talk) print(what string, lessons []memory.Lesson) {
	for _, l := range lessons {
		says := l.Text
		if l.To != "" {
			says = fmt.Sprintf("%q is %s", l.From, l.To)
		}
		Say(t.Out, "%s: %s (%s, %.2f)\n", what, says, l.Source, l.Confidence)
	}
}

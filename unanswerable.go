package texttosql

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/answerable"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Answerable says whether the data can answer a question; see answerable.Question.
type Answerable = answerable.Answerable

// ErrUnanswerable says that the data has nothing for the question (WithRefuseBelow). The error is an *UnanswerableError.
var ErrUnanswerable = errors.New("texttosql: the data cannot answer the question")

// UnanswerableError is a question whose score is below that of WithRefuseBelow.
type UnanswerableError struct {
	Unmet   []string // the words of the question that nothing stands for, as they were asked; nil: none alone is the reason
	Nearest []string // what there is instead, the nearest first
	Guess   *Result  // the answer that was not given, without rows; its SQL is "" where no statement passed the checks

	err error // what the question failed with besides; nil: nothing
}

// Error says what the data has nothing about, and what there is instead.
func (e *UnanswerableError) Error() string {
	text := "texttosql: " + e.says()
	if len(e.Nearest) > 0 {
		text += "; there is " + strings.Join(e.Nearest, ", ")
	}
	return text
}

func (e *UnanswerableError) says() string {
	if len(e.Unmet) == 0 {
		return "the data does not seem to answer the question"
	}
	return "the data has nothing about " + strings.Join(e.Unmet, ", ")
}

// Public is the error without names of the database (trace.Span.Fail).
func (e *UnanswerableError) Public() string { return ErrUnanswerable.Error() }

// Is reports whether target is ErrUnanswerable.
func (e *UnanswerableError) Is(target error) bool { return target == ErrUnanswerable }

// Unwrap returns the error that the question failed with besides: a *strategy.NoCandidateError; nil: none.
func (e *UnanswerableError) Unwrap() error { return e.err }

// answerable scores the question by what was sampled; nil: nothing was. What the user said in corrections is met.
func (a *answering) answerable() *Answerable {
	q := answerable.Question{
		Text: a.q.Text, Evidence: a.q.Evidence, SQL: a.out.SQL, Dialect: a.db.Language().Text,
		Schema: a.env.Schema, Knowledge: a.env.Knowledge,
		Candidates: slices.DeleteFunc(slices.Clone(a.out.Candidates), func(c vote.Candidate) bool { return c.Reason == strategy.ReasonNoMetric }),
	}
	if len(q.Candidates) == 0 {
		return nil
	}
	for _, c := range a.task.Corrections {
		q.Evidence += "\n" + c.Constraint()
	}
	return new(q.Answerable())
}

// unanswerable is the error of a question whose score is too low, failed the error that it has already. In a conversation it
// asks the user what is meant.
func (a *answering) unanswerable(failed error) error {
	data, res := a.res.Answerable, a.res
	if data == nil || data.Score >= a.refuseBelow || providerFailed(failed) {
		return nil
	}
	refusal := &UnanswerableError{Unmet: data.Unmet, Nearest: data.Nearest, Guess: res, err: failed}
	if a.q.talk == nil || len(data.Unmet) == 0 || len(data.Nearest) < 2 {
		return refusal
	}
	back := &session.QuestionError{
		Kind: session.KindMeaning, Message: refusal.says() + "; what is meant?",
		Context: map[string]string{"user_query": a.q.Text, "term": strings.Join(data.Unmet, ", ")},
	}
	for i, name := range data.Nearest {
		back.Options = append(back.Options, session.Option{ID: fmt.Sprintf("m%d", i+1), Label: name, Column: columnNamed(a.env.Schema, name)})
	}
	if res.SQL != "" {
		back.Options = append(back.Options, session.Option{ID: "r1", Label: "the answer all the same", SQL: res.SQL, Confidence: res.Confidence})
	}
	return back
}

// providerFailed reports whether some sample got no reply: then little is known of the question.
func providerFailed(err error) bool {
	var none *strategy.NoCandidateError
	return errors.As(err, &none) && len(none.Failed) > 0
}

// columnNamed finds a column by table.column; nil: it names something else.
func columnNamed(s *schema.Schema, name string) *schema.ColumnName {
	for i := range s.Tables {
		t := &s.Tables[i]
		column, ok := strings.CutPrefix(name, t.Name+".")
		if _, has := t.Column(column); ok && has {
			return &schema.ColumnName{Table: t.TableName(), Column: column}
		}
	}
	return nil
}

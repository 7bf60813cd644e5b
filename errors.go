package texttosql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/answerable"
	"github.com/texttosql/texttosql/llm"
)

// The errors of an engine that belong to no other package; test for them with errors.Is. Errors of packages stay as
// they are: strategy.ErrNoCandidate, strategy.ErrEmptyQuestion, exec.ErrNotReadOnly, exec.ErrNoScope, exec.ErrBusy and,
// for errors.As, *strategy.AbstainedError, *exec.UnguardedError, *exec.RefusedError, … Package failure knows them all.
var (
	// ErrBudget reports that a limit was reached: a limit on model calls (WithBudget), or on the time, memory,
	// columns or value length of a statement (WithLimits). Too many rows are not an error: they set
	// result.Table.Truncated.
	ErrBudget = errors.New("texttosql: budget spent")
	// ErrNoTables reports that the engine may not read any table. Either the policy denies every table, or the
	// database is empty. SQLite makes an empty file when it first opens a file that does not exist.
	ErrNoTables error = &plainError{"the database has no table that may be read; look at its path and at the policy",
		"empty"}
	// ErrNoModel reports that an engine made with NoModel received a question without a verified answer.
	ErrNoModel error = &plainError{"the question needs a model, and the engine has none (NoModel): " +
		"it runs statements, and answers what people verified", "no-model"}
)

// Limits of what a person may send, in bytes.
const (
	maxQuestion = 8 << 10
	maxEvidence = 16 << 10
)

// InputError reports a question or evidence that is too long. Neither is ever cut.
type InputError struct {
	Field string // "question" or "evidence"
	Bytes int    // how long it is
	Limit int    // how long it may be
}

// Error names the field, its length and the limit.
func (e *InputError) Error() string {
	return fmt.Sprintf("texttosql: the %s has %d bytes; the limit is %d", e.Field, e.Bytes, e.Limit)
}

// Explain reports the length and the limit.
func (e *InputError) Explain() failure.Report {
	message := fmt.Sprintf("The %s has %d bytes; the limit is %d", e.Field, e.Bytes, e.Limit)
	return failure.Report{Class: failure.Input, Message: message, Advice: "Shorten it"}
}

// plainError is an error with its class in the table of package failure, which has its message and advice.
type plainError struct {
	text  string
	class failure.Class
}

func (e *plainError) Error() string           { return "texttosql: " + e.text }
func (e *plainError) Explain() failure.Report { return failure.Report{Class: e.class} }

// budgetError makes the errors of all budgets match ErrBudget.
type budgetError struct{ error }

func (e budgetError) Unwrap() error        { return e.error }
func (e budgetError) Is(target error) bool { return target == ErrBudget }

func classify(err error) error {
	var limit *exec.LimitError
	if errors.Is(err, llm.ErrBudget) || errors.As(err, &limit) {
		return budgetError{err}
	}
	return err
}

// Answerable reports whether the data can answer a question.
type Answerable = answerable.Answerable

// UnanswerableError reports a question that the data cannot answer: its score is below the limit of WithRefuseBelow.
type UnanswerableError struct {
	Unmet   []string // the words of the question without a match in the data; nil: no single word is the reason
	Nearest []string // names in the data that come nearest, best first
	Guess   *Result  // the withheld answer, without rows; its SQL is "" if no statement passed the checks

	err error // what the question failed with besides; nil: nothing
}

// Error names the words that the data does not cover, and the nearest names that it has.
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

// Explain reports the words that the data does not cover, and the nearest names that it has.
func (e *UnanswerableError) Explain() failure.Report {
	f := failure.Report{Class: failure.Unanswerable, Message: e.says()}
	if len(e.Nearest) > 0 {
		f.Advice = "There is " + strings.Join(e.Nearest, ", ")
	}
	return f
}

// Public returns the error without names from the database (trace.Span.Fail).
func (*UnanswerableError) Public() string {
	return "texttosql: the data cannot answer the question"
}

// Unwrap returns the *strategy.NoCandidateError with which the question also failed; nil if there was a candidate.
func (e *UnanswerableError) Unwrap() error { return e.err }

package threephase

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// Report is Strategy's report on an answer, or on a question without one, in Outcome.Report. Outcome.Steps has the
// attempts at a statement.
type Report struct {
	Tables  linker.PerTableResult `json:"tables"`            // the results for the tables
	Joins   linker.JoinPlan       `json:"joins"`             // the joins of the tables; empty if they need none
	Failure *session.Failure      `json:"failure,omitempty"` // the failure of a *FailureError
}

// Method is "threephase".
func (Report) Method() string { return "threephase" }

// FailureError reports why a question has no answer, and what the user can do. It matches strategy.ErrNoCandidate and
// Err: linker.ErrNoTables, linker.ErrNoJoin or a *strategy.NoCandidateError, if it is one of these.
type FailureError struct {
	Failure session.Failure // the failure, for the user
	Err     error           // the reason
}

// Error returns one line with the reason and the recommendations.
func (e *FailureError) Error() string {
	return "threephase: " + e.Err.Error() + ": " + strings.Join(e.Failure.Recommendations, " ")
}

// Summary returns Failure. A session stores it in its record.
func (e *FailureError) Summary() session.Failure { return e.Failure }

// Public returns the error without names and statements (trace.Span.Fail).
func (e *FailureError) Public() string {
	return fmt.Sprintf("threephase: no answer after %d attempts at a statement", e.Failure.Iterations)
}

// Unwrap makes errors.Is and errors.As see strategy.ErrNoCandidate and Err.
func (e *FailureError) Unwrap() []error { return []error{strategy.ErrNoCandidate, e.Err} }

// unclearError is a question that the user is not asked (Fail).
type unclearError struct{ question *session.QuestionError }

func (e *unclearError) Error() string { return e.question.Error() }

// failure is the error of a question: a FailureError if neither the model nor the database is to blame.
func (r *run) failure(err error) error {
	var none *strategy.NoCandidateError
	switch {
	case errors.As(err, &none):
		if broken := errors.Join(append(r.failed, none.Failed...)...); broken != nil {
			return fmt.Errorf("threephase: no statement was found before a call failed: %w", broken)
		}
	case errors.Is(err, linker.ErrNoTables), errors.Is(err, linker.ErrNoJoin), errors.As(err, new(*unclearError)):
	default:
		return err
	}
	f := session.Failure{
		Question: r.task.Question, Tables: r.tables, Corrections: len(r.task.Corrections),
		Error: redact.Line(err.Error()), Recommendations: recommended(err),
	}
	for _, s := range r.out.Steps {
		f.Attempts = append(f.Attempts, session.Attempt{SQL: s.SQL, Error: s.Problem})
	}
	f.Iterations = len(f.Attempts)
	r.report.Failure = &f
	return &FailureError{Failure: f, Err: err}
}

// recommended is what the user can do about a failure. What the session adds, such as that no correction is left, is
// not known here.
func recommended(err error) []string {
	switch {
	case errors.As(err, new(*unclearError)):
		return []string{"Say which one is meant."}
	case errors.Is(err, linker.ErrNoTables):
		return []string{"Ask again with the names of the things that the tables are about."}
	case errors.Is(err, linker.ErrNoJoin):
		return []string{"Say how the tables are joined: join A.x with B.y."}
	}
	return []string{
		"Check the names in the question against the schema.",
		"Correct what the errors of the statements show: a table, a join, or what a word means.",
	}
}

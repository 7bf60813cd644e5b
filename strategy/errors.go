package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/vote"
)

// Errors to test for with errors.Is.
var (
	// ErrEmptyQuestion is returned for a question without a word.
	ErrEmptyQuestion = errors.New("strategy: the question is empty")
	// ErrNoCandidate reports that no sample gave a statement that may vote. The error is a
	// *NoCandidateError with every reason.
	ErrNoCandidate = errors.New("no candidate passed the checks")
)

// ConfigError reports a wrong option or field, in a form that programs can read.
type ConfigError struct {
	Field   string // the option or field with its package: "texttosql: WithBudget", "strategy: Direct.Shots"
	Problem string // the problem in words
}

// Error is "FIELD: PROBLEM".
func (e *ConfigError) Error() string { return e.Field + ": " + e.Problem }

// PanicError reports a panic in a part from the caller: a strategy, a stage, a linker, a check. It fails the sample
// in which it happened; outside of all samples it fails the question.
type PanicError struct {
	Value any    // the value of the panic; nil if the part ended its goroutine (runtime.Goexit)
	Stack []byte // the stack of the goroutine
}

// Error returns the value in one line.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "strategy: a part ended its goroutine"
	}
	return e.Public() + ": " + brief(fmt.Sprint(e.Value))
}

// Part returns the function that panicked, with its package: "petsql.REp.Prompt"; "" if the stack does not show it.
func (e *PanicError) Part() string {
	_, below, _ := strings.Cut(string(e.Stack), "\npanic(")
	for line := range strings.SplitSeq(below, "\n") {
		path, _, _ := strings.Cut(line, "/")
		at := strings.LastIndexByte(line, '(')
		if strings.HasPrefix(line, "\t") || at < 0 || !strings.Contains(path, ".") || path == line &&
			!strings.HasPrefix(line, "main.") {
			continue // a place in a file, or a function of the standard library
		}
		return strings.NewReplacer("(*", "", ")", "").Replace(line[strings.LastIndexByte(line[:at], '/')+1 : at])
	}
	return ""
}

// Public returns the error without the value, which may hold anything (trace.Span.Fail).
func (e *PanicError) Public() string {
	if part := e.Part(); part != "" {
		return "strategy: the part " + part + " panicked"
	}
	return "strategy: a part panicked"
}

// Unwrap returns Value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// NoCandidateError reports why no statement could be elected. It matches ErrNoCandidate, ErrQuorum if there were too
// few votes, and the causes of the failed samples.
type NoCandidateError struct {
	Rejected []vote.Candidate // samples with a reply and without a vote, by index, each with its reason
	Failed   []error          // the errors of the samples without a reply, in their order
	Votes    int              // number of votes; if there are any, the Outcome has the leader
	Needed   int              // the quorum (Sampler.MinVotes); 0 if there were no votes
}

// Error returns one line with at most five reasons.
func (e *NoCandidateError) Error() string {
	return e.text(func(c vote.Candidate) string { return c.Rejected })
}

// Public returns the error with stable words instead of the reasons, because reasons repeat parts of statements
// (trace.Span.Fail): "12 × rejected (column)".
func (e *NoCandidateError) Public() string {
	return e.text(func(c vote.Candidate) string {
		if c.Reason == "" {
			return "rejected"
		}
		return "rejected (" + c.Reason + ")"
	})
}

func (e *NoCandidateError) text(why func(vote.Candidate) string) string {
	var reasons []string
	count := map[string]int{}
	add := func(why string) {
		why = brief(why)
		if count[why]++; count[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	for _, err := range e.Failed {
		add(err.Error())
	}
	for _, c := range e.Rejected {
		add(why(c))
	}
	for i, why := range reasons {
		if n := count[why]; n > 1 {
			reasons[i] = fmt.Sprintf("%d × %s", n, why)
		}
	}
	const most = 5
	if len(reasons) > most {
		reasons = append(reasons[:most], fmt.Sprintf("%d more reasons", len(reasons)-most))
	}
	what := "strategy: " + ErrNoCandidate.Error()
	switch {
	case e.Votes > 0:
		what = fmt.Sprintf("%v: %d of the %d needed", ErrQuorum, e.Votes, e.Needed)
	case len(e.Rejected) == 0 && len(e.Failed) > 0: // so nothing was checked
		what = "strategy: every sample failed"
	}
	if len(reasons) == 0 {
		return what
	}
	return what + ": " + strings.Join(reasons, "; ")
}

// Unwrap lets errors.Is and errors.As find ErrNoCandidate, ErrQuorum and the error of every failed sample. They also
// find exec.ErrNotReadOnly if every sample had a reply and every statement would write.
func (e *NoCandidateError) Unwrap() []error {
	errs := []error{ErrNoCandidate}
	if e.Votes > 0 {
		errs = append(errs, ErrQuorum)
	}
	reads := func(c vote.Candidate) bool { return !c.Writes }
	if len(e.Failed) == 0 && len(e.Rejected) > 0 && !slices.ContainsFunc(e.Rejected, reads) {
		errs = append(errs, exec.ErrNotReadOnly)
	}
	return append(errs, e.Failed...)
}

// brief is a reason as a line of an error or a note shows it: models, engines and databases wrote parts of it.
func brief(why string) string { return words.Short(words.Line(why), 300) }

// AbstainedError reports that the best answer is below the required confidence. The returned Outcome has
// the ranked candidates.
type AbstainedError struct {
	Confidence float64 // the confidence of the best answer
	Min        float64 // the required confidence
	Closing    string  // why the confidence is not higher: the sentence of vote.Ballot.Closing
}

// Error returns both figures.
func (e *AbstainedError) Error() string {
	return fmt.Sprintf("strategy: abstained: confidence %.2f is below %.2f", e.Confidence, e.Min)
}

// DatabaseError reports a sample that failed although its model replied: the database did not check the statement.
type DatabaseError struct {
	Err error // the error of the database
}

// Error returns the text of Err.
func (e *DatabaseError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *DatabaseError) Unwrap() error { return e.Err }

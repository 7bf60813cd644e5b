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
	// ErrNoCandidate says that no sample gave a statement that may vote. The error is a *NoCandidateError with every
	// reason.
	ErrNoCandidate = errors.New("no candidate passed the checks")
	// ErrAbstained says that there is an answer, but not one to rely on. The error is an *AbstainedError.
	ErrAbstained = errors.New("abstained")
)

// ConfigError says what is wrong with an option or a field, in a form that programs can read.
type ConfigError struct {
	Field   string // the option or field with its package: "texttosql: WithBudget", "strategy: Direct.Shots"
	Problem string // the problem in words
}

// Error is "FIELD: PROBLEM".
func (e *ConfigError) Error() string { return e.Field + ": " + e.Problem }

// PanicError says that a part which the caller gave panicked: a strategy, a stage, a linker, a check. It fails the
// sample in which it happened, and a question outside of all samples.
type PanicError struct {
	Value any    // the value of the panic; nil if the part ended its goroutine (runtime.Goexit)
	Stack []byte // the stack of the goroutine
}

// Error tells the value in one line.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "strategy: a part ended its goroutine"
	}
	return e.Public() + ": " + brief(fmt.Sprint(e.Value))
}

// Part is the function that panicked, with its package: "petsql.REp.Prompt"; "" if the stack does not tell.
func (e *PanicError) Part() string {
	_, below, _ := strings.Cut(string(e.Stack), "\npanic(")
	for line := range strings.SplitSeq(below, "\n") {
		path, _, _ := strings.Cut(line, "/")
		at := strings.LastIndexByte(line, '(')
		if strings.HasPrefix(line, "\t") || at < 0 || !strings.Contains(path, ".") || path == line && !strings.HasPrefix(line, "main.") {
			continue // a place in a file, or a function of the standard library
		}
		return strings.NewReplacer("(*", "", ")", "").Replace(line[strings.LastIndexByte(line[:at], '/')+1 : at])
	}
	return ""
}

// Public is the error without the value, which may hold anything (trace.Span.Fail).
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

// NoCandidateError tells why nothing could be elected. It matches ErrNoCandidate, ErrQuorum where there were votes but
// too few, and the causes of the failed samples.
type NoCandidateError struct {
	Rejected []vote.Candidate // samples that gave a reply and have no vote, by index, with the reason of each
	Failed   []error          // what the samples without a reply failed with, in their order
	Votes    int              // how many votes there were; the Outcome then holds the leader
	Needed   int              // the quorum (Sampler.MinVotes); 0 where there were no votes
}

// Error is one line with at most five reasons.
func (e *NoCandidateError) Error() string {
	return e.text(func(c vote.Candidate) string { return c.Rejected })
}

// Public is the error with the stable words of the reasons in place of the reasons, which repeat parts of statements
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

// Unwrap makes errors.Is and errors.As see ErrNoCandidate, ErrQuorum, what every sample failed with, and
// exec.ErrNotReadOnly where every sample had a reply and every statement would write.
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

// AbstainedError says that the best answer stayed below the confidence that was asked for. The Outcome beside it holds
// the ranked candidates.
type AbstainedError struct {
	Confidence float64 // the confidence of the best answer
	Min        float64 // what was asked for
}

// Error tells both figures.
func (e *AbstainedError) Error() string {
	return fmt.Sprintf("strategy: abstained: confidence %.2f is below %.2f", e.Confidence, e.Min)
}

// Is reports whether target is ErrAbstained.
func (e *AbstainedError) Is(target error) bool { return target == ErrAbstained }

// DatabaseError says that a sample failed though its model answered: the database could not be asked about the
// statement.
type DatabaseError struct {
	Err error // what the database failed with
}

// Error is that of Err.
func (e *DatabaseError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *DatabaseError) Unwrap() error { return e.Err }

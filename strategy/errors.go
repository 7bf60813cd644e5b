package strategy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/vote"
)

var (
	// ErrEmptyQuestion is returned for a question without a word.
	ErrEmptyQuestion = errors.New("strategy: the question is empty")
	// ErrNoCandidate says that no draw gave a statement that may vote. The
	// error is a *NoCandidateError with every reason.
	ErrNoCandidate = errors.New("no candidate passed the checks")
	// ErrAbstained says that there is an answer, but not one to rely on. The
	// error is an *AbstainedError.
	ErrAbstained = errors.New("abstained")
)

// NoCandidateError tells why nothing could be elected. It matches
// ErrNoCandidate and the causes of the failed draws.
type NoCandidateError struct {
	Rejected []vote.Candidate // draws that gave a reply, each with its reason
	Failed   []error          // draws that gave none, in draw order
}

func (e *NoCandidateError) Error() string {
	var reasons []string
	count := map[string]int{}
	add := func(why string) {
		if count[why]++; count[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	for _, err := range e.Failed {
		add(err.Error())
	}
	for _, c := range e.Rejected {
		add(c.Rejected)
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
	switch {
	case len(reasons) == 0:
		return "strategy: " + ErrNoCandidate.Error()
	case len(e.Rejected) == 0: // so nothing was checked
		return "strategy: every draw failed: " + strings.Join(reasons, "; ")
	}
	return "strategy: " + ErrNoCandidate.Error() + ": " + strings.Join(reasons, "; ")
}

// Unwrap makes errors.Is and errors.As see ErrNoCandidate and every failed draw.
func (e *NoCandidateError) Unwrap() []error {
	return append([]error{ErrNoCandidate}, e.Failed...)
}

// AbstainedError says that the best answer stayed below the confidence that was
// asked for. The Outcome beside it holds the ranked candidates.
type AbstainedError struct {
	Confidence float64 // of the best answer
	Min        float64 // what was asked for
}

func (e *AbstainedError) Error() string {
	return fmt.Sprintf("strategy: abstained: confidence %.2f is below %.2f", e.Confidence, e.Min)
}

// Is reports whether target is ErrAbstained.
func (e *AbstainedError) Is(target error) bool { return target == ErrAbstained }

package strategy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/vote"
)

// Errors to test for with errors.Is.
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
// ErrNoCandidate, ErrQuorum where there were votes but too few of them, and the
// causes of the failed draws.
type NoCandidateError struct {
	Rejected []vote.Candidate // draws that gave a reply and have no vote, by index, with the reason of each
	Failed   []error          // draws that gave none, in draw order
	Votes    int              // that there were; the leader is in the Outcome where there are any
	Needed   int              // the quorum (Sampler.MinVotes); 0 where there were no votes
}

// noCandidate tells why b elected none of candidates: why those that did not vote
// did not, and that the others are too few.
func noCandidate(candidates []vote.Candidate, b vote.Ballot, failed []error, votes, needed int) *NoCandidateError {
	e := &NoCandidateError{Failed: failed}
	why := make(map[int]string, len(b.Abstained))
	for _, a := range b.Abstained {
		why[a.Candidate] = a.Why
	}
	for i, c := range candidates {
		c.Rejected = cmp.Or(c.Rejected, why[i])
		if c.Rejected == "" && votes == 0 {
			c.Rejected = "the voter did not count it and gave no reason"
		}
		if c.Rejected != "" {
			e.Rejected = append(e.Rejected, c)
		}
	}
	if votes > 0 {
		e.Votes, e.Needed = votes, needed
	}
	return e
}

// Error is one line with at most five reasons.
func (e *NoCandidateError) Error() string {
	rejected := make([]string, len(e.Rejected))
	for i, c := range e.Rejected {
		rejected[i] = c.Rejected
	}
	return e.text(rejected)
}

// Public is the error with the number of rejected candidates in place of the
// reasons, which repeat parts of statements (trace.Span.Fail).
func (e *NoCandidateError) Public() string {
	return e.text(slices.Repeat([]string{"rejected"}, len(e.Rejected)))
}

func (e *NoCandidateError) text(rejected []string) string {
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
	for _, why := range rejected {
		add(why)
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
		what = "strategy: every draw failed"
	}
	if len(reasons) == 0 {
		return what
	}
	return what + ": " + strings.Join(reasons, "; ")
}

// Unwrap makes errors.Is and errors.As see ErrNoCandidate, ErrQuorum and every
// failed draw.
func (e *NoCandidateError) Unwrap() []error {
	errs := []error{ErrNoCandidate}
	if e.Votes > 0 {
		errs = append(errs, ErrQuorum)
	}
	return append(errs, e.Failed...)
}

// brief is a reason as a line of an error or a note shows it: models, engines and
// databases wrote parts of it.
func brief(why string) string { return cut(oneLine(why), 300) }

// cut returns the first n runes of s, and a mark where there are more.
func cut(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// AbstainedError says that the best answer stayed below the confidence that was
// asked for. The Outcome beside it holds the ranked candidates.
type AbstainedError struct {
	Confidence float64 // of the best answer
	Min        float64 // what was asked for
}

// Error tells both figures.
func (e *AbstainedError) Error() string {
	return fmt.Sprintf("strategy: abstained: confidence %.2f is below %.2f", e.Confidence, e.Min)
}

// Is reports whether target is ErrAbstained.
func (e *AbstainedError) Is(target error) bool { return target == ErrAbstained }

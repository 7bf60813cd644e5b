package strategy

import (
	"errors"
	"testing"

	"github.com/texttosql/texttosql/vote"
)

// TestPreSQLWithoutAVote: a preliminary statement that nothing can be compared by
// is no answer, and the reasons of round 2 stay.
func TestPreSQLWithoutAVote(t *testing.T) {
	first := &firstRound{candidate: vote.Candidate{SQL: "SELECT 1"}} // neither run nor explained
	out, none := &Outcome{}, &NoCandidateError{}
	err := PETSQL{}.fallBack(t.Context(), &Env{}, first, out, none)
	if !errors.Is(err, none) || out.SQL != "" || out.Fallback != "" || first.report.Rejected == "" {
		t.Errorf("got %+v, %+v, %v", out, first.report, err)
	}
}

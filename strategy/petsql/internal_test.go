package petsql

import (
	"errors"
	"testing"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestPreSQLWithoutAVote: a preliminary statement that nothing can be compared by
// is no answer, and the reasons of round 2 stay.
func TestPreSQLWithoutAVote(t *testing.T) {
	first := &firstRound{candidate: vote.Candidate{SQL: "SELECT 1"}} // neither run nor explained
	out, none := &strategy.Outcome{}, &strategy.NoCandidateError{}
	err := Strategy{}.fallBack(t.Context(), &strategy.Env{}, first, out, none)
	if !errors.Is(err, none) || out.SQL != "" || first.report.FellBack || first.report.Rejected == "" {
		t.Errorf("got %+v, %+v, %v", out, first.report, err)
	}
}

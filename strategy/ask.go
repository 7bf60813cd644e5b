package strategy

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// What the user sees of a vote.
const (
	askedOptions = 3
	askedRows    = 5
)

// AskUser returns a *session.QuestionError if the vote of out is disputed (vote.Ballot.Disputed with AskBelow), so
// that the user chooses the answer; otherwise nil. A Pipeline calls it before its judge.
//
// The options are the first three clusters of the ballot in its order; "r1" is the winner. Each has its statement and
// its first five rows. Its Label has the number of samples, the number of rows (if a check ran it) and the columns.
// Only the user sees the rows; no prompt has them. AskUser reads them again. They are nil under WithoutExecution.
// They are also nil, with a note in out, if they cannot be read. The error is ctx.Err() if ctx ended.
func (e *Env) AskUser(ctx context.Context, t Task, out *Outcome) error {
	ballot := out.Ballot
	if !ballot.Disputed(e.AskBelow) {
		return nil
	}
	ctx, span := trace.Start(ctx, "ask")
	defer span.End()
	q := &session.QuestionError{
		Kind: dialogue.KindResult, Message: "the answers disagree; which one is meant?",
		Context: map[string]string{"user_query": t.Question},
	}
	for i, c := range ballot.Clusters[:min(askedOptions, len(ballot.Clusters))] {
		best := out.Candidates[c.Best]
		o := session.Option{
			ID: fmt.Sprintf("r%d", i+1), SQL: c.SQL, Confidence: c.Confidence,
			Label: fmt.Sprintf("%d of %d samples", len(c.Members), ballot.Sampled)}
		if !e.WithoutExecution {
			rows, err := e.DB.QueryWithin(ctx, c.SQL, exec.Bounds{Rows: askedRows})
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				out.Note("the rows of option %s cannot be read: %v", o.ID, err)
			default:
				o.Rows = rows
				if best.Fingerprint != "" { // "": no check ran it
					o.Label += fmt.Sprintf("; rows: %d", best.Rows)
				}
				if best.Truncated {
					o.Label += " and more"
				}
				o.Label += "; columns: " + words.Short(prompttext.OneLine(strings.Join(rows.Columns, ", ")), 100)
			}
		}
		q.Options = append(q.Options, o)
	}
	out.Note("the user is asked: the best answer has %d of %d samples", len(ballot.Clusters[0].Members), ballot.Sampled)
	span.Set("options", len(q.Options))
	return q
}

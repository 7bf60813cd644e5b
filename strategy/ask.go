package strategy

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// What the user sees of a vote.
const (
	askedOptions = 3
	askedRows    = 5
)

// AskUser returns a *session.QuestionError where the vote of out is disputed (vote.Ballot.Disputed with AskBelow), so that
// the user chooses the answer; nil where it is not. A Pipeline calls it before its judge.
//
// The options are the first three clusters of the ballot in its order, "r1" the winner. Each has its statement, its
// first five rows and, as Label, its samples, the number of its rows and its columns. The rows are for the user alone:
// no model is shown any. They are read anew, and are nil under WithoutExecution and where they cannot be read, with a
// note in out. The error is ctx.Err() if ctx ended.
func (e *Env) AskUser(ctx context.Context, t Task, out *Outcome) error {
	if !out.Ballot.Disputed(e.AskBelow) {
		return nil
	}
	ctx, span := trace.Start(ctx, "ask")
	defer span.End()
	q := &session.QuestionError{
		Kind: session.KindResult, Message: "the answers disagree; which one is meant?",
		Context: map[string]string{"user_query": t.Question},
	}
	for i, c := range out.Ballot.Clusters[:min(askedOptions, len(out.Ballot.Clusters))] {
		best, o := out.Candidates[c.Best], session.Option{ID: fmt.Sprintf("r%d", i+1), SQL: c.SQL, Confidence: c.Confidence}
		o.Label = fmt.Sprintf("%d of %d samples", len(c.Members), out.Ballot.Sampled)
		if !e.WithoutExecution {
			rows, err := e.DB.QueryWithin(ctx, c.SQL, exec.Bounds{Rows: askedRows})
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				out.Note("the rows of option %s cannot be read: %v", o.ID, err)
			default:
				o.Rows = rows
				o.Label += fmt.Sprintf("; rows: %d", best.Rows)
				if best.Truncated {
					o.Label += " and more"
				}
				o.Label += "; columns: " + words.Short(OneLine(strings.Join(rows.Columns, ", ")), 100)
			}
		}
		q.Options = append(q.Options, o)
	}
	out.Note("the user is asked: the best answer has %d of %d samples", len(out.Ballot.Clusters[0].Members), out.Ballot.Sampled)
	span.Set("options", len(q.Options))
	return q
}

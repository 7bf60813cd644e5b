package qasql

import (
	"cmp"
	"context"
	"fmt"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// mostFailures is how many failures the last resort is told.
const mostFailures = 5

// lastResort asks once for a simple statement in view of the failures. none is the error without one; it stays where
// that does not run either.
func (r *run) lastResort(ctx context.Context, out *strategy.Outcome, none error) error {
	var failed []strategy.Step
	for _, c := range out.WithoutVote() { // without those that JudgeFirst did not try
		if len(failed) < mostFailures {
			failed = append(failed, r.examiner.Step(c, 0, ""))
		}
	}
	if len(failed) == 0 { // no model answered
		return none
	}
	ctx, span := trace.Start(ctx, "last resort")
	defer span.End()
	repairer := r.Refine.Repairer
	if repairer == nil {
		repairer = strategy.TypedRepair{}
	}
	sample := len(out.Candidates)
	last := failed[len(failed)-1]
	reply, err := repairer.Repair(ctx, &r.env, strategy.RepairInput{
		Task: r.task, Schema: r.env.Schema, Sample: r.report.Asked, SQL: last.SQL, Earlier: failed[:len(failed)-1],
		// The error comes last: what is too long of it is cut.
		Err: fmt.Errorf("none that was tried runs, so write the simplest one that answers the question; the last error is: "+
			"%s", last.Problem),
	})
	if err != nil {
		span.Fail(err)
		out.NoteError(ctx, err, "the last resort failed")
		out.Steps = append(out.Steps, strategy.Step{Sample: r.report.Asked, Action: "repair", Status: "failed",
			Problem: out.Notes[len(out.Notes)-1]})
		return cmp.Or(ctx.Err(), none)
	}
	_, name := r.env.Model(r.report.Asked)
	c, err := r.examiner.Examine(ctx, r.report.Asked, name, reply)
	if err != nil {
		return cmp.Or(ctx.Err(), error(&strategy.DatabaseError{Err: err}))
	}
	out.Candidates, out.Steps = append(out.Candidates, c), append(out.Steps, r.examiner.Step(c, 0, "repair"))
	ballot, err := vote.Majority{Key: r.env.Key(), Prior: 1}.Count(out.Candidates)
	if err != nil {
		return none
	}
	out.SQL, out.Ballot, r.report.LastResort = out.Candidates[sample].SQL, ballot, true
	out.Warn(ctx, "last-resort", "no statement of a context runs: the answer is a simple one that was asked for after "+
		"them")
	return nil
}

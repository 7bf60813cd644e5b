package agent

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// ReActReport is ReAct's report on an answer, in Outcome.Report. The actions are in Outcome.Steps.
type ReActReport struct {
	Examples int `json:"examples"` // worked examples that were shown
	// Walks has the walks by sample. Each has its Sample, its Steps (the number of replies) and Stop, the reason why
	// it ended: "answer", ….
	Walks []walkReport `json:"walks"`
}

// walkReport is one walk.
type walkReport struct {
	Sample int    `json:"sample"` // index of the sample
	Steps  int    `json:"steps"`  // replies
	Stop   string `json:"stop"`   // why it ended: "answer", …
}

// Method returns "react".
func (ReActReport) Method() string { return "react" }

// told completes the outcome with the steps of the walks that count.
func (r *run) told(ctx context.Context, out *strategy.Outcome) *strategy.Outcome {
	if out == nil {
		return nil
	}
	report := ReActReport{Examples: len(r.examples), Walks: []walkReport{}}
	var best []vote.Candidate
	for i, w := range r.walks {
		// not begun, or late and not waited for; no wave holds a sample behind the stop
		if w.stop == "" || w.cut && ctx.Err() == nil {
			continue
		}
		out.Steps = append(out.Steps, w.steps...)
		report.Walks = append(report.Walks, walkReport{Sample: i, Steps: len(w.steps), Stop: w.stop})
		if w.ran && w.cut {
			// It was examined, so this needs no time.
			if c, err := r.examiner.ExamineSQL(context.WithoutCancel(ctx), i, w.model, w.sql); err == nil {
				best = append(best, c)
			}
		}
		if w.err != nil && w.ran && !w.cut {
			out.Note("the walk of sample %d ended early: %v", i, w.err)
		}
	}
	out.Report = report
	r.soFar(ctx, out, best)
	return out
}

// soFar answers with what had run when the context ended, if no walk had come to its end.
func (r *run) soFar(ctx context.Context, out *strategy.Outcome, best []vote.Candidate) {
	if ctx.Err() == nil || out.SQL != "" || len(best) == 0 {
		return
	}
	all := slices.Concat(out.Candidates, best)
	slices.SortStableFunc(all, func(a, b vote.Candidate) int { return a.Sample - b.Sample })
	ballot, err := vote.Majority{Key: r.env.Key(), Prior: 1}.Count(all)
	if err != nil {
		return
	}
	out.Candidates, out.Ballot, out.SQL, out.Confidence = all, ballot, ballot.Clusters[0].SQL, ballot.Confidence
	out.Warn(ctx, "cut-short", "the time was up: this is the last statement that ran")
}

package qasql

import (
	"context"

	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// judge is the judge of a question; nil without one.
func (r *run) judge() strategy.Judge {
	if r.WithoutJudge {
		return nil
	}
	return reporting{r}
}

// reporting is Strategy.Judge, whose verdict stands in the report.
type reporting struct{ r *run }

// Choose shows the judge the schema of the contexts: an option may read what was not linked.
func (j reporting) Choose(ctx context.Context, env *strategy.Env, in strategy.JudgeInput) (strategy.Verdict, error) {
	judge := j.r.Judge
	if judge == nil {
		judge = strategy.Rubric{}
	}
	in.Schema = env.Schema
	verdict, err := judge.Choose(ctx, env, in)
	j.r.report.JudgeCalls += len(verdict.Calls)
	if len(verdict.Calls) > 0 {
		j.r.report.Verdict = &verdict
	}
	for _, call := range verdict.Calls {
		trace.FromContext(ctx).Event("verdict", trace.Attr{Key: "option", Value: call.Choice + 1},
			trace.Attr{Key: "first", Value: call.First + 1},
			trace.Attr{Key: "reason", Value: trace.PrivateReplies.Secret(call.Reason)})
	}
	for i, votes := range verdict.Votes {
		j.r.votes[in.Options[i].SQL] += votes
	}
	return verdict, err
}

// maxRounds is how often JudgeFirst picks.
const maxRounds = 3

// judgeFirst lets the judge pick among texts, and takes what it picked to a statement that runs.
func (r *run) judgeFirst(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	texts, voter := r.pipeline(), vote.Majority{Key: vote.ByText, Prior: 1, MinShare: 1, Tie: vote.Ties()}
	sampled, err := strategy.Election[vote.Candidate]{
		N: r.report.Asked, Concurrency: env.Parallel(), Room: env.CallsLeft, Key: vote.ByText,
		Sample: func(ctx context.Context, i int) (vote.Candidate, error) {
			model, name := env.Model(i)
			c := vote.Candidate{Sample: i, Model: name}
			reply, err := model.Complete(ctx, texts.Sampler.Request(env, i, r.messages[i%len(r.messages)]))
			if err != nil {
				return c, err
			}
			found, err := replies.Extractor{Dialect: env.DB.Language().Text,
				Ended: reply.StopReason == llm.StopEnd}.Extract(reply.Text)
			if c.SQL, c.Statement = found.SQL(), found.Statement; err != nil {
				c.Rejected = err.Error()
			}
			return c, ctx.Err()
		},
	}.Run(ctx)
	out := &strategy.Outcome{Candidates: sampled.Values()}
	for i, s := range sampled.Slots {
		if s.Err != nil {
			out.Note("sample %d failed: %v", i, s.Err)
		}
	}
	if allowed, short := sampled.Short(r.report.Asked); short {
		out.Warn(ctx, "budget-spent", "the budget allowed %d of %d samples", allowed, r.report.Asked)
	}
	if err != nil {
		if ctx.Err() == nil {
			err = &strategy.NoCandidateError{Rejected: out.Candidates, Failed: sampled.Failed()}
		}
		return out, err
	}
	ballot, err := voter.Count(out.Candidates)
	if err != nil {
		return out, err
	}
	for round := 0; round < maxRounds && len(ballot.Clusters) > 0; round++ {
		out.Ballot = ballot
		pick, err := r.pick(ctx, env, out)
		if err != nil {
			return out, err
		}
		ballot.Overrule(pick)
		first := ballot.Clusters[0]
		c, err := r.examiner.ExamineSQL(ctx, out.Candidates[first.Best].Sample, out.Candidates[first.Best].Model, first.SQL)
		if err != nil {
			return out, &strategy.DatabaseError{Err: err}
		}
		refined, err := texts.Refine.Run(ctx, env, strategy.RefineInput{Task: t, Schema: env.Schema, Examiner: r.examiner,
			Candidate: c})
		out.Steps = append(out.Steps, refined.Steps...)
		if err != nil && (ctx.Err() == nil || refined.Candidate.Rejected != "") {
			return out, err
		}
		if refined.Err != nil {
			out.NoteError(ctx, refined.Err, "the correction of sample %d failed", c.Sample)
		}
		out.Candidates[first.Best] = refined.Candidate
		if refined.Candidate.Rejected == "" {
			if refined.Candidate.Empty || refined.Candidate.AllNull {
				out.Warn(ctx, "empty-result", "the answer has no value in it, and no statement that has one was proposed instead")
			}
			r.votes[refined.Candidate.SQL], first.SQL = r.votes[first.SQL], refined.Candidate.SQL
			ballot.Clusters[0] = first
			out.Ballot, out.SQL = ballot, first.SQL
			return out, ctx.Err() // it was asked about once more, and runs
		}
		for _, i := range first.Members {
			out.Candidates[i].Rejected = refined.Candidate.Rejected
			ballot.Abstained = append(ballot.Abstained, vote.Abstention{Candidate: i, Why: refined.Candidate.Rejected})
		}
		ballot.Clusters = ballot.Clusters[1:]
	}
	out.Ballot = ballot
	return out, &strategy.NoCandidateError{Rejected: out.WithoutVote()}
}

// pick is the place of the cluster that the judge takes; 0, the largest one, where it does not choose.
func (r *run) pick(ctx context.Context, env *strategy.Env, out *strategy.Outcome) (int, error) {
	judge := r.judge()
	if judge == nil || len(out.Ballot.Clusters) < 2 {
		return 0, nil
	}
	in := strategy.JudgeInput{Task: r.task, Schema: env.Schema, Samples: r.report.Asked, Options: out.JudgeOptions()}
	verdict, err := judge.Choose(ctx, env, in)
	if err != nil && ctx.Err() == nil {
		out.NoteError(ctx, err, "the judge could not be asked, the largest answer is taken")
	}
	if err != nil || verdict.Choice < 0 || verdict.Choice >= len(in.Options) {
		return 0, ctx.Err()
	}
	return verdict.Choice, ctx.Err()
}

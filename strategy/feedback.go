package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// ExecutionFeedback is AugmentedPlanVote with corrections: where every statement
// was rejected, or the winner has no rows or only NULL, the model is asked again
// and told what was wrong (strategy M12 of galah92/egtts). Replies without a
// statement leave nothing to tell: where there are no others, that is the end.
//
// A suspect winner is accepted all the same when it holds at least 0.8 of the
// votes and has literals that are all stored, and after a round that gives the
// same result as the round before: many questions have an empty answer. The
// answer is the best of all rounds: one with rows, then one that is all NULL, then
// an empty one; ties go to the greater share, then to the earlier round.
//
// At most Samples + Corrections × CorrectionSamples calls. Where a correction
// comes to nothing the answer so far is the Outcome: with an error that matches
// llm.ErrBudget, and a warning, where the budget did not allow it; with the error
// of the database where that failed; without an error, and with a note, where the
// model gave no statement or its provider failed (a recorded model has no
// correction to give). Under Env.SkipExecution only statements that the engine
// rejects are corrected. Replies have at most 512 tokens. Prompts hold sampled
// values of the database, unless texttosql.WithoutSampleValues is given.
// Specification: methods/plan-voting.md 3.7.
type ExecutionFeedback struct {
	Samples           int     // of the first round; 0 means 15; WithSamples overrides it
	Corrections       int     // rounds of corrections at most; 0 means 2, negative: none
	CorrectionSamples int     // of each; 0 means 5: a correction needs another answer, not a census
	Temperature       float64 // 0 means 0.7

	// Compat is the published form: rounds of 15 draws, the last two winners as
	// feedback, no suspect answer accepted early, the last answer returned.
	Compat bool
}

// Validate refuses numbers out of range.
func (f ExecutionFeedback) Validate(samples int) error {
	return errors.Join(
		inRange("ExecutionFeedback", draws("Samples", f.Samples), draws("CorrectionSamples", f.CorrectionSamples), number("Temperature", f.Temperature)),
		checkSamples(samples))
}

// Generate answers one question.
func (f ExecutionFeedback) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := cmp.Or(env.validate(t), f.Validate(t.Samples)); err != nil {
		return nil, err
	}
	env = env.watched() // all rounds have one say
	run := feedbackRun{ExecutionFeedback: f, env: env, task: t}
	run.Samples = cmp.Or(t.Samples, f.Samples, 15)
	run.Corrections = max(cmp.Or(f.Corrections, 2), 0)
	run.CorrectionSamples = cmp.Or(f.CorrectionSamples, 5)
	checks := strict(env.Checks())
	if f.Compat {
		run.CorrectionSamples = run.Samples
		checks = []exec.Check{exec.SingleRead{}, exec.Planned{}, exec.Execute{}, exec.Suspect{}}
	} else if !env.SkipExecution {
		checks = append(checks, &Probing{})
	}
	run.admission = NewAdmission(ctx, env, t, checks, nil)
	defer run.admission.Close()
	if f.Compat {
		run.admission.Signature = compatSignature
	}
	return run.answer(ctx)
}

// feedbackRun is one question.
type feedbackRun struct {
	ExecutionFeedback
	env       *Env
	task      Task
	admission *Admission
	attempts  []Attempt // what the next round is told
}

func (r *feedbackRun) answer(ctx context.Context) (*Outcome, error) {
	all := &Outcome{Ballot: vote.Ballot{Clusters: []vote.Cluster{}}} // what happened in every round
	var best, last *Outcome
	var failed error
	first := 0
	for round := 0; round <= r.Corrections; round++ {
		out, err := r.round(ctx, round, first)
		if cerr := ctx.Err(); cerr != nil {
			return all, cerr
		}
		shift(out, len(all.Candidates))
		all.Candidates = append(all.Candidates, out.Candidates...)
		all.Notes = append(all.Notes, out.Notes...)
		all.Saved += out.Saved
		all.Ballot.Drawn += out.Ballot.Drawn
		all.Ballot.Abstained = append(all.Ballot.Abstained, out.Ballot.Abstained...)
		first += r.samples(round)
		if err != nil {
			failed = err
			if !errors.Is(err, ErrNoCandidate) { // the database failed
				all.note("round %d failed: %v", round, err)
				break
			}
			if len(rejectedSQL(out.Candidates)) == 0 {
				if round > 0 {
					all.note("correction %d gave no statement: %v", round, err)
				}
				break // nothing to tell a further round
			}
		} else {
			done := r.accepts(all, out, last)
			if best == nil || r.Compat || r.better(all, out, best) {
				best = out
			}
			last, failed = out, nil
			if done {
				break
			}
		}
		r.tell(all, out)
	}
	if best == nil {
		var none *NoCandidateError
		if errors.As(failed, &none) { // the reasons of every round
			failed = noCandidate(all.Candidates, all.Ballot, none.Failed, 0, 0)
		}
		return all, failed
	}
	all.SQL, all.Confidence, all.Ballot = best.SQL, best.Confidence, best.Ballot
	return all, r.cause(ctx, all, failed)
}

// cause is what of a correction that failed is an error though there is an answer.
// It does not match ErrNoCandidate, as failed may.
func (r *feedbackRun) cause(ctx context.Context, all *Outcome, failed error) error {
	var none *NoCandidateError
	if !errors.As(failed, &none) {
		return failed
	}
	for _, err := range none.Failed {
		spent := errors.Is(err, llm.ErrBudget)
		if spent {
			all.warn(ctx, "budget-spent", "the budget does not allow another correction")
		}
		if spent || errors.As(err, new(*databaseError)) {
			return fmt.Errorf("strategy: a correction: %w", err)
		}
	}
	return nil
}

func (r *feedbackRun) samples(round int) int {
	if round == 0 {
		return r.Samples
	}
	return r.CorrectionSamples
}

// round draws and votes once.
func (r *feedbackRun) round(ctx context.Context, round, first int) (*Outcome, error) {
	ctx, span := trace.Start(ctx, "round", trace.Attr{Key: "round", Value: round})
	defer span.End()
	p := AugmentedPlanVote{Temperature: r.Temperature, Compat: r.Compat}.Pipeline(r.env)
	p.Admission = r.admission
	p.Sampler.First = first
	if round > 0 {
		p.Prompter = Feedback{Prompter: p.Prompter, Attempts: r.attempts}
		p.Sampler.Purpose = PurposeCorrect
	}
	t := r.task
	t.Samples = r.samples(round)
	out, err := p.Generate(ctx, r.env, t)
	if out == nil {
		out = &Outcome{}
	}
	span.Fail(err)
	return out, err
}

// winner is the candidate that out elected; its ballot counts from the first
// candidate of all rounds.
func winner(all, out *Outcome) vote.Candidate { return all.Candidates[out.Ballot.Clusters[0].Best] }

// accepts reports whether no correction of out is needed.
func (r *feedbackRun) accepts(all, out, last *Outcome) bool {
	c := winner(all, out)
	if !c.Empty && !c.AllNull {
		return true
	}
	if r.Compat {
		return false
	}
	if last != nil && c.Fingerprint != "" && winner(all, last).Fingerprint == c.Fingerprint {
		all.note("the result stayed the same after a correction")
		return true
	}
	// Without a literal there is nothing that speaks for the statement.
	stored, probed := StoredShare(c)
	if share := out.Ballot.Clusters[0].Share; share >= 0.8 && probed && stored == 1 {
		all.note("a result without values is accepted: %.0f %% of the votes, every literal stored", 100*share)
		return true
	}
	return false
}

// better reports whether a goes before b, which is of an earlier round.
func (r *feedbackRun) better(all, a, b *Outcome) bool {
	rank := func(out *Outcome) int {
		switch c := winner(all, out); {
		case c.Empty:
			return 2
		case c.AllNull:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Ballot.Clusters[0].Share, a.Ballot.Clusters[0].Share)) < 0
}

// tell makes what is wrong with a round the feedback of the next one: its two
// largest groups of rejected or suspect statements.
func (r *feedbackRun) tell(all, out *Outcome) {
	var attempts []Attempt
	if len(out.Ballot.Clusters) > 0 {
		c := winner(all, out)
		problem := "it returned no rows"
		if c.AllNull {
			problem = "it returned nothing but NULL"
		}
		attempts = append(attempts, Attempt{SQL: c.SQL, Problem: problem, votes: len(out.Ballot.Clusters[0].Members)})
	}
	if r.Compat {
		if len(attempts) == 0 {
			attempts = rejectedSQL(out.Candidates)[:1]
		}
		r.attempts = append(r.attempts, attempts...)
		r.attempts = r.attempts[max(len(r.attempts)-2, 0):]
		return
	}
	attempts = append(attempts, rejectedSQL(out.Candidates)...)
	slices.SortStableFunc(attempts, func(a, b Attempt) int { return cmp.Compare(b.votes, a.votes) })
	r.attempts = attempts[:min(2, len(attempts))]
}

// rejectedSQL lists the distinct statements that were rejected, by first draw.
func rejectedSQL(candidates []vote.Candidate) []Attempt {
	var attempts []Attempt
	for _, c := range candidates {
		if c.Rejected == "" || c.SQL == "" {
			continue
		}
		if i := slices.IndexFunc(attempts, func(a Attempt) bool { return a.SQL == c.SQL }); i >= 0 {
			attempts[i].votes++
		} else {
			attempts = append(attempts, Attempt{SQL: c.SQL, Problem: c.Rejected, votes: 1})
		}
	}
	return attempts
}

// shift makes the ballot of out count from the first candidate of all rounds, of
// which there were so many before.
func shift(out *Outcome, before int) {
	for i := range out.Ballot.Clusters {
		c := &out.Ballot.Clusters[i]
		c.Best += before
		c.Members = slices.Clone(c.Members)
		for j := range c.Members {
			c.Members[j] += before
		}
	}
	for i := range out.Ballot.Abstained {
		out.Ballot.Abstained[i].Candidate += before
	}
}

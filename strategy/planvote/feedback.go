package planvote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// purposeCorrect is the purpose of the requests of a correction.
const purposeCorrect = "correct"

// Feedback is Augmented with corrections (M12 of galah92/egtts). If every statement was rejected, or the winner has
// no rows or only NULL, it calls the model again with the problem.
//
// A suspect winner is accepted if it has at least 0.8 of the votes and all its literals are stored. It is also
// accepted if a correction gave the same result again, because many questions have an empty answer. The answer is the
// best of all rounds: one with rows, then one that is all NULL, then an empty one. Ties go to the greater share, then
// to the earlier round. Without execution only rejected statements are corrected.
//
// If a correction fails, the answer so far is returned. The error returned with it matches llm.ErrBudget if the
// budget did not allow the correction, or is the error of the database. If a model fails or writes no statement, the
// outcome has a note.
//
// Calls: at most Samples + Corrections × CorrectionSamples, of 512 tokens each.
type Feedback struct {
	Samples           int     // samples of the first round; 0 means 15; WithSamples overrides it
	Corrections       int     // maximum rounds of corrections; 0 means 2, negative: none
	CorrectionSamples int     // samples of each correction; 0 means 5
	Temperature       float64 // 0 means 0.7

	published bool
}

// Validate refuses numbers out of range.
func (f Feedback) Validate(samples int) error {
	return errors.Join(
		fields.Check("planvote: Feedback.Samples", f.Samples, fields.MaxSamples),
		fields.Check("planvote: Feedback.CorrectionSamples", f.CorrectionSamples, fields.MaxSamples),
		fields.Check("planvote: Feedback.Temperature", f.Temperature, 0),
		strategy.Sampler{}.Validate(samples))
}

// Generate answers one question. Outcome.Steps has the winner and the rejected statements of each round.
func (f Feedback) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := cmp.Or(env.Validate(t), f.Validate(t.Samples)); err != nil {
		return nil, err
	}
	f.Samples = cmp.Or(t.Samples, f.Samples, 15)
	f.Corrections = max(cmp.Or(f.Corrections, 2), 0)
	f.CorrectionSamples = cmp.Or(f.CorrectionSamples, 5)
	checks := env.StrictChecks()
	if f.published {
		f.CorrectionSamples = f.Samples
		checks = append(publishedChecks(), exec.RunCheck{}, exec.SuspiciousResultCheck{EmptyOnly: true})
	} else if !env.WithoutExecution {
		checks = append(checks, &egtts.Probing{})
	}
	run := feedbackRun{Feedback: f, env: env, task: t, examiner: strategy.NewChecker(ctx, env, t, checks, nil)}
	defer run.examiner.Close()
	if f.published {
		run.examiner.Signature = egtts.PublishedSignature
	}
	return run.answer(ctx)
}

// feedbackRun is one question.
type feedbackRun struct {
	Feedback
	env      *strategy.Env
	task     strategy.Task
	examiner *strategy.Checker
	all      strategy.Outcome // the outcomes of all rounds
	told     []strategy.Step  // for the next round's prompt
}

func (r *feedbackRun) answer(ctx context.Context) (*strategy.Outcome, error) {
	all := &r.all
	all.Ballot.Clusters = []vote.Cluster{}
	var best, last *strategy.Outcome
	var failed error
	var rejected []vote.Candidate // of the rounds that elected nothing
	samples, first, done := r.Samples, 0, false
	for round := 0; round <= r.Corrections && !done; round++ {
		out, err := r.round(ctx, round, first, samples)
		if cerr := ctx.Err(); cerr != nil {
			r.add(out)
			if best != nil {
				all.Warn(ctx, "cut-short", "the time was up in correction %d: this is the best of the rounds before", round)
			} else if out.SQL != "" {
				best = out
			}
			r.take(best)
			return all, cerr
		}
		first, samples = first+samples, r.CorrectionSamples
		r.add(out)
		tried := r.tried(out, round)
		var none *strategy.NoCandidateError
		switch failed = err; {
		case errors.As(err, new(*session.QuestionError)):
			best, done = out, true
		case err == nil:
			done = r.accepts(out, last)
			if best == nil || r.published || r.better(out, best) {
				best = out
			}
			last = out
		case !errors.As(err, &none): // the database failed
			all.Note("round %d failed: %v", round, err)
			done = true
		default:
			rejected = append(rejected, none.Rejected...)
			if done = len(tried) == 0; done && round > 0 { // nothing to tell a further round
				all.Note("correction %d gave no statement: %v", round, err)
			}
		}
		r.tell(tried)
	}
	if best == nil {
		var none *strategy.NoCandidateError
		if errors.As(failed, &none) { // the reasons of every round
			failed = &strategy.NoCandidateError{Rejected: rejected, Failed: none.Failed}
		}
		return all, failed
	}
	r.take(best)
	return all, r.cause(ctx, failed)
}

// take makes the answer of a round the answer; nil changes nothing.
func (r *feedbackRun) take(best *strategy.Outcome) {
	if best == nil {
		return
	}
	all := &r.all
	all.SQL, all.Confidence, all.Ballot = best.SQL, best.Confidence, best.Ballot
	if !r.published && len(all.Candidates) > best.Ballot.Sampled {
		r.recount(best)
	}
}

// recount makes the ballot of the answer count the votes of every round: those for another answer count against it.
func (r *feedbackRun) recount(best *strategy.Outcome) {
	all, winner := &r.all, best.Ballot.Clusters[0]
	ballot, err := vote.Majority{Key: r.env.Key(), Prior: 1}.Count(all.Candidates)
	at := slices.IndexFunc(ballot.Clusters, func(c vote.Cluster) bool { return slices.Contains(c.Members, winner.Best) })
	if err != nil || at < 0 {
		return
	}
	ballot.Clusters[at].Best, ballot.Clusters[at].SQL = winner.Best, winner.SQL
	ballot.Overrule(at)
	all.Ballot, all.Confidence = ballot, ballot.Confidence
}

// cause returns the error to report beside an answer when a later correction failed. It does not match
// strategy.ErrNoCandidate: there is an answer.
func (r *feedbackRun) cause(ctx context.Context, failed error) error {
	var none *strategy.NoCandidateError
	if !errors.As(failed, &none) {
		return failed
	}
	for _, err := range none.Failed {
		spent := errors.Is(err, llm.ErrBudget)
		if spent {
			r.all.Warn(ctx, "budget-spent", "the budget does not allow another correction")
		}
		if spent || errors.As(err, new(*strategy.DatabaseError)) {
			return fmt.Errorf("planvote: a correction: %w", err)
		}
	}
	return nil
}

// round samples so many samples from index first on, and votes once.
func (r *feedbackRun) round(ctx context.Context, round, first, samples int) (*strategy.Outcome, error) {
	ctx, span := trace.Start(ctx, "round", trace.Attr{Key: "round", Value: round})
	defer span.End()
	p := Augmented{Temperature: r.Temperature, published: r.published}.Pipeline(r.env)
	p.Examiner = r.examiner
	p.Sampler.Offset = first
	if round > 0 {
		p.Prompter = correction{Prompter: p.Prompter, Tried: r.told}
		p.Sampler.Purpose = purposeCorrect
	}
	t := r.task
	t.Samples = samples
	out, err := p.Generate(ctx, r.env, t)
	if out == nil {
		out = &strategy.Outcome{}
	}
	span.Fail(err)
	return out, err
}

// add adds what happened in a round, and makes the ballot of out count from the first candidate of all rounds.
func (r *feedbackRun) add(out *strategy.Outcome) {
	all, before := &r.all, len(r.all.Candidates)
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
	all.Candidates = append(all.Candidates, out.Candidates...)
	all.Notes = append(all.Notes, out.Notes...)
	all.Saved += out.Saved
	all.Ballot.Sampled += out.Ballot.Sampled
	all.Ballot.Abstained = append(all.Ballot.Abstained, out.Ballot.Abstained...)
}

// winner is the candidate that a round elected.
func (r *feedbackRun) winner(out *strategy.Outcome) vote.Candidate {
	return r.all.Candidates[out.Ballot.Clusters[0].Best]
}

// attempt is a statement and how many samples of a round had it.
type attempt struct {
	strategy.Step
	copies int
}

// tried are the winner of a round and its distinct rejected statements by first sample. They become steps of the
// outcome.
func (r *feedbackRun) tried(out *strategy.Outcome, round int) (tried []attempt) {
	action := "generate"
	if round > 0 {
		action = purposeCorrect
	}
	if len(out.Ballot.Clusters) > 0 {
		tried = append(tried, attempt{r.examiner.Step(r.winner(out), round, action), len(out.Ballot.Clusters[0].Members)})
	}
	elected := len(tried)
	for _, c := range out.Candidates {
		if c.Rejected == "" || c.SQL == "" {
			continue
		}
		i := slices.IndexFunc(tried[elected:], func(a attempt) bool { return a.SQL == c.SQL })
		if i < 0 {
			i = len(tried) - elected
			tried = append(tried, attempt{Step: r.examiner.Step(c, round, action)})
		}
		tried[elected+i].copies++
	}
	for _, a := range tried {
		r.all.Steps = append(r.all.Steps, a.Step)
	}
	return tried
}

// tell makes what is wrong with a round the feedback of the next one: the two statements that most of its samples had.
// As published it is the winner, or the first rejected statement, of the last two rounds.
func (r *feedbackRun) tell(tried []attempt) {
	if r.published {
		tried = tried[:min(len(tried), 1)]
		r.told = r.told[max(len(r.told)-1, 0):]
	} else {
		slices.SortStableFunc(tried, func(a, b attempt) int { return cmp.Compare(b.copies, a.copies) })
		r.told = nil
	}
	for _, a := range tried[:min(2, len(tried))] {
		r.told = append(r.told, a.Step)
	}
}

// accepts reports whether no correction of out is needed. last is the round before that elected something, or nil.
func (r *feedbackRun) accepts(out, last *strategy.Outcome) bool {
	c := r.winner(out)
	if r.published || rank(c) == 0 {
		return rank(c) == 0
	}
	if last != nil && c.Fingerprint != "" && r.winner(last).Fingerprint == c.Fingerprint {
		r.all.Note("the result stayed the same after a correction")
		return true
	}
	// Without a literal there is nothing that speaks for the statement.
	missing, probed := egtts.MissingShare(c)
	if share := out.Ballot.Clusters[0].Share; share >= 0.8 && probed > 0 && missing == 0 {
		r.all.Note("a result without values is accepted: %.0f %% of the votes, every literal stored", 100*share)
		return true
	}
	return false
}

// better reports whether a goes before b, which is of an earlier round.
func (r *feedbackRun) better(a, b *strategy.Outcome) bool {
	return cmp.Or(cmp.Compare(rank(r.winner(a)), rank(r.winner(b))),
		cmp.Compare(b.Ballot.Clusters[0].Share, a.Ballot.Clusters[0].Share)) < 0
}

// rank is 0 for a result with a value, 1 for one of nothing but NULL, 2 for an empty one.
func rank(c vote.Candidate) int {
	switch {
	case c.Empty:
		return 2
	case c.AllNull:
		return 1
	}
	return 0
}

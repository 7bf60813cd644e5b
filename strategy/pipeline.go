package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Pipeline is the composition that most strategies are: link the schema, draw
// candidates, check them, repair what failed, vote, and let a judge look at a
// close vote. A nil stage is skipped; the zero Pipeline makes one greedy draw of
// the plain Prompt and checks it. A Pipeline is a Strategy.
//
// Calls per question: at most Samples (or Task.Samples) draws, Repairs repairs
// and the judge's. Statements: one check for each distinct statement. Prompts hold
// sampled values of the database, unless texttosql.WithoutSampleValues is given.
type Pipeline struct {
	Linker   linker.Linker // nil: the whole schema, or linker.Lexical when it is over Env.SchemaBudget
	Prompter Prompter      // nil: Prompt{}
	Sampler  Sampler       // how many draws, how, and when to stop
	Checks   []exec.Check  // nil: Env.Checks; append(exec.DefaultChecks(), mine) stands for these and mine
	Doubts   *vote.Doubts  // rules whose findings weigh in the vote; nil: none
	Repairer Repairer      // nil: failed candidates stay failed
	Repairs  int           // distinct statements repaired at most; 0 means 2
	Voter    Voter         // nil: vote.Majority; a Majority without Key compares by Env.Key
	Judge    Judge         // asked when the ballot is Weak (vote.Majority.MinShare)

	// Signature is that of Admission: what plans are compared by. nil: the strict
	// signature.
	Signature func(exec.Plan) (signature string, cost float64)
	// Admission examines the statements of several pipelines that work on the
	// same question, each distinct one once; Checks, Doubts and Signature are
	// then its own. nil: one for this run alone.
	Admission *Admission
	// Key says which candidates have a vote, for the quorum and, where the voter
	// is no Tallier, which are equal, so that Sampler.Until may end the draws. nil:
	// as a vote.Majority does, also one in a ProbedVote; with any other voter each
	// that is not rejected votes.
	Key vote.Key

	// MinConfidence, in 0..1, turns a weaker answer into an *AbstainedError; 0: never.
	MinConfidence float64
}

// Validate checks the configuration, and the Voter where it can be checked; see
// Validator.
func (p Pipeline) Validate(samples int) error {
	var errs []error
	if !(p.MinConfidence >= 0 && p.MinConfidence <= 1) {
		errs = append(errs, fmt.Errorf("strategy: MinConfidence is %v; want 0 to 1", p.MinConfidence))
	}
	return errors.Join(append(errs, inRange("Pipeline", number("Repairs", p.Repairs)), p.Sampler.validate(samples),
		validPrompter(p.Prompter), validVoter(p.Voter))...)
}

// Generate answers one question. Its errors are those of the Env and the Task,
// ctx.Err(), *NoCandidateError, *AbstainedError, what a database failed with, and
// what is wrong with a ballot of its Voter.
func (p Pipeline) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := cmp.Or(env.validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	voter := p.voter(p.Voter, env)
	if majority, ok := majorityOf(voter); ok && env.SkipExecution && comparesResults(majority.Key) {
		return nil, errors.New("strategy: the voter compares results, and nothing is executed here: leave its Key nil, or use vote.ByPlan")
	}
	run := pipelineRun{Pipeline: p, env: env.watched(), task: t, voter: voter, admission: p.Admission, out: &Outcome{}}
	defer func() { run.env.tell(ctx, run.out) }()
	if err := run.link(ctx); err != nil {
		return run.out, err
	}
	if run.admission == nil {
		run.admission = NewAdmission(ctx, run.env, t, p.Checks, p.Doubts)
		run.admission.Signature = p.Signature
		defer run.admission.Close()
	}
	for _, stage := range []func(context.Context) error{run.draw, run.repair, run.elect} {
		if err := stage(ctx); err != nil {
			return run.out, err
		}
	}
	return run.out, nil
}

// pipelineRun is one question.
type pipelineRun struct {
	Pipeline
	env       *Env
	task      Task
	voter     Voter // Pipeline.Voter with what it leaves open
	admission *Admission
	out       *Outcome

	schema *schema.Schema // restricted to what was linked
	failed []error        // of the draws, and why there were not more
}

// draw holds the election. Fewer votes than asked for are no error yet: repairs
// may make up for them, and elect tells why they did not.
func (r *pipelineRun) draw(ctx context.Context) error {
	prompter := r.Prompter
	if prompter == nil {
		prompter = Prompt{}
	}
	election := Election[vote.Candidate]{
		N: r.Sampler.samples(r.task), Wave: r.Sampler.Wave, Stop: r.Sampler.Until,
		MinVotes: r.Sampler.MinVotes, Concurrency: r.env.concurrency(), Room: r.env.CallsLeft,
		Draw: func(ctx context.Context, i int) (vote.Candidate, error) {
			i += r.Sampler.First
			reply, name, err := r.Sampler.draw(ctx, r.env, prompter, PromptInput{Task: r.task, Schema: r.schema, Links: r.out.Links, Draw: i})
			if err != nil {
				return vote.Candidate{Draw: i, Model: name}, err
			}
			c, err := r.admission.admitDraw(ctx, i, name, reply)
			if err != nil {
				err = &databaseError{err}
			}
			return c, err
		},
		Key: r.voted(),
	}
	var unclear error // how the vote stands
	switch tallier, ok := r.voter.(Tallier); {
	case r.Sampler.Until == nil:
	case ok:
		election.Tally = func(values []vote.Candidate, planned int) vote.Tally {
			tally, err := tallier.Tally(values, planned)
			unclear = cmp.Or(unclear, err)
			return tally
		}
		election.Stop = func(t vote.Tally) bool { return unclear == nil && r.Sampler.Until(t) }
	case r.Key == nil:
		election.Stop = nil
	}
	drawn, err := election.Run(ctx)
	r.admission.Discard(r.Sampler.First + len(drawn.Slots))
	r.env.forget(r.Sampler.First + len(drawn.Slots))
	r.out.Candidates, r.out.Saved, r.failed = drawn.Values(), drawn.Saved, drawn.Failed()
	for i, s := range drawn.Slots {
		if s.Err != nil {
			r.out.note("draw %d failed: %v", r.Sampler.First+i, s.Err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, ErrQuorum):
		return err
	}
	if unclear != nil {
		r.out.warn(ctx, "not-stopped", "no draw was saved, Sampler.Until cannot look at the vote: %v", unclear)
	}
	if allowed, short := drawn.short(election.N); short {
		r.out.warn(ctx, "budget-spent", "the budget allowed %d of %d draws", allowed, election.N)
		r.failed = append(r.failed, fmt.Errorf("strategy: no further draw: %w", llm.ErrBudget))
	}
	return nil
}

// databaseError is what a draw failed with though its model answered.
type databaseError struct{ error }

func (e *databaseError) Unwrap() error { return e.error }

// warn is note, with a warning of the same words.
func (o *Outcome) warn(ctx context.Context, code, format string, args ...any) {
	o.note(format, args...)
	trace.From(ctx).Warn(code, o.Notes[len(o.Notes)-1])
}

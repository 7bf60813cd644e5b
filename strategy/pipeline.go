package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
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
// and the judge's. Statements: one check for each distinct statement.
type Pipeline struct {
	Linker   linker.Linker // nil: the whole schema, or linker.Lexical when it is over Env.SchemaBudget
	Prompter Prompter      // nil: Prompt{}
	Sampler  Sampler       // how many draws, how, and when to stop
	Checks   []exec.Check  // nil: Env.Checks
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
	// as a vote.Majority does; with any other voter each that is not rejected votes.
	Key vote.Key

	// MinConfidence, in 0..1, turns a weaker answer into an *AbstainedError; 0: never.
	MinConfidence float64
}

// Validate checks the configuration; see Validator.
func (p Pipeline) Validate(samples int) error {
	if !(p.MinConfidence >= 0 && p.MinConfidence <= 1) {
		return fmt.Errorf("strategy: MinConfidence is %v; want 0 to 1", p.MinConfidence)
	}
	if p.Repairs < 0 {
		return fmt.Errorf("strategy: Repairs is %d; want 0 or more", p.Repairs)
	}
	return p.Sampler.validate(samples)
}

// Generate answers one question. Its errors are those of the Env and the Task,
// ctx.Err(), *NoCandidateError, *AbstainedError, what a database failed with, and
// what is wrong with a ballot of its Voter.
func (p Pipeline) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := errors.Join(env.validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	voter := p.voter(env)
	if majority, ok := voter.(vote.Majority); ok && env.SkipExecution && comparesResults(majority.Key) {
		return nil, errors.New("strategy: the voter compares results, and nothing is executed here: leave its Key nil, or use vote.ByPlan")
	}
	env = env.watched()
	out := &Outcome{}
	defer func() { env.tell(ctx, out) }()
	linked, err := p.link(ctx, env, t, out)
	if err != nil {
		return out, err
	}
	admission := p.Admission
	if admission == nil {
		admission = NewAdmission(ctx, env, t, p.Checks, p.Doubts)
		admission.Signature = p.Signature
		defer admission.Close()
	}
	failed, err := p.draw(ctx, env, t, linked, admission, voter, out)
	if err != nil {
		return out, err
	}
	if err := p.repair(ctx, env, t, linked, admission, voter, out); err != nil {
		return out, err
	}
	return out, p.elect(ctx, env, t, linked, voter, failed, out)
}

// draw holds the election. It returns the errors of the draws that failed; err
// ends the question. Fewer votes than asked for do not: repairs may make up for
// them, and elect tells why they did not.
func (p Pipeline) draw(ctx context.Context, env *Env, t Task, s *schema.Schema, admission *Admission, voter Voter, out *Outcome) (failed []error, err error) {
	prompter := p.Prompter
	if prompter == nil {
		prompter = Prompt{}
	}
	election := Election[vote.Candidate]{
		N: p.Sampler.samples(t), Wave: p.Sampler.Wave, Stop: p.Sampler.Until,
		MinVotes: p.Sampler.MinVotes, Concurrency: env.concurrency(), Room: env.CallsLeft,
		Draw: func(ctx context.Context, i int) (vote.Candidate, error) {
			i += p.Sampler.First
			reply, name, err := p.Sampler.draw(ctx, env, prompter, PromptInput{Task: t, Schema: s, Links: out.Links, Draw: i})
			if err != nil {
				return vote.Candidate{Draw: i, Model: name}, err
			}
			return admission.admitDraw(ctx, i, name, reply)
		},
		Key: p.voted(voter),
	}
	if tallier, ok := voter.(Tallier); ok {
		election.Tally = func(values []vote.Candidate, planned int) vote.Tally {
			// A Majority with wrong settings fails when it counts; until then nothing is decided.
			tally, err := tallier.Tally(values, planned)
			if err != nil {
				return vote.Tally{}
			}
			return tally
		}
	} else if p.Key == nil {
		election.Stop = nil
	}
	drawn, err := election.Run(ctx)
	admission.Discard(p.Sampler.First + len(drawn.Slots))
	env.forget(p.Sampler.First + len(drawn.Slots))
	out.Candidates, out.Saved = drawn.Values(), drawn.Saved
	failed = drawn.Failed()
	for i, s := range drawn.Slots {
		if s.Err != nil {
			out.note("draw %d failed: %v", p.Sampler.First+i, s.Err)
		}
	}
	if n := len(drawn.Slots); err == nil && !drawn.Stopped && n < election.N {
		out.note("the budget allowed %d of %d draws", n, election.N)
		trace.From(ctx).Warn("budget-spent", out.Notes[len(out.Notes)-1])
	}
	if errors.Is(err, ErrQuorum) {
		err = nil
	}
	return failed, err
}

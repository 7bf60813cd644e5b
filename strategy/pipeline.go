package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
)

// Pipeline is the composition behind most strategies: link the schema, sample candidates, check them, refine failed
// ones, vote, and let a judge decide a close vote. A nil stage is skipped; the zero Pipeline makes one greedy sample
// of the plain Prompt and checks it. A Pipeline is a Strategy.
//
// Calls per question: at most Samples (or Task.Samples) samples, the corrections of Refine for each sample or each
// refined statement, and the judge's calls. Each distinct statement is checked once. Prompts hold sampled values of
// the database, unless texttosql.WithoutValues is given.
type Pipeline struct {
	Linker   linker.Linker // runs in a linker.Conversation; nil: the whole schema, or linker.Lexical over Env.SchemaBudget
	Prompter Prompter      // nil: Prompt{}
	Sampler  Sampler       // how many samples, how, and when to stop
	Refine   *Refine       // turns candidates into statements that run; nil: no corrections
	Checks   []exec.Check  // nil: Env.Checks; append(exec.DefaultChecks(), mine) adds one
	Doubts   *doubt.Rules  // rules whose findings count in the vote; nil: doubt.Rules.OfChecks
	Voter    Voter         // nil: vote.Majority with a Prior of 1; a Majority without Key compares by Env.Key
	Judge    Judge         // decides if the ballot is Weak; needs JudgeBelow or vote.Majority.MinShare
	// JudgeBelow, in 0..1, is the share of the votes below which Judge decides about the winner. 0:
	// the Voter's threshold.
	JudgeBelow float64

	// Signature returns the key by which plans are compared; see Checker.Signature. nil: the strict signature.
	Signature func(exec.Plan) (signature string, cost float64)
	// Examiner examines the statements of several pipelines for one question, each distinct one once. It then has its
	// own Checks, Doubts and Signature. nil: a new one for this run.
	Examiner *Checker
	// Key reports which candidates have a vote, for the quorum. If the voter has no State, Key also defines which are
	// equal, so that Sampler.Stop may end the sampling. nil: the Key of the vote.Majority that counts; with any other
	// voter each candidate that is not rejected votes.
	Key func(vote.Candidate) (key string, ok bool)

	// MinConfidence, in 0..1, turns a weaker answer into an *AbstainedError; 0: never.
	MinConfidence float64
}

// Validate checks the configuration, and the Voter if it has a method Validate; see Strategy.
func (p Pipeline) Validate(samples int) error {
	var errs []error
	if !(p.MinConfidence >= 0 && p.MinConfidence <= 1) {
		errs = append(errs, fmt.Errorf("strategy: MinConfidence is %v; want 0 to 1", p.MinConfidence))
	}
	voter, counts := p.counting(&Env{}, nil, 0)
	if p.Linker != nil {
		errs = append(errs, validLinker(p.Linker))
	}
	if why := p.idleJudge(counts); why != "" {
		errs = append(errs, &ConfigError{Field: "strategy: Pipeline.JudgeBelow", Problem: why})
	}
	if p.Refine != nil {
		errs = append(errs, p.Refine.Validate())
	}
	return errors.Join(append(errs, p.Sampler.Validate(samples), validPrompter(p.Prompter), validVoter(voter))...)
}

// idleJudge says why the judge would never be asked; "": it may be, or there is none.
func (p Pipeline) idleJudge(counts *vote.Majority) string {
	switch {
	case !(p.JudgeBelow >= 0 && p.JudgeBelow <= 1):
		return fmt.Sprintf("%v is not in 0..1", p.JudgeBelow)
	case p.Judge == nil && p.JudgeBelow > 0:
		return "there is no Judge"
	case p.Judge != nil && counts != nil && counts.MinShare == 0:
		return "a Judge needs the share of the votes below which it is asked, such as 0.6"
	}
	return ""
}

// validLinker reports what is wrong with a linker, where that shows.
func validLinker(l linker.Linker) error {
	checked, ok := l.(interface{ Validate() error })
	if !ok {
		return nil
	}
	if err := checked.Validate(); err != nil {
		return &ConfigError{Field: "strategy: Pipeline.Linker", Problem: err.Error()}
	}
	return nil
}

// Generate answers one question. It returns the errors of the Env and the Task, ctx.Err(), *NoCandidateError,
// *AbstainedError, *session.QuestionError (Env.AskBelow), the error of a database that failed, or an invalid ballot
// of its Voter.
func (p Pipeline) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := cmp.Or(env.Validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	run := pipelineRun{Pipeline: p, env: env, task: t, examiner: p.Examiner, out: &Outcome{}}
	run.voter, run.counts = p.counting(env, nil, 0)
	if env.WithoutExecution && run.counts != nil && comparesResults(run.counts.Key) {
		return nil, &ConfigError{Field: "strategy: Pipeline.Voter",
			Problem: "it compares results, and nothing is executed here: leave the Key " +
				"of a vote.Majority nil or use vote.ByPlan"}
	}
	if err := run.link(ctx); err != nil {
		return run.out, err
	}
	var err error
	if run.links, err = env.named(ctx, t, run.schema, run.out.Links); err != nil {
		return run.out, err
	}
	if run.examiner == nil {
		run.examiner = NewChecker(ctx, env, t, p.Checks, p.Doubts)
		run.examiner.Signature = p.Signature
		defer run.examiner.Close()
	}
	run.voter, run.counts = p.counting(env, run.examiner, 0)
	for _, stage := range []func(context.Context) error{run.collect, run.refineDeciding, run.elect} {
		if err := stage(ctx); err != nil {
			run.soFar(ctx)
			return run.out, err
		}
	}
	return run.out, nil
}

// soFar elects the best answer of what had arrived when ctx ended.
func (r *pipelineRun) soFar(ctx context.Context) {
	if ctx.Err() == nil || len(r.out.Candidates) == 0 {
		return
	}
	if r.Judge = nil; r.out.SQL == "" {
		_ = r.elect(ctx) // the error comes from ctx
	}
	if r.out.SQL != "" {
		r.out.Warn(ctx, "cut-short", "the time was up: this is the best of %d of %d samples", len(r.out.Candidates), r.asked)
	}
}

// pipelineRun is one question.
type pipelineRun struct {
	Pipeline
	env      *Env
	task     Task
	voter    Voter          // Pipeline.Voter with what it leaves open
	counts   *vote.Majority // that counts its votes; nil where none does
	examiner *Checker
	out      *Outcome

	schema   *schema.Schema // restricted to what was linked
	unlinked *schema.Schema // before that
	wide     *schema.Schema // for a Refine: whole, or schema where that is over its budget
	links    schema.Links   // for prompts: the linker's, or the stored values that the question names
	failed   []error        // of the samples, and why there were not more
	asked    int            // samples planned

	requests *requesting
	refined  []Refined // by slot; each sample writes its own
	turns    *turns    // nil: every correction may be made
}

// collect holds the election. Fewer votes than asked for are no error yet: repairs may make up for them, and elect
// tells why they did not.
func (r *pipelineRun) collect(ctx context.Context) error {
	first := r.Sampler.Offset
	r.request(ctx)
	election := Election[vote.Candidate]{
		Hopeless: declined,
		N:        r.Sampler.samples(r.task), Stop: r.Sampler.Stop,
		MinVotes: r.Sampler.MinVotes, Concurrency: r.env.Parallel(), Room: r.env.CallsLeft,
		Sample: r.sample,
		Key:    r.voted(), Wave: r.requests.wave,
	}
	if !r.Sampler.AtOnce {
		election.Prompts = r.prompts()
	}
	var unclear error // how the vote stands
	switch counter, ok := r.voter.(stater); {
	case ok:
		election.State = func(values []vote.Candidate, planned int) vote.State {
			state, err := counter.State(withoutNoMetric(values), planned)
			unclear = cmp.Or(unclear, err)
			return state
		}
		election.Sure = r.sure
		if r.Sampler.Stop != nil {
			election.Stop = func(t vote.State) bool { return unclear == nil && r.Sampler.Stop(t) }
		}
	case r.Key == nil:
		election.Stop = nil
	}
	if stop := election.Stop; stop != nil && r.env.AskBelow > 0 {
		election.Stop = func(t vote.State) bool { return stop(t) && r.agreed(t) }
	}
	r.asked, r.refined, r.turns = election.N, make([]Refined, election.N), r.takeTurns(election.N)
	sampled, err := election.Run(ctx)
	r.examiner.Discard(first + len(sampled.Slots))
	r.env.Host.Omissions.Truncate(first + len(sampled.Slots))
	all := sampled.Values()
	r.out.Candidates, r.out.Saved, r.failed = withoutNoMetric(all), sampled.Saved, sampled.Failed()
	if none := len(all) - len(r.out.Candidates); none > 0 {
		r.asked -= none
		r.out.Note("%d of the samples asked for a metric and found none that answers the question", none)
	}
	for i, s := range sampled.Slots {
		switch {
		case s.Late:
			r.out.Note("sample %d was late and not waited for: its vote could not change the winner", first+i)
		case s.Err != nil:
			r.out.Note("sample %d failed: %v", first+i, s.Err)
		case r.refinesEach():
			r.tried(ctx, i)
		}
	}
	switch {
	case ctx.Err() != nil:
		for range election.N - len(sampled.Slots) {
			r.failed = append(r.failed, ctx.Err()) // asked for, and not given
		}
		return ctx.Err()
	case err != nil && !errors.Is(err, ErrQuorum):
		return err
	}
	if unclear != nil && r.Sampler.Stop != nil {
		r.out.Warn(ctx, "not-stopped", "no sample was saved, Sampler.Stop cannot look at the vote: %v", unclear)
	}
	if allowed, short := sampled.Short(election.N); short {
		r.out.Warn(ctx, "budget-spent", "the budget allowed %d of %d samples", allowed, election.N)
		r.failed = append(r.failed, fmt.Errorf("strategy: no further sample: %w", llm.ErrBudget))
	}
	return nil
}

// agreed reports that the user is not asked, whatever the samples that are missing vote for.
func (r *pipelineRun) agreed(t vote.State) bool {
	return t.Leader().Weight >= r.env.AskBelow*float64(t.Sampled+t.Remaining)*cmp.Or(t.MaxWeight, 1)
}

// sure reports that the missing samples cannot lead to a call of the judge or a question to the user.
func (r *pipelineRun) sure(t vote.State) bool {
	if r.env.AskBelow > 0 && !r.agreed(t) {
		return false
	}
	if r.Judge == nil || r.counts == nil {
		return true
	}
	all := float64(t.Remaining) * cmp.Or(t.MaxWeight, 1)
	for _, s := range t.Clusters {
		all += s.Weight
	}
	return t.Leader().Weight >= r.counts.MinShare*all
}

// prompts is how many samples it takes until a prompt goes to the same model again.
func (r *pipelineRun) prompts() int {
	forms, models := 1, len(r.env.Models)
	if a, ok := r.Prompter.(RotatePrompts); ok {
		forms = len(a)
	}
	n := forms
	for n%models != 0 || r.requests.menu != "" && n%r.requests.every != 0 {
		n += forms
	}
	return n
}

// sample makes the candidate of the sample in a slot.
func (r *pipelineRun) sample(ctx context.Context, slot int) (vote.Candidate, error) {
	i := r.Sampler.Offset + slot
	if r.turns != nil {
		defer close(r.turns.over[slot])
	}
	if r.requests.takes(slot) {
		return r.requested(ctx, i)
	}
	prompter := r.Prompter
	if prompter == nil {
		prompter = Prompt{}
	}
	messages, err := prompter.Prompt(ctx, r.env, PromptInput{Task: r.task, Schema: r.schema, Whole: r.unlinked,
		Links: r.links, Sample: i})
	if err != nil {
		return vote.Candidate{Sample: i}, err
	}
	if len(messages) == 0 {
		return vote.Candidate{Sample: i}, &ConfigError{Field: "strategy: Pipeline.Prompter", Problem: "it wrote no message"}
	}
	_, name := r.env.Model(i)
	model, request := i%len(r.env.Models), r.Sampler.Request(r.env, i, messages)
	variant, temperature := asks(prompter, i)
	if temperature != nil {
		request.Temperature = temperature
	}
	if variant != "" {
		model, name = slices.IndexFunc(r.env.Models, func(m llm.Model) bool { return llm.NameOf(m) == variant }), variant
		if model < 0 {
			return vote.Candidate{Sample: i}, &ConfigError{Field: "strategy: Variant.Model",
				Problem: fmt.Sprintf("no model is called %q", variant)}
		}
	}
	reply, err := r.env.Send(ctx, model, request)
	if err != nil {
		return vote.Candidate{Sample: i, Model: name}, err
	}
	c, err := r.examiner.Examine(ctx, i, name, reply)
	if err != nil {
		return c, &DatabaseError{err}
	}
	if !r.refinesEach() {
		return c, nil
	}
	refined, err := r.Refine.Run(ctx, r.turns.env(r.env, slot), r.refining(r.wide, c))
	r.refined[slot] = refined
	if ctx.Err() != nil && refined.Candidate.Rejected == "" {
		err = nil // it was asked about once more, and runs
	}
	return refined.Candidate, err
}

// tried notes what became of the refinement of the sample in slot i.
func (r *pipelineRun) tried(ctx context.Context, i int) {
	refined := r.refined[i]
	r.out.Steps = append(r.out.Steps, refined.Steps...)
	if refined.Err == nil {
		return
	}
	if r.out.NoteError(ctx, refined.Err, "the correction of sample %d failed", refined.Candidate.Sample) {
		r.failed = append(r.failed, fmt.Errorf("strategy: no further correction: %w", refined.Err))
	}
}

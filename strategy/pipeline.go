package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Voter counts candidates. vote.Majority is one.
//
// Numbers of the ballot are places in candidates, and a rejected candidate has no
// vote. Where nobody has one, the error is vote.ErrNoVote; a ballot without a
// cluster means the same. It is best to fill in Abstained: the error of the
// question tells these reasons.
type Voter interface {
	Count(candidates []vote.Candidate) (vote.Ballot, error)
}

// Tallier is a Voter that can say how a vote stands after the first of planned
// draws. vote.Majority is one. Only such a vote can be decided before its last
// draw: how another Voter counts is not known.
type Tallier interface {
	Voter
	// Tally says how the vote stands after candidates.
	Tally(candidates []vote.Candidate, planned int) (vote.Tally, error)
}

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

// voter is Voter with what it leaves open.
func (p Pipeline) voter(env *Env) Voter {
	var majority vote.Majority
	switch v := p.Voter.(type) {
	case nil:
	case vote.Majority:
		majority = v
	case *vote.Majority:
		if v != nil {
			majority = *v
		}
	default:
		return v
	}
	if majority.Key == nil {
		majority.Key = env.Key()
	}
	if majority.MaxDoubt == 0 && p.Doubts != nil {
		majority.MaxDoubt = p.Doubts.Spread()
	}
	return majority
}

// comparesResults reports whether a candidate has a vote only if it was run.
func comparesResults(key vote.Key) bool {
	c := vote.Candidate{SQL: "SELECT 1", Plan: "constant"}
	if _, ok := key(c); ok {
		return false
	}
	c.Fingerprint = "1"
	_, ok := key(c)
	return ok
}

// voted is how a candidate votes while draws are still made.
func (p Pipeline) voted(voter Voter) vote.Key {
	key := p.Key
	if majority, ok := voter.(vote.Majority); ok && key == nil {
		key = majority.Key
	}
	if key == nil {
		key = func(c vote.Candidate) (string, bool) { return c.SQL, true }
	}
	return func(c vote.Candidate) (string, bool) {
		if c.Rejected != "" {
			return "", false
		}
		return key(c)
	}
}

// votes is how many of candidates have a vote.
func (p Pipeline) votes(voter Voter, candidates []vote.Candidate) int {
	votes, key := 0, p.voted(voter)
	for _, c := range candidates {
		if _, ok := key(c); ok {
			votes++
		}
	}
	return votes
}

// link restricts the schema to what the question needs.
func (p Pipeline) link(ctx context.Context, env *Env, t Task, out *Outcome) (*schema.Schema, error) {
	s := env.Schema
	if env.Profile != nil && !env.SkipValues {
		profileCtx, span := trace.Start(ctx, "profile")
		profiled, err := env.Profile(profileCtx)
		span.Fail(err)
		span.End()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out.note("no profile of the database: %v", err)
		default:
			s = profiled
		}
	}
	l := p.Linker
	if tokens := schema.EstimateTokens(schema.Renderer{WithoutValues: true}.Render(s).Text); tokens > env.schemaBudget() {
		out.note("the schema takes about %d tokens, over the budget of %d: it is linked to the question", tokens, env.schemaBudget())
		trace.From(ctx).Warn("schema-linked", out.Notes[len(out.Notes)-1])
		if l == nil {
			l = linker.Lexical{}
		} else {
			l = linker.Union{linker.Lexical{}, choosing{l}}
		}
	}
	if l == nil {
		return s, nil
	}
	linkCtx, span := trace.Start(ctx, "link")
	defer span.End()
	links, err := l.Link(linkCtx, linker.Input{
		Question: t.Question, Evidence: t.Evidence, Schema: s, DB: env.DB, WithoutValues: env.SkipValues,
	})
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		span.Fail(err)
		out.note("linking failed, the whole schema is used: %v", err)
		return s, nil
	}
	out.Links = links
	out.Notes = append(out.Notes, links.Notes...)
	restricted, unknown := s.Restrict(links)
	if len(unknown) > 0 {
		out.note("linked names that do not exist: %v", unknown)
	}
	span.Set("tables", len(restricted.Tables))
	return restricted, nil
}

// choosing is a linker whose word for the whole schema does not count, only what
// it found: the whole is too big.
type choosing struct{ linker.Linker }

func (c choosing) Link(ctx context.Context, in linker.Input) (schema.Links, error) {
	links, err := c.Linker.Link(ctx, in)
	links.Whole = false
	return links, err
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
			c, err := admission.Admit(ctx, i, name, reply)
			trace.From(ctx).Set("sql", trace.SQL(c.SQL))
			if c.Rejected != "" {
				trace.From(ctx).Set("rejected", trace.SQL(c.Rejected))
			}
			return c, err
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

// isFailing reports whether the engine rejected c, so that a repair may help.
func isFailing(admission *Admission, c vote.Candidate) bool {
	return c.Rejected != "" && c.SQL != "" && admission.Invalid(c.SQL) != nil
}

// failing lists the indices of the candidates that the engine rejected, the
// most frequent statement first, then by draw; one index a statement.
func (p Pipeline) failing(admission *Admission, candidates []vote.Candidate) []int {
	copies := map[string]int{}
	var first []int
	for i, c := range candidates {
		if !isFailing(admission, c) {
			continue
		}
		if copies[c.SQL]++; copies[c.SQL] == 1 {
			first = append(first, i)
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return copies[candidates[b].SQL] - copies[candidates[a].SQL] })
	return first
}

// repair asks for other statements in place of those that the engine rejected,
// where their votes could change who wins.
func (p Pipeline) repair(ctx context.Context, env *Env, t Task, s *schema.Schema, admission *Admission, voter Voter, out *Outcome) error {
	if p.Repairer == nil {
		return nil
	}
	failing := p.failing(admission, out.Candidates)
	if len(failing) == 0 || !p.couldReach(voter, admission, out.Candidates) || !couldChange(voter, admission, out.Candidates) {
		return nil
	}
	most := p.Repairs
	if most == 0 {
		most = 2
	}
	for _, i := range failing[:min(most, len(failing))] {
		old := out.Candidates[i]
		repairCtx, span := trace.Start(ctx, "repair", trace.Attr{Key: "draw", Value: old.Draw}, trace.Attr{Key: "sql", Value: trace.SQL(old.SQL)})
		fixed, err := p.repairOne(repairCtx, env, t, s, admission, old)
		span.Fail(err)
		span.End()
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if err != nil {
			// A model that cannot repair (a recorded one, a spent budget) is no
			// reason to lose the vote of the others.
			out.note("repair of draw %d failed: %v", old.Draw, err)
			continue
		}
		span.Set("repaired", trace.SQL(fixed.SQL))
		if fixed.Rejected != "" {
			out.note("repair of draw %d was rejected: %s", old.Draw, fixed.Rejected)
			continue
		}
		for j, c := range out.Candidates {
			if c.SQL == old.SQL && c.Rejected != "" {
				repaired := fixed
				repaired.Draw, repaired.Model = c.Draw, c.Model
				repaired.Findings = append(slices.Clip(repaired.Findings), vote.Finding{Rule: "repaired", Detail: old.Rejected})
				out.Candidates[j] = repaired
			}
		}
		if !couldChange(voter, admission, out.Candidates) {
			break
		}
	}
	return nil
}

func (p Pipeline) repairOne(ctx context.Context, env *Env, t Task, s *schema.Schema, admission *Admission, c vote.Candidate) (vote.Candidate, error) {
	reply, err := p.Repairer.Repair(ctx, env, RepairInput{Task: t, Schema: s, Draw: c.Draw, SQL: c.SQL, Err: admission.Invalid(c.SQL)})
	if err != nil {
		return c, err
	}
	return admission.Admit(ctx, c.Draw, c.Model, reply)
}

// couldReach reports whether there would be enough votes if every repair helped.
func (p Pipeline) couldReach(voter Voter, admission *Admission, candidates []vote.Candidate) bool {
	votes := p.votes(voter, candidates)
	for _, c := range candidates {
		if isFailing(admission, c) {
			votes++
		}
	}
	return votes >= p.Sampler.MinVotes
}

// couldChange reports whether the votes of the failed candidates could change
// who wins: whether the vote would be undecided if they were still to come.
func couldChange(voter Voter, admission *Admission, candidates []vote.Candidate) bool {
	settled := make([]vote.Candidate, 0, len(candidates))
	for _, c := range candidates {
		if !isFailing(admission, c) {
			settled = append(settled, c)
		}
	}
	lost := len(candidates) - len(settled)
	if lost == 0 {
		return false
	}
	if tallier, ok := voter.(Tallier); ok {
		tally, err := tallier.Tally(settled, len(candidates))
		return err != nil || !vote.Decided(tally)
	}
	ballot, err := voter.Count(settled)
	if err != nil {
		return true
	}
	leader, err := ballot.Winner()
	if err != nil {
		return true
	}
	second, _ := ballot.RunnerUp()
	return second.Weight+float64(lost) >= leader.Weight
}

// elect counts the votes and fills in the outcome.
func (p Pipeline) elect(ctx context.Context, env *Env, t Task, s *schema.Schema, voter Voter, failed []error, out *Outcome) error {
	voteCtx, span := trace.Start(ctx, "vote")
	defer span.End()
	ballot, err := voter.Count(out.Candidates)
	if err == nil {
		err = checkBallot(ballot, out.Candidates)
	}
	if err != nil {
		// Nothing was elected, and a wrong ballot is nothing to look at.
		ballot = vote.Ballot{Drawn: len(out.Candidates), Clusters: []vote.Cluster{}, Abstained: ballot.Abstained}
	}
	out.Ballot = ballot
	if errors.Is(err, vote.ErrNoVote) {
		err = noCandidate(out.Candidates, ballot, failed, 0, 0)
	}
	if err != nil {
		span.Fail(err)
		return err
	}
	quorum, votes := max(p.Sampler.MinVotes, 1), p.votes(voter, out.Candidates)
	if votes >= quorum {
		if err := p.judge(voteCtx, env, t, s, out); err != nil {
			return err
		}
	}
	winner := out.Ballot.Clusters[0]
	out.SQL, out.Confidence = winner.SQL, out.Ballot.Confidence
	span.Set("explanation", out.Ballot.Explain())
	span.Set("confidence", out.Confidence)
	switch {
	case votes < quorum: // the best so far is there to be looked at
		err = noCandidate(out.Candidates, out.Ballot, failed, votes, quorum)
	case out.Confidence < p.MinConfidence:
		return &AbstainedError{Confidence: out.Confidence, Min: p.MinConfidence}
	}
	span.Fail(err)
	return err
}

// checkBallot reports what makes a ballot useless: a Voter may be anybody's.
func checkBallot(b vote.Ballot, candidates []vote.Candidate) error {
	if len(b.Clusters) == 0 {
		return vote.ErrNoVote
	}
	if !(b.Confidence >= 0 && b.Confidence <= 1) {
		return fmt.Errorf("strategy: the voter's confidence is %v; want 0 to 1", b.Confidence)
	}
	for i, c := range b.Clusters {
		for _, place := range append([]int{c.Best}, c.Members...) {
			if place < 0 || place >= len(candidates) {
				return fmt.Errorf("strategy: cluster %d of the voter's ballot names candidate %d of %d", i, place, len(candidates))
			}
		}
		switch best := candidates[c.Best]; {
		case best.Rejected != "":
			return fmt.Errorf("strategy: the voter elected candidate %d, which was rejected: %s", c.Best, brief(best.Rejected))
		case c.SQL != best.SQL:
			return fmt.Errorf("strategy: cluster %d of the voter's ballot has another statement than its candidate %d", i, c.Best)
		}
	}
	return nil
}

// judge lets the judge choose between the two leading clusters of a weak ballot.
func (p Pipeline) judge(ctx context.Context, env *Env, t Task, s *schema.Schema, out *Outcome) error {
	second, ok := out.Ballot.RunnerUp()
	if p.Judge == nil || !out.Ballot.Weak || !ok {
		return nil
	}
	first := out.Ballot.Clusters[0]
	judgeCtx, span := trace.Start(ctx, "judge")
	defer span.End()
	choice, err := p.Judge.Choose(judgeCtx, env, JudgeInput{
		Task: t, Schema: s, Pair: [2]vote.Candidate{out.Candidates[first.Best], out.Candidates[second.Best]},
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		span.Fail(err)
		out.note("the judge could not be asked, the vote stands: %v", err)
	case choice == 1:
		out.Ballot.Overrule(1)
		out.note("the judge preferred the runner-up")
	case choice == 0:
		out.note("the judge agreed with the vote")
	default:
		out.note("the judge could not tell, the vote stands")
	}
	span.Set("choice", choice)
	return nil
}

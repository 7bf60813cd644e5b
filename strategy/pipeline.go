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
type Voter interface {
	Count(candidates []vote.Candidate) (vote.Ballot, error)
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
	Sampler  Sampler
	Checks   []exec.Check // nil: Env.Checks
	Doubts   *vote.Doubts // rules whose findings weigh in the vote; nil: none
	Repairer Repairer     // nil: failed candidates stay failed
	Repairs  int          // distinct statements repaired at most; 0 means 2
	Voter    Voter        // nil: vote.Majority; a Majority without Key compares by Env.Key
	Judge    Judge        // asked when the ballot is Weak (vote.Majority.MinShare)

	// Signature is that of Admission: what plans are compared by. nil: the strict
	// signature.
	Signature func(exec.Plan) (signature string, cost float64)
	// Admission examines the statements of several pipelines that work on the
	// same question, each distinct one once; Checks, Doubts and Signature are
	// then its own. nil: one for this run alone.
	Admission *Admission
	// Key is how candidates are compared while they are drawn. nil: as the voter
	// does where it is a vote.Majority, else Env.Key.
	Key vote.Key

	// MinConfidence, in 0..1, turns a weaker answer into an *AbstainedError; 0: never.
	MinConfidence float64
}

// Validate checks the configuration; see Validator.
func (p Pipeline) Validate(int) error {
	if !(p.MinConfidence >= 0 && p.MinConfidence <= 1) {
		return fmt.Errorf("strategy: MinConfidence is %v; want 0 to 1", p.MinConfidence)
	}
	if p.Repairs < 0 {
		return fmt.Errorf("strategy: Repairs is %d; want 0 or more", p.Repairs)
	}
	return p.Sampler.validate()
}

// Generate answers one question. Its errors are those of the Env and the Task,
// ctx.Err(), *NoCandidateError, *AbstainedError, and what a database failed with.
func (p Pipeline) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := errors.Join(env.validate(t), p.Validate(t.Samples)); err != nil {
		return nil, err
	}
	out := &Outcome{}
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
	voter := p.voter(env)
	failed, err := p.draw(ctx, env, t, linked, admission, voter, out)
	if err != nil {
		return out, err
	}
	if err := p.repair(ctx, env, t, linked, admission, voter, out); err != nil {
		return out, err
	}
	return out, p.elect(ctx, env, t, linked, voter, failed, out)
}

func (p Pipeline) voter(env *Env) Voter {
	switch v := p.Voter.(type) {
	case nil:
		return vote.Majority{Key: env.Key()}
	case vote.Majority:
		if v.Key == nil {
			v.Key = env.Key()
		}
		if v.MaxDoubt == 0 && p.Doubts != nil {
			v.MaxDoubt = p.Doubts.Spread()
		}
		return v
	default:
		return v
	}
}

// voted is how a candidate votes while draws are still made.
func (p Pipeline) voted(env *Env, voter Voter) vote.Key {
	key := env.Key()
	if majority, ok := voter.(vote.Majority); ok {
		key = majority.Key
	}
	if p.Key != nil {
		key = p.Key
	}
	return func(c vote.Candidate) (string, bool) {
		if c.Rejected != "" {
			return "", false
		}
		return key(c)
	}
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
// ends the question. Fewer votes than asked for are no error as long as repairs
// could make up for them.
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
		Key: p.voted(env, voter),
	}
	if majority, ok := voter.(vote.Majority); ok {
		election.Tally = func(values []vote.Candidate, planned int) vote.Tally {
			// A Majority with wrong settings fails when it counts; until then nothing is decided.
			tally, _ := majority.Tally(values, planned)
			return tally
		}
	}
	drawn, err := election.Run(ctx)
	admission.Discard(p.Sampler.First + len(drawn.Slots))
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
		repairable := 0
		for _, c := range out.Candidates {
			if isFailing(admission, c) {
				repairable++
			}
		}
		if p.Repairer != nil && drawn.Votes()+repairable >= max(p.Sampler.MinVotes, 1) {
			return failed, nil
		}
		return failed, noCandidate(out.Candidates, failed, drawn.Votes(), err)
	}
	return failed, err
}

// noCandidate is the error of an election without a quorum.
func noCandidate(candidates []vote.Candidate, failed []error, votes int, quorum error) error {
	e := &NoCandidateError{Failed: failed}
	if votes > 0 {
		e.Failed = append([]error{quorum}, failed...)
	}
	for _, c := range candidates {
		if c.Rejected != "" {
			e.Rejected = append(e.Rejected, c)
		}
	}
	return e
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
	if len(failing) == 0 || !couldChange(voter, admission, out.Candidates) {
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
	if majority, ok := voter.(vote.Majority); ok {
		tally, err := majority.Tally(settled, len(candidates))
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
	out.Ballot = ballot
	votes, key := 0, p.voted(env, voter)
	for _, c := range out.Candidates {
		if _, ok := key(c); ok {
			votes++
		}
	}
	switch quorum := max(p.Sampler.MinVotes, 1); {
	case errors.Is(err, vote.ErrNoVote):
		err = noCandidate(out.Candidates, failed, 0, nil)
	case err == nil && votes < quorum: // the repairs did not make up for it
		err = noCandidate(out.Candidates, failed, votes, &quorumError{votes: votes, quorum: quorum, failed: failed})
	}
	if err != nil {
		span.Fail(err)
		return err
	}
	if err := p.judge(voteCtx, env, t, s, out); err != nil {
		return err
	}
	winner := out.Ballot.Clusters[0]
	out.SQL, out.Confidence = winner.SQL, out.Ballot.Confidence
	span.Set("explanation", out.Ballot.Explain())
	span.Set("confidence", out.Confidence)
	if out.Confidence < p.MinConfidence {
		return &AbstainedError{Confidence: out.Confidence, Min: p.MinConfidence}
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

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/askedrules"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// ladder is one question.
type ladder struct {
	Staged
	env      strategy.Env // with the profiled schema
	task     strategy.Task
	links    schema.Links
	examiner *strategy.Checker
	clamps   []clamp
	perStep  int // samples a step

	step     int // the one that is taken
	best     int // the step with the best answer so far; -1: none
	penalty  float64
	askBelow float64  // that of the Env: the steps do not ask, the end does
	attempts []string // earlier statements and what was wrong, as a prompt shows them
	repaired bool     // the repair was made
	spent    bool     // the budget of calls is
	clamped  map[int]bool
	failed   []error
	out      *strategy.Outcome
	report   StagedReport
}

// validPool refuses a pool that has fewer pairs than Shots asks for.
func (s Staged) validPool(env *strategy.Env) error {
	switch {
	case len(env.Schema.Tables) == 0:
		return &strategy.ConfigError{Field: "agent: Env.Schema", Problem: "it has no table: nothing can be asked about it"}
	case s.Stage >= 3 && pairs(env) < s.Shots:
		return &strategy.ConfigError{Field: "agent: Staged.Shots", Problem: fmt.Sprintf(
			"%d solved questions are to be shown and the pool has %d: give more (memory.Options.Exemplars), "+
				"or leave it 0 for as many as there are", s.Shots, pairs(env))}
	}
	return nil
}

func pairs(env *strategy.Env) int {
	if env.Exemplars == nil {
		return 0
	}
	return len(env.Exemplars.Pairs)
}

// start fills in what is left open, and reads the question.
func (s Staged) start(ctx context.Context, env *strategy.Env, t strategy.Task) (*ladder, error) {
	l := &ladder{Staged: s, env: *env, task: t, best: -1, perStep: 1, clamped: map[int]bool{}, out: &strategy.Outcome{}}
	l.Steps, l.Shots, l.MaxTokens = cmp.Or(s.Steps, 3), cmp.Or(s.Shots, 3), cmp.Or(s.MaxTokens, 256)
	if s.Stage >= 2 {
		l.perStep = cmp.Or(t.Samples, s.Candidates, 4)
	}
	l.task.Samples, l.env.AskBelow, l.askBelow = 0, 0, env.AskBelow
	whole, err := env.Profiled(ctx, l.out, env.Schema)
	if err != nil {
		return nil, err
	}
	if l.env.Schema != whole { // else its part that is linked is profiled
		l.env.Schema, l.env.Profiles = whole, false
	}
	var find linker.Linker = linker.Values{}
	if len(whole.Tables) > mostTables {
		find = linker.Union{linker.Lexical{}, linker.Values{Choose: true}}
	}
	l.links, err = linker.Conversation{Linker: find}.Link(ctx, env.LinkerInput(t, whole))
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		l.out.Note("linking failed, the whole schema is used: %v", err)
		l.links = schema.Links{Whole: true}
	}
	l.env.Models = make([]llm.Model, len(env.Models))
	for i, m := range env.Models {
		l.env.Models[i] = l.ending(m)
	}
	checks := append(slices.Clip(env.Checks()), exec.Check(output{}))
	if s.Stage == 0 {
		l.examiner = strategy.NewChecker(ctx, &l.env, l.task, checks, nil)
		return l, nil
	}
	rules := Staged{}.Rules()
	rules.Dialect = env.DB.Language().Text
	read := t.Reading(rules)
	wanted := readContract(read, tablesOf(whole, l.links), !s.WithoutNameOnlyLists)
	values := named(l.links)
	if l.clamps, l.report.Contract = clamps(read, wanted, values), wanted; wanted != nil {
		rules.List = append(rules.List, wanted.rule())
	}
	rules.List = append(rules.List, caseRule(values))
	for _, value := range append(read.Numbers(), values...) {
		rules.List = append(rules.List, askedrules.Absent(value))
	}
	l.examiner = strategy.NewChecker(ctx, &l.env, l.task, checks, &rules)
	return l, nil
}

// tablesOf is s with the tables that are linked only.
func tablesOf(s *schema.Schema, links schema.Links) *schema.Schema {
	part := &schema.Schema{}
	for _, link := range links.Tables {
		if t, ok := s.Lookup(link.Schema, link.Table); ok {
			part.Tables = append(part.Tables, *t)
		}
	}
	if links.Whole || len(part.Tables) == 0 {
		return s
	}
	return part
}

// named are the stored texts that the question names, each once.
func named(links schema.Links) (values []string) {
	for _, t := range links.Tables {
		for _, v := range t.Values {
			if text, ok := v.Value.(string); ok && !slices.Contains(values, text) {
				values = append(values, text)
			}
		}
	}
	return values
}

func (l *ladder) linked(context.Context, linker.Input) (schema.Links, error) { return l.links, nil }

// tabular is how the other prompt of a step reasons; its replies have room for a line.
const tabular = "First name the tables that the question needs and the keys that join them, in one line."

// prompter writes the prompt of a step: that of strategy.Prompt without shots, and what the earlier steps came to.
func (l *ladder) prompter(steps string) strategy.Prompter {
	return strategy.PrompterFunc(func(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
		error) {
		if len(l.attempts) > 0 {
			in.Sections = append(in.Sections, "### Earlier attempts\n"+strings.Join(l.attempts, "\n")+
				"\nWrite a statement that does not fail so.")
		}
		return strategy.Prompt{Shots: -1, Steps: steps}.Prompt(ctx, env, in)
	})
}

// choice elects among the candidates of a step.
func (l *ladder) choice(step int) choice {
	return choice{
		Majority: vote.Majority{Key: l.env.Key(), Prior: 1, Dialect: l.env.DB.Language().Text},
		votes:    func(c vote.Candidate) bool { return c.Sample/l.perStep == step },
	}
}

// promptOf names the prompt of a sample, as strategy.RotatePrompts hands them out.
func (l *ladder) promptOf(sample int) string {
	switch {
	case sample >= l.Steps*l.perStep:
		return "baseline"
	case l.Stage >= 2 && sample%2 == 1:
		return "tabular"
	}
	return "main"
}

// draw takes the samples of a step.
func (l *ladder) draw(ctx context.Context) ([]vote.Candidate, error) {
	ctx, span := trace.Start(ctx, "step", trace.Attr{Key: "step", Value: l.step})
	defer span.End()
	l.report.Steps++
	return l.run(ctx, l.pipeline())
}

// run runs a pipeline and returns its candidates, the last of the outcome. That none of them runs is no error.
func (l *ladder) run(ctx context.Context, p strategy.Pipeline) ([]vote.Candidate, error) {
	out, err := p.Generate(ctx, &l.env, l.task)
	if out == nil {
		return nil, err
	}
	l.out.Links = out.Links
	l.out.Notes = append(l.out.Notes, out.Notes...)
	first := len(l.out.Candidates)
	l.out.Candidates = append(l.out.Candidates, out.Candidates...)
	drawn := l.out.Candidates[first:]
	for _, c := range drawn {
		s := l.examiner.Step(c, l.step, "generate")
		s.Name = l.promptOf(c.Sample)
		l.out.Steps = append(l.out.Steps, s)
	}
	var none *strategy.NoCandidateError
	if errors.As(err, &none) {
		l.failed, l.spent, err = append(l.failed, none.Failed...), errors.Is(none, llm.ErrBudget), nil
	}
	return drawn, err
}

// repair refines, once a question, the failing statement that most samples have.
func (l *ladder) repair(ctx context.Context, drawn []vote.Candidate) error {
	failing := strategy.Refine{}.Failing(drawn)
	if len(failing) == 0 || l.repaired || l.spent {
		return nil
	}
	l.repaired = true
	old := drawn[failing[0]]
	refined, err := strategy.Refine{Executions: 2}.Copies(ctx, &l.env, strategy.RefineInput{
		Task: l.task, Schema: l.env.Schema, Links: l.out.Links, Prompter: l.pipeline().Prompter,
		Examiner: l.examiner, Candidate: old, Name: l.promptOf(old.Sample),
	}, drawn)
	if len(refined.Steps) > 0 {
		l.out.Steps = append(l.out.Steps, refined.Steps[1:]...) // the first is there
	}
	if refined.Err != nil {
		l.out.NoteError(ctx, refined.Err, "the repair failed")
	}
	return err
}

// learn keeps the answer of a step if it is doubted less than the best so far, and what the next step is told. more is
// false where that is nothing new: its prompts would be those of this step.
func (l *ladder) learn(drawn []vote.Candidate) (more bool) {
	if len(drawn) > 0 {
		ballot, err := l.choice(l.step).Count(l.out.Candidates)
		if err == nil {
			if p := penalty(l.out.Candidates[ballot.Clusters[0].Best]); l.best < 0 || p < l.penalty {
				l.best, l.penalty = l.step, p
			}
		}
	}
	for _, c := range drawn {
		if text := l.attempt(c); !slices.Contains(l.attempts, text) {
			l.attempts, more = append(l.attempts, text), true
		}
	}
	return more
}

// attempt is a statement and what is wrong with it, as a prompt shows them.
func (l *ladder) attempt(c vote.Candidate) string {
	said, problem := "(no statement)", c.Rejected
	if c.SQL != "" {
		said = strategy.CodeBlock(c.SQL)
	}
	if problem == "" {
		var broken []string
		for _, f := range c.Findings {
			if f.Doubt > 0 {
				broken = append(broken, f.Detail)
			}
		}
		problem = "it runs, but: " + strings.Join(broken, "; ")
	}
	return said + "\n" + l.env.ErrorLine(problem) + "\n"
}

// told completes the outcome: the answer of the best step, beside err if there is one.
func (l *ladder) told(ctx context.Context, err error) (*strategy.Outcome, error) {
	out := l.out
	l.report.Stage, l.report.Answer, l.report.Penalty = l.Stage, l.best, l.penalty
	if l.best >= 0 {
		ballot, counted := l.choice(l.best).Count(out.Candidates)
		if counted != nil {
			return out, cmp.Or(err, counted)
		}
		l.vote(ballot)
		out.Ballot, out.SQL, out.Confidence = ballot, ballot.Clusters[0].SQL, ballot.Confidence
	}
	out.Report = l.report
	switch {
	case ctx.Err() != nil && out.SQL != "":
		out.Warn(ctx, "cut-short", "the time was up: this is the best of %d steps", l.report.Steps)
		return out, ctx.Err()
	case out.SQL != "" && l.spent:
		out.Warn(ctx, "budget-spent", "the budget allowed no further step")
	case out.SQL == "" && err == nil:
		err = &strategy.NoCandidateError{Rejected: out.WithoutVote(), Failed: l.failed}
	}
	if err == nil {
		l.env.AskBelow = l.askBelow
		err = l.env.AskUser(ctx, l.task, out)
	}
	return out, err
}

// vote tells what decided.
func (l *ladder) vote(ballot vote.Ballot) {
	winner := ballot.Clusters[0]
	best := l.out.Candidates[winner.Best]
	l.report.Clamped = l.clamped[best.Sample]
	l.report.Repaired = best.ReplyGroup > 0
	for _, c := range l.out.Candidates {
		if c.Sample >= l.best*l.perStep && c.Rejected == "" {
			key, _ := l.env.Key()(c)
			l.report.Voted = key != winner.Key
			break
		}
	}
	for _, cluster := range ballot.Clusters {
		for _, member := range cluster.Members {
			for i := range l.report.Forms {
				if f := &l.report.Forms[i]; f.Chosen && f.Sample == l.out.Candidates[member].Sample {
					f.Votes = len(cluster.Members)
				}
			}
		}
	}
}

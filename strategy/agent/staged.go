package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Staged is a series of four agents. Each adds one mechanism to the previous one, so that an ablation can rate each:
//
//	0  the first statement that runs: three steps of one greedy sample, each with the results of the earlier ones
//	1  clamps: forms of a statement that the question may want, chosen by the checks that they break (Rules)
//	2  four samples a step, two of them with tables and keys first, and a choice by doubts, then by votes
//	3  one call of repair if no statement of a step ran, and a few-shot baseline if no step has an answer
//
// A reply ends at its first semicolon. A statement that reads no table or has GROUP BY NULL is rejected. If an
// answer breaks checks with a weight of 3 or more, another step asks for a better one. From stage 2 on, WithSamples
// sets Candidates. The most calls per question are Steps, Steps, Steps × Candidates, and that number + 2; by
// default 3, 3, 12, 14. Prompts hold sampled values of the database, unless texttosql.WithoutValues is given.
// Outcome.Report is a StagedReport.
//
// Staged has no published form. Stage 0 of the source finds no statement in any reply. Its later stages reject half
// of the right answers by words of its own test database.
type Staged struct {
	Stage      int // 0 to 3
	Steps      int // the most steps; 0 means 3
	Candidates int // samples a step, from stage 2 on; 0 means 4
	Shots      int // worked examples of the baseline of stage 3; 0: 3, or all if the pool has fewer
	MaxTokens  int // the most tokens of a reply; 0 means 256

	// WithoutNameOnlyLists lets "list customers" mean any columns. Otherwise a list of things whose fields the
	// question does not name is a list of their display names.
	WithoutNameOnlyLists bool
}

// The weight of checks from which on another step is taken, and the number of tables above which the schema is linked.
const (
	doubtful   = 3
	mostTables = 12
)

// Validate rejects numbers out of range. At stages 0 and 1 it also rejects more than one sample.
func (s Staged) Validate(samples int) error {
	errs := []error{
		strategy.Sampler{Samples: s.Candidates, MaxTokens: s.MaxTokens}.Validate(samples),
		fields.Check("agent: Staged.Steps", s.Steps, 0),
		fields.Check("agent: Staged.Shots", s.Shots, 0),
	}
	if s.Stage < 0 || s.Stage > 3 {
		errs = append(errs, &strategy.ConfigError{Field: "agent: Staged.Stage", Problem: fmt.Sprintf("it is %d; want 0 to 3",
			s.Stage)})
	}
	if samples > 1 && s.Stage < 2 {
		errs = append(errs, &strategy.ConfigError{Field: "agent: Staged.Stage",
			Problem: fmt.Sprintf("stage %d takes one sample a step, got %d; stage 2 votes", s.Stage, samples)})
	}
	return errors.Join(errs...)
}

// Generate answers one question. It returns the errors of strategy.Pipeline.
func (s Staged) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := cmp.Or(env.Validate(t), s.Validate(t.Samples), s.validPool(env)); err != nil {
		return nil, err
	}
	l, err := s.start(ctx, env, t)
	if err != nil {
		return nil, err
	}
	defer l.examiner.Close()
	return l.answer(ctx)
}

// answer takes the steps. Each stage adds a line.
func (l *ladder) answer(ctx context.Context) (*strategy.Outcome, error) {
	for more := true; more && l.step < l.Steps && l.unsettled(); l.step++ {
		drawn, err := l.draw(ctx)
		if l.Stage >= 3 && err == nil && !anyRuns(drawn) {
			err = l.repair(ctx, drawn)
		}
		if l.Stage >= 1 && err == nil {
			err = l.clamp(ctx, drawn)
		}
		if more = l.learn(drawn); err != nil {
			return l.told(ctx, err)
		}
	}
	var err error
	if l.Stage >= 3 && l.best < 0 && !l.spent {
		err = l.fallback(ctx)
	}
	return l.told(ctx, err)
}

// pipeline is how the statements of a step come about.
func (l *ladder) pipeline() strategy.Pipeline {
	p := strategy.Pipeline{
		Linker:   linker.Func(l.linked),
		Prompter: l.prompter(""),
		Sampler:  strategy.Sampler{Samples: 1, Offset: l.step * l.perStep, MaxTokens: l.MaxTokens},
		Examiner: l.examiner,
		Voter:    l.choice(l.step),
	}
	if l.Stage >= 2 {
		p.Prompter = strategy.RotatePrompts{l.prompter(""), l.prompter(tabular)}
		p.Sampler.Samples, p.Sampler.Temperature = l.perStep, 0.5
	}
	return p
}

// fallback is the few-shot baseline, which sees nothing of what was tried.
func (l *ladder) fallback(ctx context.Context) error {
	ctx, span := trace.Start(ctx, "fallback")
	defer span.End()
	baseline := strategy.Pipeline{
		Linker:   linker.Func(l.linked),
		Prompter: strategy.Prompt{Shots: l.Shots},
		Sampler:  strategy.Sampler{Offset: l.Steps * l.perStep, MaxTokens: l.MaxTokens},
		Examiner: l.examiner,
		Voter:    l.choice(l.Steps),
	}
	if have := pairs(&l.env); have > 0 && have < l.Shots {
		l.out.Warn(ctx, "few-exemplars", "the pool has %d solved questions, the baseline would show %d", have, l.Shots)
	}
	drawn, err := l.run(ctx, baseline)
	if anyRuns(drawn) {
		l.best, l.report.Fallback = l.Steps, true
	}
	return err
}

// unsettled reports whether another step may find a better answer.
func (l *ladder) unsettled() bool {
	return !l.spent && (l.best < 0 || l.Stage >= 1 && l.penalty >= doubtful)
}

func anyRuns(candidates []vote.Candidate) bool {
	return slices.ContainsFunc(candidates, func(c vote.Candidate) bool { return c.Rejected == "" })
}

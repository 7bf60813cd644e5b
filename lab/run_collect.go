package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/vote"
)

// giveUp bounds the questions that may fail before the first answer. After that, the fault is probably one of all
// questions.
const giveUp = 5

// collector collects finished questions.
type collector struct {
	program   *program
	live      *live
	log       *journal
	questions []eval.Question
	bar       *progress

	done   map[string]finished // by question
	failed int
	last   error // the error of the question that failed last
	right  int
	calls  int
	tokens int
	money  float64
}

func newCollector(p *program, l *live, questions []eval.Question, log *journal) *collector {
	t := &collector{program: p, live: l, log: log, questions: questions, done: make(map[string]finished)}
	resumed := 0
	for _, q := range questions {
		if f, ok := log.finished[q.ID]; ok {
			t.add(f)
			resumed++
		}
	}
	if resumed > 0 {
		p.note("%s: %d of %d questions are finished", l.Out, resumed, len(questions))
	}
	t.bar = newProgress(p.err, "", len(questions))
	t.bar.jump(resumed)
	return t
}

func (t *collector) add(f finished) {
	t.done[f.ID] = f
	t.right += f.EX
	t.calls += f.Calls
	t.tokens += f.PromptTokens + f.CompletionTokens
	t.money += f.Money
}

// all asks the unfinished questions, several at a time. It reports a question that fails and goes on. An error that
// affects all questions ends it.
func (t *collector) all(ctx context.Context, ask func(context.Context, eval.Question) (finished, error)) error {
	type outcome struct {
		question eval.Question
		finished finished
		err      error
	}
	var open []eval.Question
	for _, q := range t.questions {
		if _, ok := t.done[q.ID]; !ok {
			open = append(open, q)
		}
	}
	outcomes := make(chan outcome)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group errgroup.Group // a failed question must not cancel the others
	group.SetLimit(t.live.Concurrency)
	go func() {
		defer close(outcomes)
		for _, q := range open {
			group.Go(func() error {
				if ctx.Err() != nil {
					return nil // the question was never asked
				}
				f, err := ask(ctx, q)
				outcomes <- outcome{q, f, err}
				return nil
			})
		}
		group.Wait()
	}()
	var stopped error
	answered := len(t.done)
	for o := range outcomes {
		switch {
		case ctx.Err() != nil && o.err != nil:
			continue // the question was cancelled in flight
		case o.err != nil:
			t.failed++
			t.last = o.err
			t.program.note("question %s: %v", o.question.ID, o.err)
			if answered == 0 && t.failed >= giveUp && stopped == nil {
				stopped = fmt.Errorf("the first %d questions failed, the last one with: %w", t.failed, o.err)
				cancel()
			}
		default:
			answered++
			t.add(o.finished)
			if err := t.keep(o.finished); err != nil && stopped == nil {
				stopped = err
				cancel()
			}
		}
		t.bar.say(fmt.Sprintf("ex %s, %d calls, %d tokens", share(float64(t.right)/float64(answered+t.failed)), t.calls,
			t.tokens))
		t.bar.step(len(t.questions))
	}
	t.bar.done()
	if stopped != nil {
		return stopped
	}
	if err := t.program.ctx.Err(); err != nil {
		if t.live.Out != "" {
			t.program.note("%d of %d questions are finished; the same command goes on with the rest", len(t.done),
				len(t.questions))
		}
		return err
	}
	return nil
}

// keep writes a finished question to the journal, and shows it.
func (t *collector) keep(f finished) error {
	if err := t.log.keep(f); err != nil {
		return err
	}
	if t.live.JSON {
		return jsonLines(t.program.out, []finished{f})
	}
	return nil
}

// outcomes returns the questions in the form that the statistics take. A failed question is wrong.
func (t *collector) outcomes() []eval.Outcome {
	var list []eval.Outcome
	for _, q := range t.questions {
		f := t.done[q.ID]
		list = append(list, eval.Outcome{
			Question: q.Key(), Database: q.DB, Difficulty: q.Difficulty,
			Score: float64(f.EX), Confidence: f.Confidence,
		})
	}
	return list
}

// answered are the figures of the questions that have a statement; nil: none has, or all have.
func (t *collector) answered(outcomes []eval.Outcome, boot stats.Bootstrap) *answeredFigures {
	var of []eval.Outcome
	right := 0.0
	for i, q := range t.questions {
		if t.done[q.ID].SQL != "" {
			of = append(of, outcomes[i])
			right += outcomes[i].Score
		}
	}
	if len(of) == 0 || len(of) == len(outcomes) {
		return nil
	}
	return &answeredFigures{len(of), right / float64(len(of)), surenessOf(of, boot)}
}

func (t *collector) summary(l *live, kind string) summary {
	n := float64(len(t.questions))
	outcomes := t.outcomes()
	boot := stats.Bootstrap{Rounds: l.Rounds, Seed: l.Seed}
	mean := boot.Mean(outcomes)
	s := summary{
		N: len(t.questions), EX: float64(t.right) / n, CI: [2]float64{mean.Low, mean.High},
		Calls: t.calls, Tokens: t.tokens, TokensKnown: true, Money: t.money, Failed: t.failed,
		Kind: kind, Strategy: l.Strategy, Model: l.Model, Dataset: l.Dataset, Levels: map[vote.Level]levelFigures{},
		Second: map[string]levelFigures{},
	}
	var list []finished
	var wall time.Duration
	var times []float64
	valid := 0
	for _, q := range t.questions {
		f, ok := t.done[q.ID]
		if !ok {
			continue
		}
		valid += f.VA
		if f.Asked {
			s.Asked++
		}
		if f.Answer != nil {
			l := s.Levels[f.Level]
			s.Levels[f.Level] = levelFigures{l.N + 1, l.Right + f.EX}
			if said := s.Second[f.Second]; f.Second != "" {
				s.Second[f.Second] = levelFigures{said.N + 1, said.Right + f.EX}
			}
		}
		s.TokensKnown = s.TokensKnown && f.TokensKnown
		wall += time.Duration(f.Sec * float64(time.Second))
		list, times = append(list, f), append(times, f.Sec)
	}
	s.VA, s.Sec, s.Figures = float64(valid)/n, wall.Seconds(), addUp(list)
	s.Voters = addUpVoters(list)
	if slices.Sort(times); len(times) > 0 {
		s.P50, s.P95 = times[(len(times)-1)/2], times[(95*len(times)+99)/100-1]
	}
	s.sureness, s.Answered = surenessOf(outcomes, boot), t.answered(outcomes, boot)
	if s.Figures != nil {
		for i, q := range t.questions {
			if f := t.done[q.ID].Figures; f != nil {
				outcomes[i].Confidence = f.BallotConfidence
			}
		}
		ballot := surenessOf(outcomes, boot)
		s.Ballot = &ballot
	}
	return s
}

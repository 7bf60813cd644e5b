package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/trace"
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
		t.bar.say(fmt.Sprintf("ex %s, %d calls, %d tokens", share(float64(t.right)/float64(answered+t.failed)), t.calls, t.tokens))
		t.bar.step(len(t.questions))
	}
	t.bar.done()
	if stopped != nil {
		return stopped
	}
	if err := t.program.ctx.Err(); err != nil {
		if t.live.Out != "" {
			t.program.note("%d of %d questions are finished; the same command goes on with the rest", len(t.done), len(t.questions))
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

func (t *collector) summary(l *live, kind string) summary {
	n := float64(len(t.questions))
	outcomes := t.outcomes()
	boot := eval.Bootstrap{Rounds: l.Rounds, Seed: l.Seed}
	mean := boot.Mean(outcomes)
	s := summary{
		N: len(t.questions), EX: float64(t.right) / n, CI: [2]float64{mean.Low, mean.High},
		Calls: t.calls, Tokens: t.tokens, TokensKnown: true, Money: t.money, Failed: t.failed,
		Kind: kind, Strategy: l.Strategy, Model: l.Model, Dataset: l.Dataset,
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
		s.TokensKnown = s.TokensKnown && f.TokensKnown
		wall += time.Duration(f.Sec * float64(time.Second))
		list, times = append(list, f), append(times, f.Sec)
	}
	s.VA, s.Sec, s.Figures = float64(valid)/n, wall.Seconds(), addUp(list)
	s.Voters = addUpVoters(list)
	if slices.Sort(times); len(times) > 0 {
		s.P50, s.P95 = times[(len(times)-1)/2], times[(95*len(times)+99)/100-1]
	}
	s.sureness = surenessOf(outcomes, boot)
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

// page shows the figures of the run.
func (t *collector) page(p *program, s summary) trace.Page {
	outcomes := t.outcomes()
	n := float64(s.N)
	doc := trace.Page{
		Title: s.Strategy + " on " + s.Dataset,
		Facts: []trace.Fact{
			{Name: "Right", Value: fmt.Sprintf("%s (%s to %s)", percent(s.EX), percent(s.CI[0]), percent(s.CI[1])), Share: s.EX},
			{Name: "Runs", Value: percent(s.VA), Share: s.VA},
			{Name: "Calls a question", Value: strconv.FormatFloat(float64(s.Calls)/n, 'f', 1, 64)},
			{Name: "Tokens a question", Value: strconv.FormatFloat(float64(s.Tokens)/n, 'f', 0, 64)},
			{Name: "Seconds a question", Value: strconv.FormatFloat(s.Sec/n, 'f', 2, 64)},
		},
		Sections: []trace.Section{
			{Title: "Command", Note: p.command()},
			{Title: "Run", Note: fmt.Sprintf("Model %s, of kind %s; exemplars: %s. Right means: the rows are the gold's, compared as sets.", s.Model, s.Kind, s.Exemplars)},
		},
	}
	costs := trace.Section{Title: "Accuracy against cost", Note: "Questions by the calls they took: an early stop asks more of what is hard."}
	byCalls := map[int][]eval.Outcome{}
	for i, q := range t.questions {
		calls := t.done[q.ID].Calls
		byCalls[calls] = append(byCalls[calls], outcomes[i])
	}
	for _, calls := range slices.Sorted(maps.Keys(byCalls)) {
		mean := eval.Bootstrap{Rounds: t.live.Rounds, Seed: t.live.Seed}.Mean(byCalls[calls])
		costs.Bars = append(costs.Bars, shareBar(fmt.Sprintf("%d calls", calls), mean))
	}
	table := trace.Section{Title: "Questions", Columns: []string{"question", "database", "right", "runs", "confidence", "calls", "tokens", "seconds", "statement or reason"}}
	for _, q := range t.questions {
		f, ok := t.done[q.ID]
		if !ok {
			table.Rows = append(table.Rows, []string{q.ID, q.DB, "–", "–", "–", "–", "–", "–", "failed"})
			continue
		}
		table.Rows = append(table.Rows, []string{
			q.ID, q.DB, strconv.Itoa(f.EX), strconv.Itoa(f.VA), strconv.FormatFloat(f.Confidence, 'f', 2, 64), strconv.Itoa(f.Calls),
			strconv.Itoa(f.PromptTokens + f.CompletionTokens), strconv.FormatFloat(f.Sec, 'f', 2, 64), f.SQL + f.Error,
		})
	}
	doc.Sections = append(doc.Sections, costs, reliability(outcomes), riskCurve(outcomes), rates("By database", outcomes, stats.ByDatabase), table)
	return doc
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// shareBar is a share of right answers with its interval.
func shareBar(name string, e eval.Estimate) trace.Fact {
	return trace.Fact{Name: name, Value: fmt.Sprintf("%s (%s to %s) of %d", percent(e.Value), percent(e.Low), percent(e.High), e.N), Share: e.Value}
}

// rates shows the mean score of each group of outcomes.
func rates(title string, outcomes []eval.Outcome, by eval.Grouping) trace.Section {
	s := trace.Section{Title: title}
	for _, r := range stats.Rates(outcomes, by, eval.Bootstrap{Rounds: 200}) {
		s.Bars = append(s.Bars, shareBar(r.Name, r.Score))
	}
	return s
}

// reliability shows how far the confidence can be trusted.
func reliability(outcomes []eval.Outcome) trace.Section {
	list := stats.Reliability(outcomes, 10)
	s := trace.Section{
		Title:   "Calibration of the confidence",
		Note:    fmt.Sprintf("ECE %.3f over 10 bins, Brier score %.3f.", stats.ECE(list), stats.Brier(outcomes)),
		Columns: []string{"confidence", "right", "95 %", "questions"},
	}
	for _, b := range list {
		if b.N > 0 {
			s.Rows = append(s.Rows, []string{percent(b.Confidence), percent(b.Right), percent(b.Interval.Low) + " to " + percent(b.Interval.High), strconv.Itoa(b.N)})
		}
	}
	return s
}

// riskCurve shows how many answers are wrong if only the surest are given.
func riskCurve(outcomes []eval.Outcome) trace.Section {
	s := trace.Section{Title: "Risk and coverage", Note: "The share of wrong answers if only the surest are given.", Columns: []string{"confidence", "answered", "wrong"}}
	for _, point := range stats.RiskCurve(outcomes) {
		s.Rows = append(s.Rows, []string{strconv.FormatFloat(point.Confidence, 'f', 2, 64), percent(point.Coverage), percent(point.Risk)})
	}
	return s
}

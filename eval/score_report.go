package eval

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Report has the scores of one run on a dataset.
type Report struct {
	Run      string    // name of the run that the answers belong to
	Dataset  string    // its name
	Metrics  []string  // names, in the order of Verdict.Scores
	Verdicts []Verdict // one per question, in the order of the dataset
	LeftOut  LeftOut   // answers of the run that are not scored
	Cost     cost      // cost of the answers that are scored

	text sqltext.Dialect // in which the statements are written
}

// N returns the number of questions: the denominator of every mean.
func (r *Report) N() int { return len(r.Verdicts) }

// Faults returns the verdicts on questions that could not be scored, because the gold has no result or the database
// is missing or damaged.
func (r *Report) Faults() []Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return v.Fault == "" })
}

// Unanswered returns the number of questions without an answer.
func (r *Report) Unanswered() int {
	n := 0
	for _, v := range r.Verdicts {
		if !v.Answered {
			n++
		}
	}
	return n
}

// String returns a few lines: the scores, and the questions that were not scored.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, %d questions\n", r.Run, r.Dataset, r.N())
	for i, name := range r.Metrics {
		fmt.Fprintf(&b, "  %-10s %.4f\n", name, mean(r.Verdicts, i))
	}
	if n := r.Unanswered(); n > 0 {
		fmt.Fprintf(&b, "  without an answer: %d", n)
		if i := slices.IndexFunc(r.Verdicts, func(v Verdict) bool { return v.Err != nil }); i >= 0 {
			fmt.Fprintf(&b, " (first error: question %s: %v)", r.Verdicts[i].Question.ID, r.Verdicts[i].Err)
		}
		b.WriteByte('\n')
	}
	if faults := r.Faults(); len(faults) > 0 {
		fmt.Fprintf(&b, "  not scorable, counted as 0: %d (first: question %s: %s)\n", len(faults), faults[0].Question.ID,
			faults[0].Fault)
	}
	if left := r.LeftOut.String(); left != "" {
		fmt.Fprintf(&b, "  left out: %s\n", left)
	}
	if cost := r.Cost.String(); cost != "" {
		fmt.Fprintf(&b, "  cost: %s\n", cost)
	}
	return b.String()
}

// cost is what the answers of a run cost, as far as the file of answers says. It
// is a sum over questions; divide by their number for a mean.
type cost struct {
	Usage    trace.Usage   // calls and tokens
	Wall     time.Duration // sum over answers, whatever ran at once
	Recorded int           // answers that say what they cost
}

// add takes in the cost of one answer.
func (c *cost) add(a Answer) {
	if a.Usage == (trace.Usage{}) && a.Wall == 0 {
		return
	}
	c.Recorded++
	c.Usage = c.Usage.Add(a.Usage)
	c.Wall += a.Wall
}

// String returns one line, or "" if no cost is known.
func (c cost) String() string {
	if c.Recorded == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d calls, %d + %d tokens, %v, of %d answers",
		c.Usage.Calls, c.Usage.PromptTokens, c.Usage.CompletionTokens, c.Wall.Round(time.Millisecond), c.Recorded)
	if !c.Usage.Known {
		b.WriteString(" (tokens in part unknown)")
	}
	return b.String()
}

// pairing is what has to be scored: distinct pairs of question and statement, and
// who gave which.
type pairing struct {
	dataset *Dataset
	runs    []*runAnswers
	byName  map[string]*runAnswers
	work    [][]scored       // of each question of the dataset, its distinct statements
	found   []map[string]int // of each question, its statements in work by their text
	faults  []string         // of each question, why it cannot be scored
}

type runAnswers struct {
	report *Report
	of     []int     // of each question: the statement in work, -1 for none
	sure   []float64 // of each question: the confidence of its answer
}

type scored struct {
	sql     string
	verdict Verdict
}

// ScoreRuns scores every run in a sequence of answers on a dataset. It returns one report per run, in the order of
// their first answers. Each distinct statement of a question is scored once, even if several runs have it.
//
// Some answers are left out and counted in the report of their run. These are answers to questions that the dataset
// does not have, and answers about another database than the question's. If a run answers a question twice, the first
// answer counts. To score several samples, make each one a run.
//
// The argument file names the sequence in messages. Files that only number their questions (BIRD's and Spider's)
// refer to the lines of the dataset if there are as many numbered answers as questions, otherwise to Question.Place.
//
// An error comes from the sequence, from ctx, or from a database that cannot be queried. Statements run on
// Store.Workers goroutines; all of them have ended when ScoreRuns returns.
func (s *Scorer) ScoreRuns(ctx context.Context, d *Dataset, file string, answers iter.Seq2[Answer, error]) ([]*Report,
	error) {
	n := len(d.Questions)
	p := &pairing{
		dataset: d, byName: map[string]*runAnswers{},
		work: make([][]scored, n), found: make([]map[string]int, n), faults: make([]string, n),
	}
	if err := p.read(file, answers, s.Names()); err != nil {
		return nil, err
	}
	if err := s.scoreAll(ctx, p); err != nil {
		return nil, err
	}
	reports := make([]*Report, len(p.runs))
	for i, run := range p.runs {
		reports[i] = p.report(run, len(s.metrics()))
		reports[i].text = s.Store.config.Dialect.Language().Text
	}
	return reports, nil
}

// ScoreRun is ScoreRuns for answers of one run. Without answers the report is empty and named after the file.
func (s *Scorer) ScoreRun(ctx context.Context, d *Dataset, file string, answers iter.Seq2[Answer, error]) (*Report,
	error) {
	one := func(yield func(Answer, error) bool) {
		for a, err := range answers {
			a.Run = runName(file)
			if !yield(a, err) {
				return
			}
		}
	}
	reports, err := s.ScoreRuns(ctx, d, file, one)
	if err != nil {
		return nil, err
	}
	if len(reports) == 0 {
		r := &Report{Run: runName(file), Dataset: d.Name, Metrics: s.Names(), text: s.Store.config.Dialect.Language().Text}
		for _, q := range d.Questions {
			fault, err := s.Fault(ctx, q)
			if err != nil {
				return nil, err
			}
			r.Verdicts = append(r.Verdicts, Verdict{Question: q, Fault: fault, Scores: make([]float64, len(r.Metrics))})
		}
		return r, nil
	}
	return reports[0], nil
}

func (p *pairing) newRun(name string, metrics []string) *runAnswers {
	n := len(p.dataset.Questions)
	return &runAnswers{
		report: &Report{Run: name, Dataset: p.dataset.Name, Metrics: metrics},
		of:     slices.Repeat([]int{-1}, n), sure: make([]float64, n),
	}
}

// read takes in all answers. Those that only have a place wait for the end, when
// it is known how many there are.
func (p *pairing) read(file string, answers iter.Seq2[Answer, error], metrics []string) error {
	var placed []Answer
	for a, err := range answers {
		if err != nil {
			return err
		}
		if a.Question == "" {
			placed = append(placed, a)
			continue
		}
		p.add(a, false, file, metrics)
	}
	byLine := len(placed) == len(p.dataset.Questions)
	for i, a := range placed {
		byLine = byLine && a.Place == i
	}
	for _, a := range placed {
		p.add(a, byLine, file, metrics)
	}
	return nil
}

func (p *pairing) add(a Answer, byLine bool, file string, metrics []string) {
	run := p.byName[a.Run]
	if run == nil {
		run = p.newRun(a.Run, metrics)
		p.byName[a.Run] = run
		p.runs = append(p.runs, run)
	}
	left := &run.report.LeftOut
	q, ok := left.find(p.dataset, a, byLine, file)
	if !ok {
		return
	}
	if a.Question == "" {
		// Spider's lines end so. Only who knows the database can tell: a statement may
		// have tabs of its own.
		a.SQL = strings.TrimSpace(strings.TrimSuffix(a.SQL, "\t"+q.DB))
	}
	at := p.dataset.byID[q.ID]
	if run.of[at] >= 0 {
		addPlace(&left.OverwrittenAt, "%s:%d, question %s", file, a.Line, q.ID)
		left.Overwritten++
		return
	}
	run.report.Cost.add(a)
	if p.found[at] == nil {
		p.found[at] = map[string]int{}
	}
	i, ok := p.found[at][a.SQL]
	if !ok {
		i = len(p.work[at])
		p.found[at][a.SQL] = i
		p.work[at] = append(p.work[at], scored{sql: a.SQL})
	}
	run.of[at], run.sure[at] = i, a.Confidence
}

// scoreAll scores the work, database by database so that few are busy at once,
// and within one question by question so that its gold stays at hand.
func (s *Scorer) scoreAll(ctx context.Context, p *pairing) error {
	questions := p.dataset.Questions
	order := make([]int, len(questions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(questions[a].DB, questions[b].DB) })
	// The first error stops the rest here: what is missing is not one answer but
	// the database.
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.Store.Workers())
	for _, i := range order {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("eval: scoring stopped: %w", err)
			}
			// A gold without a result is reported even if no run answered its question.
			if p.faults[i], err = s.Fault(ctx, questions[i]); err != nil {
				return fmt.Errorf("eval: question %s: %w", questions[i].ID, err)
			}
			for j := range p.work[i] {
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("eval: scoring stopped: %w", err)
				}
				v, err := s.Score(ctx, questions[i], p.work[i][j].sql)
				if err != nil {
					return fmt.Errorf("eval: question %s: %w", questions[i].ID, err)
				}
				p.work[i][j].verdict = v
			}
			return nil
		})
	}
	return group.Wait()
}

func (p *pairing) report(run *runAnswers, metrics int) *Report {
	r := run.report
	r.Verdicts = make([]Verdict, 0, len(run.of))
	for i, at := range run.of {
		if at >= 0 {
			v := p.work[i][at].verdict
			v.Confidence = run.sure[i]
			r.Verdicts = append(r.Verdicts, v)
			continue
		}
		r.Verdicts = append(r.Verdicts, Verdict{Question: p.dataset.Questions[i], Fault: p.faults[i],
			Scores: make([]float64, metrics)})
	}
	return r
}

// Outcomes returns the scores of the run by one of its metrics, as statistics expect them: one per question, in the
// order of the dataset.
func (r *Report) Outcomes(m Metric) ([]Outcome, error) {
	at := slices.Index(r.Metrics, m.Name())
	if at < 0 {
		return nil, fmt.Errorf("eval: run %s was not scored by %s; it has %s", r.Run, strconv.Quote(m.Name()),
			strings.Join(r.Metrics, ", "))
	}
	out := make([]Outcome, len(r.Verdicts))
	for i, v := range r.Verdicts {
		out[i] = Outcome{
			Pool: r.Run, Question: v.Question.Key(), Template: r.text.Parse(v.Question.Gold).Template(),
			Database: v.Question.DB, Difficulty: v.Question.Difficulty, Score: v.Scores[at], Confidence: v.Confidence,
		}
	}
	return out, nil
}

package eval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/internal/resample"
	"github.com/texttosql/texttosql/llm"
)

// Run asks the questions of d and scores the answers with s: it measures your engine on your questions.
//
// ask gets a question without its gold and returns an answer, of which SQL, Confidence, Usage and Wall count; a Wall of
// 0 is measured. An error of ask is a question without an answer, whatever the Answer says: it scores 0, and its
// Verdict has the error. A question that cannot be scored is not asked. ask is called on Store.Workers goroutines.
//
// The report is under the name "run". [Report.Estimate] gives each score with its number of questions and interval.
// Run fails if ctx ends, or if a database cannot be asked. It fails at once if the first question fails with a
// permanent error (llm.ClassPermanent), such as a wrong key. No goroutine is left when it returns, if ask leaves none.
func Run(ctx context.Context, ask func(context.Context, Question) (Answer, error), d *Dataset, s *Scorer) (*Report,
	error) {
	answers, failed := make([]Answer, len(d.Questions)), make([]error, len(d.Questions))
	asked := make([]bool, len(d.Questions))
	one := func(ctx context.Context, i int) error {
		q := d.Questions[i]
		if fault, err := s.Fault(ctx, q); err != nil || fault != "" {
			return err
		}
		q.Gold, q.Gold2023 = "", ""
		start := time.Now()
		a, err := ask(ctx, q)
		if a.Wall == 0 {
			a.Wall = time.Since(start)
		}
		a.Question, a.DB = q.ID, q.DB
		answers[i], failed[i], asked[i] = a, err, true
		return ctx.Err()
	}
	next := 0
	for ; next < len(d.Questions) && !slices.Contains(asked, true); next++ { // a wrong key costs one call
		if err := one(ctx, next); err != nil {
			return nil, err
		}
		if err := failed[next]; err != nil && llm.ClassOf(err) == llm.ClassPermanent {
			return nil, fmt.Errorf("eval: question %s: %w", d.Questions[next].ID, err)
		}
	}
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(s.Store.Workers())
	for i := next; i < len(d.Questions); i++ {
		group.Go(func() error {
			if err := asking.Err(); err != nil {
				return err
			}
			return one(asking, i)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	r, err := s.ScoreRun(ctx, d, "run", func(yield func(Answer, error) bool) {
		for i, a := range answers {
			if asked[i] && failed[i] == nil && !yield(a, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range r.Verdicts {
		r.Verdicts[i].Err = failed[i]
		if failed[i] != nil {
			r.Cost.add(answers[i])
		}
	}
	return r, nil
}

// Estimate returns the mean of a metric over all questions with its 95 % interval, and the number N of questions. The
// interval is a bootstrap over questions with 10,000 rounds. ok is false if the run was not scored by the metric.
// Questions without an answer count as 0. So do questions whose gold has no result; [Report.Faults] returns these.
func (r *Report) Estimate(metric string) (e Estimate, ok bool) {
	for i, name := range r.Metrics {
		if name != metric {
			continue
		}
		if len(r.Verdicts) == 0 {
			return Estimate{High: 1}, true
		}
		units := map[string]int{}
		of := make([]int, len(r.Verdicts))
		for j, v := range r.Verdicts {
			key := v.Question.Key()
			if _, known := units[key]; !known {
				units[key] = len(units)
			}
			of[j] = units[key]
		}
		e.N, e.Units = len(of), len(units)
		e.Value, e.Low, e.High = resample.Bootstrap{}.Mean(of, e.Units, func(j int) float64 {
			return r.Verdicts[j].Scores[i]
		})
		return e, true
	}
	return Estimate{}, false
}

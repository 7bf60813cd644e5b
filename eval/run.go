package eval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/llm"
)

// Run asks the questions of d and scores the answers with s: an engine of yours on questions of yours.
//
// ask gets a question without its gold and returns an answer, of which SQL, Confidence, Usage and Wall count; a Wall of 0 is
// measured. An error of ask is a question without an answer, whatever the Answer says: it scores 0, and its Verdict has
// the error. A question that cannot be scored is not asked. ask is called on Store.Workers goroutines.
//
// The report is under the name "run". [Report.Estimate] gives each score with its number of questions and interval.
// Run fails with ctx, where a database cannot be asked, and at once where the first question fails with a permanent error
// (llm.ClassPermanent), such as a wrong key. No goroutine is left when it returns, if ask leaves none.
func Run(ctx context.Context, ask func(context.Context, Question) (Answer, error), d *Dataset, s *Scorer) (*Report, error) {
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

// Estimate returns the mean of a metric over all questions with its 95 % interval (see [Bootstrap], whose zero value it
// uses) and their number N; ok is false where the run was not scored by the metric.
func (r *Report) Estimate(metric string) (e Estimate, ok bool) {
	for i, name := range r.Metrics {
		if name != metric {
			continue
		}
		outcomes := make([]Outcome, len(r.Verdicts))
		for j, v := range r.Verdicts {
			outcomes[j] = Outcome{Question: v.Question.Key(), Score: v.Scores[i]}
		}
		return Bootstrap{}.Mean(outcomes), true
	}
	return Estimate{}, false
}

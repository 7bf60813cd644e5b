package eval_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
)

// TestRecordedVerdicts holds the scorer against verdicts that plain Python made:
// at least 99.9 % of the rows agree, by sets and by bags, and every row that does
// not is listed with the reason.
func TestRecordedVerdicts(t *testing.T) {
	f := folder(t)
	for _, test := range []struct{ dataset, file string }{
		{"spider_dev", "predictions/preds_spider_dev.exec.jsonl.gz"},
		{"bird_dev", "predictions/preds_bird_dev.exec.jsonl.gz"},
		{"bird_dev", "predictions/preds_bird_dev100.exec.jsonl.gz"},
		{"bird_minidev_v2", "predictions/preds_bird_minidev.exec.jsonl.gz"},
		{"spider_dev", "samples/samples_spider_dev.exec.jsonl.gz"},
		{"bird_dev", "samples/samples_bird_dev_k8.exec.jsonl.gz"},
		{"spider_dev", "samples/samples_spider_dev100_diverse.exec.jsonl.gz"},
	} {
		t.Run(strings.ReplaceAll(test.file, "/", "_"), func(t *testing.T) {
			d, err := f.Dataset(test.dataset)
			if err != nil {
				t.Fatal(err)
			}
			answers, err := eval.ReadAnswers(f.Path(test.file))
			if err != nil {
				t.Fatal(err)
			}
			scorer := eval.Scorer{
				Store:   newStore(t, f.Database),
				Metrics: []eval.Metric{eval.EX{Rule: eval.RuleSet}, eval.EX{Rule: eval.RuleBag}},
			}
			verdicts := verdictsOf(t, &scorer, d, answers)
			rows, off := 0, 0
			var list []string
			for i, a := range answers {
				v := verdicts[i]
				if v == nil {
					t.Errorf("line %d: question %s is not in %s", a.Line, a.Question, test.dataset)
					continue
				}
				rows++
				set, bag := v.Scores[0] == 1, v.Scores[1] == 1
				if set == a.Recorded.SetMatch && bag == a.Recorded.BagMatch {
					continue
				}
				off++
				list = append(list, fmt.Sprintf("line %d, question %s: recorded %s set %v bag %v, here %s set %v bag %v; rows %d and %d; %s %s: %.300s",
					a.Line, a.Question, a.Recorded.Status, a.Recorded.SetMatch, a.Recorded.BagMatch,
					v.Answer.Status, set, bag, a.Recorded.Rows, v.Answer.Rows, v.Answer.Err, v.Fault, a.SQL))
			}
			for _, line := range list {
				t.Log(line)
			}
			t.Logf("%d rows, %d disagree; %+v", rows, off, scorer.Store.Stats())
			if rows == 0 || float64(off) > 0.001*float64(rows) {
				t.Errorf("%d of %d rows disagree, more than one in a thousand", off, rows)
			}
		})
	}
}

// verdictsOf scores answers in two goroutines, in the order of their databases;
// nil where the question is unknown.
func verdictsOf(t *testing.T, s *eval.Scorer, d *eval.Dataset, answers []eval.Answer) []*eval.Verdict {
	t.Helper()
	out := make([]*eval.Verdict, len(answers))
	byQuestion := map[string][]int{}
	var ids []string
	for i, a := range answers {
		if byQuestion[a.Question] == nil {
			ids = append(ids, a.Question)
		}
		byQuestion[a.Question] = append(byQuestion[a.Question], i)
	}
	slices.Sort(ids)
	var g errgroup.Group
	g.SetLimit(2)
	for _, id := range ids {
		q, ok := d.Question(id)
		if !ok {
			continue
		}
		g.Go(func() error {
			for _, i := range byQuestion[id] {
				v, err := s.Score(context.Background(), q, answers[i].SQL)
				if err != nil {
					return err
				}
				out[i] = &v
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return out
}

package pools_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestRecordedVerdicts holds the scorer against verdicts that plain Python made
// with SQLite 3.40: at least 99.9 % of the rows of every file agree, by sets and
// by bags, and every row that does not is listed with its cause.
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
			d := testutil.Value(f.Dataset(test.dataset))(t)
			var answers []eval.Answer
			for a, err := range eval.Answers(f.Path(test.file)) {
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, a)
			}
			scorer := eval.Scorer{
				Store:   openStore(t, withFunctions(f.Database)),
				Metrics: []eval.Metric{eval.EX{Rule: "set"}, eval.EX{Rule: "bag"}},
			}
			verdicts := verdictsOf(t, &scorer, d, answers)
			rows, off := 0, 0
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
				t.Logf("line %d, question %s: recorded %s, set %v, bag %v; here %s, set %v, bag %v, because %s: %.200s",
					a.Line, a.Question, a.Recorded.Status, a.Recorded.SetMatch, a.Recorded.BagMatch,
					v.Answer.Status, set, bag, engineCause(a, v), a.SQL)
			}
			t.Logf("%d rows, %d disagree", rows, off)
			if rows == 0 || float64(off) > 0.001*float64(rows) {
				t.Errorf("%d of %d rows disagree, more than one in a thousand", off, rows)
			}
		})
	}
}

// engineCause says why a newer engine gives another verdict on a row.
func engineCause(a eval.Answer, v *eval.Verdict) string {
	switch {
	case a.Recorded.Status == "error" && v.Answer.OK():
		return "the statement uses what SQLite has since 3.40: if, concat, string_agg"
	case a.Recorded.Status == "ok" && !v.Answer.OK():
		return v.Answer.Err
	case a.Recorded.Rows != v.Answer.Rows:
		return fmt.Sprintf("it has %d rows and had %d", v.Answer.Rows, a.Recorded.Rows)
	}
	return "UNKNOWN"
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
	testutil.OK(t, g.Wait())
	return out
}

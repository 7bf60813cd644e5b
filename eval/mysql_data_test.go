package eval_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/eval"
)

func TestPublishedMySQL(t *testing.T) {
	f := folder(t)
	d, err := f.Dataset("classicmodels")
	if err != nil {
		t.Fatal(err)
	}
	answers, err := eval.ReadAnswers(f.Path("predictions/preds_classicmodels.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	scorer := eval.Scorer{Store: eval.NewStore(withFunctions(f.Database)), Metrics: []eval.Metric{
		eval.EX{Rule: eval.RuleBag}, eval.EX{Rule: eval.RuleBag, Digits: 12}, eval.EX{Rule: eval.RuleBag, Digits: 9}, eval.EX{}, eval.VA{},
	}}
	verdicts := verdictsOf(t, &scorer, d, answers)
	rows, faults := 0, 0
	agree := make([]int, 5)
	causes := map[string]int{}
	for i, a := range answers {
		v := verdicts[i]
		if v.Fault != "" {
			faults++
			continue
		}
		rows++
		for j, s := range v.Scores {
			w := *a.Label
			if j == 4 {
				w = *a.Valid
			}
			if (s == 1) == w {
				agree[j]++
			}
		}
		if (v.Scores[1] == 1) != *a.Label {
			causes[fmt.Sprintf("q%s label %v here %v %s %.80s", a.Question, *a.Label, v.Scores, v.Answer.Status, v.Answer.Err)]++
			t.Log(a.Question, *a.Label, v.Scores, v.Answer.Err, a.SQL)
		}
	}
	t.Log(rows, faults, agree)
	for c, n := range causes {
		t.Log(n, c)
	}
}

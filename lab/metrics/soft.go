package metrics

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/result"
)

// SoftF1 is BIRD's soft F1-score, in 0..1: credit for right values in results that are
// not equal (bird-bench/mini_dev, evaluation_f1.py). See its Score for the formula.
type SoftF1 struct{}

// Name returns "soft_f1".
func (SoftF1) Name() string { return "soft_f1" }

// Score implements [eval.Metric]. Copies of rows are dropped. Row i of the answer then stands
// beside row i of the gold. With c columns in the gold, a pair of rows adds
//
//	tp += (values of the answer's row that are in the gold's row) ÷ c
//	fp += (values of the answer's row that are not) ÷ c
//	fn += (values of the gold's row that are not in the answer's row) ÷ c
//
// A row without a partner adds 1 to fn if it is the gold's, and 1 to fp if it is the
// answer's. The score is
//
//	F1 = 2 × precision × recall ÷ (precision + recall),
//	precision = tp ÷ (tp + fp), recall = tp ÷ (tp + fn)
//
// with 0 for 0 ÷ 0. Two results without rows score 1. So the order of rows counts,
// though neither statement may have asked for one. The published code loses that order
// in a Python set; here rows stay as the statements give them. Values are equal as
// result.Equality says.
func (SoftF1) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	if !t.Answer.OK() {
		return 0, nil
	}
	gold, err := t.GoldTable(ctx)
	if err != nil {
		return 0, err
	}
	answer, err := t.AnswerTable(ctx)
	if err != nil {
		return 0, err
	}
	return softF1(gold, answer), nil
}

func softF1(gold, answer *result.Table) float64 {
	if gold.Empty() && answer.Empty() {
		return 1
	}
	golds, answers := distinctRows(gold), distinctRows(answer)
	var tp, fp, fn float64
	for i := range min(len(golds), len(answers)) {
		c := float64(len(golds[i]))
		for _, v := range answers[i] {
			if slices.Contains(golds[i], v) {
				tp += 1 / c
			} else {
				fp += 1 / c
			}
		}
		for _, v := range golds[i] {
			if !slices.Contains(answers[i], v) {
				fn += 1 / c
			}
		}
	}
	fn += float64(max(0, len(golds)-len(answers)))
	fp += float64(max(0, len(answers)-len(golds)))
	if tp == 0 {
		return 0
	}
	precision, recall := tp/(tp+fp), tp/(tp+fn)
	return 2 * precision * recall / (precision + recall)
}

// distinctRows returns the rows of t as the prints of their values, the first of
// each kind.
func distinctRows(t *result.Table) [][]string {
	var out [][]string
	seen := map[string]bool{}
	one := &result.Table{Columns: []string{""}, Rows: [][]any{nil}}
	row := &result.Table{Columns: t.Columns, Rows: [][]any{nil}}
	for _, values := range t.Rows {
		row.Rows[0] = values
		print, _ := result.Equality{}.Fingerprint(row)
		if seen[print] {
			continue
		}
		seen[print] = true
		cells := make([]string, len(values))
		for i := range values {
			one.Rows[0] = values[i : i+1]
			cells[i], _ = result.Equality{}.Fingerprint(one)
		}
		out = append(out, cells)
	}
	return out
}

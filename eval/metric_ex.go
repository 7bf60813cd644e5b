package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
)

// The rules of execution accuracy; EX.Rule explains them.
const (
	ruleSet    = "set"
	ruleBag    = "bag"
	ruleOrder  = "order"
	ruleStrict = "strict"
)

// EX is execution accuracy: 1 for an answer whose result equals the result of the gold. The zero EX has the
// rule of BIRD.
//
// Cells are compared by result.Equality, exactly: 1 equals 1.0, NULL equals NULL, and text is compared with its
// case and blanks. A result that was cut at a limit equals nothing.
type EX struct {
	// Rule defines when two results are equal. Column names never count; the order of columns always does. Two
	// results without rows are equal whatever their columns, except under "strict", because the other rules come from
	// scorers that read a result as a list of rows.
	//   - "set" and "": the sets of rows; order and copies do not count. It is the rule of BIRD
	//     (AlibabaResearch/DAMO-ConvAI, bird/llm/src/evaluation.py: set(predicted) == set(gold)).
	//   - "bag": the rows and how often each occurs; order does not count. It is the EX of 2.METHODOLOGY.md of
	//     MacKenzieOBrian/NLtoSQL, for ClassicModels.
	//   - "order": as "bag", and if the gold orders its rows, the answer must have that order. Rows that the gold's
	//     order leaves tied may swap if the result shows the tie: all terms of its ORDER BY are in the select list.
	//   - "strict": row by row, whether the gold orders them or not: the same number of columns, and the same
	//     rows in the same order.
	Rule string
	// Digits rounds floats to this number of significant digits before the comparison, see result.Equality; 0: exact.
	// Labels from an engine that sums decimals exactly need it, since floats depend on the order of a sum.
	Digits int
}

// Name returns "ex_set", "ex_bag", "ex_order" or "ex_strict", followed by the digits if Digits is set:
// "ex_bag_9".
func (m EX) Name() string {
	name := "ex_" + cmp.Or(m.Rule, ruleSet)
	if m.Digits > 0 {
		name += fmt.Sprintf("_%d", m.Digits)
	}
	return name
}

// Score implements [Metric].
func (m EX) Score(ctx context.Context, t *Trial) (float64, error) {
	if rules := []string{"", ruleSet, ruleBag, ruleOrder, ruleStrict}; !slices.Contains(rules, m.Rule) {
		return 0, fmt.Errorf("eval: EX.Rule %q is not one of set, bag, order and strict", m.Rule)
	}
	if m.Rule != ruleStrict && t.Gold.Empty() && t.Answer.Empty() {
		return 1, nil
	}
	eq := result.Equality{Digits: m.Digits}
	switch m.Rule {
	case "", ruleSet:
		eq.Set = true
	case ruleOrder:
		return m.ordered(ctx, t)
	case ruleStrict:
		eq.Ordered = true
	}
	equal, err := t.Equal(ctx, eq)
	return oneIf(equal), err
}

// ordered is the rule ruleOrder.
func (m EX) ordered(ctx context.Context, t *Trial) (float64, error) {
	bag := result.Equality{Digits: m.Digits}
	same, err := t.Equal(ctx, bag)
	terms := t.Dialect().Parse(t.Question.Gold).Outline().OrderBy
	if err != nil || !same || len(terms) == 0 {
		return oneIf(same), err
	}
	same, err = t.Equal(ctx, result.Equality{Ordered: true, Digits: m.Digits})
	if err != nil || same {
		return oneIf(same), err
	}
	keys, all := m.keys(t, terms)
	if !all {
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
	// Within a run of rows that the gold's order leaves tied any order will do.
	for from := 0; from < len(gold.Rows); {
		to := from + 1
		for to < len(gold.Rows) && tied(bag, gold, keys, from, to) {
			to++
		}
		if !bag.Equal(part(gold, from, to), part(answer, from, to)) {
			return 0, nil
		}
		from = to
	}
	return 1, nil
}

// keys returns the columns of the gold that it is ordered by; all is false where
// one of the terms is not among them.
func (m EX) keys(t *Trial, terms []string) (columns []int, all bool) {
	d := t.Dialect()
	items := d.Parse(t.Question.Gold).Outline().Items
	if slices.ContainsFunc(items, func(item sqlshape.SelectItem) bool { return item.Star }) {
		return nil, false // which column is which, the text does not say
	}
	for _, term := range terms {
		term = strings.TrimSuffix(strings.TrimSuffix(d.Parse(term).Normalize(), " desc"), " asc")
		found := slices.IndexFunc(items, func(item sqlshape.SelectItem) bool {
			return item.Alias != "" && term == strings.ToLower(item.Alias)
		})
		if found < 0 { // an alias hides a column of the same name
			found = slices.IndexFunc(items, func(item sqlshape.SelectItem) bool {
				return term == d.Parse(item.Text).Normalize()
			})
		}
		if n, err := strconv.Atoi(term); err == nil {
			found = min(n, len(items)) - 1
		}
		if found < 0 {
			return nil, false
		}
		columns = append(columns, found)
	}
	return columns, true
}

// tied reports whether two rows of t have equal keys.
func tied(eq result.Equality, t *result.Table, keys []int, a, b int) bool {
	pick := func(row []any) *result.Table {
		out := &result.Table{Columns: make([]string, len(keys)), Rows: [][]any{make([]any, len(keys))}}
		for i, k := range keys {
			out.Rows[0][i] = row[k]
		}
		return out
	}
	return eq.Equal(pick(t.Rows[a]), pick(t.Rows[b]))
}

// part is a table of some rows of t.
func part(t *result.Table, from, to int) *result.Table {
	return &result.Table{Columns: t.Columns, Rows: t.Rows[from:to]}
}

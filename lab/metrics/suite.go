// Package metrics holds metrics of eval that the published scorers have beside execution accuracy.
package metrics

import (
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// SuiteEX is execution accuracy by the rules of the test-suite scorer of Spider's
// leaderboard (taoyds/test-suite-sql-eval, exec_eval.py), on one database. Package
// testsuite asks about variations of it.
//
//   - Unless KeepDistinct is set, every DISTINCT is taken out of both statements.
//   - "> =", "< =" and "! =" are joined, and YEAR(CURDATE()) is 2020.
//   - Two results without rows are equal whatever their columns.
//   - The columns of the answer may be in any order: some permutation of them makes
//     the results equal. A column may only stand for one with the same values. Of
//     columns with equal values at most 5,000 permutations are tried.
//   - Rows compare as bags; as sequences if "order by" stands anywhere in the gold.
type SuiteEX struct {
	Store        *eval.Store // where the rewritten statements run; required
	KeepDistinct bool        // leave every DISTINCT in, as the scorer does with --keep_distinct
}

// Name returns "ex_suite", or "ex_suite_distinct".
func (m SuiteEX) Name() string {
	if m.KeepDistinct {
		return "ex_suite_distinct"
	}
	return "ex_suite"
}

// Score implements [eval.Metric].
func (m SuiteEX) Score(ctx context.Context, t *eval.Trial) (float64, error) {
	d := t.Dialect()
	gold, err := m.table(ctx, t, t.Question.Gold)
	if err != nil || gold == nil {
		return 0, err
	}
	answer, err := m.table(ctx, t, t.SQL)
	if err != nil || answer == nil {
		return 0, err
	}
	ordered := strings.Contains(strings.ToLower(suiteText(d, t.Question.Gold, m.KeepDistinct)), "order by")
	if suiteEqual(gold, answer, ordered) {
		return 1, nil
	}
	return 0, nil
}

// table executes a statement as the scorer rewrites it.
func (m SuiteEX) table(ctx context.Context, t *eval.Trial, sql string) (*result.Table, error) {
	text := suiteText(t.Dialect(), sql, m.KeepDistinct)
	switch text {
	case t.Question.Gold:
		return t.GoldTable(ctx)
	case t.SQL:
		return t.AnswerTable(ctx)
	}
	return m.Store.Table(ctx, t.Question.DB, text)
}

// suiteText is a statement as the test-suite scorer executes it.
func suiteText(d sqltext.Dialect, sql string, keepDistinct bool) string {
	var b strings.Builder
	tokens := slices.Collect(d.Tokens(sql))
	for i, token := range tokens {
		if !keepDistinct && token.Kind == sqltext.Word && strings.EqualFold(token.Text, "distinct") {
			continue
		}
		// A blank between the two halves of an operator.
		if token.Kind == sqltext.Space && token.Text == " " && i > 0 && i+1 < len(tokens) && tokens[i+1].Text == "=" &&
			(tokens[i-1].Text == ">" || tokens[i-1].Text == "<" || tokens[i-1].Text == "!") {
			continue
		}
		b.WriteString(token.Text)
	}
	return withoutCurrentYear(d, b.String())
}

// withoutCurrentYear writes 2020 for YEAR(CURDATE()).
func withoutCurrentYear(d sqltext.Dialect, sql string) string {
	if !strings.Contains(strings.ToLower(sql), "curdate") {
		return sql
	}
	var solid []sqltext.Token
	for token := range d.Tokens(sql) {
		if token.Kind != sqltext.Space {
			solid = append(solid, token)
		}
	}
	want := []string{"year", "(", "curdate", "(", ")", ")"}
	var b strings.Builder
	from := 0
	for i := 0; i+len(want) <= len(solid); i++ {
		matches := true
		for j, w := range want {
			matches = matches && strings.EqualFold(solid[i+j].Text, w)
		}
		if !matches {
			continue
		}
		b.WriteString(sql[from:solid[i].Pos] + "2020 ")
		i += len(want) - 1
		from = solid[i].Pos + len(solid[i].Text)
	}
	return b.String() + sql[from:]
}

// maxPermutations bounds the search among columns with equal values.
const maxPermutations = 5_000

// suiteEqual reports whether some order of b's columns makes it equal to a.
func suiteEqual(a, b *result.Table, ordered bool) bool {
	if a.Truncated || b.Truncated {
		return false
	}
	if a.Empty() && b.Empty() {
		return true
	}
	if len(a.Rows) != len(b.Rows) || len(a.Columns) != len(b.Columns) {
		return false
	}
	eq := result.Equality{}
	if ordered {
		eq.Ordered = true
	}
	if eq.Equal(a, b) {
		return true
	}
	// may[i] are the columns of b that hold the values of column i of a.
	n := len(a.Columns)
	of, same := columnPrints(b, eq), columnPrints(b, result.Equality{Ordered: true})
	may := make([][]int, n)
	for i, print := range columnPrints(a, eq) {
		for j := range n {
			if of[j] == print {
				may[i] = append(may[i], j)
			}
		}
		if len(may[i]) == 0 {
			return false
		}
	}
	s := permutation{a: a, b: b, eq: eq, may: may, same: same, chosen: make([]int, 0, n), left: maxPermutations}
	return s.search()
}

// columnPrints returns the fingerprint of every column.
func columnPrints(t *result.Table, eq result.Equality) []string {
	out := make([]string, len(t.Columns))
	column := &result.Table{Columns: []string{""}, Rows: make([][]any, len(t.Rows))}
	for i := range out {
		for r, row := range t.Rows {
			column.Rows[r] = row[i : i+1]
		}
		out[i], _ = eq.Fingerprint(column)
	}
	return out
}

// permutation searches for an order of columns.
type permutation struct {
	a, b   *result.Table
	eq     result.Equality
	may    [][]int
	same   []string // columns of b with equal prints can stand for one another
	chosen []int
	left   int
}

func (s *permutation) search() bool {
	i := len(s.chosen)
	if i == len(s.may) {
		s.left--
		return s.eq.Equal(s.a, columnsOf(s.b, s.chosen))
	}
	tried := map[string]bool{}
	for _, j := range s.may[i] {
		if tried[s.same[j]] || slices.Contains(s.chosen, j) {
			continue
		}
		tried[s.same[j]] = true
		s.chosen = append(s.chosen, j)
		if s.left > 0 && s.search() {
			return true
		}
		s.chosen = s.chosen[:i]
	}
	return false
}

// columnsOf is t with some of its columns, in that order.
func columnsOf(t *result.Table, columns []int) *result.Table {
	out := &result.Table{Columns: make([]string, len(columns)), Rows: make([][]any, len(t.Rows))}
	cells := make([]any, len(columns)*len(t.Rows))
	for r, row := range t.Rows {
		out.Rows[r], cells = cells[:len(columns):len(columns)], cells[len(columns):]
		for i, j := range columns {
			out.Rows[r][i] = row[j]
		}
	}
	return out
}

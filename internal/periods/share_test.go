package periods

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// TestMarkShares: a quotient is a share where the question or the name of its column says so and each value is a part
// of one.
func TestMarkShares(t *testing.T) {
	const share = "What share of orders is paid?"
	parts := []any{0.12, nil, result.Decimal("0.5")}

	for _, tt := range []struct {
		why, question, item, name string
		values                    []any
		want                      bool
	}{
		{"the question asks for it", share, "sum(paid) * 1.0 / count(*)", "x", parts, true},
		{"a percentage", "What percentage was paid?", "sum(paid) * 1.0 / count(*)", "x", parts, true},
		{"a rate of counted rows", "No-show rate by doctor", "sum(CASE WHEN gone THEN 1.0 END) / count(*)", "x", parts, true},
		{"rounded", share, "round(1.0 * a / b, 2)", "x", parts, true},
		{"an average of ones and zeros", share, "avg(CASE WHEN paid THEN 1.0 ELSE 0 END)", "x", parts, true},
		{"the name of the column", "", "1.0 * a / b", "paid_share", parts, true},
		{"an average of a flag", "", "avg(o.is_paid)", "x", parts, true},
		{"no word of a share", "How are orders paid?", "1.0 * a / b", "x", parts, false},
		{"a hundred before", share, "100 * a / b", "x", parts, false},
		{"a hundred behind", share, "1.0 * a / b * 100", "paid_share", parts, false},
		{"a value above one", share, "1.0 * a / b", "x", []any{0.5, 1.2}, false},
		{"a value below nothing", share, "1.0 * a / b", "paid_share", []any{0.5, -0.1}, false},
		{"a text among numbers", share, "1.0 * a / b", "x", []any{0.5, "none"}, false},
		{"only NULL", share, "1.0 * a / b", "x", []any{nil}, false},
		{"an integer division", share, "a / b", "x", []any{int64(0), int64(1)}, false},
		{"no quotient", share, "max(tax)", "share", parts, false},
		{"a stroke in a text", share, "max(CASE WHEN kind = '24/7' THEN 0.5 END)", "x", parts, false},
		{"a number below", share, "sum(cents) / 119.0", "x", parts, false},
		{"a rate of money", "What is the exchange rate?", "sum(usd) / sum(eur)", "x", parts, false},
		{"a rate of sums", "What is the fee rate?", "sum(fee) / count(*)", "x", parts, false},
		{"a price per share", "What is the price per share?", "sum(price) / sum(n)", "price_per_share", parts, false},
		{"a verb", "Which users share a city, and what do they pay?", "sum(a) / sum(b)", "x", parts, false},
		{"a condition in percent", "Orders with more than 10 percent off: what do they cost?", "sum(a) / sum(b)", "x", parts,
			false},
	} {
		table := &result.Table{Columns: []string{tt.name}, Types: make([]result.Type, 1)}
		for _, v := range tt.values {
			table.Rows = append(table.Rows, []any{v})
		}
		MarkShares(sqltext.SQLite().Parse("SELECT "+tt.item+" AS "+tt.name+" FROM s"), tt.question, table)
		if got := table.Types[0].Share; got != tt.want {
			t.Errorf("%s: %s: %v", tt.why, tt.item, got)
		}
	}
}

// TestMarkSharesOfStatements: a question does not say which one of two quotients it means; their names do.
func TestMarkSharesOfStatements(t *testing.T) {
	for _, tt := range []struct {
		why, sql string
		want     []result.Type
	}{
		{"two quotients", "SELECT a / b AS x, c / d AS y FROM s", []result.Type{{}, {}}},
		{"two quotients, one named", "SELECT a / b AS x_pct, c / d AS per_user FROM s", []result.Type{{Share: true}, {}}},
		{"a quotient and a number", "SELECT a / b AS x, c AS y FROM s", []result.Type{{Share: true}, {}}},
		{"a hundred inside", "SELECT a / b AS x, 1 AS y FROM (SELECT 100 * k AS a, b FROM s) q", []result.Type{{}, {}}},
		{"two arms", "SELECT a / b AS share, 1 AS y FROM s UNION ALL SELECT 100 * a, 2 FROM s", []result.Type{{}, {}}},
		{"all columns", "SELECT * FROM s", []result.Type{{}, {}}},
	} {
		statement := sqltext.SQLite().Parse(tt.sql)
		table := &result.Table{Columns: []string{"x", "y"}, Types: make([]result.Type, 2), Rows: [][]any{{0.5, 0.25}}}
		for i, it := range statement.Outline().Items {
			if it.Alias != "" {
				table.Columns[i] = it.Alias
			}
		}
		MarkShares(statement, "What share is paid?", table)
		if diff := cmp.Diff(tt.want, table.Types); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.why, tt.sql, diff)
		}
	}
}

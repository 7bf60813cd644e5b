package attack

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// sales makes two tables of ten tenants: 2,000 clients with 20 sales each.
const sales = `CREATE TABLE clients(id INTEGER PRIMARY KEY, tenant_id INTEGER, city VARCHAR(40), name VARCHAR(40));
CREATE TABLE sales(id INTEGER PRIMARY KEY, tenant_id INTEGER, client_id INTEGER, total INTEGER, day VARCHAR(10));
CREATE TABLE digits(d INTEGER);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO clients SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d, a.d, 'x', 'y' FROM digits a, digits b, digits c, digits e WHERE e.d < 2;
INSERT INTO sales SELECT c.id * 20 + a.d * 2 + b.d, c.tenant_id, c.id, a.d * c.id % 97, '2024-01-01' FROM clients c, digits a, digits b WHERE b.d < 2;
CREATE INDEX sales_by_client ON sales(client_id);
`

// BenchmarkRows compares statements under a rule a table with the same filter written by hand, and reports the median
// over the statements of how many times as long they take.
func BenchmarkRows(b *testing.B, e exectest.Engine) {
	pool := sql.OpenDB(e.Open(b, sales).User)
	defer pool.Close()
	const rule = "tenant_id = 3"
	rules := exec.Policy{Rows: map[string]string{"clients": "tenant_id = :t", "sales": "tenant_id = :t"},
		Shared: []string{"digits"}}
	view, err := dbtest.ReadyDB(b, pool, e.Dialect, exec.Config{Policy: rules}).For(&exec.Scope{Key: "3",
		Params: map[string]any{"t": 3}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	plain := dbtest.ReadyDB(b, pool, e.Dialect, exec.Config{})
	of := func(db *exec.DB, text string) time.Duration {
		start := time.Now()
		if _, err := db.Query(b.Context(), text); err != nil {
			b.Fatal(text, err)
		}
		return time.Since(start)
	}
	median := func(all []time.Duration) float64 { slices.Sort(all); return float64(all[len(all)/2]) }
	for b.Loop() {
		var ratios []float64
		for _, text := range []string{ // with what is written by hand in brackets
			"SELECT count(*), sum(total) FROM sales[ WHERE R]", "SELECT * FROM sales WHERE id = 123[ AND R]",
			"SELECT name, total FROM clients c JOIN sales s ON s.client_id = c.id WHERE total > 90[ AND c.R AND s.R] " +
				"ORDER BY s.id LIMIT 10",
			"SELECT c.id, sum(s.total) FROM clients c JOIN sales s ON s.client_id = c.id[ WHERE c.R AND s.R] GROUP BY c.id " +
				"ORDER BY 2 DESC, 1 LIMIT 5",
			"SELECT city, count(*) FROM clients[ WHERE R] GROUP BY city",
			"SELECT max(total) FROM sales WHERE client_id = 1003[ AND R]",
			"SELECT name FROM clients c WHERE EXISTS (SELECT 1 FROM sales s WHERE s.client_id = c.id AND s.total = 96[ " +
				"AND s.R])[ AND c.R]",
			"SELECT day, count(DISTINCT client_id) FROM sales[ WHERE R] GROUP BY day",
			"SELECT id FROM clients[ WHERE R] ORDER BY id LIMIT 20",
			"SELECT c.name, s.total FROM clients c LEFT JOIN sales s ON s.client_id = c.id AND s.total > 95[ AND s.R] " +
				"WHERE c.id < 500[ AND c.R] ORDER BY 2, c.id LIMIT 20",
		} {
			hand := strings.NewReplacer(".R", "."+rule, " R", " "+rule, "[", "", "]", "").Replace(text)
			for open := strings.Index(text, "["); open >= 0; open = strings.Index(text, "[") {
				text = text[:open] + text[open+strings.Index(text[open:], "]")+1:]
			}
			var ours, theirs []time.Duration
			for range 15 {
				ours, theirs = append(ours, of(view, text)), append(theirs, of(plain, hand))
			}
			ratios = append(ratios, median(ours)/median(theirs))
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], "p50-times")
		b.ReportMetric(ratios[len(ratios)-1], "most-times")
	}
}

package knowledge_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/result"
)

// TestGrains: every grain is the same text on every engine, and its functions pass the guard.
func TestGrains(t *testing.T) {
	want := map[string]string{ // of the first trip and of the last one
		"year": "2025 2025", "quarter": "2025-Q1 2025-Q4", "month": "2025-01 2025-12", "week": "2024-12-30 2025-12-22",
		"day": "2025-01-02 2025-12-24", "hour": "2025-01-02 00:00 2025-12-24 00:00",
	}
	for _, engine := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(engine, func(t *testing.T) {
			db := map[string]func(testing.TB, string) *exec.DB{"sqlite": onSQLite, "postgres": onPostgres,
				"mysql": onMariaDB}[engine](t, "trips")
			m := modelOf(t, "trips")
			for _, grain := range []string{"year", "quarter", "month", "week", "day", "hour"} {
				column := "trip.departed_at@" + grain
				sql := testutil.Value(m.Compile(knowledge.Request{Metrics: []string{"trips"}, GroupBy: []string{column},
					OrderBy: []string{column}}, engine))(t)
				rows := testutil.Value(db.Query(t.Context(), sql))(t, sql)
				got := fmt.Sprint(rows.Rows[0][0], " ", rows.Rows[len(rows.Rows)-1][0])
				golden.Equal(t, want[grain], got, grain)
			}
		})
	}
}

type pairLine struct {
	Question, Gold string
	Request        *knowledge.Request
	Right          bool `json:"request_right"`
}

// TestPairs: the requests that a model wrote for dbt's own benchmark give what the benchmark says they give.
func TestPairs(t *testing.T) {
	m, db := modelOf(t, "acme"), onSQLite(t, "acme")
	right := 0
	for line := range evaldata.Lines[pairLine](t, evaldata.Knowledge(t, "pairs.jsonl")) {
		if line.Request == nil || !line.Right {
			continue
		}
		sql := testutil.Value(m.Compile(*line.Request, "sqlite"))(t, line.Question)
		got := testutil.Value(db.Query(t.Context(), sql))(t, sql)
		want := testutil.Value(db.Query(t.Context(), line.Gold))(t, line.Gold)
		if len(got.Columns) > len(want.Columns) { // beside what was asked for, it gives the parts
			got = &result.Table{Columns: want.Columns, Rows: lastColumn(got)}
		}
		set := result.Equality{Set: true, Digits: 9}
		if !set.Equal(plain(got), plain(want)) && !set.Equal(plain(turned(got)), plain(want)) {
			t.Errorf("%s\n%s\n%s\nwant\n%s\n%s", line.Question, sql, got.Preview(9, 30), line.Gold, want.Preview(9, 30))
			continue
		}
		right++
	}
	t.Logf("%d requests give the gold rows", right)
}

// lastColumn keeps the first and the last column.
func lastColumn(t *result.Table) (rows [][]any) {
	for _, r := range t.Rows {
		rows = append(rows, []any{r[0], r[len(r)-1]})
	}
	return rows
}

// turned is a table of two columns, turned around.
func turned(t *result.Table) *result.Table {
	out := &result.Table{Columns: t.Columns}
	for _, r := range t.Rows {
		if len(r) == 2 {
			r = []any{r[1], r[0]}
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

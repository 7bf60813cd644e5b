package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
)

// gated runs a measurement, which returns a fault; "": there is none. It runs a second time after a fault.
func gated(t *testing.T, measure func() string) {
	t.Helper()
	if os.Getenv("TEXTTOSQL_RATIOS") == "" {
		t.Skip("TEXTTOSQL_RATIOS is not set: the ratios of .ci/run take a minute")
	}
	fault := measure()
	if fault != "" {
		t.Logf("once more: %s", fault)
		fault = measure()
	}
	if fault != "" {
		t.Error(fault)
	}
}

// TestScaleRatio: a warm question at 10,000 tables costs at most six times one at 100, and the first one grows no
// faster than the schema. docs/lab/scale.md has the ratio that is wanted, 2.
func TestScaleRatio(t *testing.T) {
	s := scale{Warm: 20, Timeout: time.Minute, Dir: t.TempDir()}
	measure := func(tables int, database string) scaled {
		testutil.OK(t, makeWide(t.Context(), s.path(database), tables))
		return testutil.Value(s.child(t.Context(), database, "direct"))(t)
	}
	gated(t, func() string {
		few, many := measure(100, "100"), measure(10_000, "10000")
		t.Logf("warm %.1f and %.1f ms of CPU, first %.0f and %.0f ms", few.Warm, many.Warm, few.First, many.First)
		switch {
		case many.Warm > 6*few.Warm:
			return "a warm question at 10,000 tables costs more than six times one at 100"
		case many.First > 100*few.First:
			return "the first question grows faster than the schema"
		}
		return ""
	})
}

// TestOwnRatio compares the CPU of a question with HTTP calls and a query by database/sql, in one process with the
// provider. docs/lab/scale.md has the ratios that are wanted, 6 and 3. The calls by hand are mostly calls of the
// system, which cost three times as much on one machine as on another: so the bounds leave room.
func TestOwnRatio(t *testing.T) {
	const statement = "SELECT count(*) FROM customers"
	const reply = `{"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "` + statement +
		`"}}],
		"usage": {"prompt_tokens": 100, "completion_tokens": 10}}`
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	}))
	defer provider.Close()
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	makeDatabase(t, path, "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, "+
		"'Ada')")
	db := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro"))(t)
	defer db.Close()

	prompt := `{"model": "m", "messages": [{"role": "user", "content": "` + strings.Repeat("schema ", 300) + `"}]}`
	raw := func(ctx context.Context, calls int) {
		for range calls {
			url, body := provider.URL+"/chat/completions", strings.NewReader(prompt)
			req := testutil.Value(http.NewRequestWithContext(ctx, http.MethodPost, url, body))(t)
			res := testutil.Value(http.DefaultClient.Do(req))(t)
			var decoded map[string]any
			testutil.OK(t, json.NewDecoder(res.Body).Decode(&decoded))
			testutil.OK(t, res.Body.Close())
		}
		var n int
		testutil.OK(t, db.QueryRowContext(ctx, statement).Scan(&n))
	}

	for _, tt := range []struct {
		why   string
		calls int
		s     strategy.Strategy
		most  float64
	}{
		{"one sample", 1, strategy.Direct{}, 40},
		{"seven samples", 7, strategy.SelfConsistency{Samples: 7}, 15},
	} {
		model := openai.Client{BaseURL: provider.URL}.Model("m")
		e := testutil.Value(texttosql.New(db, model, texttosql.WithStrategy(tt.s)))(t)
		ask := func(int) error { _, err := e.Ask(t.Context(), "How many customers are there?"); return err }
		direct := func(int) error { raw(t.Context(), tt.calls); return nil }
		gated(t, func() string {
			own, bare := leastCPU(t, 200, ask), leastCPU(t, 4000/tt.calls, direct)
			t.Logf("%s: %.2f ms of CPU, %.2f by hand: %.1f", tt.why, own, bare, own/bare)
			if own > tt.most*bare {
				return tt.why + ": a question costs too much beside the same calls by hand"
			}
			return ""
		})
	}
}

// TestStreamRatio compares the CPU of a stream that is written as CSV with the same rows by database/sql and
// encoding/csv. docs/lab/scale.md compares the command with the clients of the databases.
func TestStreamRatio(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.sqlite")
	makeDatabase(t, path, `CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, amount REAL, placed TEXT, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO orders SELECT i, 'Customer ' || i, i * 1.37, date('2020-01-01', '+' || (i % 1500) || ' days'), 'a note about order ' || i FROM n`)
	db := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro"))(t)
	defer db.Close()
	const statement = "SELECT * FROM orders"

	raw := func(int) error {
		rows := testutil.Value(db.QueryContext(t.Context(), statement))(t)
		defer rows.Close()
		w := csv.NewWriter(io.Discard)
		values := make([]sql.RawBytes, 5)
		for rows.Next() {
			testutil.OK(t, rows.Scan(&values[0], &values[1], &values[2], &values[3], &values[4]))
			record := make([]string, len(values))
			for i, v := range values {
				record[i] = string(v)
			}
			testutil.OK(t, w.Write(record))
		}
		w.Flush()
		return rows.Err()
	}
	e := testutil.Value(texttosql.New(db, llm.Func(nil)))(t)
	stream := func(int) error {
		rows := testutil.Value(e.Stream(t.Context(), statement))(t)
		defer rows.Close()
		part := result.Table{Columns: rows.Columns, Types: rows.Types}
		for row, err := range rows.Rows() {
			testutil.OK(t, err)
			if part.Rows = append(part.Rows, row); len(part.Rows) == 256 {
				testutil.OK(t, part.WriteCSV(io.Discard))
				part.Rows = part.Rows[:0]
			}
		}
		return part.WriteCSV(io.Discard)
	}

	gated(t, func() string {
		own, bare := leastCPU(t, 1, stream), leastCPU(t, 1, raw)
		t.Logf("200,000 rows: %.0f ms of CPU, %.0f by database/sql: %.1f", own, bare, own/bare)
		if own > 2*bare {
			return "a stream costs more than twice the same rows by database/sql"
		}
		return ""
	})
}

// leastCPU is the CPU of a call, in ms: the least of five rounds of n calls.
func leastCPU(t *testing.T, n int, call func(int) error) float64 {
	t.Helper()
	least := 0.0
	for i := range 5 {
		cpu, _, err := timed(n, call)
		testutil.OK(t, err)
		if i == 0 || cpu < least {
			least = cpu
		}
	}
	return least
}

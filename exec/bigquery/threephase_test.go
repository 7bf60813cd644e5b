package bigquery_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestThreePhase: the three-phase agent on the engine of its source. Each table is judged, names join the two that
// stay, and a dry run validates each statement: the wrong one costs no job.
func TestThreePhase(t *testing.T) {
	f := newFake(t)
	f.script(`CREATE TABLE customers (id INTEGER, name TEXT);
CREATE TABLE orders (id INTEGER, customer_id INTEGER, total REAL);
CREATE TABLE shops (id INTEGER, city TEXT);
INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bo');
INSERT INTO orders VALUES (1, 2, 9.5), (2, 1, 1.5)`)
	const wrong = "SELECT c.nmae FROM customers AS c JOIN orders AS o ON o.customer_id = c.id WHERE o.total > 5"
	var mu sync.Mutex
	asked, told := map[string]int{}, ""
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text, reply := req.Messages[len(req.Messages)-1].Text, wrong
		mu.Lock()
		defer mu.Unlock()
		asked[req.Purpose]++
		switch req.Purpose {
		case "table":
			relevant := !strings.Contains(text, "city")
			reply = fmt.Sprintf(`{"is_relevant": %v, "confidence": 0.9}`, relevant)
		case "tables":
			reply = `{"final_tables": ["customers", "orders"]}`
		case "synthesis":
			reply = `{"joins_needed": true, "filters": "over 5"}`
		case "join":
			reply = `{"found_joins": true, "joins": [{"left_column": "orders.customer_id", "right_column": "customers.id", "confidence": 0.9}]}`
		case "repair":
			reply, told = strings.Replace(wrong, "nmae", "name", 1), text
		}
		return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
	})
	e := testutil.Value(texttosql.New(f.pool(bq.Config{}), model, texttosql.WithDialect(bq.Dialect{}),
		texttosql.WithStrategy(threephase.Strategy{})))(t)
	res, err := e.Ask(t.Context(), "Which customers have an order over 5?")
	if err != nil || fmt.Sprint(res.Rows.Rows) != "[[Bo]]" || res.SQL != strings.Replace(wrong, "nmae", "name", 1) {
		t.Fatalf("%v: %+v", err, res)
	}
	if len(res.Steps) != 2 || res.Steps[0].Status != "rejected" || res.Steps[1].Status != "ok" ||
		!strings.Contains(told, "nmae") {
		t.Errorf("steps %+v, and the correction was told %q", res.Steps, told)
	}
	if asked["table"] != 3 || asked["tables"] != 1 || asked["synthesis"] != 1 || asked["generate"] != 1 ||
		asked["repair"] != 1 {
		t.Errorf("calls: %v", asked)
	}
	for _, b := range f.bodies {
		if !b.Configuration.DryRun && strings.Contains(b.Configuration.Query.Query, "nmae") {
			t.Error("the wrong statement came to a job")
		}
	}
}

// TestDryRunAgain: a statement has a dry run for each of its uses, also where one session uses it twice: what it said
// then may be old now.
func TestDryRunAgain(t *testing.T) {
	f := hostileFake(t)
	runner := testutil.Value(database(t, f, bq.Config{}, exec.Config{}).Runner(exec.Bounds{}))(t)
	defer runner.Close()
	for use := 1; use <= 2; use++ {
		if _, err := runner.Query(t.Context(), "SELECT a FROM t"); err != nil || f.count("dry") != use ||
			f.count("insert") != use {
			t.Errorf("use %d: %d dry runs, %d jobs, %v", use, f.count("dry"), f.count("insert"), err)
		}
	}
}

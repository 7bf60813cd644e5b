package texttosqltest_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/enginetest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/texttosqltest"
)

// engine answers questions about a shop of two customers.
func engine(t *testing.T, options ...texttosql.Option) *texttosql.Engine {
	t.Helper()
	db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "shop.sqlite")))(t)
	t.Cleanup(func() { db.Close() })
	testutil.Value(db.Exec(`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total REAL);
		CREATE TABLE payroll (salary REAL);
		INSERT INTO customers VALUES (1, 'Ada', 'USA'), (2, 'Bo', 'Norway');
		INSERT INTO orders VALUES (1, 1, 10.5), (2, 2, 20)`))(t)
	model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		if r.Purpose == "metric" {
			return llm.Response{Text: `{"metrics": ["revenue"]}`}, nil
		}
		asked := r.Messages[len(r.Messages)-1].Text
		for question, statements := range map[string][]string{
			"Who?": {"SELECT name FROM customers"}, "Who are": {"SELECT name FROM customers"},
			"the total?": {"SELECT SUM(total) FROM orders"},
			"the best?": {"SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers WHERE id = 2",
				"SELECT 'x'"},
			"the humidity?": {"SELECT AVG(humidity) FROM weather", "I cannot tell."},
			"earns most":    {"SELECT salary FROM payroll"},
		} {
			if strings.Contains(asked, question) {
				return llm.Response{Text: statements[r.Sample%len(statements)]}, nil
			}
		}
		return llm.Response{Text: "DELETE FROM customers"}, nil
	})
	known := knowledge.Model{
		VerifiedQueries: []knowledge.VerifiedQuery{{Question: "How many customers are in USA?",
			SQL:    "SELECT COUNT(*) FROM customers WHERE country = :c",
			Params: []knowledge.Param{{Name: "c", Column: "customers.country", Default: "USA"}}}},
	}
	options = enginetest.Options([]texttosql.Option{texttosql.WithSamples(3), texttosql.WithKnowledge(known),
		texttosql.WithRefuseBelow(0.2),
		texttosql.WithClarifyBelow(0.6), texttosql.WithPolicy(exec.Policy{DenyTables: []string{"payroll"}})}, options...)
	return testutil.Value(texttosql.New(db, model, options...))(t)
}

// TestRun passes where everything is as expected.
func TestRun(t *testing.T) { texttosqltest.Run(t, engine(t), "testdata/questions.jsonl") }

// TestCheck: each expectation that does not hold is a line, and the statement stands behind it.
func TestCheck(t *testing.T) {
	e := engine(t)
	three := 3
	for _, test := range []struct {
		why  string
		x    texttosqltest.Expectation
		says string // "": nothing drifted
	}{
		{"nothing is expected", texttosqltest.Expectation{Question: "Who?"}, ""},
		{"rows in another order", texttosqltest.Expectation{Question: "Who?", Rows: [][]any{{"Bo"}, {"Ada"}}}, ""},
		{"a row too many", texttosqltest.Expectation{Question: "Who?", Rows: [][]any{{"Ada"}}}, "the rows are"},
		{"no rows", texttosqltest.Expectation{Question: "Who?", Rows: [][]any{}}, "the rows are"},
		{"the statement is told", texttosqltest.Expectation{Question: "Who?", Rows: [][]any{{"Ada"}}},
			"the statement is SELECT name FROM customers"},
		{"a statement with the same rows", texttosqltest.Expectation{Question: "Who?",
			SQL: "SELECT name FROM customers ORDER BY 1 DESC"}, ""},
		{"one with others", texttosqltest.Expectation{Question: "Who?", SQL: "SELECT country FROM customers"},
			"want those of the statement"},
		{"one that may not run", texttosqltest.Expectation{Question: "Who?", SQL: "SELECT salary FROM payroll"},
			"does not run"},
		{"the tables", texttosqltest.Expectation{Question: "Who?", Reads: []string{"Customers"}}, ""},
		{"other tables", texttosqltest.Expectation{Question: "Who?", Reads: []string{"customers", "orders"}},
			"it reads customers, want customers, orders"},
		{"a metric that it does not stand on", texttosqltest.Expectation{Question: "Who?", Metric: "revenue"},
			"does not stand on the metric revenue"},
		{"it should ask", texttosqltest.Expectation{Question: "Who?", Asks: true}, "it does not ask: it answers"},
		{"it should refuse", texttosqltest.Expectation{Question: "Who?", Refuses: true}, "it does not refuse: it answers"},
		{"it refuses", texttosqltest.Expectation{Question: "What is the humidity?"},
			"there is no answer: The data has nothing about humidity. (unanswerable)"},
		{"too many calls", texttosqltest.Expectation{Question: "Who?", Calls: new(int)}, "model calls, more than 0"},
		{"few enough", texttosqltest.Expectation{Question: "Who?", Calls: &three}, ""},
		{"too slow", texttosqltest.Expectation{Question: "Who?", Within: "1ns"}, "more than 1ns"},
	} {
		drift := strings.Join(test.x.Check(t.Context(), e), "\n")
		if (drift == "") != (test.says == "") || !strings.Contains(drift, test.says) {
			t.Errorf("%s: %q, want %q", test.why, drift, test.says)
		}
	}
}

// TestMetric: an answer that was compiled from a metric stands on it.
func TestMetric(t *testing.T) {
	e := engine(t, texttosql.WithKnowledge(knowledge.Model{
		Tables:  []knowledge.Table{{Name: "orders"}},
		Metrics: []knowledge.Metric{{Name: "revenue", Expr: "SUM(orders.total)"}},
	}))
	x := texttosqltest.Expectation{Question: "What is the total?", Metric: "revenue", Rows: [][]any{{30.5}},
		Reads: []string{"orders"}}
	if drift := x.Check(t.Context(), e); drift != nil {
		t.Error(drift)
	}
}

// TestRead: what is wrong with a file is told with its line.
func TestRead(t *testing.T) {
	for _, test := range []struct{ why, text, says string }{
		{"a key that is none", `{"question": "Who?", "row": []}`, `line 1: json: unknown field "row"`},
		{"no question", "{\"question\": \"Who?\"}\n\n{\"rows\": []}", "line 3: there is no question"},
		{"a duration that is none", `{"question": "Who?", "within": "soon"}`, "line 1"},
		{"two that exclude each other", `{"question": "Who?", "asks": true, "refuses": true}`, "cannot both"},
		{"two objects", `{"question": "Who?"} {}`, "something follows"},
		{"no JSON", "Who?", "line 1"},
	} {
		path := filepath.Join(t.TempDir(), "questions.jsonl")
		testutil.OK(t, os.WriteFile(path, []byte(test.text), 0o600))
		if _, err := texttosqltest.ReadExpectations(path); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", test.why, err, test.says)
		}
	}
	if _, err := texttosqltest.ReadExpectations("nowhere.jsonl"); err == nil {
		t.Error("a file that is not there")
	}
}

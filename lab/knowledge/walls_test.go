package knowledge_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// requester answers metric requests with one request, and everything else with no statement. It keeps what it was sent.
type requester struct {
	request string

	mu   sync.Mutex
	sent strings.Builder
}

func (m *requester) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, message := range r.Messages {
		m.sent.WriteString(message.Text + "\n")
	}
	if r.Purpose == "metric" {
		return llm.Response{Text: m.request, StopReason: llm.StopEnd}, nil
	}
	return llm.Response{Text: "I cannot tell.", StopReason: llm.StopEnd}, nil
}

// walled are the pools of the café on each engine.
func walled() map[string]func(*testing.T) (*sql.DB, exec.Dialect) {
	return map[string]func(*testing.T) (*sql.DB, exec.Dialect){
		"sqlite":   func(t *testing.T) (*sql.DB, exec.Dialect) { return pool(t, "jaffle"), sqlite.Dialect{} },
		"postgres": func(t *testing.T) (*sql.DB, exec.Dialect) { return postgresCopy(t, "jaffle"), postgres.Dialect{} },
	}
}

// TestRequestsRows: rules about rows hold for compiled requests: each customer gets the sum over the rows of that
// customer, whichever table the metric adds up, and whatever the request's own conditions say.
func TestRequestsRows(t *testing.T) {
	rules := exec.Policy{
		Rows: map[string]string{
			"orders": "customer_id = :customer", "customers": "customer_id = :customer",
			"order_items": "product_price > 5",
		},
		Shared: []string{"products", "locations", "supplies"},
	}
	for engine, open := range walled() {
		t.Run(engine, func(t *testing.T) {
			p, dialect := open(t)
			for _, test := range []struct{ request, byHand string }{
				{`{"metrics": ["order_cost"]}`, "SELECT SUM(order_cost) FROM orders WHERE customer_id = '%s'"},
				{`{"metrics": ["revenue"], "where": ["customers.customer_id IS NOT NULL"]}`,
					"SELECT SUM(i.product_price) FROM order_items AS i JOIN orders AS o ON o.order_id = i.order_id " +
						"WHERE o.customer_id = '%s' AND i.product_price > 5"},
				{`{"metrics": ["lifetime_spend_pretax"]}`,
					"SELECT SUM(lifetime_spend_pretax) FROM customers WHERE customer_id = '%s'"},
				{`{"metrics": ["order_cost"], "where": ["customers.customer_id <> 'C1' OR 1 = 1"]}`,
					"SELECT SUM(order_cost) FROM orders WHERE customer_id = '%s'"},
			} {
				for _, customer := range []string{"C1", "C12"} {
					e := testutil.Value(texttosql.New(p, &requester{request: test.request}, texttosql.WithDialect(dialect),
						texttosql.WithSamples(2), texttosql.WithKnowledge(modelOf(t, "jaffle")), texttosql.WithPolicy(rules)))(t)
					scope := exec.Scope{Key: customer, Params: map[string]any{"customer": customer}}
					res, err := e.Ask(t.Context(), "How much is it?", texttosql.WithScope(scope))
					testutil.OK(t, err, test.request)
					var want float64
					testutil.OK(t, p.QueryRow(fmt.Sprintf(test.byHand, customer)).Scan(&want))
					got, ok := number(res.Rows.Rows[0][0]).(float64)
					if !ok || got < want-1e-6 || got > want+1e-6 || res.Grounds == nil {
						t.Errorf("%s of %s: %v, want %v\n%s", test.request, customer, res.Rows.Rows, want, res.SQL)
					}
				}
			}
		})
	}
}

// TestRequestsDenied: a metric over a denied column or table is not shown, not compiled and not named, in prompts,
// results and errors; one beside it is.
func TestRequestsDenied(t *testing.T) {
	for engine, open := range walled() {
		t.Run(engine, func(t *testing.T) {
			p, dialect := open(t)
			for _, test := range []struct {
				why, request string
				policy       exec.Policy
				hidden       []string
				answered     bool
			}{
				{"a denied column", `{"metrics": ["order_cost"]}`, exec.Policy{DenyColumns: []string{"orders.order_cost"}},
					[]string{"order_cost", "order_gross_profit"}, false},
				{"a denied table", `{"metrics": ["lifetime_spend_pretax"]}`, exec.Policy{DenyTables: []string{"customers"}},
					[]string{"lifetime_spend_pretax", "average_order_value"}, false},
				{"a group of a denied column", `{"metrics": ["revenue"], "group_by": ["products.product_type"]}`,
					exec.Policy{DenyColumns: []string{"products.product_type"}}, []string{"product_type"}, false},
				{"a condition on a denied column", `{"metrics": ["revenue"], "where": ["products.product_type = 'x'"]}`,
					exec.Policy{DenyColumns: []string{"products.product_type"}}, nil, false},
				{"a metric beside them", `{"metrics": ["revenue"]}`, exec.Policy{DenyColumns: []string{"orders.order_cost"}},
					[]string{"order_cost"}, true},
			} {
				model := &requester{request: test.request}
				e := testutil.Value(texttosql.New(p, model, texttosql.WithDialect(dialect), texttosql.WithSamples(2),
					texttosql.WithKnowledge(modelOf(t, "jaffle")), texttosql.WithPolicy(test.policy)))(t)
				res, err := e.Ask(t.Context(), "How much is it?")
				if (err == nil) != test.answered {
					t.Errorf("%s: %v", test.why, err)
				}
				shown := testutil.Value(e.Knowledge(t.Context()))(t)
				text := model.sent.String() + string(testutil.Value(json.Marshal(shown))(t))
				if test.answered {
					text += string(testutil.Value(json.Marshal(res))(t))
				}
				for _, name := range test.hidden {
					if strings.Contains(text, name) {
						t.Errorf("%s: %s is named", test.why, name)
					}
				}
			}
		})
	}
}

package knowledge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/result"
)

// gone is a database that cannot be asked.
type gone struct{}

var errGone = errors.New("file is not a database")

func (gone) Query(context.Context, string) (*result.Table, error) { return nil, errGone }

func TestCheck(t *testing.T) {
	m := storeModel()
	m.Metrics = m.Metrics[:9]
	db := storeDB(t, exec.Policy{})
	if faults, err := m.Check(t.Context(), db, "sqlite"); err != nil || faults != nil {
		t.Fatal(faults, err)
	}
	m.Tables = append(m.Tables, knowledge.Table{Name: "shops"}, knowledge.Table{Name: "ORDERS"})
	m.Tables[0].Keys = append(m.Tables[0].Keys, []string{"Order"}, []string{"Order", "Line"}, []string{"nothing"})
	m.Tables[0].Columns = []knowledge.Column{{Name: "weight"}, {Name: "cost", Expr: "price * nothing("}, {Name: "PRICE"}}
	m.Relationships = append(m.Relationships,
		knowledge.Relationship{Name: "wrong", From: "orders", To: "lines", On: [][2]string{{"id", "Order"}}},
		knowledge.Relationship{From: "orders", To: "moon", On: [][2]string{{"id", "id"}}},
		knowledge.Relationship{From: "orders", To: "customers", On: [][2]string{{"nobody", "id"}}},
	)
	m.Metrics = append(m.Metrics, knowledge.Metric{Name: "lost", Expr: "SUM(orders.nothing)"},
		knowledge.Metric{Name: "bad", Expr: "SUM(total)"}, knowledge.Metric{Name: "text", Unsupported: "a cumulative metric"},
		knowledge.Metric{Name: "weights", Expr: "SUM(orders.total * wrong.price)"})
	m.Terms = []knowledge.Term{
		{Words: []string{"paid"}, Expr: "orders.state = 'paid'"}, {Words: []string{"rep"}, Expr: "customers.name"},
		{Words: []string{"rule"}, Description: "without tax"}, {Words: []string{"moon"}, Expr: "moon.phase = 1"},
		{Words: []string{"gone"}, Expr: "orders.gone = 1"},
	}
	m.VerifiedQueries = []knowledge.VerifiedQuery{
		{Name: "good", Question: "q", SQL: "SELECT id FROM orders WHERE state = :s",
			Params: []knowledge.Param{{Name: "s", Default: "paid"}}},
		{Question: "Where is it?", SQL: "SELECT place FROM orders"},
		{Name: "unbound", Question: "q", SQL: "SELECT id FROM orders WHERE state = :s"},
		{Name: "logical", Question: "q", SQL: "SELECT has FROM passports", Logical: true},
		{Name: "logical with", Question: "q", SQL: "WITH p AS (SELECT is_paid FROM orders) SELECT * FROM p", Logical: true},
	}
	faults := testutil.Value(m.Check(t.Context(), db, "sqlite"))(t)
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	golden.Check(t, "faults.golden", strings.Join(lines, "\n")+"\n")
	key := faults[slices.IndexFunc(faults, func(f knowledge.Fault) bool { return f.Kind == "key" })]
	golden.Equal(t, knowledge.Fault{Kind: "key", Name: "lines", Detail: key.Detail, Columns: []string{"Order"}, Rows: 4,
		Distinct: 3}, key)

	sound := m.Without(faults)
	if again := testutil.Value(sound.Check(t.Context(), db, "sqlite"))(t); again != nil {
		t.Errorf("what is left is not sound: %v", again)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Check(ctx, db, "sqlite"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if faults, err := m.Check(t.Context(), gone{}, "sqlite"); !errors.Is(err, errGone) || faults != nil {
		t.Errorf("a database that cannot be asked is told as %v, %v", faults, err)
	}
	if _, err := m.Check(t.Context(), db, "oracle"); err == nil {
		t.Error("a dialect that nobody writes")
	}
}

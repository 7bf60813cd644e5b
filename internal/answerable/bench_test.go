package answerable_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/internal/answerable"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// wide is a question about n tables of ten columns, with a word that nothing stands for.
func wide(n int) answerable.Question {
	s := &schema.Schema{}
	for i := range n {
		t := schema.Table{Name: fmt.Sprintf("customer_orders_%d", i)}
		for j := range 10 {
			t.Columns = append(t.Columns, schema.Column{Name: fmt.Sprintf("shipping_address_%d_%d", j, i%500)})
		}
		s.Tables = append(s.Tables, t)
	}
	q := answerable.Question{
		Text: "What was the humidity of the orders by customer?", Schema: s, Dialect: sqltext.SQLite(),
		Candidates: samples("SELECT 1 FROM customer_orders_7"),
	}
	q.Snapshot = new(snapshot.Store).At(snapshot.Key{Database: "wide"}, s)
	return q
}

// TestWarmCost: the number of tables costs a warm question nothing, and its words are read once.
func TestWarmCost(t *testing.T) {
	allocations := func(n int) float64 {
		q := wide(n)
		return testing.AllocsPerRun(10, func() { q.Answerable() })
	}
	if small, large := allocations(100), allocations(10_000); large > small {
		t.Errorf("%v allocations on 100 tables, %v on 10,000", small, large)
	}
}

// TestNearestJSON: JSON has the nearest names.
func TestNearestJSON(t *testing.T) {
	text := string(testutil.Value(json.Marshal(wide(1).Answerable()))(t))
	golden.Equal(t, `{"score":0.6193,"unmet":["humidity"],"nearest":["customer_orders_0.shipping_address_0_0",`+
		`"customer_orders_0.shipping_address_1_0","customer_orders_0.shipping_address_2_0",`+
		`"customer_orders_0.shipping_address_3_0","customer_orders_0.shipping_address_4_0"]}`, text)
}

// BenchmarkAnswerable scores a question on 10,000 tables of ten columns, with a word that nothing stands for.
func BenchmarkAnswerable(b *testing.B) {
	q := wide(10_000)
	b.ReportAllocs()
	for b.Loop() {
		q.Answerable()
	}
}

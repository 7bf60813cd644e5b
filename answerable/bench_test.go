package answerable_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/answerable"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// BenchmarkAnswerable scores a question on 10,000 tables of ten columns, with a word that nothing stands for.
func BenchmarkAnswerable(b *testing.B) {
	s := &schema.Schema{}
	for i := range 10_000 {
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
	for b.Loop() {
		q.Answerable()
	}
}

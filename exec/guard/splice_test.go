package guard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/sqltext"
)

// TestSpliceGrows: rules add little, views what they are, and all of it has a bound.
func TestSpliceGrows(t *testing.T) {
	d := sqltext.SQLite()
	policy := guard.Policy{Rows: map[string]string{"orders": "id = 1"}}
	orders, view := guard.NewRelation("main", "orders", []string{"id"}), guard.NewRelation("main", "shown", []string{"id"})
	view.View, view.Under = true, []guard.Read{{Relation: orders, Columns: []string{"id"}}}
	c := &guard.Catalog{Text: d, Relations: []*guard.Relation{orders, view}, Rules: need.Value(guard.ReadRules(d, policy))(t)}
	need.OK(t, c.Apply(policy))
	quote := func(name string) string { return `"` + name + `"` }
	splice := func(of *guard.Relation, times, size int) (*guard.Splice, error) {
		text, spots := "SELECT 1 FROM ", []guard.Spot(nil)
		for range times {
			spots = append(spots, guard.Spot{Relation: of, Pos: len(text), End: len(text) + len(of.Name)})
			text += of.Name + ", "
		}
		const query = "SELECT id FROM orders"
		o := guard.SpliceOptions{Splicing: guard.Splicing{Quote: quote, QuoteSchema: quote}}
		o.View = func(*guard.Relation) (string, []string, []guard.Spot, error) {
			return query + strings.Repeat(" -1", size), []string{"id"}, []guard.Spot{{Relation: orders, Pos: len(query) - len("orders"), End: len(query)}}, nil
		}
		return c.Splice(strings.TrimSuffix(text, ", "), spots, o)
	}
	for _, test := range []struct {
		why         string
		of          *guard.Relation
		times, size int
		refused     bool
	}{
		{"a table", orders, 1, 0, false},
		{"a table five hundred times", orders, 500, 0, false},
		{"a table seven hundred times", orders, 700, 0, true},
		{"a long view", view, 1, 20_000, false},
		{"a short view a hundred times", view, 100, 10, false},
		{"a view that is over the bound by itself", view, 1, 60_000, true},
		{"a long view many times", view, 100, 1000, true},
		{"over a megabyte", view, 20, 30_000, true},
	} {
		out, err := splice(test.of, test.times, test.size)
		var refused *guard.RefusedError
		if (err != nil) != test.refused || err != nil && (!errors.As(err, &refused) || refused.Reason != exec.ReasonTooComplex) {
			t.Errorf("%s: %v", test.why, err)
		}
		if err == nil && len(out.Ranges) != test.times {
			t.Errorf("%s: %d places", test.why, len(out.Ranges))
		}
	}
}

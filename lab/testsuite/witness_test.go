package testsuite

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
)

// small is customers with their orders, as load would read them.
func small() *database {
	names := func(list ...string) []schema.Column {
		var columns []schema.Column
		for _, n := range list {
			columns = append(columns, schema.Column{Name: n})
		}
		return columns
	}
	make := func(name string, columns []schema.Column, rows ...[]any) *table {
		t := &table{def: schema.Table{Name: name, Columns: columns, PrimaryKey: []string{columns[0].Name}}, rows: rows}
		for _, c := range columns {
			t.columns = append(t.columns, column{Column: c})
		}
		t.columns[0].key = true
		t.unique = [][]int{{0}}
		return t
	}
	customers := make("customers", names("id", "country", "credit"),
		[]any{int64(1), "USA", 10.5}, []any{int64(2), "France", 20.25}, []any{int64(3), "Spain", nil})
	orders := make("orders", names("nr", "customer", "status", "day", "total"),
		[]any{int64(10), int64(1), "open", "2020-01-01", int64(5)}, []any{int64(11), int64(1), "done", "2020-02-01",
			int64(7)},
		[]any{int64(12), int64(2), "open", "2020-03-01", int64(9)})
	orders.def.ForeignKeys = []schema.ForeignKey{{Columns: []string{"customer"}, RefTable: "customers",
		RefColumns: []string{"id"}}}
	d := &database{tables: []*table{customers, orders}}
	d.link()
	for _, t := range d.tables {
		t.classify()
	}
	return d
}

func TestClassify(t *testing.T) {
	got := map[string]string{}
	for _, tab := range small().tables {
		for _, c := range tab.columns {
			got[tab.def.Name+"."+c.Name] = fmt.Sprintf("kind %d, key %v, foreign %v, pointed %v, scale %d", c.kind, c.key,
				c.foreign, c.pointed, c.scale)
		}
	}
	want := map[string]string{
		"customers.id":      "kind 0, key true, foreign false, pointed true, scale 0",
		"customers.country": "kind 3, key false, foreign false, pointed false, scale 0",
		"customers.credit":  "kind 1, key false, foreign false, pointed false, scale 2",
		"orders.nr":         "kind 0, key true, foreign false, pointed false, scale 0",
		"orders.customer":   "kind 0, key false, foreign true, pointed false, scale 0",
		"orders.status":     "kind 3, key false, foreign false, pointed false, scale 0",
		"orders.day":        "kind 2, key false, foreign false, pointed false, scale 0",
		"orders.total":      "kind 1, key false, foreign false, pointed false, scale 0",
	}
	golden.Equal(t, want, got)
}

func TestWitnesses(t *testing.T) {
	d := small()
	for _, test := range []struct {
		why, gold  string
		tables     []int
		conditions []condition
	}{
		{"no comparison, no witness", "SELECT * FROM orders", nil, nil},
		{
			"the table that leads to the other comes first",
			"SELECT c.id FROM customers c JOIN orders o ON o.customer = c.id WHERE c.country = 'Peru' AND o.total >= 8",
			[]int{1, 0}, []condition{{0, 1, "=", []any{"Peru"}}, {1, 4, ">=", []any{int64(8)}}},
		},
		{"whole numbers stay whole", "SELECT nr FROM orders WHERE total < 2.5", []int{1},
			[]condition{{1, 4, "<", []any{int64(3)}}}},
		{"decimals stay decimals", "SELECT id FROM customers WHERE credit > 2.5", []int{0},
			[]condition{{0, 2, ">", []any{2.5}}}},
		{"text is no number", "SELECT nr FROM orders WHERE total = 'much'", nil, nil},
		{"\"x\" is text where no such column is", `SELECT id FROM customers WHERE country = "Peru"`, []int{0},
			[]condition{{0, 1, "=", []any{"Peru"}}}},
		{"and a column where there is one", `SELECT id FROM customers WHERE country = "credit"`, nil, nil},
		{"an aggregate is no column", "SELECT customer FROM orders GROUP BY customer HAVING SUM(total) > 100", nil, nil},
	} {
		t.Run(test.why, func(t *testing.T) {
			var want []witness
			if test.tables != nil {
				want = []witness{{test.tables, test.conditions}}
			}
			got := witnesses(d, []Gold{{SQL: test.gold}})
			golden.Equal(t, want, got, cmp.AllowUnexported(witness{}, condition{}))
		})
	}
}

// What is planted must be found by the gold's comparisons, whatever the seed.
func TestPlant(t *testing.T) {
	d := small()
	const gold = "SELECT o.nr FROM customers c JOIN orders o ON o.customer = c.id " +
		"WHERE c.country = 'Peru' AND o.status = 'lost' AND o.day > '2031-05-05' AND o.total BETWEEN 40 AND 50"
	list := witnesses(d, []Gold{{SQL: gold}})
	found := 0
	for seed := range uint64(50) {
		v := &variation{database: d.clone()}
		p := planter{variation: v, looked: map[*reference]map[string][]any{}}
		r := newRandom(seed)
		p.write(&list[0], p.joined(&list[0], r), -1, r)
		for _, o := range v.tables[1].rows {
			for _, c := range v.tables[0].rows {
				total, _ := o[4].(int64)
				if o[1] == c[0] && c[1] == "Peru" && o[2] == "lost" && o[3] == "2031-05-06" && total >= 40 && total <= 50 {
					found++
				}
			}
		}
		if len(v.tables[0].rows) != 3 || len(v.tables[1].rows) != 3 || sameValue(d.tables[0].rows[0][1], "Peru") {
			t.Fatalf("seed %d: rows %v, base %v", seed, v.tables, d.tables[0].rows)
		}
	}
	if found != 50 {
		t.Errorf("the joined row is there for %d of 50 seeds", found)
	}
}

func TestScaled(t *testing.T) {
	money := column{kind: number, decimal: true, scale: 2}
	whole := column{kind: number}
	for _, test := range []struct {
		why    string
		c      column
		in     any
		factor float64
		want   any
	}{
		{"rounded to the decimals of the column", money, 10.25, 1.1, 11.28},
		{"a whole number among decimals", money, int64(10), 1.055, 10.55},
		{"whole numbers stay whole", whole, int64(5), .25, int64(1)},
		{"below zero", whole, int64(-5), 2.0, int64(-10)},
		{"too large to move", whole, int64(1) << 61, 3.0, int64(1) << 61},
		{"text is left alone", whole, "x", 2.0, "x"},
	} {
		if got := test.c.scaled(test.in, test.factor); got != test.want {
			t.Errorf("%s: got %v, want %v", test.why, got, test.want)
		}
	}
}

func TestShifted(t *testing.T) {
	for _, test := range []struct {
		why, in, layout string
		days            int
		want            string
	}{
		{"over a leap day", "2020-02-28", dateLayouts[0], 2, "2020-03-01"},
		{"with a time", "2019-12-31 23:59:59", dateLayouts[1], 1, "2020-01-01 23:59:59"},
		{"before the first year", "0001-01-02", dateLayouts[0], -400, "0001-01-02"},
		{"after the last", "9999-12-31", dateLayouts[0], 1, "9999-12-31"},
		{"no date", "soon", dateLayouts[0], 1, "soon"},
	} {
		if got := shifted(test.in, test.layout, test.days); got != test.want {
			t.Errorf("%s: got %s, want %s", test.why, got, test.want)
		}
	}
}

func TestKeyOf(t *testing.T) {
	for _, test := range []struct {
		why  string
		a, b any
		same bool
	}{
		{"one number in two types", int64(2), 2.0, true},
		{"numbers that differ", int64(2), 2.5, false},
		{"text is no number", int64(2), "2", false},
		{"text is no blob", "a", []byte("a"), false},
		{"equal text", "a", "a", true},
	} {
		if sameValue(test.a, test.b) != test.same {
			t.Errorf("%s: %v and %v", test.why, test.a, test.b)
		}
	}
	if _, ok := keyOf([]any{nil}, []int{0}); ok {
		t.Error("NULL is not a key")
	}
	one, _ := keyOf([]any{"a;t1:b", "c"}, []int{0, 1})
	two, _ := keyOf([]any{"a", "b;t1:c"}, []int{0, 1})
	if one == two {
		t.Error("two keys have one spelling")
	}
}

func FuzzWitnesses(f *testing.F) {
	f.Add("SELECT o.nr FROM customers c JOIN orders o ON o.customer = c.id WHERE c.country LIKE 'P%' "+
		"AND o.total BETWEEN 4 AND -5 GROUP BY c.id HAVING "+
		"SUM(o.total) > 5", uint64(1))
	f.Add("SELECT nr FROM orders GROUP BY customer HAVING COUNT(*) > 0 AND total IN (1, 'x', 2.5e300)", uint64(2))
	f.Add("SELECT SUM(total) AS s FROM orders GROUP BY day HAVING s = 99999999999999999999", uint64(3))
	d := small()
	f.Fuzz(func(t *testing.T, gold string, seed uint64) {
		list := witnesses(d, []Gold{{SQL: gold}})
		v := &variation{database: d.clone()}
		v.plant(list, newRandom(seed))
		for i, tab := range v.tables {
			for _, row := range tab.rows {
				for c, value := range row {
					col := tab.columns[c]
					switch value.(type) {
					case nil:
					case string:
						if !col.text {
							t.Fatalf("text in %s of table %d: %q", col.Name, i, gold)
						}
					case float64:
						if !col.decimal {
							t.Fatalf("a decimal in %s of table %d: %q", col.Name, i, gold)
						}
					}
				}
			}
		}
	})
}

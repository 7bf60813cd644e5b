package knowledge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/schema"
)

// TestStatement: the rows of verified queries, and the refusals.
func TestStatement(t *testing.T) {
	db := storeDB(t, exec.Policy{})
	param := func(defaults ...string) (list []knowledge.Param) {
		for i, d := range defaults {
			list = append(list, knowledge.Param{Name: fmt.Sprint("p", i), Default: d})
		}
		return list
	}
	for _, test := range []struct {
		reason, sql string
		logical     bool
		params      []knowledge.Param
		values      map[string]string
		want        string // rows, or a part of the error
	}{
		{"a default", "SELECT id FROM customers WHERE name = :p0", false, param("Ann"), nil, `[[1]]`},
		{"a value in its place", "SELECT id FROM customers WHERE name = :p0", false, param("Ann"),
			map[string]string{"p0": "Bo"}, `[[2]]`},
		{"an empty value is a value", "SELECT id FROM customers WHERE name = :p0", false, param("Ann"),
			map[string]string{"p0": ""}, `[]`},
		{"one of two, twice", "SELECT id FROM customers WHERE name IN (:p0, :p1) OR country = :p1", false, param("Ann", "Cy"),
			map[string]string{"p1": "SE"},
			`[[1],[2]]`},
		{"a name that begins like a parameter's", "SELECT :p0x", false, param("Ann"), nil, "placeholder"},
		{"a parameter in a text is text", "SELECT ':p0' || :p0", false, param("!"), nil, `[[":p0!"]]`},
		{"a value of a parameter that is not there", "SELECT 1", false, param("Ann"), map[string]string{"p7": "x"},
			"has no parameter p7"},
		{"a value that ends the text", "SELECT :p0", false, param("'; DROP TABLE orders; --"), nil,
			`[["'; DROP TABLE orders; --"]]`},
		{"a table of the model has its condition and its computed column", "SELECT count(*), sum(is_paid) FROM orders", true,
			nil, nil, `[[4,3]]`},
		{"a column that only a relationship names, from either side",
			`SELECT sum(customer), count(DISTINCT "Order") FROM orders, lines`, true, nil, nil, `[[16,3]]`},
		{"a source of another name", "SELECT count(*) FROM lines", true, nil, nil, `[[4]]`},
		{"a query with WITH", "with x AS (SELECT id FROM orders) SELECT count(*) FROM x JOIN passports ON customer = id",
			true, nil, nil, `[[1]]`},
		{"a stored table that the model has not", "SELECT count(*) FROM sqlite_master", true, nil, nil,
			"no table of the schema"},
		{"a column that the model does not name", "SELECT price FROM lines", true, nil, nil, "no such column"},
		{"the same without the model", `SELECT count(price) FROM "Order Details"`, true, nil, nil, `[[4]]`},
		{"not a query", "DELETE FROM orders", false, nil, nil, "knowledge: invalid"},
		{"two statements", "SELECT 1; SELECT 2", true, nil, nil, "knowledge: invalid"},
	} {
		v := knowledge.VerifiedQuery{Name: "v", Question: "q", SQL: test.sql, Logical: test.logical, Params: test.params}
		m := storeModel()
		before := string(testutil.Value(json.Marshal(m))(t))
		sql, err := m.Statement(v, test.values, "sqlite")
		got := ""
		if err == nil {
			if rows, failed := db.Query(t.Context(), sql); failed == nil {
				got = string(testutil.Value(rows.MarshalJSON())(t))
			} else {
				err = failed
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) || strings.HasPrefix(test.want, "[") &&
			!strings.Contains(got, `"rows":`+test.want) {
			t.Errorf("%s:\n%s\n%s\nwant %s", test.reason, sql, got, test.want)
		}
		for _, dialect := range []string{"duckdb", "postgres"} {
			m.Statement(v, test.values, dialect)
		}
		golden.Equal(t, before, string(testutil.Value(json.Marshal(m))(t)), test.reason+": the model itself")
	}
	var why *knowledge.RequestError
	if _, err := storeModel().Statement(knowledge.VerifiedQuery{SQL: "SELECT 1"}, nil, "oracle"); !errors.As(err, &why) ||
		why.Reason != "unsupported" {
		t.Error(err)
	}
}

// TestSourcesOfTheSameName: a source that reads a table of the model's name reads the stored one.
func TestSourcesOfTheSameName(t *testing.T) {
	db := storeDB(t, exec.Policy{})
	for _, test := range []struct{ reason, source, sql, want string }{
		{"its own name", "SELECT id FROM customers WHERE id < 3", "SELECT count(*) FROM customers", `[[2]]`},
		{"its own name twice, in other letters",
			"SELECT id FROM Customers WHERE id IN (SELECT c.id FROM customers c WHERE c.id = 1)",
			"SELECT count(*) FROM customers", `[[1]]`},
		{"a name of its own WITH", "WITH orders AS (SELECT 7 AS id) SELECT id FROM orders", "SELECT id FROM customers",
			`[[7]]`},
		{"another table of the model, with its deleted row", "SELECT id FROM orders",
			"SELECT count(*) FROM customers, orders", `[[20]]`},
	} {
		m := storeModel()
		i := slices.IndexFunc(m.Tables, func(t knowledge.Table) bool { return t.Name == "customers" })
		m.Tables[i] = knowledge.Table{Name: "customers", Source: test.source, Columns: []knowledge.Column{{Name: "id"}}}
		sql := testutil.Value(m.Statement(knowledge.VerifiedQuery{Name: "v", SQL: test.sql, Logical: true}, nil, "sqlite"))(t)
		rows, err := db.Query(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %s: %v", test.reason, sql, err)
			continue
		}
		if got := string(testutil.Value(rows.MarshalJSON())(t)); !strings.Contains(got, `"rows":`+test.want) {
			t.Errorf("%s: %s: %s, want %s", test.reason, sql, got, test.want)
		}
	}
}

// TestStored: the column of the database behind a name of the model.
func TestStored(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{{Name: "Order Details", Columns: []schema.Column{{Name: "Line"},
		{Name: "price"}}},
		{Name: "orders", Schema: "shop", Columns: []schema.Column{{Name: "Id"}, {Name: "state"}}}}}
	m := storeModel()
	m.Tables[1].Source = "shop.orders"
	m.Tables[1].Columns = append(m.Tables[1].Columns, knowledge.Column{Name: "phase", Expr: "state"})
	for _, test := range []struct{ reason, name, table, column string }{
		{"by its source", "lines.PRICE", "Order Details", "price"},
		{"by a source with a schema, in the database's case", "orders.id", "orders", "Id"},
		{"another name of a column", "orders.phase", "orders", "state"},
		{"a computed one is not stored", "orders.is_paid", "", ""},
		{"a column that is not there", "lines.weight", "", ""},
		{"a table of a query", "customers.id", "", ""},
		{"a table that the model does not name", `"Order Details".Line`, "Order Details", "Line"},
		{"a table that is nowhere", "moon.phase", "", ""},
		{"no table", "price", "", ""},
		{"more than a column", "lines.price + 1", "", ""},
		{"what nobody can read", "lines.(", "", ""},
	} {
		got, ok := m.Stored(s, test.name)
		if got.Table.Name != test.table || got.Column != test.column || ok != (test.column != "") {
			t.Errorf("%s: %s is %v, %t", test.reason, test.name, got, ok)
		}
	}
}

// TestExpressions records the text of metrics whose parts are easily torn apart: divisions, casts, signs, brackets and
// conditions.
func TestExpressions(t *testing.T) {
	m := knowledge.Model{
		Tables: []knowledge.Table{{Name: "a", Keys: [][]string{{"k"}}, Time: "at", Columns: []knowledge.Column{
			{Name: "half", Expr: "x / 2"}, {Name: "gone", Expr: "y IS NULL"}}},
			{Name: "b", Where: "live = 1", Keys: [][]string{{"k", "n"}}}},
		Relationships: []knowledge.Relationship{{From: "b", To: "a", On: [][2]string{{"a", "k"}}},
			{Name: "twin", From: "a", To: "a", On: [][2]string{{"t", "k"}}}},
		Metrics: []knowledge.Metric{{Name: "total", Expr: "SUM(a.x)"}, {Name: "n", Expr: "COUNT(a.*)"},
			{Name: "kept", Expr: "SUM(b.v)",
				Where: "b.v > 0 OR b.v IS NULL"}},
	}
	var b strings.Builder
	for _, expr := range []string{
		"SUM(a.x / -a.y)", "SUM(a.x / +a.y * 2)", "SUM(a.x / (a.y - 1))", "SUM(a.x / abs(a.y))",
		"SUM(a.x / CAST(a.y AS REAL))", "SUM(a.x / a.y / a.z)",
		"{total} / {n}",
		"1 - {total} / ({n} - 1)", "SUM(a.x) / COUNT(DISTINCT a.y)", "COUNT(DISTINCT a.*)", "COUNT(a.y)", "MIN(a.x)",
		"MAX(a.half)", "AVG(a.half) - AVG(a.x)",
		"SUM(a.gone)",
		"SUM(CASE WHEN a.x > 1 THEN a.x / a.y ELSE 0 END)", "SUM(a.x * b.v)", "SUM(twin.x)", "{total} - {kept}",
		"COALESCE({kept}, 0) / NULLIF({total}, 0)",
		"SUM(b.v) / SUM(a.x)", "COUNT(DISTINCT a.x + b.v)", "SUM(a.x) + SUM(a.x)", "-{total}", "{total} * {total}",
		"SUM(DISTINCT a.x)", "MAX(twin.x - a.x)",
	} {
		for _, where := range []string{"", "a.x > a.y / 2"} {
			m := m
			m.Metrics = append(m.Metrics[:len(m.Metrics):len(m.Metrics)], knowledge.Metric{Name: "m", Expr: expr, Where: where})
			sql, err := m.Compile(knowledge.Request{Metrics: []string{"m"}}, "sqlite")
			fmt.Fprintf(&b, "%s | %s\n   %s %v\n", expr, where, sql, err)
			if where != "" {
				continue
			}
			r := knowledge.Request{Metrics: []string{"m", "n"}, GroupBy: []string{"twin.at@month"}, OrderBy: []string{"-m"},
				Where: []string{"twin.x = 1"}, Limit: 3}
			sql, err = m.Compile(r, "sqlite")
			fmt.Fprintf(&b, "   %s %v\n", sql, err)
		}
	}
	golden.Check(t, "expressions.golden", b.String())
}

// TestProvenance: each kind in words, with what is known of it.
func TestProvenance(t *testing.T) {
	for _, test := range []struct {
		want string
		p    knowledge.Provenance
	}{
		{"by metric revenue", knowledge.Provenance{Kind: "metric", Name: "revenue", Owner: "ann"}},
		{"by term Nordic", knowledge.Provenance{Kind: "term", Name: "Nordic"}},
		{"has the form of a verified answer: sales", knowledge.Provenance{Kind: "confirmed-by", Name: "sales", On: "2026"}},
		{"verified", knowledge.Provenance{Kind: "verified", Name: "sales"}},
		{"verified, 2026", knowledge.Provenance{Kind: "verified", On: "2026"}},
		{"verified by ann (who: Bo)", knowledge.Provenance{Kind: "verified", Owner: "ann",
			Params: map[string]string{"who": "Bo"}}},
		{"verified by ann, 2026 (a: 1, b: 2, c: 3)",
			knowledge.Provenance{Kind: "verified", Owner: "ann", On: "2026", Params: map[string]string{"c": "3", "a": "1",
				"b": "2"}}},
	} {
		golden.Equal(t, test.want, test.p.String(), test.want)
	}
}

// TestStatementDialects: a parameter is a literal in every dialect, also where :name is no token of its own.
func TestStatementDialects(t *testing.T) {
	v := knowledge.VerifiedQuery{Name: "v", SQL: "SELECT id FROM customers WHERE name = :who AND note <> ':who'",
		Params: []knowledge.Param{{Name: "who", Default: "Ann"}}}
	for _, dialect := range []string{"sqlite", "postgres", "mysql", "duckdb", "trino"} {
		sql, err := (knowledge.Model{}).Statement(v, nil, dialect)
		golden.Equal(t, "SELECT id FROM customers WHERE name = 'Ann' AND note <> ':who'", sql, dialect, err)
	}
}

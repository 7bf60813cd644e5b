package knowledge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/knowledge/dbt"
	"github.com/texttosql/texttosql/knowledge/ossie"
	"github.com/texttosql/texttosql/knowledge/snowflake"
	"github.com/texttosql/texttosql/knowledge/wren"
)

type reader func(io.Reader) (knowledge.Model, error)

// TestReaders reads real files: how many tables, relationships and metrics they have, and how many metrics compile.
// What is read has one JSON form.
func TestReaders(t *testing.T) {
	for _, test := range []struct {
		file                                string
		read                                reader
		tables, relationships, metrics, can int
		lost                                string // in one of the lines
	}{
		{"dbt/acme/semantic_manifest.json", dbt.Read, 25, 32, 7, 7, ""},
		{"dbt/metricflow/simple_manifest.json", dbt.Read, 12, 29, 113, 45, "saved query p0_booking"},
		{"dbt/metricflow/multi_hop_join_manifest.json", dbt.Read, 5, 5, 2, 2, ""},
		{"dbt/metricflow/scd_manifest.json", dbt.Read, 7, 6, 3, 1, "the validity that window_start tells"},
		{"ossie/tpcds_semantic_model.json", ossie.Read, 5, 4, 5, 5, "the extension of SALESFORCE"},
		{"ossie/osi_2026-02_tpcds_semantic_model.json", ossie.Read, 5, 4, 5, 5, "the extension of DBT"},
		{"ossie/orders_fixture.json", ossie.Read, 2, 1, 2, 1, ""},
		{"snowflake/tpcds_semantic_model.json", snowflake.Read, 5, 4, 5, 5, ""},
		{"snowflake/revenue_timeseries.json", snowflake.Read, 4, 2, 4, 4, "product_line: its search service"},
		{"wren/v5-jaffle/apps/sales-report/mdl.json", wren.Read, 2, 1, 2, 2, "view customer_orders"},
		{"wren/mdl.json", wren.Read, 3, 2, 0, 0, "row rule rule1 of customer is NOT in force"},
		{"wren/q1.json", wren.Read, 3, 0, 0, 0, ""},
	} {
		m := modelFrom(t, evaldata.Knowledge(t, test.file), test.read)
		can := 0
		for _, x := range m.Metrics {
			_, err := m.Compile(knowledge.Request{Metrics: []string{x.Name}}, "sqlite")
			if (err == nil) != (x.Unsupported == "") {
				t.Errorf("%s: %s: %v, unsupported %q", test.file, x.Name, err, x.Unsupported)
			}
			if err == nil {
				can++
			}
		}
		got := []int{len(m.Tables), len(m.Relationships), len(m.Metrics), can}
		golden.Equal(t, []int{test.tables, test.relationships, test.metrics, test.can}, got, test.file)
		if test.lost != "" && !slices.ContainsFunc(m.Lost, func(line string) bool {
			return strings.Contains(line, test.lost)
		}) {
			t.Errorf("%s: %q is not among %q", test.file, test.lost, m.Lost)
		}
	}
}

// modelFrom reads a file and holds its JSON form against what Read makes of it.
func modelFrom(t *testing.T, file string, read reader) knowledge.Model {
	t.Helper()
	text := testutil.Value(os.ReadFile(file))(t)
	m := testutil.Value(read(bytes.NewReader(text)))(t, file)
	form := testutil.Value(json.Marshal(m))(t)
	again := testutil.Value(json.Marshal(testutil.Value(knowledge.Read(bytes.NewReader(form)))(t)))(t)
	golden.Equal(t, string(form), string(again), file)
	return m
}

// TestModels: the project's own files are read, and nothing in them is unknown.
func TestModels(t *testing.T) {
	files := testutil.Value(filepath.Glob(evaldata.Knowledge(t, "models", "*.json")))(t)
	if len(files) < 4 {
		t.Fatal(files)
	}
	for _, file := range files {
		modelFrom(t, file, knowledge.Read)
	}
}

// TestReadersRefuse: what is no file of the format is an error that says so.
func TestReadersRefuse(t *testing.T) {
	for name, read := range map[string]reader{"dbt": dbt.Read, "ossie": ossie.Read, "snowflake": snowflake.Read,
		"wren": wren.Read, "knowledge": knowledge.Read} {
		for _, text := range []string{"", "[]", "{",
			`{"semantic_models": 1, "tables": 1, "models": 1, "semantic_model": 1}`} {
			if _, err := read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("%s: %q: %v", name, text, err)
			}
		}
		if _, err := read(strings.NewReader("{}")); (err == nil) != (name == "knowledge") {
			t.Errorf("%s: an empty object: %v", name, err)
		}
	}
	_, err := ossie.Read(strings.NewReader(`{"ontology": [{"concept": "Feet"}]}`))
	if err == nil || !strings.Contains(err.Error(), "ontology") || !strings.Contains(err.Error(), "semantic_model") {
		t.Error(err)
	}
	if _, err := knowledge.Read(strings.NewReader("{} {}")); err == nil {
		t.Error("two objects")
	}
}

const manifest = `{"semantic_models": [
 {"name": "orders", "node_relation": {"alias": "fct_orders", "schema_name": "mart", "database": "prod"}, "primary_entity": "order",
  "defaults": {"agg_time_dimension": "at"},
  "entities": [{"name": "customer", "type": "foreign", "expr": "customer_id"}, {"name": "place", "type": "foreign", "expr": "lower(city)"}%[2]s],
  "dimensions": [{"name": "at", "type": "time", "expr": "created", "type_params": {"time_granularity": "day"}}, {"name": "status", "type": "categorical"},
   {"name": "total", "type": "categorical", "expr": "round(total)"}],
  "measures": [{"name": "total", "agg": "sum", "expr": "total"}, {"name": "n", "agg": "count", "expr": "1"}, {"name": "two", "agg": "sum", "expr": "2"},
   {"name": "share", "agg": "average", "expr": "CASE WHEN status = 'paid' THEN 1 ELSE 0 END"}, {"name": "who", "agg": "count_distinct", "expr": "customer_id"},
   {"name": "middle", "agg": "median"}, {"name": "paid", "agg": "sum_boolean", "expr": "status = 'paid'"}]},
 {"name": "customers", "node_relation": {"alias": "customers"}, "entities": [{"name": "customer", "type": "primary", "expr": "id"}%[3]s],
  "dimensions": [{"name": "country", "type": "categorical"}]}],
 "metrics": [%[1]s]}`

// TestDBT: measures, filters and parts of metrics, one row each.
func TestDBT(t *testing.T) {
	simple := func(measure, rest string) string {
		return `{"name": "x", "type": "simple", "type_params": {"measure": {"name": "` + measure + `"}}` + rest + `}`
	}
	filter := func(sql string) string {
		return simple("n", `, "filter": {"where_filters": [{"where_sql_template": `+
			string(testutil.Value(json.Marshal(sql))(t))+`}]}`)
	}
	for _, test := range []struct{ why, metric, expr, where, unsupported string }{
		{"1 counts rows", simple("n", ""), "COUNT(orders.*)", "", ""},
		{"an expression over columns", simple("share", ""), "AVG(CASE WHEN orders.status = 'paid' THEN 1 ELSE 0 END)", "",
			""},
		{"different values", simple("who", ""), "COUNT(DISTINCT orders.customer_id)", "", ""},
		{"a condition that is added up", simple("paid", ""), "SUM(CASE WHEN orders.status = 'paid' THEN 1 ELSE 0 END)", "",
			""},
		{"a column whose name a dimension takes", simple("total", ""), "SUM(orders.total_measure)", "", ""},
		{"a constant is a column of the table", simple("two", ""), "SUM(orders.two)", "", ""},
		{"a median", simple("middle", ""), "", "", "a median"},
		{"no measure", simple("nobody", ""), "", "", "is nowhere"},
		{"the entity's own dimension", filter("{{ Dimension('order__status') }} = 'paid'"), "COUNT(orders.*)",
			"orders.status = 'paid'", ""},
		{"a joined dimension", filter("{{Dimension('customer__country')}} IN ('NO', 'SE')\n"), "COUNT(orders.*)",
			"customers.country IN ('NO', 'SE')", ""},
		{"a longer path", filter("{{ Dimension('order__customer__country') }} = 'NO'"), "COUNT(orders.*)",
			"customers.country = 'NO'", ""},
		{"an entity", filter("{{ Entity('customer') }} IS NOT NULL"), "COUNT(orders.*)", "orders.customer_id IS NOT NULL",
			""},
		{"a day of days", filter("{{ TimeDimension('order__at', 'day') }} > '2024-01-01'"), "COUNT(orders.*)",
			"orders.at > '2024-01-01'", ""},
		{"a month of days", filter("{{ TimeDimension('order__at', 'month') }} > '2024-01-01'"), "COUNT(orders.*)", "",
			"which 0 tables have"},
		{"a metric in a filter", filter("{{ Metric('n', ['customer']) }} > 2"), "COUNT(orders.*)", "",
			"a template that is not read"},
		{"a query in a filter", filter("{{ Dimension('order__status') }} = 'paid') OR (SELECT 1) = (1"),
			"COUNT(orders.*)", "orders.status = 'paid') OR (SELECT 1) = (1", "SELECT in an expression"},
		{"a filter of a part", `{"name": "x", "type": "derived", "type_params": {"expr": "n", "metrics": [{"name": ` +
			`"n", "filter": {"where_filters": [{"where_sql_template": "1"}]}}]}}`,
			"", "", "a filter of n alone"},
		{"a value for NULL", `{"name": "x", "type": "simple", "type_params": {"measure": {"name": "n", ` +
			`"fill_nulls_with": 0}}}`, "COALESCE(COUNT(orders.*), 0)", "", ""},
		{"a cumulative metric", `{"name": "x", "type": "cumulative", "type_params": {"measure": {"name": "n"}}}`, "", "",
			"a cumulative metric"},
		{"an offset", `{"name": "x", "type": "derived", "type_params": {"expr": "n", "metrics": [{"name": "n", ` +
			`"offset_window": {"count": 1}}]}}`, "", "", "an offset in time"},
		{"parts by their aliases", simple("n", "") + `, {"name": "y", "type": "derived", "type_params": {"expr": "(a ` +
			`- x) / a", "metrics": [{"name": "x", "alias": "a"}, {"name": "x"}]}}`,
			"({x} - {x}) / {x}", "", ""},
		{"a ratio", simple("n", "") + `, {"name": "y", "type": "ratio", "type_params": {"numerator": {"name": "x"}, ` +
			`"denominator": {"name": "x"}}}`, "{x} / {x}", "", ""},
		{"a part that is not held", simple("middle", "") + `, {"name": "y", "type": "derived", "type_params": ` +
			`{"expr": "x", "metrics": [{"name": "x"}]}}`,
			"{x}", "", "its metric x is not held"},
	} {
		m := testutil.Value(dbt.Read(strings.NewReader(fmt.Sprintf(manifest, test.metric, "", ""))))(t, test.why)
		got := m.Metrics[len(m.Metrics)-1]
		if got.Expr != test.expr && test.expr != "" || got.Where != test.where ||
			!strings.Contains(got.Unsupported, test.unsupported) ||
			(got.Unsupported == "") != (test.unsupported == "") {
			t.Errorf("%s: %+v", test.why, got)
		}
	}
	m := testutil.Value(dbt.Read(strings.NewReader(fmt.Sprintf(manifest, "", "",
		`, {"name": "place", "type": "unique"}`))))(t)
	golden.Equal(t, "mart.fct_orders", m.Tables[0].Source)
	golden.Equal(t, []knowledge.Relationship{
		{From: "orders", To: "customers", On: [][2]string{{"customer_id", "id"}}},
		{Name: "place", From: "orders", To: "customers", On: [][2]string{{"place", "place"}}},
	}, m.Relationships)
	sql := testutil.Value(testutil.Value(dbt.Read(strings.NewReader(fmt.Sprintf(manifest, simple("total", ""), "",
		""))))(t).Compile(knowledge.Request{Metrics: []string{"x"}}, "sqlite"))(t)
	golden.Equal(t, "SELECT SUM(t0.`total_measure`) AS `x` FROM (SELECT `total` AS `total_measure` "+
		"FROM `mart`.`fct_orders`) AS t0", sql)
}

// TestSnowflake: verified queries name logical columns and run; metrics of tables, of metrics, and filters.
func TestSnowflake(t *testing.T) {
	m := testutil.Value(
		snowflake.Read(
			strings.NewReader(`{"tables": [{"name": "revenue", "base_table": {"database": "D", "schema": "", "table": "orders"},
	  "primary_key": {"columns": ["id"]}, "dimensions": [{"name": "id", "expr": "id"}, {"name": "status", "expr": "state", "sample_values": ["paid", 1]}],
	  "facts": [{"name": "amount", "expr": "total", "default_aggregation": "sum"}],
	  "metrics": [{"name": "n", "expr": "COUNT(*)"}, {"name": "mean", "expr": "amount_sum / n"}, {"name": "amount_sum", "expr": "SUM(amount)"}],
	  "filters": [{"name": "is_paid", "expr": "status = 'paid'", "synonyms": ["settled"]}]}],
	 "metrics": [{"name": "per_order", "expr": "revenue.amount_sum / revenue.n"}],
	 "relationships": [{"name": "r", "left_table": "revenue", "right_table": "revenue", "relationship_type": "many_to_many"}],
	 "module_custom_instructions": {"sql_generation": "No tax."},
	 "verified_queries": [{"name": "v", "question": "How much?",
 "sql": "SELECT SUM(amount) FROM revenue WHERE status = 'paid';", "verified_by": "ann", "verified_at": 1714752498}]}`)))(t)
	golden.Equal(t, []knowledge.Term{{Words: []string{"is paid", "settled"}, Expr: "revenue.status = 'paid'"}}, m.Terms)
	golden.Equal(t, []string{"relationship r: it is many_to_many"}, m.Lost)
	golden.Equal(t, "2024-05-03", m.VerifiedQueries[0].VerifiedAt)
	var exprs []string
	for _, x := range m.Metrics {
		exprs = append(exprs, x.Name+": "+x.Expr+x.Unsupported)
	}
	golden.Equal(t, []string{"amount: SUM(revenue.amount)", "n: COUNT(revenue.*)", "mean: {amount_sum} / {n}",
		"amount_sum: SUM(revenue.amount)", "per_order: {amount_sum} / {n}"}, exprs)
	sql := testutil.Value(m.Statement(m.VerifiedQueries[0], nil, "sqlite"))(t)
	rows := testutil.Value(storeDB(t, exec.Policy{}).Query(t.Context(), sql))(t, sql)
	golden.Equal(t, []any{179.0}, rows.Rows[0])
}

// TestWren: every shape of a relationship and of a key, and rules that are not in force.
func TestWren(t *testing.T) {
	m := testutil.Value(
		wren.Read(strings.NewReader(
			`{"models": [{"name": "a", "tableReference": {"catalog": "c", "schema": "s", "table": "t"},
	  "primaryKey": ["x", "y"],
	  "uniqueKeys": ["z"], "columns": [{"name": "x", "properties": {"description": "d", "displayName": "X"}, "columnLevelAccessControl": {"name": "hide"}},
	  {"name": "sum", "expression": "x + y", "isCalculated": true}]}, {"name": "b", "refSql": "SELECT 1 AS k", "columns": []}],
	 "relationships": [{"name": "ab", "models": ["a", "b"], "joinType": "ONE_TO_MANY", "condition": "a.x = b.k AND b.l = a.y"},
	  {"name": "one", "models": ["a", "b"], "joinType": "ONE_TO_ONE", "condition": "a.z = b.k"},
	  {"name": "odd", "models": ["a", "b"], "joinType": "MANY_TO_ONE", "condition": "a.x > b.k"},
	  {"name": "many", "models": ["a", "b"], "joinType": "MANY_TO_MANY", "condition": "a.x = b.k"}],
	 "cubes": [{"name": "c", "baseObject": "a", "measures": [{"name": "m", "expression": "SUM(sum)"}, {"name": "m", "expression": "COUNT(*)"}]}]}`)))(t)
	golden.Equal(t, []knowledge.Relationship{
		{Name: "ab", From: "b", To: "a", On: [][2]string{{"k", "x"}, {"l", "y"}}},
		{Name: "one", From: "a", To: "b", On: [][2]string{{"z", "k"}}},
	}, m.Relationships)
	golden.Equal(t, [][]string{{"x", "y"}, {"z"}}, m.Tables[0].Keys)
	golden.Equal(t, []knowledge.Metric{{Name: "m", Expr: "SUM(a.sum)"}, {Name: "c_m", Expr: "COUNT(a.*)"}}, m.Metrics)
	golden.Equal(t, []string{"column rule hide of a.x is NOT in force: deny the column in the policy",
		"relationship odd: its condition is no equality of columns: a.x > b.k", "relationship many: MANY_TO_MANY"}, m.Lost)
}

// FuzzReaders: no text makes a reader panic, and what is read has a JSON form.
func FuzzReaders(f *testing.F) {
	f.Add(fmt.Sprintf(manifest, `{"name": "x", "type": "simple", "type_params": {"measure": {"name": "n"}}}`, "", ""))
	f.Add(`{"semantic_model": [{"name": "m", "datasets": [{"name": "d", "source": "s", "ai_context": "x"}], ` +
		`"metrics": [{"name": "x", "expression": {"dialects": [{"dialect": "A", "expression": "SUM(y)"}]}}]}]}`)
	f.Add(`{"tables": [{"name": "t", "metrics": [{"name": "n", "expr": "COUNT(*)"}]}], "models": [{"name": "a"}], "cubes": [{"measures": [{}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []reader{dbt.Read, ossie.Read, snowflake.Read, wren.Read, knowledge.Read} {
			if m, err := read(strings.NewReader(text)); err == nil {
				testutil.Value(json.Marshal(m))(t)
			}
		}
	})
}

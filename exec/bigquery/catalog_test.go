package bigquery_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// TestInspect has what a table may have: records, keys, partitions, clusters, descriptions, defaults, a view, and a
// dataset of another project.
func TestInspect(t *testing.T) {
	f := newFake(t)
	in := project + "." + home + "."
	f.tables[in+"customers"] = fakeTable{
		meta: `{"type": "TABLE", "description": "Who buys", "etag": "x", "schema": {"fields": [
 {"name": "id", "type": "INTEGER", "mode": "REQUIRED", "description": "key"},
 {"name": "note", "type": "STRING", "maxLength": "20", "defaultValueExpression": "'none'"},
 {"name": "address", "type": "RECORD", "mode": "REQUIRED", "fields": [{"name": "city", "type": "STRING", "mode": "REQUIRED"},
  {"name": "geo", "type": "RECORD", "fields": [{"name": "at", "type": "GEOGRAPHY", "mode": "REQUIRED"}]}]},
 {"name": "tags", "type": "STRING", "mode": "REPEATED"}]},
 "tableConstraints": {"primaryKey": {"columns": ["id"]}}}`}
	f.tables[in+"orders"] = fakeTable{
		meta: `{"type": "TABLE", "requirePartitionFilter": true, "timePartitioning": {"type": "DAY", "field": "day"},
 "clustering": {"fields": ["customer", "day"]},
 "schema": {"fields": [{"name": "day", "type": "DATE"}, {"name": "customer", "type": "INTEGER"},
 {"name": "amount", "type": "NUMERIC", "precision": "10", "scale": "2"}, {"name": "span", "type": "RANGE", "rangeElementType": {"type": "DATE"}},
 {"name": "lines", "type": "RECORD", "mode": "REPEATED", "description": "what was bought", "fields": [
  {"name": "sku", "type": "STRING", "description": "stock number"},
  {"name": "n", "type": "INTEGER"}]}]},
 "tableConstraints": {"foreignKeys": [{"name": "k", "referencedTable": {"projectId": "` + project + `", "datasetId": "` + home + `", "tableId": "customers"},
  "columnReferences": [{"referencingColumn": "customer", "referencedColumn": "id"}]}]}}`}
	f.tables[in+"few"] = fakeTable{meta: metaView("SELECT id FROM " + home + ".customers")}
	f.tables["public-project.pub.cities"] = fakeTable{meta: metaT}
	db := database(t, f, bq.Config{Datasets: []string{"public-project.pub"}}, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	s.Version = ""
	want := &schema.Schema{Dialect: "bigquery", Default: home, Tables: []schema.Table{
		{Schema: "public-project.pub", Name: "cities", Kind: "table", Columns: []schema.Column{{Name: "a", Type: "INT64"},
			{Name: "b", Type: "STRING"}}},
		{Name: "customers", Kind: "table", Description: "Who buys", PrimaryKey: []string{"id"}, Columns: []schema.Column{
			{Name: "id", Type: "INT64", NotNull: true, Description: "key"},
			{Name: "note", Type: "STRING(20)", Default: "'none'"},
			{Name: "address.city", Type: "STRING", NotNull: true}, {Name: "address.geo.at", Type: "GEOGRAPHY"},
			{Name: "tags", Type: "ARRAY<STRING>"},
		}},
		{Name: "few", Kind: "view", Columns: []schema.Column{{Name: "id", Type: "INT64"}}},
		{Name: "orders", Kind: "table", Description: "Partitioned by day (day), and a filter on that is required. " +
			"Clustered by customer, day.",
			ForeignKeys: []schema.ForeignKey{{Columns: []string{"customer"}, RefTable: "customers", RefColumns: []string{"id"}}},
			Columns: []schema.Column{
				{Name: "day", Type: "DATE"}, {Name: "customer", Type: "INT64"}, {Name: "amount", Type: "NUMERIC(10, 2)"},
				{Name: "span", Type: "RANGE<DATE>"},
				{Name: "lines", Type: "ARRAY<STRUCT<sku STRING, n INT64>>", Description: "what was bought; sku: stock number"},
			}},
	}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	d := bq.Dialect{}.Language()
	for column, quoted := range map[string]string{"address.city": "`address`.`city`", "note": "`note`"} {
		if got := d.Quote(column); got != quoted {
			t.Errorf("%s is quoted %s", column, got)
		}
	}
	if got := s.Tables[0].TableName().Quoted(d); got != "`public-project`.`pub`.`cities`" {
		t.Errorf("a table of another project is quoted %s", got)
	}
}

// TestRefresh: within Config.Refresh nothing is asked for again, and what did not change is not read again.
func TestRefresh(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{Refresh: time.Hour}, exec.Config{})
	first := testutil.Value(db.Schema(t.Context()))(t)
	asked := f.count("table")
	second, err := db.Schema(t.Context())
	if err != nil || second != first || f.count("table") != asked || f.count("list") != 1 {
		t.Errorf("a second look asked for %d tables and %d lists, %v", f.count("table")-asked, f.count("list"), err)
	}
	if _, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil || f.count("table") != asked {
		t.Errorf("a statement asked for %d tables, %v", f.count("table")-asked, err)
	}
}

// TestStrict: a column that a policy denies is denied as soon as it is there, whatever Config.Refresh says.
func TestStrict(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{Refresh: time.Hour},
		exec.Config{Policy: exec.Policy{DenyColumns: []string{"password"}}})
	testutil.Value(db.Query(t.Context(), "SELECT * FROM t"))(t)
	f.mu.Lock()
	f.tables[project+"."+home+".t"] = fakeTable{meta: metaKeys}
	f.mu.Unlock()
	time.Sleep(1100 * time.Millisecond) // the age that is told
	if _, err := db.Query(t.Context(), "SELECT * FROM t"); !isRefused("column")(err) {
		t.Errorf("a new column: %v", err)
	}
}

// TestNewTable: a table, and a column that was hidden, are there for the first statement that names them, whatever
// Config.Refresh says.
func TestNewTable(t *testing.T) {
	for _, test := range []struct {
		why    string
		policy exec.Policy
		before fakeTable // of the table called late; zero: it is not there
		after  fakeTable
		sql    string
	}{
		{why: "the service knows it, and the catalog does not", after: fakeTable{meta: metaT}, sql: "SELECT a FROM late"},
		{why: "the same where tables are denied", policy: noUsers, after: fakeTable{meta: metaT}, sql: "SELECT a FROM late"},
		{why: "the same where columns are denied", policy: noPass, after: fakeTable{meta: metaT}, sql: "SELECT a FROM late"},
		{why: "a view that read a denied column", policy: noPass,
			before: fakeTable{meta: metaView("SELECT password FROM suite_data.users")},
			after:  fakeTable{meta: metaView("SELECT id FROM suite_data.users")}, sql: "SELECT id FROM late"},
		{why: "a view in the place of a table", policy: noPass, before: fakeTable{meta: metaT},
			after: fakeTable{meta: metaView("SELECT id FROM suite_data.users")}, sql: "SELECT id FROM late"},
	} {
		f := hostileFake(t)
		set := func(table fakeTable) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if table.meta != "" {
				f.tables[project+"."+home+".late"] = table
			}
		}
		set(test.before)
		db := database(t, f, bq.Config{Refresh: time.Hour}, exec.Config{Policy: test.policy})
		if _, err := db.Query(t.Context(), test.sql); (err == nil) != (test.before.meta == metaT) {
			t.Errorf("%s: before: %v", test.why, err)
		}
		set(test.after)
		time.Sleep(1100 * time.Millisecond) // the age of what is looked at again
		if _, err := db.Query(t.Context(), test.sql); err != nil {
			t.Errorf("%s: %v", test.why, err)
		}
		if _, err := db.Query(t.Context(), test.sql); err != nil || f.count("list") != 1 {
			t.Errorf("%s: again: %v, after %d lists", test.why, err, f.count("list"))
		}
	}
}

func TestPolicyNames(t *testing.T) {
	f := hostileFake(t)
	for _, test := range []struct {
		policy  exec.Policy
		unknown string // "": none
		refused string // a statement that is refused then
	}{
		{exec.Policy{DenyColumns: []string{"public-project.pub.cities.b"}}, "", "SELECT b FROM `public-project.pub.cities`"},
		{exec.Policy{DenyColumns: []string{home + ".users.password"}}, "", "SELECT password FROM users"},
		{exec.Policy{DenyTables: []string{"public-project.pub.cities"}}, "", "SELECT a FROM `public-project.pub.cities`"},
		{exec.Policy{DenyColumns: []string{`users."address.city"`}}, "", "SELECT address.city FROM users"},
		{exec.Policy{DenyColumns: []string{"users.address"}}, "users.address", ""},
		{exec.Policy{DenyColumns: []string{"users.orders.sku"}}, "users.orders.sku", ""},
		{exec.Policy{DenyTables: []string{project + "." + home + ".users"}}, project + "." + home + ".users", ""},
		{exec.Policy{AllowTables: []string{"public-project.pub.nosuch"}}, "public-project.pub.nosuch", ""},
	} {
		db := database(t, f, bq.Config{Datasets: []string{"public-project.pub"}}, exec.Config{Policy: test.policy})
		err := db.Ready(t.Context())
		var unknown *exec.PolicyError
		if (test.unknown == "") != (err == nil) || test.unknown != "" &&
			(!errors.As(err, &unknown) || !strings.Contains(err.Error(), test.unknown)) {
			t.Errorf("%+v: %v", test.policy, err)
		}
		if test.refused == "" {
			continue
		}
		if _, err := db.Query(t.Context(), test.refused); !exec.IsRejection(err) {
			t.Errorf("%+v: %s: %v", test.policy, test.refused, err)
		}
		if _, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil {
			t.Errorf("%+v: another table: %v", test.policy, err)
		}
	}
}

// TestAllowedFunction: a function of the user runs where the policy names it.
func TestAllowedFunction(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{}, exec.Config{Policy: exec.Policy{AllowFunctions: []string{`"suite_data.f"`}}})
	if _, err := db.Query(t.Context(), "SELECT suite_data.f(a) FROM t"); err != nil {
		t.Error(err)
	}
	if _, err := db.Query(t.Context(), "SELECT suite_data.g(a) FROM t"); !isRefused("function")(err) {
		t.Error(err)
	}
}

// TestAnalysis: what a statement reads, in the words of the schema.
func TestAnalysis(t *testing.T) {
	f := hostileFake(t)
	db := database(t, f, bq.Config{}, exec.Config{})
	a, err := db.Analyze(t.Context(), "SELECT upper(u.address.city), SAFE.LENGTH(w.id) FROM users AS u "+
		"JOIN v_ok AS w USING (id)")
	want := exec.Analysis{Kind: "select", Inexact: true, Functions: []string{"length", "upper"}, Tables: []exec.TableRead{
		{Schema: home, Table: "users", Columns: []string{"address.city", "id", "name"}},
		{Schema: home, Table: "v_ok", Columns: []string{"id"}},
	}}
	if diff := cmp.Diff(want, a); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestSampleCostsNothing: rows of a table come from tabledata.list, and no job runs, not even a dry one. A view has
// none.
func TestSampleCostsNothing(t *testing.T) {
	f := hostileFake(t)
	name := project + "." + home + ".users"
	users := f.tables[name]
	for i := range 1200 {
		const row = `{"f": [{"v": "%d"}, {"v": "name %d"}, {"v": "s3cret"}, {"v": {"f": [{"v": "Köln am Rhein"}, {"v": null}]}}, {"v": []}]}`
		users.rows = append(users.rows, fmt.Sprintf(row, i, i))
	}
	f.tables[name] = users
	db := database(t, f, bq.Config{}, exec.Config{Policy: noPass})
	s := testutil.Value(db.Schema(t.Context()))(t)
	looked := f.count("dry") // at views, for the policy
	table, _ := s.Lookup("", "users")
	view, _ := s.Lookup("", "v_ok")
	sample, err := db.Sample(t.Context(), *table, exec.SampleOptions{Rows: 2, Cut: 6})
	want := &result.Table{Columns: []string{"id", "name", "address.city", "address.door", "orders"},
		Rows: [][]any{{int64(0), "name 0", "Köln a", nil, "[]"}, {int64(1), "name 1", "Köln a", nil, "[]"}}}
	if diff := cmp.Diff(want.Rows, sample.Rows); err != nil || diff != "" {
		t.Error(err, diff)
	}
	spread, err := db.Sample(t.Context(), *table, exec.SampleOptions{Rows: 100, Spread: true, Seed: 4})
	byID := func(a, b []any) int { return int(a[0].(int64) - b[0].(int64)) }
	if err != nil || len(spread.Rows) != 100 || spread.Rows[99][0].(int64) < 1100 ||
		!slices.IsSortedFunc(spread.Rows, byID) {
		t.Errorf("a spread sample: %v, %v", spread, err)
	}
	profiled := testutil.Value(db.Profile(t.Context(), &schema.Schema{Dialect: s.Dialect, Default: home,
		Tables: []schema.Table{*table}}, exec.ProfileOptions{Rows: 100, Count: 1000, Seed: 1}))(t)
	if p, _ := profiled.Lookup("", "users"); p.Rows == nil || *p.Rows != 1000 || !p.RowsAtLeast {
		t.Errorf("the profile has %v rows", p.Rows)
	}
	if f.count("dry") != looked || f.count("insert") > 0 {
		t.Errorf("%d dry runs and %d jobs for samples", f.count("dry")-looked, f.count("insert"))
	}
	if _, err := db.Sample(t.Context(), *view, exec.SampleOptions{Rows: 2}); err != nil || f.count("insert") != 1 {
		t.Errorf("the sample of a view: %d jobs, %v", f.count("insert"), err)
	}
}

// TestValues has a value of each type as the API writes it, and what a result holds.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		field, cell string
		want        any
	}{
		{`"type": "INTEGER"`, `"9223372036854775807"`, int64(math.MaxInt64)},
		{`"type": "INTEGER"`, `null`, nil},
		{`"type": "FLOAT"`, `"0.1"`, 0.1},
		{`"type": "FLOAT"`, `"-Infinity"`, math.Inf(-1)},
		{`"type": "BOOLEAN"`, `"true"`, true},
		{`"type": "STRING"`, `"北京"`, "北京"},
		{`"type": "STRING"`, `""`, ""},
		{`"type": "BYTES"`, `"AP8="`, []byte{0, 255}},
		{`"type": "NUMERIC"`, `"12.500000000"`, result.Decimal("12.5")},
		{`"type": "NUMERIC"`, `"3"`, result.Decimal("3")},
		{`"type": "NUMERIC"`, `"99999999999999999999999999999.999999999"`,
			result.Decimal("99999999999999999999999999999.999999999")},
		{`"type": "BIGNUMERIC"`, `"0.00000000000000000000000000000000000001"`,
			result.Decimal("0.00000000000000000000000000000000000001")},
		{`"type": "BIGNUMERIC"`, `"578960446186580977117854925043439539266"`,
			result.Decimal("578960446186580977117854925043439539266")},
		{`"type": "DATE"`, `"2024-02-29"`, "2024-02-29"},
		{`"type": "DATE"`, `"0001-01-01"`, "0001-01-01"},
		{`"type": "TIME"`, `"12:30:00.500000"`, "12:30:00.5"},
		{`"type": "DATETIME"`, `"2024-02-29T12:30:00"`, "2024-02-29 12:30:00"},
		{`"type": "TIMESTAMP"`, `"1709209800123456"`, "2024-02-29 12:30:00.123456Z"},
		{`"type": "TIMESTAMP"`, `"-62135596800000000"`, "0001-01-01 00:00:00Z"},
		{`"type": "INTERVAL"`, `"1-2 3 4:5:6.5"`, "1-2 3 4:5:6.5"},
		{`"type": "GEOGRAPHY"`, `"POINT(1 2)"`, "POINT(1 2)"},
		{`"type": "JSON"`, `"{\"b\":1,\"a\":[null]}"`, `{"b":1,"a":[null]}`},
		{`"type": "RANGE", "rangeElementType": {"type": "DATE"}`, `"[2024-01-01, UNBOUNDED)"`, "[2024-01-01, UNBOUNDED)"},
		{`"type": "RANGE", "rangeElementType": {"type": "TIMESTAMP"}`, `"[UNBOUNDED, 1709209800000000)"`,
			"[UNBOUNDED, 2024-02-29 12:30:00Z)"},
		{`"type": "INTEGER", "mode": "REPEATED"`, `[{"v": "1"}, {"v": "2"}]`, "[1,2]"},
		{`"type": "STRING", "mode": "REPEATED"`, `[]`, "[]"},
		{`"type": "STRING", "mode": "REPEATED"`, `[{"v": "<a&b>\"\n"}]`, `["<a&b>\"\n"]`},
		{`"type": "RECORD", "fields": [{"name": "z", "type": "NUMERIC"}, {"name": "a", "type": "BYTES"}, {"name": "j", "type": "JSON"}, {"name": "d", "type": "DATE"},
 {"name": "f", "type": "FLOAT"}, {"name": "t", "type": "BOOLEAN"}, {"name": "n", "type": "STRING"}]`,
			`{"f": [{"v": "1.50"}, {"v": "AP8="}, {"v": "{\"x\": 1}"}, {"v": "2024-02-29"}, {"v": "NaN"}, {"v": "false"}, {"v": null}]}`,
			`{"z":1.5,"a":"AP8=","j":{"x":1},"d":"2024-02-29","f":"NaN","t":false,"n":null}`},
		{`"type": "RECORD", "mode": "REPEATED", "fields": [{"name": "k", "type": "STRING"}, {"name": "v", "type": "INTEGER", "mode": "REPEATED"}]`,
			`[{"v": {"f": [{"v": "a"}, {"v": [{"v": "1"}]}]}}, {"v": {"f": [{"v": "b"}, {"v": []}]}}]`,
			`[{"k":"a","v":[1]},{"k":"b","v":[]}]`},
	} {
		f := hostileFake(t)
		f.always = &answer{`{"fields": [{"name": "x", ` + test.field + `}]}`, []string{`{"f": [{"v": ` + test.cell + `}]}`}}
		table, err := database(t, f, bq.Config{}, exec.Config{}).Query(t.Context(), "SELECT a FROM t")
		if err != nil || len(table.Rows) != 1 {
			t.Errorf("%s %s: %v, %v", test.field, test.cell, table, err)
			continue
		}
		if diff := cmp.Diff(test.want, table.Rows[0][0]); diff != "" {
			t.Errorf("%s %s: %s", test.field, test.cell, diff)
		}
	}
}

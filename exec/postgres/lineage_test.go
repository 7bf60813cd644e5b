package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// lineageScript makes relations whose rows come from others, each with a row of the shop a and one of the shop b.
const lineageScript = `CREATE TABLE other(id INTEGER);
CREATE SCHEMA far;
CREATE TABLE visits(shop TEXT, note TEXT) PARTITION BY LIST (note);
CREATE TABLE visits_1 PARTITION OF visits DEFAULT;
CREATE TABLE by_range(shop TEXT, note TEXT) PARTITION BY RANGE (note);
CREATE TABLE by_range_1 PARTITION OF by_range FOR VALUES FROM ('a') TO ('z');
CREATE TABLE by_hash(shop TEXT, note TEXT) PARTITION BY HASH (note);
CREATE TABLE far.by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE deep(shop TEXT, note TEXT) PARTITION BY LIST (note);
CREATE TABLE far.deep_1 PARTITION OF deep DEFAULT PARTITION BY HASH (shop);
CREATE TABLE deep_1_1 PARTITION OF far.deep_1 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE elders(shop TEXT, note TEXT);
CREATE TABLE far.kids() INHERITS (elders);
CREATE TABLE grandkids(age INTEGER) INHERITS (far.kids);
CREATE TABLE strange(shop TEXT, note TEXT) PARTITION BY LIST (note);
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE strange_1 PARTITION OF strange DEFAULT SERVER files OPTIONS (program 'printf "a,mine\nb,theirs\n"', format 'csv');
CREATE TABLE sales(shop TEXT, note TEXT);
CREATE TABLE made(shop TEXT, note TEXT, mark TEXT GENERATED ALWAYS AS (shop || '!') STORED);
INSERT INTO visits VALUES ('a', 'mine'), ('b', 'theirs');
INSERT INTO by_range SELECT * FROM visits;
INSERT INTO by_hash SELECT * FROM visits;
INSERT INTO deep SELECT * FROM visits;
INSERT INTO grandkids SELECT * FROM visits;
INSERT INTO sales SELECT * FROM visits;
INSERT INTO made SELECT * FROM visits;
CREATE VIEW v_sales AS SELECT * FROM sales;
CREATE VIEW far.v_v_sales AS SELECT shop, note FROM v_sales;
CREATE MATERIALIZED VIEW m_sales AS SELECT * FROM sales;
CREATE MATERIALIZED VIEW far.m_v_sales AS SELECT * FROM far.v_v_sales;
CREATE MATERIALIZED VIEW m_m_sales AS SELECT * FROM far.m_v_sales;
CREATE MATERIALIZED VIEW m_count AS SELECT shop, CASE (SELECT count(*) FROM sales) WHEN 2 THEN 'theirs' END AS note FROM visits;
CREATE MATERIALIZED VIEW m_deep AS SELECT * FROM deep;
CREATE MATERIALIZED VIEW m_leaf AS SELECT * FROM deep_1_1;
CREATE MATERIALIZED VIEW m_grandkids AS SELECT * FROM grandkids;
CREATE VIEW v_m_sales AS SELECT * FROM m_sales;
`

// TestLineage: every kind of way by which rows of one relation come to stand in another, and every place of the two in
// a policy. No rule is passed: it holds, or the policy is an error.
func TestLineage(t *testing.T) {
	const (
		parts     = "own,own error own,refused | error all,all all,refused | refused,own refused,all refused,refused"
		inherited = "own,own error error | error all,all error | refused,own refused,all refused,refused"
		views     = "error error error | own,own all,all refused,refused | own,own all,all refused,refused"
		stored    = "own,own own,all refused,refused | error all,all refused,refused | refused,own refused,all " +
			"refused,refused"
	)
	dialecttest.Lineage(t, engine("", "postgres"), lineageScript, [][5]string{
		{"a partition by list", "visits", "visits_1", "", parts},
		{"by range", "by_range", "by_range_1", "", parts},
		{"by hash, in another schema", "by_hash", "far.by_hash_1", "", parts},
		{"a partition of a partition", "deep", "deep_1_1", "", parts},
		{"the partition between", "far.deep_1", "deep_1_1", "", parts},
		{"a foreign table as a partition", "strange", "strange_1", "", parts},
		{"a child, in another schema", "far.kids", "grandkids", "", inherited},
		{"a child of a child", "elders", "grandkids", "far.kids", inherited},
		{"a child of a child that is in no list", "elders", "grandkids", "",
			strings.ReplaceAll(inherited, "own,own error error | error all,all error", "error error error | error error error")},
		{"a view", "v_sales", "sales", "", views},
		{"a view over a view", "far.v_v_sales", "sales", "", views},
		{"a materialized view", "m_sales", "sales", "", stored},
		{"over a view over a view", "far.m_v_sales", "sales", "", stored},
		{"over a materialized view", "m_m_sales", "sales", "far.m_v_sales", stored},
		{"that counts in a subquery", "m_count", "sales", "visits",
			"own,own own,all refused,refused | error all,all refused,refused | refused,own refused,all refused,refused"},
		{"over a partitioned table", "m_deep", "deep_1_1", "deep", parts},
		{"over a partition", "m_leaf", "deep", "",
			"refused,own refused,all refused,refused | error refused,all refused,refused | refused,own refused,all " +
				"refused,refused"},
		{"over a child", "m_grandkids", "elders", "far.kids grandkids",
			"own,own error own,refused | error all,all all,refused | error error refused,refused"},
		{"a view over a materialized view", "v_m_sales", "sales", "m_sales",
			"error error error | error all,all refused,refused | refused,own refused,all refused,refused"},
	}...)
}

// TestLineageRules: other rules, other parents, a narrower policy, and what changes later.
func TestLineageRules(t *testing.T) {
	pool, _ := open(t, lineageScript+"CREATE TABLE late(shop TEXT, note TEXT); INSERT INTO late VALUES ('b', 'zz');\n"+
		"CREATE TABLE mothers(shop TEXT, note TEXT); CREATE TABLE both_of() INHERITS (mothers, elders);")
	const rule = "shop = :shop"
	scope := &exec.Scope{Key: "a", Params: map[string]any{"shop": "a"}}
	for _, test := range []struct {
		why    string
		rows   map[string]string
		shared []string
		want   string // in the error; "": none
	}{
		{"a partition has another rule", map[string]string{"visits": rule, "visits_1": "shop <> :shop"}, nil,
			"give it the same one"},
		{"and one at depth", map[string]string{"deep": rule, "deep_1_1": "shop <> :shop"}, nil,
			`public.deep: its rows are those of public.deep_1_1 too`},
		{"a parent of a shared one has a rule", map[string]string{"deep": rule}, []string{"deep_1_1"},
			`public.deep_1_1: it has rows of public.deep`},
		{"the other parent of its child has a rule", map[string]string{"mothers": rule, "both_of": rule},
			[]string{"elders", "kids", "grandkids"}, `public.elders: it has rows of public.`},
		{"and the child has none", map[string]string{"mothers": rule}, []string{"elders", "kids", "grandkids"},
			`name it in Shared too`},
		{"a rule on a generated column", map[string]string{"made": "mark = :shop"}, nil, ""},
	} {
		err := newDB(t, pool, exec.Config{Policy: exec.Policy{Rows: test.rows, Shared: test.shared}}).Ready(t.Context())
		if test.want == "" && err != nil || test.want != "" && (!errors.As(err, new(*exec.PolicyError)) ||
			!strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{Shared: []string{"by_range", "by_range_1", "sales"}}})
	testutil.OK(t, db.Ready(t.Context()))
	narrower := testutil.Value(db.For(scope, &exec.Policy{Rows: map[string]string{"by_range_1": rule}}))(t)
	if _, err := narrower.Query(t.Context(), "SELECT note FROM by_range"); !errors.As(err, new(*exec.PolicyError)) {
		t.Errorf("a rule of a narrower policy on a partition: %v", err)
	}
	db = newDB(t, pool,
		exec.Config{Policy: exec.Policy{Rows: map[string]string{"late": rule}, Shared: []string{"by_range"}}})
	testutil.OK(t, db.Ready(t.Context()))
	view := testutil.Value(db.For(scope, nil))(t)
	if _, err := view.Query(t.Context(), "SELECT note FROM by_range"); err != nil {
		t.Error(err)
	}
	testutil.Value(pool.Exec("ALTER TABLE by_range ATTACH PARTITION late FOR VALUES FROM ('z') TO ('zzz')"))(t)
	var err error
	for range 100 {
		if _, err = view.Query(t.Context(), "SELECT note FROM by_range"); err != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if refused := (*exec.RefusedError)(nil); !errors.As(err, &refused) || refused.Reason != "rows" ||
		strings.Contains(err.Error(), "late") {
		t.Errorf("a table with a rule became a partition: %v", err)
	}
}

package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestInstead: an error names what to write, and that runs.
func TestInstead(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a integer, d date, x xml, version text); INSERT INTO t VALUES (2, '2024-02-03', "+
		"'<a><b>1</b><b>2</b></a>', 'v')")
	db := newDB(t, pool, exec.Config{})
	dialecttest.Instead(t, db, [][2]string{
		{"SELECT version()", "the server's version is not told to statements"},
		{"SELECT * FROM pg_catalog.pg_tables", "those of the schema"},
		{"SELECT * FROM information_schema.tables", "those of the schema"},
		{"SHOW TABLES", "those of the schema"},
		{"SELECT current_setting('x')", "not told"},
		{"SELECT user FROM t", "double quotes"},
		{"SELECT DATE_FORMAT(d, 'x') FROM t", "to_char"},
		{"SELECT DATEDIFF(d, d) FROM t", "extract(epoch"},
		{"SELECT ifnull(a, 1) FROM t", "coalesce"},
		{"SELECT group_concat(a) FROM t", "string_agg"},
		{"SELECT MEDIAN(a) FROM t", "percentile_cont"},
		{"SELECT factorial(3)", "generate_series"},
		{"SELECT * FROM seq_1_to_3", "generate_series"},
		{"SELECT xpath('//*', x) FROM t", "plain steps"},
		{"SELECT xpath('/a[count(//b) > 1]', x) FROM t", "plain steps"},
		{"SELECT xpath(version, x) FROM t", "plain steps"},
		{"SELECT nextval('s')", "sequences"},
		{"SELECT repeat(' ', a) FROM t", "least(n, 10000)"}, {"SELECT repeat(' ', greatest(a, 10)) FROM t",
			"least(n, 10000)"},
		{"SELECT repeat(' ', least(a, 10001)) FROM t", "least(n, 10000)"},
	},
		"SELECT current_database(), current_schema, current_schema(), current_catalog, pg_typeof(a)::text, "+
			"xpath('/a/b/text()', x), xpath_exists('/a/b', x), xpath('//b/text()', x) FROM t",
		"SELECT '08:00:2b:01:02:03:04:05'::macaddr8, '{[1,3)}'::int4multirange, 7::oid, '<a/>'::xml, version FROM t",
		"SELECT to_char(d, 'YYYY-MM'), d::date - d::date, d + INTERVAL '1 day', extract(epoch FROM d), "+
			"(date_trunc('month', d) + INTERVAL '1 month - 1 day')::date, extract(year FROM d) FROM t",
		"SELECT string_agg(a::text, ','), json_agg(a), json_object_agg(a, a), percentile_cont(0.5) WITHIN "+
			"GROUP (ORDER BY a), count(*) FILTER (WHERE a > 1) FROM t",
		"SELECT repeat(' ', least(a, 10)) || version, lpad(version, least(a, 10000)) FROM t",
		"SELECT round(exp(sum(ln(n)))) FROM generate_series(1, 5) AS n",
		"SELECT ARRAY(SELECT 0 FROM generate_series(1, 5))",
	)
}

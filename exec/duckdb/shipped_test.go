package duckdb_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestShipped: see dialecttest.Shipped. The folder has what DuckDB itself writes by PARTITION_BY.
func TestShipped(t *testing.T) {
	folder := t.TempDir()
	writer := testutil.Value(sql.Open("duckdb", ""))(t)
	defer writer.Close()
	testutil.Value(
		writer.Exec(`CREATE TABLE sales AS SELECT i AS id, DATE '2023-01-01' + i::INT AS "order", 2023 + i % 2 AS year, 1 + i % 3 AS "Month",
		['a', 'b'][1 + i % 2] AS "select", {'x': i, 'y': [i]} AS part FROM range(1000) r(i);
		COPY sales TO '` + folder + `/sales' (FORMAT parquet, PARTITION_BY (year, "Month"));
		COPY (SELECT * EXCLUDE (part) FROM sales) TO '` + folder + `/Table' (FORMAT csv, PARTITION_BY ("select"));
		COPY sales TO '` + folder + `/parts' (FORMAT parquet, PER_THREAD_OUTPUT);
		COPY (FROM sales LIMIT 10) TO '` + folder + `/group.json'`))(t)
	pool := testutil.Value(duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}))(t)
	t.Cleanup(func() { pool.Close() })
	db := onPool(t, pool, exec.Config{})
	dialecttest.Shipped(t, db, 4)
	dialecttest.Gives(t, db, [][3]string{
		{"a partition", `SELECT count(*), min("Month"), max("Month") FROM sales WHERE year = 2024`, "[[500 1 3]]"},
		{"of CSV", `SELECT count(*) FROM "Table" WHERE "select" = 'a'`, "[[500]]"},
		{"parts", "SELECT count(*) FROM parts", "[[1000]]"},
	})
}

package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/golden"
)

const valueScript = `SET sql_mode = 'ALLOW_INVALID_DATES';
CREATE TABLE v(ti TINYINT, si SMALLINT UNSIGNED, mi MEDIUMINT, i INT, bi BIGINT, ub BIGINT UNSIGNED, bo BOOLEAN, y YEAR, bits BIT(12),
	dc DECIMAL(40,10), d2 DECIMAL(10,2), f FLOAT, d DOUBLE, ch CHAR(5), vc VARCHAR(20), tx TEXT, lt VARCHAR(9) CHARACTER SET latin1,
	en ENUM('a','ü'), st SET('r','w'), js JSON, bn BINARY(3), vb VARBINARY(9), bl BLOB, ge GEOMETRY, ip INET6, uu UUID,
	da DATE, dt DATETIME, d6 DATETIME(6), ts TIMESTAMP(3), tm TIME, t6 TIME(6));
INSERT INTO v VALUES
	(-128, 65535, -1, 2147483647, -9223372036854775808, 18446744073709551615,
	TRUE, 2024, b'101', 123456789012345678901234567890.5, 1.50, 0.1, 0.1, 'ab', 'x ',
	'line
two', 'ñ', 'ü', 'r,w', '{"b": 1,  "a": 2}', 'a', x'00ff', 'text', POINT(1, 2), '::1', '123e4567-e89b-12d3-a456-426655440000',
	'2024-02-29', '2024-02-29 13:14:15', '2024-02-29 13:14:15.120000', '2024-02-29 13:14:15.250', '-838:59:59', '00:00:01.5'),
	(0, 0, 0, 0, 0, 9223372036854775807, FALSE, 0, b'0', 0, 12, 1e30, -0.0, '', '', '', '', 'a', '', '[]', '', '', '', NULL, NULL, NULL,
	'0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '1970-01-02 00:00:00', '00:00:00', '00:00:00'),
	(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL, NULL, NULL)`

// valueExpressions are what a statement may make of them.
var valueExpressions = []string{
	"1", "'x'", "NULL", "1.50", "1e0", "TRUE", "1 = 1", "SUM(i)", "AVG(i)", "AVG(d2)", "SUM(d)", "COUNT(*)", "MAX(da)", "MAX(ub)", "SUM(ub)", "MIN(f)",
	"MAX(bits)",
	"MAX(dc) / 3", "7 / 2", "7 DIV 2", "GROUP_CONCAT(i)", "JSON_ARRAYAGG(i)", "CONCAT('a', 1)", "MD5('a')", "UNHEX('00ff')", "CHAR(77)",
	"CAST('a' AS BINARY)", "CAST(1 AS UNSIGNED)", "CAST('2024-01-31' AS DATE)", "CAST('2024-01-31 10:00:00.5' AS DATETIME(1))",
	"DATE_ADD('2024-01-31', INTERVAL 1 DAY)",
	"TIMEDIFF('10:00:00', '11:30:00')", "YEAR('2024-01-31')", "DATEDIFF('2024-02-01', '2024-01-01')", "MAX(tm)", "COALESCE(NULL, 1.10)", "IF(1, 'a', 1)", "x'41'",
	"HEX(255)", "RAND(1) < 2", "STDDEV(i)", "MAX(en)", "MAX(js)", "SEC_TO_TIME(1.5)", "UNIX_TIMESTAMP('2024-01-01 00:00:00') > 0", "LAST_DAY('2024-02-01')",
}

// TestValues holds the cells to a golden file. They are the same in both protocols, and with parseTime in any zone.
func TestValues(t *testing.T) {
	pool, dsn := open(t, valueScript, "")
	read := func(c *sql.Conn, prepared bool, query string) (out []string) {
		query = "SELECT " + query + " FROM v"
		stmt, err := c.PrepareContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer stmt.Close()
		run := stmt.QueryContext
		if !prepared {
			run = func(ctx context.Context, _ ...any) (*sql.Rows, error) { return c.QueryContext(ctx, query) }
		}
		rows, err := run(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var cell any
			if err := rows.Scan(&cell); err != nil {
				t.Fatal(err)
			}
			if convert := mysql.ConverterOf(types[0]); convert != nil {
				if cell, err = convert(cell); err != nil {
					t.Errorf("%s: %v", query, err)
				}
			}
			out = append(out, fmt.Sprintf("%T %#v", cell, cell))
		}
		return out
	}
	var columns []string
	table := inspect(t, pool).Tables[0]
	for _, c := range table.Columns {
		columns = append(columns, c.Name)
	}
	var first string
	for _, mode := range []string{"", "parseTime=true", "parseTime=true&loc=Asia%2FTokyo",
		"interpolateParams=true&multiStatements=true", "charset=utf8mb4&collation=utf8mb4_bin"} {
		pool, err := sql.Open("mysql", dsn+mode)
		if err != nil {
			t.Fatal(err)
		}
		c := one(t, pool)
		for _, prepared := range []bool{true, false} {
			var b strings.Builder
			for _, column := range append(columns, valueExpressions...) {
				fmt.Fprintf(&b, "%-45s %s\n", column, strings.Join(read(c, prepared, column), " | "))
			}
			if first == "" {
				first = b.String()
				golden.Check(t, "values.golden", first)
			} else if diff := cmp.Diff(first, b.String()); diff != "" {
				t.Errorf("%q, prepared %t, gives other cells:\n%s", mode, prepared, diff)
			}
		}
		c.Close()
		pool.Close()
	}
}

// TestMoment: what a driver with parseTime makes of a date is written as the server would.
func TestMoment(t *testing.T) {
	for _, c := range []struct {
		kind string
		in   any
		want any
		why  string
	}{
		{"DATE", time.Time{}, "0000-00-00", "a zero date"},
		{"DATETIME", time.Time{}, "0000-00-00 00:00:00", ""},
		{"DATETIME", time.Date(2024, 1, 2, 3, 4, 5, 120_000_000, time.FixedZone("", 3600)), "2024-01-02 03:04:05.12", "the zone is the driver's"},
		{"DATETIME", []byte("2024-01-02 03:04:05.000000"), "2024-01-02 03:04:05", ""},
		{"DATETIME", []byte("2024-01-02 03:04:00"), "2024-01-02 03:04:00", "zeros that are no fraction"},
		{"TIME", []byte("-00:00:01.500000"), "-00:00:01.5", ""},
		{"DATE", []byte("2024-00-10"), "2024-00-10", "without parseTime as it is"},
		{"DATE", nil, nil, ""},
	} {
		if got, err := mysql.Moment(c.kind, c.in); err != nil || got != c.want {
			t.Errorf("%s %v: %v, %v, want %v (%s)", c.kind, c.in, got, err, c.want, c.why)
		}
	}
	if got, err := mysql.Moment("DATE", int64(1)); err == nil {
		t.Errorf("no date: %v", got)
	}
}

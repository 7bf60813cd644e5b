package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// moments are around the hours that clocks skip and have twice, and around the beginning of a month and a year
// somewhere.
var moments = []string{
	// another year or month in Tokyo, New York and Berlin
	"2023-12-31T15:30:00Z", "2024-01-01T04:30:00Z", "2024-01-31T23:30:00Z",
	"2024-03-10T06:30:00Z", "2024-03-10T07:30:00Z", // New York skips an hour
	"2024-03-31T00:30:00Z", "2024-03-31T01:30:00Z", // Berlin does
	"2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z", // Berlin has one twice
	"2024-11-03T05:30:00Z", "2024-11-03T06:30:00Z", // New York has
}

// zoned is a question for buckets of moments: the clock and the forms of what it cuts.
type zoned struct {
	why, dsn, sql string
	zone          *time.Location
	hour          string // the layout of an hour in a text, and in CSV

}

// TestBuckets: hours, days and months are those of the zone that cuts them, in the text, in CSV and in a workbook. Go's
// own zones say what they are. The hour that a clock has twice is two rows with their offsets where the engine cuts
// moments, and one elsewhere.
func TestBuckets(t *testing.T) {
	tests := append(postgresZones(t), mariaDBZones(t)...)
	for _, test := range append(tests, duckDBZones(t)...) {
		t.Run(test.why, func(t *testing.T) {
			var text, file, sheet [][]string
			for _, m := range moments {
				at := testutil.Value(time.Parse(time.RFC3339, m))(t).In(test.zone)
				begins := at.Add(-time.Duration(at.Minute()) * time.Minute)
				cell := "2006-01-02 15:04"
				if twice := strings.HasPrefix(m, "2024-11-03") && test.zone.String() == "America/New_York" ||
					strings.HasPrefix(m, "2024-10-27") && test.zone.String() == "Europe/Berlin"; twice {
					cell = test.hour
				}
				for _, form := range []struct {
					rows        *[][]string
					hour, month string
				}{{&text, test.hour, "January 2006"}, {&file, test.hour, "2006-01"}, {&sheet, cell, "Jan 2006"}} {
					hour := begins.Format(form.hour)
					*form.rows = append(*form.rows, []string{hour, at.Format(time.DateOnly), at.Format(form.month), at.Format("2006"),
						"1"})
				}
			}
			_, out, _ := try(t, nil, "", "sql", "-d", test.dsn, test.sql)
			golden.Equal(t, grouped(text), cells(out, "|"), "the text")
			_, out, _ = try(t, nil, "", "sql", "-d", test.dsn, "--csv", test.sql)
			golden.Equal(t, grouped(file), cells(out, ","), "CSV")
			name := filepath.Join(t.TempDir(), "a.xlsx")
			try(t, nil, "", "sql", "-d", test.dsn, "-f", "xlsx", "-o", name, test.sql)
			book := testutil.Value(excelize.OpenFile(name))(t)
			defer book.Close()
			golden.Equal(t, grouped(sheet), testutil.Value(book.GetRows("Sheet1"))(t)[1:], "a workbook")
		})
	}
}

// grouped counts equal rows, which follow each other.
func grouped(rows [][]string) (out [][]string) {
	for _, row := range rows {
		if n := len(out); n > 0 && fmt.Sprint(out[n-1][:4]) == fmt.Sprint(row[:4]) {
			out[n-1][4] = "2"
		} else {
			out = append(out, row)
		}
	}
	return out
}

// cells are those of a text with a head.
func cells(text, separator string) (rows [][]string) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), separator)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) == 5 && fields[0] != "h" {
			rows = append(rows, fields)
		}
	}
	return rows
}

const offset = "2006-01-02 15:04:05-07:00"

func zones(t *testing.T) (list []*time.Location) {
	for _, name := range []string{"America/New_York", "Europe/Berlin", "Asia/Tokyo"} {
		list = append(list, testutil.Value(time.LoadLocation(name))(t))
	}
	return list
}

func postgresZones(t *testing.T) (tests []zoned) {
	dsn := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", pg.Get(t).Port)
	pool := testutil.Value(sql.Open("pgx", dsn))(t)
	defer pool.Close()
	testutil.Value(pool.Exec("CREATE TABLE buckets(at timestamptz); INSERT INTO buckets VALUES ('" +
		strings.Join(moments, "'), ('") + "')"))(t)
	const cut = "SELECT date_trunc('hour', %[1]s) AS h, date_trunc('day', %[1]s) AS d, date_trunc('month', %[1]s) AS m, " +
		"date_part('year', %[1]s) AS y, " +
		"count(*) FROM buckets GROUP BY 1, 2, 3, 4 ORDER BY 1"
	for _, zone := range zones(t) {
		name := zone.String()
		tests = append(tests,
			zoned{why: "PostgreSQL in " + name, dsn: dsn + "&timezone=" + name, sql: fmt.Sprintf(cut, "at"), zone: zone,
				hour: offset},
			zoned{why: "PostgreSQL, " + name + " by the statement", dsn: dsn + "&timezone=UTC",
				sql:  fmt.Sprintf(cut, "(at AT TIME ZONE '"+name+"')"),
				zone: zone, hour: "2006-01-02 15:04"})
	}
	return tests
}

func mariaDBZones(t *testing.T) (tests []zoned) {
	port := my.Get(t).Port
	pool := testutil.Value(sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?multiStatements=true", port)))(t)
	defer pool.Close()
	script := "CREATE DATABASE buckets; USE buckets; SET time_zone = '+00:00'; CREATE TABLE moments(at TIMESTAMP NULL, " +
		"zone VARCHAR(40), clock DATETIME);\n"
	for _, zone := range zones(t) {
		for _, m := range moments {
			at := testutil.Value(time.Parse(time.RFC3339, m))(t)
			script += fmt.Sprintf("INSERT INTO moments VALUES ('%s', '%s', '%s');\n", at.Format(time.DateTime), zone,
				at.In(zone).Format(time.DateTime))
		}
	}
	testutil.Value(pool.Exec(script))(t)
	const cut = "SELECT DATE_FORMAT(%[1]s, '%%Y-%%m-%%d %%H:00') AS h, DATE(%[1]s) AS d, DATE_FORMAT(%[1]s, " +
		"'%%Y-%%m') AS m, YEAR(%[1]s) AS y, " +
		"COUNT(*) FROM moments WHERE zone = '%[2]s' GROUP BY h, d, m, y ORDER BY h"
	dsn := fmt.Sprintf("mysql://root@127.0.0.1:%d/buckets", port)
	for _, zone := range zones(t) {
		tests = append(tests, zoned{why: "MariaDB, clocks in " + zone.String(), dsn: dsn,
			sql: fmt.Sprintf(cut, "clock", zone), zone: zone, hour: "2006-01-02 15:04"})
	}
	east := time.FixedZone("+09:00", 9*60*60)
	return append(tests, zoned{
		why: "MariaDB in a zone", dsn: dsn + "?time_zone=%27%2B09:00%27", sql: fmt.Sprintf(cut, "at", "Asia/Tokyo"),
		zone: east, hour: "2006-01-02 15:04",
	})
}

func duckDBZones(t *testing.T) (tests []zoned) {
	path := filepath.Join(t.TempDir(), "buckets.duckdb")
	pool := testutil.Value(sql.Open("duckdb", path))(t)
	testutil.Value(pool.Exec("CREATE TABLE buckets(moment TIMESTAMPTZ); INSERT INTO buckets VALUES ('" +
		strings.Join(moments, "'), ('") + "')"))(t)
	testutil.OK(t, pool.Close())
	for _, name := range []string{"America/New_York", "Europe/Berlin", "Asia/Tokyo"} {
		const cut = "SELECT time_bucket(INTERVAL '1 hour', %[1]s) AS h, date_trunc('day', %[1]s) AS d, " +
			"time_bucket(INTERVAL 1 MONTH, %[1]s) AS m, " +
			"year(%[1]s) AS y, count(*) FROM buckets GROUP BY ALL ORDER BY 1"
		tests = append(tests, zoned{why: "DuckDB, " + name + " by the statement", dsn: "duckdb:" + path,
			sql:  fmt.Sprintf(cut, "(moment AT TIME ZONE '"+name+"')"),
			zone: testutil.Value(time.LoadLocation(name))(t), hour: "2006-01-02 15:04"})
	}
	return tests
}

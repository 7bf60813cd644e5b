package mysql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/result"
)

var _ exec.Sampler = mysql.Dialect{}

// TestSampleRows: which rows are read, and that the table is never read whole for them.
func TestSampleRows(t *testing.T) {
	pool, _ := open(t, `
CREATE TABLE keyed(id INT PRIMARY KEY, v INT, w TEXT, KEY(v)); INSERT INTO keyed SELECT seq, 100000 - seq, REPEAT('é', 300) FROM seq_1_to_20000;
CREATE TABLE heap(v INT, w INT, KEY(v)); INSERT INTO heap SELECT 5000 - seq, seq FROM seq_1_to_5000;
CREATE TABLE named(k VARCHAR(9) PRIMARY KEY, v INT); INSERT INTO named SELECT CONCAT('k', seq), seq FROM seq_1_to_500;
CREATE TABLE gaps(id BIGINT PRIMARY KEY); INSERT INTO gaps SELECT seq FROM seq_1_to_500; INSERT INTO gaps VALUES (9223372036854775807);
CREATE TABLE huge(id BIGINT UNSIGNED PRIMARY KEY); INSERT INTO huge VALUES (18446744073709551615), (1);
CREATE TABLE empty(id INT PRIMARY KEY);
CREATE TABLE blobs(id INT PRIMARY KEY, b BLOB, n DECIMAL(40,0)); INSERT INTO blobs VALUES (1, REPEAT('x', 300), 12345678901234567890123456789012345);
CREATE VIEW v AS SELECT id, w FROM keyed`, "")
	s := inspect(t, pool)
	c := one(t, pool)
	read := func() (handler int) {
		for _, name := range []string{"Handler_read_next", "Handler_read_rnd_next"} {
			var n int
			if err := c.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE '"+name+"'").Scan(new(string), &n); err != nil {
				t.Fatal(err)
			}
			handler += n
		}
		return handler
	}
	statements := 0
	run := func(ctx context.Context, sql string, most int) (*result.Table, error) {
		statements++
		rows, err := c.QueryContext(ctx, sql)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err != nil {
			return nil, err
		}
		out := &result.Table{}
		for rows.Next() && len(out.Rows) < most {
			row, dest := make([]any, len(types)), make([]any, len(types))
			for i := range row {
				dest[i] = &row[i]
			}
			if err := rows.Scan(dest...); err != nil {
				return nil, err
			}
			for i, column := range types {
				if convert := mysql.ConverterOf(column); convert != nil {
					if row[i], err = convert(row[i]); err != nil {
						return nil, err
					}
				}
			}
			out.Rows = append(out.Rows, row)
		}
		return out, rows.Err()
	}
	first := func(from, to int64) (want []int64) {
		for i := from; i <= to; i++ {
			want = append(want, i)
		}
		return want
	}
	for _, test := range []struct {
		table string
		o     exec.SampleOptions
		want  []int64 // of the first column; nil: the sample is spread
		why   string
	}{
		{"keyed", exec.SampleOptions{Columns: []string{"id"}, Rows: 3}, first(1, 3), "by key, though the index of v holds all that is asked"},
		{"keyed", exec.SampleOptions{Columns: []string{"v"}, Rows: 2}, []int64{99999, 99998}, "by key and not by the index of v"},
		{"keyed", exec.SampleOptions{Columns: []string{"id", "w"}, Rows: 100, Spread: true, Seed: 7, Cut: 9}, nil, "spread"},
		{"keyed", exec.SampleOptions{Columns: []string{"id"}, Rows: 5, Spread: true, Seed: 8, Count: 1000}, nil, "five places"},
		{"heap", exec.SampleOptions{Columns: []string{"v"}, Rows: 3, Spread: true}, []int64{4999, 4998, 4997}, "no key: as stored, and not by the index of v"},
		{"named", exec.SampleOptions{Columns: []string{"v"}, Rows: 3, Spread: true}, []int64{1, 10, 100}, "a key of text: by key"},
		{"gaps", exec.SampleOptions{Columns: []string{"id"}, Rows: 100, Spread: true}, first(1, 100), "too few rows in the parts: the first rows"},
		{"huge", exec.SampleOptions{Columns: []string{"id"}, Rows: 1, Spread: true}, []int64{1}, "a key that is no int64"},
		{"empty", exec.SampleOptions{Columns: []string{"id"}, Rows: 3, Spread: true, Count: 9}, []int64{}, ""},
		{"v", exec.SampleOptions{Columns: []string{"id", "w"}, Rows: 3, Spread: true}, first(1, 3), "a view"},
	} {
		table, _ := s.Lookup("", test.table)
		before := read()
		statements = 0
		got, err := mysql.Dialect{}.SampleRows(t.Context(), run, *table, test.o)
		if err != nil {
			t.Errorf("%s: %v", test.table, err)
			continue
		}
		if n := read() - before; n > 3000 || statements > 22 {
			t.Errorf("%s: read %d rows in %d statements", test.table, n, statements)
		}
		ids := []int64{}
		for _, row := range got.Rows {
			ids = append(ids, row[0].(int64))
		}
		again, err := mysql.Dialect{}.SampleRows(t.Context(), run, *table, test.o)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("%s: another sample: %v\n%s", test.table, err, diff)
		}
		if test.want != nil {
			if diff := cmp.Diff(test.want, ids); diff != "" {
				t.Errorf("%s (%s):\n%s", test.table, test.why, diff)
			}
			continue
		}
		if len(ids) != test.o.Rows || ids[len(ids)-1] < 16000 || test.o.Count > 0 && (got.Count != 1000 || !got.CountAtLeast) {
			t.Errorf("%s (%s): %d rows, %v, count %d", test.table, test.why, len(ids), ids, got.Count)
		}
		if len(got.Rows[0]) > 1 && got.Rows[0][1] != strings.Repeat("é", 9) {
			t.Errorf("cut to %q", got.Rows[0][1])
		}
	}
	table, _ := s.Lookup("", "blobs")
	got, err := mysql.Dialect{}.SampleRows(t.Context(), run, *table, exec.SampleOptions{Columns: []string{"b", "n"}, Rows: 1, Cut: 4})
	if diff := cmp.Diff([][]any{{[]byte("xxxx"), result.Decimal("12345678901234567890123456789012345")}}, got.Rows); err != nil || diff != "" {
		t.Errorf("a blob and a number: %v\n%s", err, diff)
	}
}

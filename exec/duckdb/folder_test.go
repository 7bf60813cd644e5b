package duckdb_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
)

// write writes files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestOpenFolder(t *testing.T) {
	folder := write(t, map[string]string{
		"people.csv": "id,name,born\n1,ann,2001-02-03\n2,bob,\n", "odd [1] * name.tsv": "a\tb\n1\tx\n", "orders.json": `[{"id": 1, "lines": [{"n": 2}]}]`,
		"log.ndjson": "{\"at\": 1}\n{\"at\": 2}\n",
		"notes.txt":  "no table", ".hidden.csv": "a\n1\n", "it's.csv": "x\n1\n",
	})
	made := makeFile(t, "COPY (SELECT range AS n FROM range(5)) TO '"+folder+"/numbers.parquet'")
	_ = made
	pool, err := duckdb.OpenFolder(t.Context(), folder, duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db := onPool(t, pool, exec.Config{})
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range s.Tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name+" "+c.Type)
		}
	}
	slices.Sort(got)
	want := []string{
		"it's.x BIGINT", "log.at BIGINT", "numbers.n BIGINT", "odd [1] * name.a BIGINT", "odd [1] * name.b VARCHAR", "orders.id BIGINT",
		"orders.lines STRUCT(n BIGINT)[]",
		"people.born DATE", "people.id BIGINT", "people.name VARCHAR",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	table, err := db.Query(t.Context(), `SELECT p.name, p.born, o.lines, (SELECT sum(n) FROM numbers), w.b
		FROM people p LEFT JOIN orders o USING (id), "odd [1] * name" w ORDER BY p.id`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]any{{"ann", "2001-02-03", `[{"n":2}]`, int64(10), "x"}, {"bob", nil, nil, int64(10), "x"}}, table.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	before, err := filepath.Glob(filepath.Join(os.TempDir(), "texttosql-duckdb-*"))
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := filepath.Glob(filepath.Join(os.TempDir(), "texttosql-duckdb-*"))
	if err != nil || len(after) >= len(before) {
		t.Errorf("left behind: %v, %v", after, err)
	}
}

// TestOpenErrors: one line each, which says what to do.
func TestOpenErrors(t *testing.T) {
	folder := write(t, map[string]string{"a.csv": "x\n1\n", "A.json": "[]"})
	broken := write(t, map[string]string{"a.parquet": "nothing"})
	file := makeFile(t, "CREATE TABLE t(a INT)")
	text := filepath.Join(write(t, map[string]string{"x.db": "this is no database at all, and it is long enough to be looked at"}), "x.db")
	for _, test := range []struct {
		why, want string
		open      func() error
	}{
		{"no path", "needs the path of a file", func() error { _, err := duckdb.Open("", duckdb.Options{}); return err }},
		{"in memory", "in memory", func() error { _, err := duckdb.Open(":memory:", duckdb.Options{}); return err }},
		{"no file", "there is no such file", func() error { _, err := duckdb.Open("/nowhere/x.db", duckdb.Options{}); return err }},
		{"a folder", "is a folder", func() error { _, err := duckdb.Open(folder, duckdb.Options{}); return err }},
		{"no database", "is no DuckDB file", func() error { _, err := duckdb.Open(text, duckdb.Options{}); return err }},
		{"a negative limit", "is negative", func() error { _, err := duckdb.Open(file, duckdb.Options{Threads: -1}); return err }},
		{"a file that is not there", "no such file", func() error { _, err := duckdb.Open(file, duckdb.Options{Files: []string{"/nowhere"}}); return err }},
		{"two files of one name", "would both be the table", func() error { _, err := duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}); return err }},
		{"a folder without files", "no Parquet, CSV or JSON file", func() error {
			_, err := duckdb.OpenFolder(t.Context(), t.TempDir(), duckdb.Options{})
			return err
		}},
		{"a broken file", "a.parquet", func() error { _, err := duckdb.OpenFolder(t.Context(), broken, duckdb.Options{}); return err }},
		{"no folder", "no such file", func() error { _, err := duckdb.OpenFolder(t.Context(), "/nowhere", duckdb.Options{}); return err }},
		{"twice with other settings", "other settings", func() error {
			first, err := duckdb.Open(file, duckdb.Options{})
			if err != nil {
				return err
			}
			defer first.Close()
			_, err = duckdb.Open(file, duckdb.Options{Threads: 3})
			return err
		}},
		{"twice with the same", "", func() error {
			first, err := duckdb.Open(file, duckdb.Options{})
			if err != nil {
				return err
			}
			defer first.Close()
			second, err := duckdb.Open(file, duckdb.Options{})
			if err == nil {
				second.Close()
			}
			return err
		}},
	} {
		err := test.open()
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q in one line", test.why, err, test.want)
		}
	}
}

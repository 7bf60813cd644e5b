package duckdb_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// TestBrokenViews: a view that fails at its use is left out with a word, and the rest of the file is read.
func TestBrokenViews(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "gone.csv")
	testutil.OK(t, os.WriteFile(file, []byte("a,b\n1,2\n"), 0o644))
	kept := filepath.Join(folder, "kept.csv")
	testutil.OK(t, os.WriteFile(kept, []byte("a,b\n1,2\n"), 0o644))
	path := makeFile(t, `CREATE TABLE t(x INT); CREATE TABLE gone(x INT); CREATE VIEW fine AS SELECT x FROM t;
CREATE VIEW lost_table AS SELECT x FROM gone; CREATE VIEW lost_file AS FROM read_csv('`+file+`'); CREATE VIEW kept_file AS FROM read_csv('`+kept+`');
DROP TABLE gone`)
	testutil.OK(t, os.Remove(file))
	pool := openPath(t, path, duckdb.Options{Files: []string{folder}})
	db := onPool(t, pool, exec.Config{})
	var names, why []string
	for _, table := range testutil.Value(db.Schema(t.Context()))(t).Tables {
		names = append(names, table.Name)
	}
	for _, w := range db.Warnings() {
		why = append(why, w.Code+" "+w.Message)
	}
	golden.Equal(t, []string{"fine", "kept_file", "t"}, names, "schema")
	if len(why) != 2 || !strings.Contains(why[0], "broken-view the view lost_file") ||
		!strings.Contains(why[1], "broken-view the view lost_table") ||
		strings.Contains(strings.Join(why, ""), folder) {
		t.Errorf("warnings: %q", why)
	}
	if _, err := db.Query(t.Context(), "SELECT * FROM kept_file JOIN fine ON true"); err != nil {
		t.Error(err)
	}
	testutil.OK(t, pool.Close())
	closed := onPool(t, openPath(t, path, duckdb.Options{}), exec.Config{})
	known := testutil.Value(closed.Schema(t.Context()))(t)
	for _, name := range []string{"kept_file", "lost_file"} {
		const reason = "DuckDB cannot open it: it reads files that Options.Files does not name"
		if !slices.Contains(known.LeftOut, schema.Omitted{Item: "view", Table: schema.TableName{Schema: "main", Name: name},
			Reason: reason}) ||
			!strings.Contains(fmt.Sprint(closed.Warnings()), "the view "+name+" is left out of the schema, since "+reason) {
			t.Errorf("without Files: %v, %v", known.LeftOut, closed.Warnings())
		}
	}
}

// TestVanished: a file of a folder that goes is left out with a word, before the first look or after it, and the rest
// of the folder is read.
func TestVanished(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"early", "late", "half", "kept"} {
		testutil.OK(t, os.WriteFile(filepath.Join(folder, name+".csv"), []byte("a,b\n1,2\n"), 0o644))
	}
	writer := testutil.Value(sql.Open("duckdb", ""))(t)
	defer writer.Close()
	parquet := filepath.Join(folder, "half.parquet")
	testutil.OK(t, os.Remove(filepath.Join(folder, "half.csv")))
	testutil.Value(writer.Exec("COPY (SELECT range AS a FROM range(1000)) TO '" + parquet + "'"))(t)
	pool := testutil.Value(duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.OK(t, os.Remove(filepath.Join(folder, "early.csv")))
	db := onPool(t, pool, exec.Config{})
	tables := func() (names []string) {
		for _, table := range testutil.Value(db.Schema(t.Context()))(t).Tables {
			names = append(names, table.Name)
		}
		return names
	}
	golden.Equal(t, []string{"half", "kept", "late"}, tables(), "without the file that was gone first")

	testutil.OK(t, os.Remove(filepath.Join(folder, "late.csv")))
	testutil.OK(t, os.Truncate(parquet, 100))
	before := testutil.Value(db.Schema(t.Context()))(t)
	for _, name := range []string{"late", "half"} {
		_, err := db.Query(t.Context(), "SELECT count(*) FROM "+name)
		var invalid *exec.InvalidError
		if !errors.As(err, &invalid) || invalid.Fault != "schema" ||
			!strings.Contains(invalid.Message, "a file under a view") ||
			strings.Contains(invalid.Message, folder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	golden.Equal(t, []string{"kept"}, tables(), "without what a statement missed")
	why := fmt.Sprint(db.Warnings())
	for _, name := range []string{"early", "late", "half"} {
		if !strings.Contains(why, "the view "+name+" is left out") {
			t.Errorf("no warning of %s: %s", name, why)
		}
	}
	_, err := db.Profile(t.Context(), before, exec.ProfileOptions{Tables: []string{"late", "kept"}})
	if err == nil || !strings.Contains(err.Error(), "profiling late") {
		t.Errorf("a profile: %v", err)
	}
	if table, err := db.Query(t.Context(), "SELECT a FROM kept"); err != nil || len(table.Rows) != 1 {
		t.Errorf("the rest: %v, %v", table, err)
	}
}

// TestVariant: a type that the driver cannot read comes as text, so the profile of its table holds.
func TestVariant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	writer := testutil.Value(sql.Open("duckdb", ""))(t)
	defer writer.Close()
	testutil.Value(writer.Exec("ATTACH '" + path + "' AS d (STORAGE_VERSION 'v1.5.0'); CREATE TABLE d.t(a INT, " +
		"v VARIANT);" +
		"INSERT INTO d.t VALUES (1, 'x'::VARIANT); DETACH d"))(t)
	db := onPool(t, openPath(t, path, duckdb.Options{}), exec.Config{})
	table := testutil.Value(db.Query(t.Context(), "SELECT * FROM t"))(t)
	golden.Equal(t, "[[1 x]]", fmt.Sprint(table.Rows), "rows")
	profiled := testutil.Value(db.Profile(t.Context(), testutil.Value(db.Schema(t.Context()))(t),
		exec.ProfileOptions{}))(t)
	if c, _ := profiled.Tables[0].Column("v"); c.Profile == nil || c.Profile.Distinct != 1 {
		t.Errorf("the profile of v: %+v", c.Profile)
	}
}

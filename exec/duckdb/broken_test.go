package duckdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
)

// TestBrokenViews: a view that fails at its use is left out with a word, and the rest of the file is read.
func TestBrokenViews(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "gone.csv")
	need.OK(t, os.WriteFile(file, []byte("a,b\n1,2\n"), 0o644))
	kept := filepath.Join(folder, "kept.csv")
	need.OK(t, os.WriteFile(kept, []byte("a,b\n1,2\n"), 0o644))
	path := makeFile(t, `CREATE TABLE t(x INT); CREATE TABLE gone(x INT); CREATE VIEW fine AS SELECT x FROM t;
CREATE VIEW lost_table AS SELECT x FROM gone; CREATE VIEW lost_file AS FROM read_csv('`+file+`'); CREATE VIEW kept_file AS FROM read_csv('`+kept+`');
DROP TABLE gone`)
	need.OK(t, os.Remove(file))
	pool := openPath(t, path, duckdb.Options{Files: []string{folder}})
	db := onPool(t, pool, exec.Config{})
	var names, why []string
	for _, table := range need.Value(db.Schema(t.Context()))(t).Tables {
		names = append(names, table.Name)
	}
	for _, w := range db.Warnings() {
		why = append(why, w.Code+" "+w.Message)
	}
	golden.Equal(t, []string{"fine", "kept_file", "t"}, names, "schema")
	if len(why) != 2 || !strings.Contains(why[0], "broken-view the view lost_file") || !strings.Contains(why[1], "broken-view the view lost_table") ||
		strings.Contains(strings.Join(why, ""), folder) {
		t.Errorf("warnings: %q", why)
	}
	if _, err := db.Query(t.Context(), "SELECT * FROM kept_file JOIN fine ON true"); err != nil {
		t.Error(err)
	}
}

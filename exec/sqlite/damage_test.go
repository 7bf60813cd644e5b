package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestQuickCheck: a file with damaged pages is told of by Ready, where the dialect is asked to look.
func TestQuickCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	pool := testutil.Value(sql.Open("sqlite3", path))(t)
	testutil.Value(pool.Exec(`CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) INSERT INTO t SELECT i, printf('%040d', i) FROM c;
CREATE INDEX by_name ON t(name);`))(t)
	testutil.OK(t, pool.Close())
	ready := func(d sqlite.Dialect) error {
		pool := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro"))(t)
		defer pool.Close()
		return testutil.Value(exec.New(pool, d, exec.Config{}))(t).Ready(t.Context())
	}
	checked := sqlite.Dialect{QuickCheck: true}
	if err := ready(checked); err != nil {
		t.Errorf("a sound file: %v", err)
	}
	file := testutil.Value(os.ReadFile(path))(t)
	for i := len(file) / 2; i < len(file)/2+3*4096; i++ {
		file[i] = 0x5a
	}
	testutil.OK(t, os.WriteFile(path, file, 0o600))
	if err := ready(checked); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	if err := ready(sqlite.Dialect{}); err != nil {
		t.Errorf("nobody asked: %v", err)
	}
}

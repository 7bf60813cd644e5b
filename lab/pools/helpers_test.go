package pools_test

import (
	"compress/gzip"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/mysqlite"
	"github.com/texttosql/texttosql/lab/pools"
)

// openStore is a Store that the test closes.
func openStore(t testing.TB, c eval.StoreConfig) *eval.Store {
	t.Helper()
	s := eval.NewStore(c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// makeDatabase writes a database into dir.
func makeDatabase(t testing.TB, dir, id string, statements ...string) {
	t.Helper()
	db := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, id+".sqlite")))(t)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// write writes a file into a new folder, gzipped where the name ends so.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	file := testutil.Value(os.Create(path))(t)
	defer file.Close()
	if !strings.HasSuffix(name, ".gz") {
		testutil.Value(file.WriteString(content))(t)
		return path
	}
	z := gzip.NewWriter(file)
	testutil.Value(z.Write([]byte(content)))(t)
	testutil.OK(t, z.Close())
	return path
}

// folder is the evaluation data, without which the test is skipped.
func folder(t testing.TB) *pools.Folder {
	t.Helper()
	f := testutil.Value(pools.OpenFolder(evaldata.Path(t)))(t)
	return f
}

// withFunctions is a configuration for statements that call functions of MySQL, and functions of mathematics that the
// SQLite of the recorded verdicts had.
func withFunctions(find func(string) (string, error)) eval.StoreConfig {
	return eval.StoreConfig{Find: find, Policy: mysqlite.Policy(), Open: mysqlite.OpenReadOnly}
}

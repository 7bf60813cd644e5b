package eval_test

import (
	"compress/gzip"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
)

// openReadOnly opens a database file that nothing writes to.
func openReadOnly(path string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
}

// newStore is a Store that finds databases with find.
func newStore(t testing.TB, find func(string) (string, error)) *eval.Store {
	t.Helper()
	return openStore(t, eval.StoreConfig{Find: find, Open: openReadOnly})
}

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
		testutil.Value(db.Exec(s))(t, s)
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

// in finds the databases of a folder by their files.
func in(dir string) func(id string) (string, error) {
	return func(id string) (string, error) {
		path := filepath.Join(dir, id+".sqlite")
		if _, err := os.Stat(path); err != nil {
			return "", &eval.DatabaseError{ID: id, Path: dir}
		}
		return path, nil
	}
}

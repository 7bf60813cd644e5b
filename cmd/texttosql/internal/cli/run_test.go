package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c%20#d.sqlite")
	plain := filepath.Join(t.TempDir(), "plain.sqlite")
	db, err := sql.Open("sqlite3", plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (x); INSERT INTO t VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if err := os.Rename(plain, path); err != nil {
		t.Fatal(err)
	}

	db, err = OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var x int
	if err := db.QueryRow("SELECT x FROM t").Scan(&x); err != nil || x != 7 {
		t.Errorf("got %d, %v", x, err)
	}
	if _, err := db.Exec("DELETE FROM t"); err == nil {
		t.Error("a row was deleted")
	}
}

func TestOpenReadOnlyErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("SELECT 1; this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.sqlite"): "no such file",
		dir:                               "is a folder",
		os.DevNull:                        "is no file",
		text:                              "is no SQLite database",
	} {
		_, err := OpenReadOnly(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none.sqlite")); err == nil {
		t.Error("the missing file was made")
	}
}

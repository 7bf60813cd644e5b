package cli

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		args    []string
		want    string // in the error
		printed string
		why     string
	}{
		{[]string{"-n", "3"}, "", "", "right"},
		{[]string{"-m", "3"}, "not defined: -m (-h lists the flags)", "", "an unknown flag"},
		{[]string{"-n", "x"}, "invalid value", "", "a wrong value"},
		{[]string{"-h"}, flag.ErrHelp.Error(), "a number", "help is printed"},
	}
	for _, test := range tests {
		var out strings.Builder
		flags := flag.NewFlagSet("ask", flag.ContinueOnError)
		flags.SetOutput(&out)
		flags.Int("n", 1, "a number")
		err := Parse(flags, test.args)
		if fmt.Sprint(err) != "<nil>" && test.want == "" || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v", test.why, err)
		}
		if test.printed == "" && out.Len() > 0 || !strings.Contains(out.String(), test.printed) {
			t.Errorf("%s: printed %q", test.why, out.String())
		}
	}
}

func TestReport(t *testing.T) {
	tests := []struct {
		err    error
		status int
		text   string
	}{
		{nil, 0, ""},
		{flag.ErrHelp, 0, ""},
		{errors.New("no key"), 1, "ask: no key\n"},
		{errors.New("no \x1b[31mkey"), 1, "ask: no [31mkey\n"},
		{errors.Join(errors.New("one"), errors.New("two")), 1, "ask: one; two\n"},
		{fmt.Errorf("asking: %w", context.Canceled), 1, "ask: interrupted\n"},
	}
	for _, test := range tests {
		var out strings.Builder
		if got := report(&out, "ask", test.err); got != test.status || out.String() != test.text {
			t.Errorf("%v: %d, %q", test.err, got, out.String())
		}
	}
}

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

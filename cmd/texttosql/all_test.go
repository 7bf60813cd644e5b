package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/need"
)

// TestAll: every row of a result is written, in the form of the rows of a table, or the exit says what ended it.
func TestAll(t *testing.T) {
	db := shopFile(t)
	numbers := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'a,b' AS \"x\ny\" FROM n", n)
	}
	for _, form := range []string{"csv", "tsv", "jsonl"} {
		for _, n := range []int{1, 256, 257, 900} {
			_, want, _ := try(t, nil, "", "sql", "-d", db, "-f", form, numbers(n))
			code, got, told := try(t, nil, "", "sql", "-d", db, "-f", form, "--all", numbers(n))
			if code != exitAnswer || got != want || told != "" {
				t.Errorf("%s of %d rows: code %d, %s\n%.200s", form, n, code, told, got)
			}
		}
		_, want, _ := try(t, nil, "", "sql", "-d", db, "-f", form, numbers(1)+" WHERE i > 1")
		if _, got, _ := try(t, nil, "", "sql", "-d", db, "-f", form, "--all", numbers(1)+" WHERE i > 1"); got != want {
			t.Errorf("%s without rows: %q, want %q", form, got, want)
		}
	}
	code, out, told := try(t, nil, "", "sql", "-d", db, "--csv", "--all", numbers(120_000))
	if n := strings.Count(out, "\n"); code != exitAnswer || n != 120_002 || told != "" { // the name of a column has a line break
		t.Errorf("code %d, %d lines, %s", code, n, told)
	}
	code, out, told = try(t, nil, "", "sql", "-d", db, "--csv", numbers(2000))
	if n := strings.Count(out, "\n"); code != exitAnswer || n != 1002 || !strings.Contains(told, "--rows") || !strings.Contains(told, "--all") {
		t.Errorf("code %d, %d lines, %s", code, n, told)
	}
	code, out, told = try(t, nil, "", "sql", "-d", db, "--csv", "--all", "SELECT 1 AS x UNION ALL SELECT abs(-9223372036854775808)")
	if code == exitAnswer || !strings.HasPrefix(out, "x\n") || told == "" {
		t.Errorf("a fault behind rows: code %d, %q, %s", code, out, told)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	if code, _, told := try(t, nil, "", "sql", "-d", db, "--csv", "--all", "-o", file, numbers(5000)); code != exitAnswer || told != "" {
		t.Errorf("to a file: code %d, %s", code, told)
	}
	if n := strings.Count(string(need.Value(os.ReadFile(file))(t)), "\n"); n != 5002 {
		t.Errorf("%d lines in the file", n)
	}
	for _, all := range []string{"--all", "--rows=1000"} { // once, in front of the names
		if _, out, _ := try(t, nil, "", "sql", "-d", db, "--csv", "--bom", all, numbers(300)); strings.LastIndex(out, "\ufeff") != 0 {
			t.Errorf("%s --bom: %.40q", all, out)
		}
	}
	if code, _, told := try(t, nil, "", "sql", "-d", db, "--all", "SELECT 1"); code != exitUsage || !strings.Contains(told, "--csv") {
		t.Errorf("as a table: code %d, %s", code, told)
	}
}

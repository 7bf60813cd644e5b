package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestAll: every row of a result is written, in the form of the rows of a table, or the exit says what ended it.
func TestAll(t *testing.T) {
	db := shopFile(t)
	numbers := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, "+
			"'a,b' AS \"x\ny\" FROM n", n)
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
	// the name of a column has a line break
	if n := strings.Count(out, "\n"); code != exitAnswer || n != 120_002 || told != "" {
		t.Errorf("code %d, %d lines, %s", code, n, told)
	}
	code, out, told = try(t, nil, "", "sql", "-d", db, "--csv", numbers(2000))
	if n := strings.Count(out, "\n"); code != exitCut || n != 1002 || !strings.Contains(told, "--rows") ||
		!strings.Contains(told, "--all") {
		t.Errorf("code %d, %d lines, %s", code, n, told)
	}
	for _, form := range []string{"json", "jsonl", "tsv", "markdown"} {
		if code, out, _ := try(t, nil, "", "sql", "-d", db, "-f", form, numbers(2000)); code != exitCut || form == "json" &&
			!strings.Contains(out, `"exit":6`) {
			t.Errorf("%s: code %d", form, code)
		}
	}
	if code, _, _ := try(t, nil, "", "sql", "-d", db, numbers(2000)); code != exitAnswer {
		t.Errorf("a table says how many rows it has: code %d", code)
	}
	code, out, told = try(t, nil, "", "sql", "-d", db, "--csv", "--all",
		"SELECT 1 AS x UNION ALL SELECT abs(-9223372036854775808)")
	if code == exitAnswer || !strings.HasPrefix(out, "x\n") || told == "" {
		t.Errorf("a fault behind rows: code %d, %q, %s", code, out, told)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	if code, _, told := try(t, nil, "", "sql", "-d", db, "--csv", "--all", "-o", file,
		numbers(5000)); code != exitAnswer || told != "" {
		t.Errorf("to a file: code %d, %s", code, told)
	}
	if n := strings.Count(string(testutil.Value(os.ReadFile(file))(t)), "\n"); n != 5002 {
		t.Errorf("%d lines in the file", n)
	}
	for _, all := range []string{"--all", "--rows=1000"} { // once, in front of the names
		if _, out, _ := try(t, nil, "", "sql", "-d", db, "--csv", "--bom", all, numbers(300)); strings.LastIndex(out,
			"\ufeff") != 0 {
			t.Errorf("%s --bom: %.40q", all, out)
		}
	}
	if code, _, told := try(t, nil, "", "sql", "-d", db, "--all", "SELECT 1"); code != exitUsage ||
		!strings.Contains(told, "--csv") {
		t.Errorf("as a table: code %d, %s", code, told)
	}
}

// TestWorkbook: --format xlsx writes a file with all rows, and nothing to standard output.
func TestWorkbook(t *testing.T) {
	db, dir := shopFile(t), t.TempDir()
	statement := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i, " +
		"i / 4.0 AS part FROM n"
	for _, test := range []struct {
		why  string
		args []string
		rows int
		code int
	}{
		{"the first rows", nil, 1000, exitCut},
		{"all rows", []string{"--all"}, 1500, exitAnswer},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(test.why, " ", "-")+".xlsx")
		code, out, told := try(t, nil, "", append([]string{"sql", "-d", db, "-f", "xlsx", "-o", file, statement},
			test.args...)...)
		if code != test.code || out != "" || (told == "") != (test.rows == 1500) {
			t.Errorf("%s: code %d, %q, %s", test.why, code, out, told)
		}
		book := testutil.Value(excelize.OpenFile(file))(t)
		rows := testutil.Value(book.GetRows("Sheet1"))(t)
		if len(rows) != test.rows+1 || rows[0][1] != "part" || rows[3][1] != "0.75" {
			t.Errorf("%s: %d rows, %q", test.why, len(rows), rows[:4])
		}
	}
	if code, _, told := try(t, nil, "", "sql", "-d", db, "-f", "xlsx", "SELECT 1"); code != exitUsage ||
		!strings.Contains(told, "--out") {
		t.Errorf("without a file: code %d, %s", code, told)
	}
}

// TestWorkbookToOpenpyxl: a reader that reads row by row, as pandas does, sees all rows of a stream, and the bytes of a
// blob. TEXTTOSQL_PYTHON names a Python that has the package openpyxl.
func TestWorkbookToOpenpyxl(t *testing.T) {
	python := cmp.Or(os.Getenv("TEXTTOSQL_PYTHON"), "python3")
	if err := exec.CommandContext(t.Context(), python, "-c", "import openpyxl").Run(); err != nil {
		t.Skip("there is no Python with the package openpyxl: TEXTTOSQL_PYTHON names one")
	}
	const script = `import openpyxl, sys
rows = list(openpyxl.load_workbook(sys.argv[1], read_only=True)["Sheet1"].rows)
print(len(rows), [cell.value for cell in rows[0]], [cell.value for cell in rows[-1]])`
	numbers := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, x'00ff' AS raw " +
		"FROM n"
	for _, tt := range []struct {
		rows int
		args []string
	}{{1, nil}, {900, nil}, {100_000, []string{"--all"}}} {
		path := filepath.Join(t.TempDir(), "rows.xlsx")
		args := append([]string{"sql", "-d", shopFile(t), "-f", "xlsx", "-o", path, fmt.Sprintf(numbers, tt.rows)},
			tt.args...)
		if code, _, told := try(t, nil, "", args...); code != exitAnswer {
			t.Fatalf("code %d, %s", code, told)
		}
		out, err := exec.CommandContext(t.Context(), python, "-c", script, path).CombinedOutput()
		want := fmt.Sprintf("%d ['i', 'raw'] [%d, \"X'00ff'\"]\n", tt.rows+1, tt.rows)
		if err != nil || string(out) != want {
			t.Errorf("%d rows: %v, %s", tt.rows, err, out)
		}
	}
}

// TestNumbersAsTexts: the flags write what a float64 does not hold as texts, in JSON alone.
func TestNumbersAsTexts(t *testing.T) {
	db := filepath.Join(t.TempDir(), "n.db")
	pool := testutil.Value(sql.Open("sqlite3", db))(t)
	testutil.Value(pool.Exec("CREATE TABLE t (a DECIMAL(10,2), b INTEGER, c INTEGER); INSERT INTO t VALUES (1.5, " +
		"9007199254740993, 7)"))(t)
	testutil.OK(t, pool.Close())
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"digits as they are", []string{"-f", "jsonl"}, `{"a":1.50,"b":9007199254740993,"c":7}`},
		{"decimals", []string{"-f", "jsonl", "--decimal-text"}, `{"a":"1.50","b":9007199254740993,"c":7}`},
		{"integers beyond 2^53", []string{"-f", "jsonl", "--big-int-text"}, `{"a":1.50,"b":"9007199254740993","c":7}`},
		{"one object", []string{"--json", "--decimal-text", "--big-int-text"}, `[["1.50","9007199254740993",7]]`},
		{"a stream", []string{"--all", "-f", "jsonl", "--big-int-text"}, `{"a":1.50,"b":"9007199254740993","c":7}`},
		{"CSV has no types", []string{"--csv", "--decimal-text"}, "1.50,9007199254740993,7"},
	} {
		code, out, told := try(t, nil, "", append([]string{"sql", "-d", db, "SELECT a, b, c FROM t"}, test.args...)...)
		if code != exitAnswer || !strings.Contains(out, test.want) {
			t.Errorf("%s: code %d, %s, %s", test.why, code, out, told)
		}
	}
}

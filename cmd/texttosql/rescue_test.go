package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestRescue: an answer that is paid for is shown where it cannot be written.
func TestRescue(t *testing.T) {
	db := shopFile(t)
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no full device here: ", err)
	}
	for _, tt := range []struct {
		why  string
		args []string
		full bool // standard output
		out  string
		err  []string
	}{
		{"a file whose folder has gone", []string{"--out", "gone/a.txt"}, false, "Mina Jansen",
			[]string{"--out", "no such file"}},
		{"rows alone", []string{"--csv", "--out", "gone/a.csv"}, false, "name\nMina Jansen\n", []string{"--out"}},
		{"JSON", []string{"--json", "--out", "gone/a.json"}, false, `"rows":`, []string{"--out"}},
		{"a workbook", []string{"-f", "xlsx", "--out", "gone/a.xlsx"}, false, "name\nMina Jansen\n", []string{"--out"}},
		{"a full standard output", nil, true, "", []string{"Mina Jansen", "no space left"}},
		{"a full standard output, rows alone", []string{"--csv"}, true, "", []string{"name\nMina Jansen\n", "no space left"}},
		{"neither", []string{"--csv", "--out", "gone/a.csv"}, true, "", []string{"name\nMina Jansen\n", "--out"}},
	} {
		dir := t.TempDir()
		gone := filepath.Join(dir, "gone")
		testutil.OK(t, os.Mkdir(gone, 0o700))
		env := with(asking(t, func(prompt string, call int) string {
			os.RemoveAll(gone) // as the question is paid for
			return always(neverOrdered)(prompt, call)
		}), "TEXTTOSQL_DSN", db)
		var args []string
		for _, arg := range tt.args {
			args = append(args, strings.Replace(arg, "gone/", gone+"/", 1))
		}
		var out, told bytes.Buffer
		args = append(append([]string{"ask", "-s", "direct", "--no-log"}, args...), "Who never ordered?")
		p := &program{ctx: t.Context(), in: strings.NewReader(""), out: &out, err: &told, args: args,
			getenv: func(name string) string { return env[name] }}
		if tt.full {
			full := testutil.Value(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
			defer full.Close()
			p.out = full
		}
		if code := p.report(p.run()); code != exitError {
			t.Errorf("%s: code %d", tt.why, code)
		}
		if !strings.Contains(out.String(), tt.out) {
			t.Errorf("%s: standard output has %q, not %q", tt.why, out.String(), tt.out)
		}
		for _, want := range tt.err {
			if !strings.Contains(told.String(), want) {
				t.Errorf("%s: standard error has %q, not %q", tt.why, told.String(), want)
			}
		}
	}
	calls := 0
	env := with(asking(t, func(string, int) string { calls++; return "" }), "TEXTTOSQL_DSN", db)
	if code, _, told := try(t, env, "", "ask", "--out", "/dev/full", "Who?"); code != exitUsage || calls > 0 {
		t.Errorf("a device: code %d, %d calls, %s", code, calls, told)
	}
}

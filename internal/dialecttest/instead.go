package dialecttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// Instead runs statements that are rejected, each with a part of its error that says what to write, and statements that
// are written so.
func Instead(t testing.TB, db *exec.DB, rejected [][2]string, run ...string) {
	t.Helper()
	for _, pair := range rejected {
		_, err := db.Query(t.Context(), pair[0])
		if err == nil || !strings.Contains(err.Error(), pair[1]) {
			t.Errorf("%s: %v, want %s", pair[0], err, pair[1])
		}
	}
	for _, text := range run {
		if _, err := db.Query(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Advised runs each line of what a language says to write instead. A call of each name is rejected with the line,
// except for patterns and the names listed, which the guard lets pass. What to write is not rejected.
func Advised(t testing.TB, db *exec.DB, listed ...string) {
	t.Helper()
	var rejected [][2]string
	var run []string
	for line := range strings.Lines(strings.TrimSpace(db.Language().Instead)) {
		names, advice, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for name := range strings.FieldsSeq(names) {
			if !strings.Contains(name, "*") && !slices.Contains(listed, name) {
				rejected = append(rejected, [2]string{"SELECT " + name + "(x)", advice})
			}
		}
		if written, ok := strings.CutPrefix(advice, "write "); ok {
			for part := range strings.SplitSeq(written, ", or ") {
				run = append(run, strings.Replace("SELECT "+part, "SELECT FROM", "SELECT 1 FROM", 1))
			}
		}
	}
	Instead(t, db, rejected, run...)
}

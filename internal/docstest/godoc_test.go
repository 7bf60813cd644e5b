package docstest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestPackageDoc: go doc of the root is one screen or two, and begins with a program that compiles.
func TestPackageDoc(t *testing.T) {
	run := func(args ...string) string {
		c := exec.CommandContext(t.Context(), "go", args...)

		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	lines := strings.Split(strings.TrimSpace(run("doc", ".")), "\n")
	if len(lines) > 80 {
		t.Errorf("go doc has %d lines", len(lines))
	}
	var program strings.Builder
	for _, line := range lines[:25] {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			program.WriteString(code + "\n")
		}
	}
	path := filepath.Join(t.TempDir(), "main.go")
	testutil.OK(t, os.WriteFile(path, []byte(program.String()), 0o600))
	run("vet", path)
}

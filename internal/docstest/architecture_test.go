package docstest_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestArchitectureListsFolders compares the table of ARCHITECTURE.md with the folders that have Go code. Folders of the
// programs cmd, examples and lab count as one each.
func TestArchitectureListsFolders(t *testing.T) {
	page := string(testutil.Value(os.ReadFile("ARCHITECTURE.md"))(t))
	table, _, _ := strings.Cut(page, "## Three beliefs")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`([a-z/0-9]+)`").FindAllStringSubmatch(row[1], -1) {
			listed[m[1]] = true
		}
	}

	for folder := range listed {
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("ARCHITECTURE.md lists %s, which does not exist", folder)
		}
	}
	testutil.OK(t, fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(name, ".") && name != "." {
			return fs.SkipDir
		}
		folder := path.Dir(name)
		program := regexp.MustCompile(`^(cmd|examples|lab)/`).MatchString(name)
		if path.Ext(name) != ".go" || folder == "." || program || strings.Contains(name, "/testdata/") {
			return nil
		}
		if !listed[folder] {
			t.Errorf("ARCHITECTURE.md does not list %s", folder)
			listed[folder] = true
		}
		return nil
	}))
	top := map[string]bool{}
	for _, entry := range testutil.Value(os.ReadDir("."))(t) {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			top[entry.Name()] = true
		}
	}
	if len(top) > 23 {
		t.Errorf("%d top-level folders, want at most 23: %v", len(top), top)
	}
}

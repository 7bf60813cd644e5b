package enginetest_test

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// writers are the files of code that write a file, with the test that damages what they write, or with the reason why
// nothing trusts it later without a look at it.
var writers = map[string]string{
	"llm/replay/recorder.go":                   "TestStoresDamaged",
	"memory/verified.go":                       "TestStoresDamaged",
	"memory/lessons.go":                        "TestStoresDamaged",
	"memory/vectors.go":                        "TestStoresDamaged",
	"session/files.go":                         "TestStoresDamaged",
	"cmd/texttosql/log.go":                     "TestLogDamaged",
	"cmd/texttosql/internal/setup/profiles.go": "TestProfilesDamaged",

	"internal/describe/file.go":            "people edit the descriptions, so the file has no checksum",
	"cmd/texttosql/internal/cli/answer.go": "pages and exports, for people",
	"cmd/texttosql/internal/cli/talk.go":   "exports, for people",
	"internal/atomicfile/file.go":          "it writes for the others",
	"internal/atomicfile/lock_other.go":    "a lock, which holds nothing",
	"internal/atomicfile/lock_unix.go":     "a lock, which holds nothing",
	"internal/dbtest/dbtest.go":            "a switch of the kernel",
	"examples/engines/main.go":             "an example, whose database is made anew",
	"examples/quickstart/main.go":          "a page, for people",
	"internal/damage/damage.go":            "it damages files in tests",
	"internal/golden/golden.go":            "expected output of tests, which people review",
	"internal/pictures/main.go":            "pictures of the documentation",
	"internal/servers/trino.go":            "settings of a server of tests",
}

// TestStoresListed: whatever writes a file is damaged by a test, or is here with a reason. The laboratory, which
// nothing trusts, writes figures and copies for people who measure.
func TestStoresListed(t *testing.T) {
	writes := regexp.MustCompile(`\b(os\.(WriteFile|OpenFile|Create|CreateTemp)|atomicfile\.(Write|Create))\(`)
	tests := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	var found, known []string
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == "lab" || path == ".git"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text := testutil.Value(fs.ReadFile(root, path))(t)
		if strings.HasSuffix(path, "_test.go") {
			for _, name := range tests.FindAllSubmatch(text, -1) {
				known = append(known, string(name[1]))
			}
		} else if writes.Match(text) {
			found = append(found, path)
		}
		return nil
	})
	testutil.OK(t, err)
	for _, path := range found {
		switch by, listed := writers[path]; {
		case !listed:
			t.Errorf("%s writes a file: name the test that damages it, or why nothing trusts it", path)
		case strings.HasPrefix(by, "Test") && !slices.Contains(known, by):
			t.Errorf("%s: there is no %s", path, by)
		}
	}
	for path := range writers {
		if !slices.Contains(found, path) {
			t.Errorf("%s writes no file", path)
		}
	}
}

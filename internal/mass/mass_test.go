package mass

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

var update = flag.Bool("update", false, "lower the ceilings in ceilings.txt to the counts of today")

// aside are the folders outside the product: programs, measurements, and packages for tests.
var aside = []string{
	"cmd/", "eval", "examples/", "exec/exectest", "exec/trino/servertest", "internal/dbtest", "internal/dialecttest",
	"lab", "llm/llmtest", "llm/replay", "otel",
	"session/pgstore", "session/storetest",
}

// TestCeilings fails if a package has more tokens or exported names than its line in ceilings.txt allows, or has no
// line. The flag -update lowers ceilings and removes lines of packages that are gone. It never raises one: an issue
// allows that.
func TestCeilings(t *testing.T) {
	const file = "ceilings.txt"
	ceilings := readCeilings(t, file)
	var product, all Count
	for dir, c := range packages(t, filepath.Join("..", "..")) {
		ceiling, known := ceilings[dir]
		switch {
		case !known:
			t.Errorf("%s has no ceiling: add the line %q to %s", dir, line(dir, c), file)
		case c.Tokens > ceiling.Tokens || c.Names > ceiling.Names:
			t.Errorf("%s has %d tokens and %d names; its ceiling is %d and %d", dir, c.Tokens, c.Names, ceiling.Tokens,
				ceiling.Names)
		}

		all.Tokens += c.Tokens
		if !slices.ContainsFunc(aside, func(a string) bool { return strings.HasPrefix(dir+"/", a) || dir == a }) {
			product.Tokens, product.Names = product.Tokens+c.Tokens, product.Names+c.Names
		}
	}
	t.Logf("product: %d tokens, %d exported names (internal packages included); all: %d tokens", product.Tokens,
		product.Names, all.Tokens)

	if *update {
		lowerCeilings(t, file, ceilings)
	}
}

// lowerCeilings writes each ceiling as the smaller of itself and the count of today.
func lowerCeilings(t *testing.T, file string, ceilings map[string]Count) {
	t.Helper()
	today := packages(t, filepath.Join("..", ".."))
	var lines []string
	for dir, ceiling := range ceilings {
		if c, exists := today[dir]; exists {
			lines = append(lines, line(dir, Count{Tokens: min(c.Tokens, ceiling.Tokens), Names: min(c.Names, ceiling.Names)}))
		}
	}
	slices.Sort(lines)
	testutil.OK(t, os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644))
}

func line(dir string, c Count) string {
	return fmt.Sprintf("%-40s %6d tokens %4d names\n", dir, c.Tokens, c.Names)
}

// readCeilings reads one ceiling a package, by its folder; "." is the root.
func readCeilings(t *testing.T, file string) map[string]Count {
	t.Helper()
	ceilings := map[string]Count{}
	for text := range strings.Lines(string(testutil.Value(os.ReadFile(file))(t))) {
		var dir string
		var c Count
		if _, err := fmt.Sscanf(text, "%s %d tokens %d names", &dir, &c.Tokens, &c.Names); err != nil {
			t.Fatalf("%s: %q: %v", file, text, err)
		}
		ceilings[dir] = c
	}
	return ceilings
}

// packages returns the mass of every package, by its folder; "." is the root.
func packages(t *testing.T, root string) map[string]Count {
	all := map[string]Count{}
	testutil.OK(t, fs.WalkDir(os.DirFS(root), ".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); dir != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
			return fs.SkipDir
		}
		c, err := Package(filepath.Join(root, filepath.FromSlash(dir)))
		if c.Tokens > 0 {
			all[dir] = c
		}
		return err
	}))
	return all
}

// TestPackage shows what counts.
func TestPackage(t *testing.T) {
	for _, tt := range []struct {
		why, text string
		want      Count
	}{
		{"a comment and the end of a line are no tokens", "package p\n// A comment.\n", Count{Tokens: 2}},
		{"a semicolon is one", "package p; const A = 1", Count{Tokens: 7, Names: 1}},
		{"methods and fields are no top-level names", "package p\ntype T struct{ A int }\nfunc (T) M() {}\nfunc F() {}\n",
			Count{Tokens: 24, Names: 2}},
		{"a program exports nothing", "package main\nfunc F() {}\n", Count{Tokens: 8}},
	} {
		dir := t.TempDir()
		testutil.OK(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(tt.text), 0o600))
		testutil.OK(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\nconst B = 2\n"), 0o600))
		if got, err := Package(dir); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.why, got, err, tt.want)
		}
	}
}

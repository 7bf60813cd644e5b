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

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/need"
)

var update = flag.Bool("update", false, "write mass.txt anew")

// aside are the folders that are no product: programs, measurements, and what only tests use.
var aside = []string{
	"cmd/", "eval", "examples/", "exec/exectest", "exec/trino/servertest", "lab", "llm/llmtest", "llm/replay", "otel",
	"session/pgstore", "session/storetest",
}

// TestMass compares tokens and exported names of every package with mass.txt, and logs the sums.
func TestMass(t *testing.T) {
	root := filepath.Join("..", "..")
	file := filepath.Join(root, "mass.txt")
	var lines []string
	var product, all Count
	for dir, c := range packages(t, root) {
		lines = append(lines, fmt.Sprintf("%-40s %6d tokens %4d names\n", dir, c.Tokens, c.Names))
		all.Tokens += c.Tokens
		if !slices.ContainsFunc(aside, func(a string) bool { return (dir + "/")[:min(len(a), len(dir)+1)] == a }) {
			product.Tokens, product.Names = product.Tokens+c.Tokens, product.Names+c.Names
		}
	}
	slices.Sort(lines)
	t.Logf("product: %d tokens, %d exported names (of internal packages too); all: %d tokens", product.Tokens, product.Names, all.Tokens)
	got := strings.Join(lines, "")
	if *update {
		need.OK(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skip("there is no mass.txt; -update writes it")
	}
	need.OK(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("packages grew or shrank (-want +got; go test ./internal/mass -update writes mass.txt anew):\n%s", diff)
	}
}

// packages returns the mass of every package, by its folder; "." is the root.
func packages(t *testing.T, root string) map[string]Count {
	all := map[string]Count{}
	need.OK(t, fs.WalkDir(os.DirFS(root), ".", func(dir string, entry fs.DirEntry, err error) error {
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
		{"methods and fields are no top-level names", "package p\ntype T struct{ A int }\nfunc (T) M() {}\nfunc F() {}\n", Count{Tokens: 24, Names: 2}},
		{"a program exports nothing", "package main\nfunc F() {}\n", Count{Tokens: 8}},
	} {
		dir := t.TempDir()
		need.OK(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(tt.text), 0o600))
		need.OK(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\nconst B = 2\n"), 0o600))
		if got, err := Package(dir); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.why, got, err, tt.want)
		}
	}
}

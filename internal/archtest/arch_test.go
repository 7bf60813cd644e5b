package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/texttosql/texttosql"

// allowed lists, for every package, the packages of ours that it may import. A
// package without a line may import nothing of ours; examples may import all.
var allowed = map[string][]string{
	"sqltext":        {},
	"result":         {},
	"schema":         {},
	"trace":          {},
	"llm":            {"trace"},
	"llm/langchain":  {"llm", "trace"},
	"llm/replay":     {"llm", "trace"},
	"llm/llmtest":    {"llm", "trace"},
	"exec":           {"sqltext", "result", "schema", "trace"},
	"exec/sqlite":    {"exec", "sqltext", "result", "schema", "trace"},
	"vote":           {"result", "sqltext"},
	"linker":         {"llm", "exec", "schema", "sqltext", "result", "trace"},
	"strategy":       {"llm", "exec", "vote", "linker", "schema", "sqltext", "result", "trace"},
	"":               {"strategy", "llm", "exec", "exec/sqlite", "vote", "linker", "schema", "sqltext", "result", "trace"},
	"eval":           {"llm", "exec", "exec/sqlite", "vote", "schema", "sqltext", "result", "trace"},
	"eval/models":    {"eval", "llm", "exec", "vote", "schema", "sqltext", "result", "trace"},
	"eval/testsuite": {"eval", "exec", "exec/sqlite", "schema", "sqltext", "result", "trace"},
}

// rootLinks are the only packages outside of the standard library and of the
// module that the root package may link.
var rootLinks = []string{"golang.org/x/sync/"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,Standard"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestArrows(t *testing.T) {
	for _, p := range list(t, "./...") {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.HasPrefix(from, "examples") || strings.HasPrefix(from, "internal") {
			continue
		}
		may, known := allowed[from]
		if !known && !strings.HasPrefix(from, "exec/") {
			t.Errorf("package %s is not in the picture: add it to ARCHITECTURE.md and to this test", from)
		}
		if strings.HasPrefix(from, "exec/") {
			may = allowed["exec/sqlite"]
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module+"/")
			if ours && !slices.Contains(may, to) {
				t.Errorf("%s imports %s: that arrow points the wrong way", p.ImportPath, imp)
			}
		}
	}
}

// TestRootLinksNoDriver keeps drivers, provider clients and their dependencies
// out of programs that import the root package.
func TestRootLinksNoDriver(t *testing.T) {
	root := list(t, ".")[0]
	standard := map[string]bool{}
	for _, p := range list(t, "std") {
		standard[p.ImportPath] = true
	}
	for _, dep := range root.Deps {
		ours := dep == module || strings.HasPrefix(dep, module+"/")
		vendored := strings.HasPrefix(dep, "vendor/")
		permitted := slices.ContainsFunc(rootLinks, func(p string) bool { return strings.HasPrefix(dep, p) })
		if !ours && !standard[dep] && !vendored && !permitted {
			t.Errorf("the root package links %s", dep)
		}
	}
}

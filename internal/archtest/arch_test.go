package archtest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

const module = "github.com/texttosql/texttosql"

// bottom lists the packages that import nothing of ours and that every package may import.
var bottom = []string{
	"internal/words", "internal/background", "internal/atomicfile", "internal/fields", "internal/prompttext",
	"internal/slots", "internal/progress",
	"internal/sqlshape", "internal/redact", "internal/tracepage", "internal/dateprompt",
	"internal/dialogue", "internal/evalbounds", "internal/resample", "internal/findings", "internal/rawreport",
	"internal/llmerr", "internal/embedding", "internal/fileerr",
}

// allowed lists, for every package, the packages of ours that it may import beside
// bottom. A package without a line may import nothing of ours; examples may import all that is not internal.
var allowed = map[string][]string{
	"sqltext":               {},
	"internal/replies":      {"sqltext"},
	"internal/prompttext":   {"internal/words"},
	"internal/sqlshape":     {"internal/words"},
	"internal/redact":       {"internal/words"},
	"result":                {},
	"schema":                {},
	"trace":                 {},
	"internal/snapshot":     {"schema"},
	"internal/checks":       {"schema", "sqltext"},
	"internal/quoting":      {"schema", "sqltext"},
	"knowledge":             {"sqltext", "schema", "result"},
	"knowledge/dbt":         {"knowledge"},
	"knowledge/ossie":       {"knowledge"},
	"knowledge/snowflake":   {"knowledge"},
	"knowledge/wren":        {"knowledge"},
	"llm":                   {"trace"},
	"llm/internal/wire":     {"llm", "trace"},
	"llm/openai":            {"llm", "llm/internal/wire", "trace"},
	"llm/anthropic":         {"llm", "llm/internal/wire", "trace"},
	"internal/periods":      {"sqltext", "result"},
	"internal/summary":      {"internal/periods", "sqltext", "result", "llm"},
	"llm/langchain":         {"llm", "llm/internal/wire", "trace"},
	"llm/replay":            {"llm", "trace"},
	"llm/llmtest":           {"llm", "trace"},
	"llm/internal/wiretest": {"llm", "llm/llmtest", "trace"},
	"internal/execerr":      {"sqltext"},
	"internal/sampling":     {},
	"internal/inspection":   {},
	"internal/driverrows":   {},
	"exec/guard": {"internal/driverrows", "internal/execerr", "internal/inspection", "internal/sampling",
		"sqltext", "result", "schema"},
	"exec": {
		"exec/guard", "internal/checks", "internal/execerr", "internal/inspection", "internal/periods", "internal/quoting",
		"internal/sampling", "internal/snapshot", "sqltext", "result", "schema", "trace", "vote",
	},
	"exec/sqlite": {"exec", "exec/guard", "internal/driverrows", "internal/execerr", "sqltext", "result",
		"schema", "trace"},
	"exec/exectest":       {"exec", "exec/guard", "internal/dbtest", "sqltext", "result", "schema", "trace"},
	"vote":                {"sqltext"},
	"internal/contradict": {"internal/snapshot", "result", "schema", "sqltext"},
	"internal/intent":     {"internal/checks", "exec", "sqltext"},
	"doubt": {"internal/checks", "internal/intent", "internal/contradict", "exec", "vote", "result",
		"schema", "sqltext"},
	"internal/answerable":   {"internal/checks", "internal/snapshot", "knowledge", "exec", "vote", "schema", "sqltext"},
	"session":               {"schema", "result", "trace"},
	"internal/sessionscope": {"session"},
	"session/storetest":     {"session", "schema", "result", "trace"},
	"internal/masking":      {"schema", "sqltext"},
	"internal/leakguard":    {"internal/masking", "memory", "sqltext"},
	"memory":                {"internal/masking", "internal/snapshot", "session", "llm", "sqltext", "schema", "trace"},
	"internal/describe":     {"llm", "exec", "schema", "trace"},
	"linker": {"knowledge", "internal/snapshot", "internal/replies", "session", "memory", "llm", "exec",
		"schema", "sqltext", "result", "trace"},
	"internal/host":        {"llm", "schema", "session", "trace"},
	"internal/constraints": {"exec", "schema", "session", "sqltext"},
	"strategy": {
		"internal/checks", "internal/host", "internal/constraints", "internal/snapshot", "internal/replies", "knowledge",
		"session", "memory", "llm",
		"exec", "vote", "doubt", "linker", "schema", "sqltext", "result", "trace",
	},
	"internal/aboutschema": {"internal/words", "schema"},
	"internal/askedrules":  {"doubt", "sqltext", "vote"},
	"internal/egtts":       aMethod(),
	"strategy/planvote":    aMethod("internal/egtts"),
	"strategy/maker":       aMethod("internal/egtts", "strategy/planvote"),
	"strategy/petsql":      aMethod("strategy/planvote"),
	"strategy/qasql":       aMethod("strategy/planvote"),
	"strategy/agent":       aMethod("internal/askedrules"),
	"strategy/threephase":  aMethod(),
	"failure":              append(aMethod(), "llm/replay", "knowledge", "internal/replies"),
	"": append(aMethod(), "llm/replay", "exec/sqlite", "knowledge", "failure", "internal/host", "internal/constraints",
		"internal/intent", "internal/contradict", "internal/aboutschema", "internal/confighash", "internal/answerable",
		"internal/periods", "internal/summary",
		"internal/snapshot"),
	"tool":          {"failure", "result", "session"},
	"texttosqltest": {"failure", "knowledge", "result", "session", "strategy"},
	"eval":          {"llm", "exec", "exec/sqlite", "vote", "schema", "sqltext", "result", "trace"},
}

// aMethod is what a package of one method may import, and beside that the methods that it falls back on.
func aMethod(others ...string) []string {
	return append(others,
		"strategy", "internal/checks", "internal/replies", "session", "memory", "llm", "exec", "vote", "doubt", "linker",
		"schema", "sqltext", "result", "trace")
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
	for _, p := range list(t, "./...", "./exec/postgres", "./exec/mysql", "./exec/trino", "./exec/bigquery",
		"./exec/duckdb") {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		low := slices.Contains(bottom, from)
		may, known := allowed[from]
		if strings.HasPrefix(from, "examples") || strings.HasPrefix(from, "internal") && !low && !known {
			continue
		}
		if !known && !low && !strings.HasPrefix(from, "exec/") {
			t.Errorf("package %s is not in the picture: add it to ARCHITECTURE.md and to this test", from)
		}
		if strings.HasPrefix(from, "exec/") && !known {
			may = allowed["exec/sqlite"]
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module+"/")
			if ours && !slices.Contains(may, to) && (low || !slices.Contains(bottom, to)) {
				t.Errorf("%s imports %s: that arrow points the wrong way", p.ImportPath, imp)
			}
		}
	}
}

// TestModulesStandAlone: a module that users import takes nothing of ours but what is exported.
func TestModulesStandAlone(t *testing.T) {
	for _, dir := range []string{
		"exec/postgres", "exec/mysql", "exec/trino", "exec/bigquery", "exec/duckdb", "exec/sqlite/modernc", "otel",
		"session/pgstore", "knowledge/yaml",
	} {
		for _, file := range parsed(t, dir) {
			for _, imp := range file.Imports {
				if path, _ := strconv.Unquote(imp.Path.Value); strings.HasPrefix(path, module) &&
					strings.Contains(path, "/internal/") {
					t.Errorf("%s imports %s", dir, path)
				}
			}
		}
	}
}

// TestGeminiIsPinned checks the one exception to TestModulesStandAlone. Module llm/gemini imports llm/internal/wire, so
// it requires the root at the version that every other module requires.
func TestGeminiIsPinned(t *testing.T) {
	version := func(dir string) string {
		text := testutil.Value(os.ReadFile(filepath.Join("../..", dir, "go.mod")))(t)
		found := regexp.MustCompile(regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s/go.mod does not require %s", dir, module)
		}
		return string(found[1])
	}
	if gemini, command := version("llm/gemini"), version("cmd/texttosql"); gemini != command {
		t.Errorf("llm/gemini requires %s, cmd/texttosql requires %s", gemini, command)
	}
}

// TestExamplesAreToCopy: no program of examples imports what its reader cannot.
func TestExamplesAreToCopy(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.go")
	deeper, err2 := filepath.Glob("../../examples/*/*/*.go")
	if files = append(files, deeper...); err != nil || err2 != nil || len(files) < 30 {
		t.Fatal(len(files), err, err2)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if to, _ := strconv.Unquote(imp.Path.Value); strings.HasPrefix(to, module) && strings.Contains(to, "/internal/") {
				t.Errorf("%s imports %s", path, to)
			}
		}
	}
}

// TestNothingImportsLab: the laboratory uses the SDK, and nothing uses the laboratory. No go.mod requires it, so no
// package of another module can import it, and none of the root does.
func TestNothingImportsLab(t *testing.T) {
	files, err := exec.Command("git", "ls-files", "../../*go.mod").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	for _, file := range strings.Fields(string(files)) {
		text := testutil.Value(os.ReadFile(file))(t)
		if strings.Contains(string(text), module+"/lab v") {
			t.Errorf("%s requires the laboratory", file)
		}
	}
	for _, p := range list(t, "-test", "./...") {
		if slices.ContainsFunc(p.Imports, func(imp string) bool { return strings.HasPrefix(imp+"/", module+"/lab/") }) {
			t.Errorf("%s imports the laboratory", p.ImportPath)
		}
	}
}

// TestStrategyNamesNoMethod: no identifier and no text in the code of the shared stages
// and of the root names a method.
func TestStrategyNamesNoMethod(t *testing.T) {
	method := regexp.MustCompile(`(?i)maker|pet-?sql|plan-?vote|agent|qasql|threephase`)
	for _, dir := range []string{".", "strategy"} {
		for _, file := range parsed(t, dir) {
			ast.Inspect(file, func(node ast.Node) bool {
				name := ""
				switch n := node.(type) {
				case *ast.Ident:
					name = n.Name
				case *ast.BasicLit:
					name = n.Value
				}
				if method.MatchString(name) {
					t.Errorf("package %s names a method: %s", file.Name.Name, name)
				}
				return true
			})
		}
	}
}

// parsed are the files of a package but for its tests.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths := testutil.Value(filepath.Glob(filepath.Join("../..", dir, "*.go")))(t)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := testutil.Value(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
		files = append(files, file)
	}
	return files
}

// required are the only modules that the root's go.mod may require: whoever imports the core has them in his go.sum.
var required = []string{"github.com/google/go-cmp", "github.com/mattn/go-sqlite3", "github.com/tmc/langchaingo",
	"golang.org/x/sync"}

// TestUnstable: what may change after a tag says so where "go doc" begins.
func TestUnstable(t *testing.T) {
	for name, dir := range map[string]string{
		"Package sqltext": "sqltext", "The port of engines": "exec", "Package guard": "exec/guard",
		"Faults": "exec/exectest", "Changes": "exec/exectest", "Change": "exec/exectest", "Unwrap": "exec/exectest",
	} {
		says := false
		for _, file := range testutil.Value(filepath.Glob(filepath.Join("../..", dir, "*.go")))(t) {
			says = says || strings.Contains(string(testutil.Value(os.ReadFile(file))(t)), "// "+name+" (API is not stable) ")
		}
		if !says {
			t.Errorf("%s: the comment of %s does not begin with \"(API is not stable)\"", dir, name)
		}
	}
}

// TestRootRequires: the core's go.mod requires what is listed and nothing else, and what those bring.
func TestRootRequires(t *testing.T) {
	text := string(testutil.Value(os.ReadFile("../../go.mod"))(t))
	var direct []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(text, -1) {
		direct = append(direct, m[1])
	}
	if !slices.Equal(direct, required) {
		t.Errorf("go.mod requires %q, want %q", direct, required)
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

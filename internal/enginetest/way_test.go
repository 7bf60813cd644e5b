package enginetest_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// TestTheWayOfAQuestion counts the functions from Engine.Ask to the model, to the first statement of a model on the
// database and to the rows of the answer, and how often that way climbs: goes on in a package that imports the one it
// left. ARCHITECTURE.md tells the way.
func TestTheWayOfAQuestion(t *testing.T) {
	if os.Getenv("TEXTTOSQL_WAY") == "" { // a process that remembers who started a goroutine
		child := osexec.Command(os.Args[0], "-test.run=^TestTheWayOfAQuestion$", "-test.v")
		child.Env = append(os.Environ(), "TEXTTOSQL_WAY=1", "GODEBUG=tracebackancestors=100")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const statement = "SELECT name FROM customers WHERE country = 'USA'"
	var (
		mu   sync.Mutex
		ways = map[string][]string{} // stacks, by where they end
	)
	arrive := func(at string) {
		mu.Lock()
		defer mu.Unlock()
		ways[at] = append(ways[at], string(debug.Stack()))
	}
	model := arriving(func() string {
		arrive("model")
		return statement
	})
	dialect := exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Run: func(_ context.Context, s *exec.Statement, _ exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows, error) {
			if s.SQL() == statement {
				arrive("database")
			}
			return run()
		},
	})
	e := engine(t, model, texttosql.WithSamples(1), texttosql.WithDialect(dialect))
	testutil.Value(e.Ask(t.Context(), "Which customers live in the USA?"))(t)
	if len(ways["model"]) == 0 || len(ways["database"]) != 2 {
		t.Fatalf("%d calls of the model, %d runs of the statement", len(ways["model"]), len(ways["database"]))
	}
	for _, tt := range []struct {
		why            string
		stack          string
		first, last    place
		places, climbs int
	}{
		{"a sample", ways["model"][0], place{".", "Engine.Ask"}, place{"llm", "contained"}, 18, 3},
		{"a candidate", ways["database"][0], place{".", "Engine.Ask"}, place{"exec", "held.attempt"}, 28, 3},
		{"the rows of the answer", ways["database"][1], place{".", "Engine.Ask"}, place{"exec", "held.attempt"}, 18, 3},
	} {
		way := wayOf(t, tt.stack)
		climbs := 0
		for i := range way[1:] {
			if from, to := way[i].pkg, way[i+1].pkg; slices.Contains(importsOf(t, to), from) {
				climbs++
			}
		}
		if n := len(distinct(way)); n > tt.places || climbs > tt.climbs || way[0] != tt.first || way[len(way)-1] != tt.last {
			t.Errorf("%s: %d places, %d climbs, want at most %d and %d:\n%v", tt.why, n, climbs, tt.places, tt.climbs, way)
		}
	}
}

// arriving is a model whose Complete is a function of the test.
type arriving func() string

func (m arriving) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: m(), StopReason: llm.StopEnd}, nil
}

// place is a declared function of the module, its closures included.
type place struct{ pkg, name string }

var frame = regexp.MustCompile(`\n\t(\S+\.go):(\d+)`)

// wayOf are the places of a stack, and of those of the goroutines that led to it, the outermost first; those of tests
// apart.
func wayOf(t *testing.T, stack string) (way []place) {
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(here)))
	for _, m := range slices.Backward(frame.FindAllStringSubmatch(stack, -1)) {
		path, ours := strings.CutPrefix(m[1], root+"/")
		if !ours || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "exec/exectest/") {
			continue
		}
		p := place{filepath.Dir(path), function(t, path, testutil.Value(strconv.Atoi(m[2]))(t))}
		if len(way) == 0 || way[len(way)-1] != p {
			way = append(way, p)
		}
	}
	return way
}

func distinct(way []place) map[place]bool {
	set := map[place]bool{}
	for _, p := range way {
		set[p] = true
	}
	return set
}

// function is the name of the declared function in which a line stands, with its type in front.
func function(t *testing.T, path string, line int) string {
	files := token.NewFileSet()
	file := testutil.Value(parser.ParseFile(files, filepath.Join("../..", path), nil, parser.SkipObjectResolution))(t)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || line < files.Position(f.Pos()).Line || line > files.Position(f.End()).Line {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		name := ""
		ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && name == "" {
				name = id.Name
			}
			return true
		})
		return name + "." + f.Name.Name
	}
	t.Fatalf("%s:%d is in no function", path, line)
	return ""
}

// importsOf are the packages of the module that a package imports.
func importsOf(t *testing.T, pkg string) (imports []string) {
	for _, path := range testutil.Value(filepath.Glob(filepath.Join("../..", pkg, "*.go")))(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := testutil.Value(parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly))(t)
		for _, i := range file.Imports {
			name, ours := strings.CutPrefix(testutil.Value(strconv.Unquote(i.Path.Value))(t), "github.com/texttosql/texttosql/")
			if ours {
				imports = append(imports, name)
			}
		}
	}
	return imports
}

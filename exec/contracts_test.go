package exec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// typesOf are the types that the files of a folder declare, with their comments.
func typesOf(t *testing.T, folder string) map[string]*ast.TypeSpec {
	t.Helper()
	out := map[string]*ast.TypeSpec{}
	for _, file := range testutil.Value(filepath.Glob(folder + "/*.go"))(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed := testutil.Value(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))(t)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				out[spec.Name.Name] = spec
			}
			return true
		})
	}
	return out
}

// TestContracts: "go doc" of a type that lives in another package shows its fields, which an alias does not by itself.
func TestContracts(t *testing.T) {
	here := typesOf(t, ".")
	there := map[string]map[string]*ast.TypeSpec{
		"guard": typesOf(t, "guard"), "execerr": typesOf(t, "../internal/execerr"),
		"sampling": typesOf(t, "../internal/sampling"),
	}
	aliases := 0
	for _, name := range slices.Sorted(maps.Keys(here)) {
		spec := here[name]
		of, is := spec.Type.(*ast.SelectorExpr)
		if !spec.Assign.IsValid() || !is {
			continue
		}
		aliases++
		structure, is := there[of.X.(*ast.Ident).Name][of.Sel.Name].Type.(*ast.StructType)
		if !is {
			continue
		}
		var want, got []string
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				want = append(want, name.Name+" "+types.ExprString(field.Type))
			}
		}
		for line := range strings.Lines(spec.Doc.Text()) {
			if code, is := strings.CutPrefix(line, "\t"); is {
				declared, _, _ := strings.Cut(code, "//")
				got = append(got, strings.Join(strings.Fields(declared), " "))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the comment of %s has not its fields (-fields +comment):\n%s", name, diff)
		}
	}
	if aliases < 6 {
		t.Errorf("%d aliases", aliases)
	}
}

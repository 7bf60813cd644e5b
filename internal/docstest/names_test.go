package docstest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

const module = "github.com/texttosql/texttosql"

// exported is one exported top-level name: its folder and itself, as in "exec.Policy"; ".New" is a name of the root.
type exported string

// TestNamesHaveUsers fails for an exported name that a program in examples/, a page or an Example of another package
// does not name, unless the signature of such a name reaches it. A constant counts as named if its type is.
// testdata/names.txt lists the exceptions, each with its reason.
func TestNamesHaveUsers(t *testing.T) {
	tree := readSurface(t)
	used := tree.namedByPages(t)
	maps.Copy(used, tree.namedByExamples)
	tree.reach(used)

	excused := map[exported]bool{}
	for line := range strings.Lines(string(testutil.Value(os.ReadFile("internal/docstest/testdata/names.txt"))(t))) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if reason == "" {
			t.Errorf("testdata/names.txt: %s has no reason", name)
		}
		if _, exists := tree.refs[exported(name)]; !exists || used[exported(name)] {
			t.Errorf("testdata/names.txt: %s needs no exception", name)
		}
		excused[exported(name)] = true
	}

	var missing []string
	for name := range tree.refs {
		if !used[name] && !excused[name] {
			missing = append(missing, string(name))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("%d names without a user:\n%s", len(missing), strings.Join(missing, "\n"))
	}
	t.Logf("%d exported names, %d exceptions", len(tree.refs), len(excused))
}

// surface is what packages export.
type surface struct {
	refs            map[exported][]exported // a name → the names in its signature, fields and methods
	constType       map[exported]exported   // a constant → its type
	packages        map[string][]string     // the name of a package → its folders
	namedByExamples map[exported]bool
}

// readSurface parses the packages that a program may import, the programs in examples/ and the Examples of all
// packages.
func readSurface(t *testing.T) *surface {
	s := &surface{map[exported][]exported{}, map[exported]exported{}, map[string][]string{}, map[exported]bool{}}
	files, err := filepath.Glob("*.go")
	testutil.OK(t, err)
	for _, pattern := range []string{"*/*.go", "*/*/*.go", "*/*/*/*.go"} {
		files = append(files, testutil.Value(filepath.Glob(pattern))(t)...)
	}

	for _, name := range files {
		name = filepath.ToSlash(name)
		folder := path.Dir(name)
		file := testutil.Value(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
		switch {
		case strings.HasPrefix(folder, "examples"):
			s.nameAll(file, folder, imports(file))
		case strings.HasSuffix(name, "_test.go"):
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example") {
					s.nameAll(f, folder, imports(file))
				}
			}
		case file.Name.Name != "main" && !strings.HasPrefix(folder, "lab") && !strings.Contains("/"+folder+"/", "/internal/"):
			s.declare(folder, file)
		}
	}
	return s
}

// imports returns the folders of our packages that a file imports, by the name that it uses for them.
func imports(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		folder, ours := strings.CutPrefix(imported, module)
		if !ours {
			continue
		}
		name := path.Base(imported)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = strings.TrimPrefix(folder, "/")
	}
	return names
}

func nameOf(folder, name string) exported {
	if folder == "." {
		folder = ""
	}
	return exported(folder + "." + name)
}

// nameAll notes each selector of another package as named.
func (s *surface) nameAll(node ast.Node, folder string, imports map[string]string) {
	for _, r := range references(node, folder, imports) {
		if !strings.HasPrefix(string(r), folder+".") {
			s.namedByExamples[r] = true
		}
	}
}

// references returns the exported names that a node mentions: bare ones of its folder, and selectors of imported
// packages.
func references(node ast.Node, folder string, imports map[string]string) (found []exported) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if of, ours := imports[x.Name]; ours {
					found = append(found, nameOf(of, n.Sel.Name))
					return false
				}
			}
		case *ast.Ident:
			if n.IsExported() {
				found = append(found, nameOf(folder, n.Name))
			}
		}
		return true
	})
	return found
}

// declare adds the exported names of a file.
func (s *surface) declare(folder string, file *ast.File) {
	if !slices.Contains(s.packages[file.Name.Name], folder) {
		s.packages[file.Name.Name] = append(s.packages[file.Name.Name], folder)
	}
	from := imports(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			s.declareFunc(folder, d, from)
		case *ast.GenDecl:
			s.declareSpecs(folder, d, from)
		}
	}
}

// declareFunc adds a function, or the signature of a method to its type.
func (s *surface) declareFunc(folder string, f *ast.FuncDecl, from map[string]string) {
	if !f.Name.IsExported() {
		return
	}
	name := nameOf(folder, f.Name.Name)
	if f.Recv != nil {
		receivers := references(f.Recv.List[0].Type, folder, from)
		if len(receivers) == 0 {
			return
		}
		name = receivers[0]
	}
	s.refs[name] = append(s.refs[name], references(f.Type, folder, from)...)
}

// declareSpecs adds types, constants and variables. A constant without a type has that of the constant before it.
func (s *surface) declareSpecs(folder string, d *ast.GenDecl, from map[string]string) {
	var typed []exported
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				name := nameOf(folder, spec.Name.Name)
				s.refs[name] = append(s.refs[name], references(spec.Type, folder, from)...)
			}
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				typed = nil
			}
			if spec.Type != nil {
				typed = references(spec.Type, folder, from)
			}
			for _, id := range spec.Names {
				if id.IsExported() {
					name := nameOf(folder, id.Name)
					s.refs[name] = append(s.refs[name], typed...)
					if d.Tok == token.CONST && len(typed) > 0 {
						s.constType[name] = typed[0]
					}
				}
			}
		}
	}
}

// qualified matches a name as pages write it.
var qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)

// TestPagesNamePublicPackages fails for a page with a package under internal/, which a reader cannot import.
func TestPagesNamePublicPackages(t *testing.T) {
	public := readSurface(t).packages
	for _, page := range append(pages(t), "README.md") {
		if strings.HasPrefix(page, "docs/lab/") {
			continue
		}
		text := string(testutil.Value(os.ReadFile(page))(t))
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path.Join("internal", m[1])); err == nil && public[m[1]] == nil {
				t.Errorf("%s: a reader cannot import the package of %s", page, m[0])
			}
		}
	}
}

// namedByPages returns the names on pages for users: the README, docs/*.md and docs/databases. The pages of docs/lab
// are figures.
func (s *surface) namedByPages(t *testing.T) map[exported]bool {
	named := map[exported]bool{}
	for _, page := range append(pages(t), "README.md") {
		if strings.HasPrefix(page, "docs/lab/") {
			continue
		}
		text := string(testutil.Value(os.ReadFile(page))(t))
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			for _, folder := range s.packages[m[1]] {
				named[nameOf(folder, m[2])] = true
			}
		}
		for name := range s.refs { // pages write options and types of the root without its name
			if root, ok := strings.CutPrefix(string(name), "."); ok && strings.Contains(text, root) {
				named[name] = true
			}
		}
	}
	return named
}

// reach adds to used what signatures of used names reach, and the constants of used types.
func (s *surface) reach(used map[exported]bool) {
	for grown := true; grown; {
		grown = false
		for name := range s.refs {
			if used[name] {
				for _, r := range s.refs[name] {
					if _, ours := s.refs[r]; ours && !used[r] {
						used[r], grown = true, true
					}
				}
			}
			if of, typed := s.constType[name]; typed && used[of] && !used[name] {
				used[name], grown = true, true
			}
		}
	}
}

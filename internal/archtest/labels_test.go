package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labelWords are words of names that would bring a right answer along.
var labelWords = []string{"gold", "golds", "label", "labels", "labelled", "labeled", "truth", "correct", "expected", "right"}

// mayKnow are the names with such a word that are there for a reason.
var mayKnow = map[string]string{
	"vote.WeightsFromLabels":    "fits, on questions set aside for it",
	"vote.PanelFromLabels":      "fits",
	"vote.Record.Right":         "what fits are made from",
	"vote.Weights.Feedback":     "takes a person's verdict after the vote",
	"vote.Calibration.Right":    "is fitted",
	"maker.Join.Right":          "the other side of a join",
	"schema.Join.Right":         "the other side of a join",
	"session.Option.Label":      "what the user reads of an option",
	"texttosql.Session.Correct": "a verb: the user corrects an answer",
}

// fitters are functions of vote that no code of an answer may use.
var fitters = []string{"WeightsFromLabels", "PanelFromLabels", "Feedback"}

// TestNoLabelsAtInference: no exported function, method, type or field of the
// packages that answer questions takes a right answer, but for those that fit,
// and what answers questions does not use those. (That eval, which has all
// labels, is not imported is TestArrows.)
func TestNoLabelsAtInference(t *testing.T) {
	met := map[string]bool{}
	n := 0
	for _, dir := range []string{
		".", "strategy", "strategy/planvote", "strategy/maker", "strategy/petsql", "strategy/qasql", "strategy/threephase",
		"strategy/agent", "linker", "describe", "vote", "doubt", "memory", "session", "exec", "exec/sqlite", "llm",
		"schema", "sqltext", "result", "trace",
	} {
		for _, file := range parsed(t, dir) {
			for _, name := range exportedNames(file) {
				n++
				if !slices.ContainsFunc(wordsOf(name.bare), func(w string) bool { return slices.Contains(labelWords, w) }) {
					continue
				}
				owner := file.Name.Name + "." + name.owner
				if mayKnow[owner] == "" {
					t.Errorf("%s has %q: a label must not reach an answer", owner, name.bare)
				}
				met[owner] = true
			}
			if dir == "vote" {
				continue
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if s, ok := node.(*ast.SelectorExpr); ok && slices.Contains(fitters, s.Sel.Name) {
					t.Errorf("package %s uses %s: only who fits may", file.Name.Name, s.Sel.Name)
				}
				return true
			})
		}
	}
	for owner := range mayKnow {
		if !met[owner] {
			t.Errorf("%s is not there any more", owner)
		}
	}
	if n < 1000 {
		t.Errorf("only %d names were looked at", n)
	}
}

// parsed are the files of a package but for its tests.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// exported is a name that callers see, and the declaration it belongs to.
type exported struct{ owner, bare string }

// exportedNames are the names of exported functions and methods and of their
// parameters, of exported types and of their fields and methods.
func exportedNames(file *ast.File) (names []exported) {
	params := func(owner string, f *ast.FuncType) {
		for _, p := range f.Params.List {
			for _, id := range p.Names {
				names = append(names, exported{owner, id.Name})
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			owner := d.Name.Name
			if d.Recv != nil {
				receiver := d.Recv.List[0].Type
				if p, ok := receiver.(*ast.StarExpr); ok {
					receiver = p.X
				}
				id, ok := receiver.(*ast.Ident)
				if !ok || !id.IsExported() {
					continue
				}
				owner = id.Name + "." + owner
			}
			names = append(names, exported{owner, d.Name.Name})
			params(owner, d.Type)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok || !typ.Name.IsExported() {
					continue
				}
				names = append(names, exported{typ.Name.Name, typ.Name.Name})
				var fields *ast.FieldList
				switch u := typ.Type.(type) {
				case *ast.StructType:
					fields = u.Fields
				case *ast.InterfaceType:
					fields = u.Methods
				case *ast.FuncType:
					params(typ.Name.Name, u)
				}
				if fields == nil {
					continue
				}
				for _, f := range fields.List {
					for _, id := range f.Names {
						if !id.IsExported() {
							continue
						}
						owner := typ.Name.Name + "." + id.Name
						names = append(names, exported{owner, id.Name})
						if u, ok := f.Type.(*ast.FuncType); ok {
							params(owner, u)
						}
					}
				}
			}
		}
	}
	return names
}

// wordsOf splits a camelCase name into its words, in lower case.
func wordsOf(name string) (words []string) {
	start := 0
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			words = append(words, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(words, strings.ToLower(name[start:]))
}

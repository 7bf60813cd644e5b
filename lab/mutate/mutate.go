// Package mutate changes one place of a Go package at a time, as a slip of a programmer would, so that a run of the
// tests shows whether one of them fails. One test binary holds all changes of a package, and a variable of the
// environment selects one.
package mutate

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mutant is one change of one file: Old becomes New at a line. Build and Judge set the status.
type Mutant struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Old      string `json:"old"`
	New      string `json:"new"`
	Status   string `json:"status"`
	By       string `json:"by,omitempty"` // the first test that failed

	pos, end int
	home     *home
}

// Operators are the names of the changes, sorted:
//
//   - arithmetic: + and -, * and /, ++ and -- stand for each other
//   - compare: == and !=, < and <=, > and >= stand for each other
//   - condition: the condition of an if is always true, or always false
//   - constant: true and false stand for each other, a whole number is one more
//   - logic: && and || stand for each other
//   - not: a ! is left out
//   - return: an error that is returned is nil
//   - statement: a call, an assignment or a branch is left out
var Operators = []string{"arithmetic", "compare", "condition", "constant", "logic", "not", "return", "statement"}

// Find returns the mutants of the package in a folder, in the order of its files, those of the operators only; no
// operator means all. Tests, generated files and files that the system does not build have none, nor has a declaration
// of constants or types, which no variable can switch.
func Find(folder string, operators ...string) ([]Mutant, error) {
	for _, o := range operators {
		if !slices.Contains(Operators, o) {
			return nil, fmt.Errorf("mutate: %q is no operator; there are %s", o, strings.Join(Operators, ", "))
		}
	}
	pkg, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, name := range pkg.GoFiles {
		file, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		found, err := in(file)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(operators) > 0 {
		all = slices.DeleteFunc(all, func(m Mutant) bool { return !slices.Contains(operators, m.Operator) })
	}
	return all, nil
}

// finder collects the mutants of one file.
type finder struct {
	file  string
	text  []byte
	files *token.FileSet
	home  *home
	found []Mutant
}

func in(file string) ([]Mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f := &finder{file: file, text: text, files: token.NewFileSet()}
	tree, err := parser.ParseFile(f.files, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(tree) {
		return nil, nil
	}
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Body != nil {
				f.function(decl.Recv, decl.Type, decl.Body)
			}
		case *ast.GenDecl:
			if decl.Tok == token.VAR {
				f.variables(decl)
			}
		}
	}
	slices.SortStableFunc(f.found, func(a, b Mutant) int { return a.pos - b.pos })
	return f.found, nil
}

// add notes that the text of a range becomes another one.
func (f *finder) add(operator string, from, to token.Pos, text string) {
	pos, end := f.files.Position(from), f.files.Position(to)
	f.found = append(f.found, Mutant{File: f.file, Line: pos.Line, Operator: operator,
		Old: string(f.text[pos.Offset:end.Offset]), New: text, pos: pos.Offset, end: end.Offset, home: f.home})
}

// source is the text of a node.
func (f *finder) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

// offset is the place of a position in the text.
func (f *finder) offset(at token.Pos) int { return f.files.Position(at).Offset }

// other is what stands for an operator of Go, by the operator of this package that changes it.
var other = map[token.Token]struct{ operator, text string }{
	token.EQL: {"compare", "!="}, token.NEQ: {"compare", "=="},
	token.LSS: {"compare", "<="}, token.LEQ: {"compare", "<"},
	token.GTR: {"compare", ">="}, token.GEQ: {"compare", ">"},
	token.LAND: {"logic", "||"}, token.LOR: {"logic", "&&"},
	token.ADD: {"arithmetic", "-"}, token.SUB: {"arithmetic", "+"},
	token.MUL: {"arithmetic", "/"}, token.QUO: {"arithmetic", "*"},
	token.INC: {"arithmetic", "--"}, token.DEC: {"arithmetic", "++"},
}

// swap replaces an operator of Go at its place.
func (f *finder) swap(at token.Pos, tok token.Token) {
	if o, ok := other[tok]; ok {
		f.add(o.operator, at, at+token.Pos(len(tok.String())), o.text)
	}
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.swap(n.OpPos, n.Op)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add("not", n.OpPos, n.OpPos+1, "")
		}
	case *ast.IfStmt:
		cond := f.source(n.Cond)
		f.add("condition", n.Cond.Pos(), n.Cond.End(), "(("+cond+") || true)")
		f.add("condition", n.Cond.Pos(), n.Cond.End(), "(("+cond+") && false)")
	case *ast.ReturnStmt:
		f.returns(n)
	case *ast.BasicLit:
		if i, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
			f.add("constant", n.Pos(), n.End(), strconv.Itoa(i+1))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.add("constant", n.Pos(), n.End(), "false")
		case "false":
			f.add("constant", n.Pos(), n.End(), "true")
		}
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	}
	return true
}

// returns drops the error of a return.
func (f *finder) returns(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if name, ok := last.(*ast.Ident); ok && name.Name == "err" {
		f.add("return", last.Pos(), last.End(), "nil")
	}
}

// statements leaves out those that declare nothing.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.IncDecStmt:
			f.swap(s.TokPos, s.Tok)
		case *ast.ExprStmt, *ast.BranchStmt, *ast.DeferStmt:
			f.add("statement", s.Pos(), s.End(), "")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.add("statement", s.Pos(), s.End(), "")
			}
		}
	}
}

// Package mutate changes one place of a Go file at a time, as a slip of a programmer would, so that a run of the tests shows
// whether one of them fails. The places come from the syntax tree alone: a change that does not compile says so when it is run.
package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mutant is one change of one file: the bytes from Pos to End of Old become New.
type Mutant struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Old      string `json:"old"`
	New      string `json:"new"`

	pos, end int
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

// Find returns the mutants of the package in a folder, in the order of its files, those of the operators only; no operator
// means all. Tests and generated files have none.
func Find(folder string, operators ...string) ([]Mutant, error) {
	for _, o := range operators {
		if !slices.Contains(Operators, o) {
			return nil, fmt.Errorf("mutate: %q is no operator; there are %s", o, strings.Join(Operators, ", "))
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
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

// Text returns the file with the change in it.
func (m Mutant) Text() ([]byte, error) {
	text, err := os.ReadFile(m.File)
	if err != nil {
		return nil, err
	}
	if m.end > len(text) || string(text[m.pos:m.end]) != m.Old {
		return nil, fmt.Errorf("mutate: %s changed since its mutants were found", m.File)
	}
	return slices.Concat(text[:m.pos], []byte(m.New), text[m.end:]), nil
}

// finder collects the mutants of one file.
type finder struct {
	file  string
	text  []byte
	files *token.FileSet
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
	ast.Inspect(tree, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			return false
		}
		f.visit(n)
		return true
	})
	slices.SortStableFunc(f.found, func(a, b Mutant) int { return a.pos - b.pos })
	return f.found, nil
}

// add notes that the text of a range becomes another one.
func (f *finder) add(operator string, from, to token.Pos, text string) {
	pos, end := f.files.Position(from), f.files.Position(to)
	f.found = append(f.found, Mutant{File: f.file, Line: pos.Line, Operator: operator,
		Old: string(f.text[pos.Offset:end.Offset]), New: text, pos: pos.Offset, end: end.Offset})
}

// source is the text of a node.
func (f *finder) source(n ast.Node) string {
	return string(f.text[f.files.Position(n.Pos()).Offset:f.files.Position(n.End()).Offset])
}

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

func (f *finder) visit(n ast.Node) {
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

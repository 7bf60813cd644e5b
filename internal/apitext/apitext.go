// Package apitext writes the exported API of a package as text, one declaration a line. The folder api holds that text
// for every package that others can import, so that a change of the API shows in a diff.
//
//	go test ./internal/apitext -update
package apitext

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Package returns the sorted exported declarations of the package in dir. Fields of structs and methods of interfaces
// have a line of their own. Comments, tags, test files and build constraints are ignored. It is "" for a folder without
// a package to import.
func Package(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	var lines api
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		if file.Name.Name == "main" {
			return "", nil
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				lines.function(decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						lines.typ(spec)
					case *ast.ValueSpec:
						lines.values(decl.Tok, spec)
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), ""), nil
}

// api is a list of lines.
type api []string

func (a *api) add(format string, args ...any) { *a = append(*a, fmt.Sprintf(format, args...)+"\n") }

// text is source on one line.
func text(node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), node); err != nil {
		return err.Error() // the printer refuses no node that the parser made
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (a *api) function(decl *ast.FuncDecl) {
	signature := decl.Name.Name + strings.TrimPrefix(text(decl.Type), "func")
	switch {
	case !decl.Name.IsExported():
	case decl.Recv == nil:
		a.add("func %s", signature)
	case ast.IsExported(strings.TrimLeft(strings.TrimPrefix(text(decl.Recv.List[0].Type), "*"), "(")):
		a.add("method (%s) %s", text(decl.Recv.List[0].Type), signature)
	}
}

func (a *api) values(tok token.Token, spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		line := tok.String() + " " + name.Name
		if spec.Type != nil {
			line += " " + text(spec.Type)
		}
		if tok == token.CONST && i < len(spec.Values) {
			line += " = " + text(spec.Values[i])
		}
		if name.IsExported() {
			a.add("%s", line)
		}
	}
}

func (a *api) typ(spec *ast.TypeSpec) {
	if !spec.Name.IsExported() {
		return
	}
	name := "type " + spec.Name.Name
	if spec.TypeParams != nil {
		params := text(&ast.FuncType{TypeParams: spec.TypeParams, Params: &ast.FieldList{}})
		name += strings.TrimSuffix(strings.TrimPrefix(params, "func"), "()")
	}
	if spec.Assign.IsValid() {
		name += " ="
	}
	switch t := spec.Type.(type) {
	case *ast.StructType:
		a.add("%s struct", name)
		a.fields(name+" struct", t.Fields)
	case *ast.InterfaceType:
		a.add("%s interface", name)
		a.fields(name+" interface", t.Methods)
	default:
		a.add("%s %s", name, text(t))
	}
}

// fields lists fields, methods and embedded types. A line without a name says that unexported ones exist: then a
// stranger can neither write the struct without field names nor implement the interface.
func (a *api) fields(of string, list *ast.FieldList) {
	for _, field := range list.List {
		if embedded := text(field.Type); len(field.Names) == 0 {
			if ast.IsExported(embedded[strings.LastIndexAny(embedded, "*.")+1:]) {
				a.add("%s, embedded %s", of, embedded)
			} else {
				a.add("%s, unexported", of)
			}
		}
		for _, name := range field.Names {
			switch t, method := field.Type.(*ast.FuncType); {
			case !name.IsExported():
				a.add("%s, unexported", of)
			case method && strings.HasSuffix(of, "interface"):
				a.add("%s, %s%s", of, name.Name, strings.TrimPrefix(text(t), "func"))
			default:
				a.add("%s, %s %s", of, name.Name, text(field.Type))
			}
		}
	}
}

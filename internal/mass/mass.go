// Package mass counts Go by tokens, without comments and tests, and by exported top-level names: what a reader has to
// read. The file ceilings.txt limits both for every package. A package that needs more needs an issue that allows it.
//
//	go test ./internal/mass -update   # lowers ceilings, never raises one
package mass

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Count is the mass of a package.
type Count struct {
	Tokens int // of go/scanner; a semicolon that the end of a line stands for is none
	Names  int // exported top-level names: functions, types, constants and variables; 0 for a program
}

// Package returns the mass of the package in dir: of all its files, whatever their build constraints, but its tests.
func Package(dir string) (Count, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return Count{}, err
	}
	var all Count
	names := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return Count{}, err
		}
		all.Tokens += tokens(text)
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return Count{}, err
		}
		exported(file, names)
	}
	all.Names = len(names)
	return all, nil
}

// tokens counts those of a file.
func tokens(text []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, tok, literal := s.Scan(); {
		case tok == token.EOF:
			return n
		case tok != token.SEMICOLON || literal != "\n":
			n++
		}
	}
}

// exported adds the names that others can use.
func exported(file *ast.File, names map[string]bool) {
	if file.Name.Name == "main" {
		return
	}
	add := func(name *ast.Ident) {
		if name.IsExported() {
			names[name.Name] = true
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				add(decl.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name)
					}
				}
			}
		}
	}
}

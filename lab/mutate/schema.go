package mutate

import (
	"cmp"
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
)

// variable is the variable of the environment that selects a mutant by its number, counted from 1.
const variable = "TEXTTOSQL_MUTANT"

// declarations are what the switches use.
const declarations = `package %s

import "os"

var activeMutant = os.Getenv("` + variable + `")

func pickMutant[T any](number string, mutant, original T) T {
	if activeMutant == number {
		return mutant
	}
	return original
}
`

// home is a function body or the value of a package variable. A mutant changes a copy of it, which is inserted in front
// of the original with a switch around it.
type home struct {
	from, to      int    // offsets of what is copied
	at            int    // offset of the insertion
	before, after string // the switch; before has a verb for the number
	closing       string // inserted behind the original
}

// function finds the mutants of a function. Their copies are function literals with the same parameters and results.
func (f *finder) function(receiver *ast.FieldList, sig *ast.FuncType, body *ast.BlockStmt) {
	fields := sig.Params.List
	if receiver != nil {
		fields = slices.Concat(receiver.List, fields)
	}
	var params, args []string
	for _, field := range fields {
		for _, name := range field.Names {
			if name.Name == "_" {
				continue
			}
			params = append(params, name.Name+" "+f.source(field.Type))
			if args = append(args, name.Name); strings.HasPrefix(f.source(field.Type), "...") {
				args[len(args)-1] += "..."
			}
		}
	}
	literal := "func(" + strings.Join(params, ", ") + ") "
	call := "(" + strings.Join(args, ", ") + ")"
	if sig.Results != nil {
		literal, call = "return "+literal+f.source(sig.Results), call+" }; "
	} else {
		call += "; return }; "
	}

	from := f.offset(body.Lbrace)
	f.home = &home{from: from, to: f.offset(body.End()), at: from + 1, before: `if activeMutant == "%d" { ` + literal,
		after: call}
	ast.Inspect(body, f.visit)
}

// variables finds the mutants of the values of package variables. The first function literal of a value is a function
// of its own.
func (f *finder) variables(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		spec := spec.(*ast.ValueSpec)
		pick := "pickMutant"
		if spec.Type != nil {
			pick += "[" + f.source(spec.Type) + "]"
		}
		for _, value := range spec.Values {
			from, to := f.offset(value.Pos()), f.offset(value.End())
			of := &home{from: from, to: to, at: from, before: pick + `("%d", `, after: ", ", closing: ")"}
			ast.Inspect(value, func(n ast.Node) bool {
				if literal, ok := n.(*ast.FuncLit); ok {
					f.function(nil, literal.Type, literal.Body)
					return false
				}
				f.home = of
				return f.visit(n)
			})
		}
	}
}

// insertion is a text that goes to an offset of a file.
type insertion struct {
	at   int
	text string
}

// insertions returns the copy of a mutant with its switch. An error of the compiler in it names the file mutantN. That
// may be an error of the copy itself: the name of a parameter hides a type of the signature from a literal in the body.
func (m Mutant) insertions(number int, text string) []insertion {
	h := m.home
	line := 1 + strings.Count(text[:h.at], "\n")
	column := h.at - strings.LastIndex(text[:h.at], "\n")
	switched := fmt.Sprintf(" /*line mutant%d:1:1*/", number) + fmt.Sprintf(h.before, number) +
		text[h.from:m.pos] + m.New + text[m.end:h.to] + h.after + fmt.Sprintf("/*line %s:%d:%d*/", m.File, line, column)
	return []insertion{{h.at, switched}, {h.to, h.closing}}
}

// switched returns the text of a file with all of its mutants that compile.
func switched(file string, mutants []Mutant) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var all []insertion
	for i, m := range mutants {
		if m.File == file && m.Status != Unbuilt {
			all = append(all, m.insertions(i+1, string(text))...)
		}
	}
	slices.SortStableFunc(all, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })

	var out strings.Builder
	last := 0
	for _, in := range all {
		out.Write(text[last:in.at])
		out.WriteString(in.text)
		last = in.at
	}
	out.Write(text[last:])
	return out.String(), nil
}

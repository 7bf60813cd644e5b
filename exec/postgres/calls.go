package postgres

import (
	"strings"

	"github.com/sqlc-dev/oliphant/ast"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

func (w *walk) operator(name []*ast.Node) error {
	if len(name) == 0 {
		return nil
	}
	parts := names(name)
	if len(parts) != len(name) || len(parts) > 2 || len(parts) == 2 && parts[0] != "pg_catalog" {
		return refuse(exec.ReasonFunction, "the operator "+strings.Join(parts, ".")+" is not on the list")
	}
	if len(parts) == 2 {
		return nil
	}
	return w.c.operator(parts[0])
}

func (w *walk) typeName(m *ast.TypeName) error {
	parts := names(m.Names)
	if m.Setof || m.PctType || len(parts) == 0 || len(parts) != len(m.Names) {
		return refuse(exec.ReasonFunction, "the type "+strings.Join(parts, ".")+" is not on the list")
	}
	return w.c.typed(parts)
}

func (w *walk) call(m *ast.FuncCall) error {
	parts := names(m.Funcname)
	if len(parts) == 0 || len(parts) > 2 || len(parts) != len(m.Funcname) {
		return refuse(exec.ReasonFunction, "the function "+strings.Join(parts, ".")+" is not on the list")
	}
	name, schemaName := parts[len(parts)-1], ""
	if len(parts) == 2 {
		schemaName = parts[0]
	}
	if err := w.lacks(w.c.called(schemaName, name)); err != nil {
		return err
	}
	w.n.functions = append(w.n.functions, schema.Fold(name))
	if w.c.policyAllows(name) {
		return nil
	}
	switch name {
	case "repeat", "lpad", "rpad":
		if len(m.Args) > 1 && (m.FuncVariadic || m.Args[1].GetAConst().GetIval() == nil || m.Args[1].GetAConst().GetIval().GetIval() > 10_000) {
			return refuse(exec.ReasonTooComplex, name+" takes a length that is a number of at most 10000")
		}
	case "format":
		if len(m.Args) > 0 && (m.Args[0].GetAConst().GetSval() == nil || wide(m.Args[0].GetAConst().GetSval().GetSval())) {
			return refuse(exec.ReasonTooComplex, "format takes a text that is written out, without * and without a width over 9999")
		}
	}
	return nil
}

// wide reports whether a format may make more of its arguments than they are.
func wide(format string) bool {
	digits := 0
	for _, r := range format {
		if digits++; r < '0' || r > '9' {
			digits = 0
		}
		if r == '*' || digits >= 5 {
			return true
		}
	}
	return false
}

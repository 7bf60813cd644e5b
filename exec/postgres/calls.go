package postgres

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sqlc-dev/oliphant/ast"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// calls looks at what calls a function, by its name, an operator or a cast.
func (w *walk) calls(message any) {
	switch m := message.(type) {
	case *ast.FuncCall:
		w.call(m)
	case *ast.TypeName:
		w.typeName(m)
	case *ast.A_Expr:
		w.compared(m)
	case *ast.SubLink:
		if len(m.OperName) == 0 && m.Testexpr != nil {
			w.symbol("=")
		}
		w.operator(m.OperName)
	case *ast.SortBy:
		w.operator(m.UseOp)
	case *ast.CaseExpr:
		if m.Arg != nil {
			w.symbol("=")
		}
	case *ast.SQLValueFunction:
		place := m.Op == ast.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG || m.Op == ast.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA
		if !place && (m.Op < ast.SQLValueFunctionOp_SVFOP_CURRENT_DATE ||
			m.Op > ast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N) {
			reject("function", "%s is not on the list", schema.FoldCase(strings.TrimPrefix(m.Op.String(), "SVFOP_")))
		}
	// Syntax to this parser, and to a server before 16 a call of a function that somebody may have made.
	case *ast.JsonObjectConstructor:
		w.own("json_object")
	case *ast.JsonArrayConstructor:
		w.own("json_array")
	case *ast.JsonObjectAgg:
		w.own("json_objectagg")
	case *ast.JsonArrayAgg:
		w.own("json_arrayagg")
	}
}

func (w *walk) compared(m *ast.A_Expr) {
	if m.Kind >= ast.A_Expr_Kind_AEXPR_BETWEEN && m.Kind <= ast.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
		w.symbol(">=", "<=", "<", ">")
	} else {
		w.operator(m.Name)
	}
}

// doubt is a name that also means something of a user, whose arguments are of certain types.
type doubt struct {
	takes []uint32
	err   error
}

// doubtful refuses a name at once, or later if the statement has a value of one of the types.
func (w *walk) doubtful(takes []uint32, symbol string, err error) {
	if !w.c.apart(takes, symbol) {
		guard.Abort(err)
	}
	w.doubts = append(w.doubts, doubt{takes, err})
}

// decide refuses the names in doubt whose arguments may be of the types of a user.
func (w *walk) decide() {
	if len(w.doubts) == 0 {
		return
	}
	has := map[uint32]bool{}
	for _, r := range w.n.Relations() {
		for _, c := range r.Own.(*relation).columns {
			maps.Copy(has, w.c.within(c.of))
		}
	}
	for id, t := range w.c.types {
		if slices.Contains(w.casts, t) {
			maps.Copy(has, w.c.within(id))
		}
	}
	for _, d := range w.doubts {
		if w.lent || slices.ContainsFunc(d.takes, func(id uint32) bool { return has[id] }) {
			guard.Abort(d.err)
		}
	}
}

func (w *walk) own(name string) {
	if w.c.functions[name].user && !w.c.allows(name) {
		reject("function", "%s", unlisted(name))
	}
}

// symbol refuses operators that are not the engine's own.
func (w *walk) symbol(symbols ...string) {
	for _, symbol := range symbols {
		if o, user := w.c.operators[symbol]; user {
			w.doubtful(o.takes, symbol, guard.Refuse("function", "the operator %s may call %s", symbol, unlisted(o.calls)))
		}
	}
}

func (w *walk) operator(name []*ast.Node) {
	parts := names(name)
	if len(parts) != len(name) || len(parts) > 0 && !isBuiltin(parts) {
		reject("function", "the operator %s is not on the list", strings.Join(parts, "."))
	}
	if len(parts) == 1 {
		w.symbol(parts[0])
	}
}

func (w *walk) typeName(m *ast.TypeName) {
	parts := names(m.Names)
	if m.Setof || m.PctType || len(parts) == 0 || len(parts) != len(m.Names) {
		reject("function", "the type %s is not on the list", strings.Join(parts, "."))
	}
	t, err := w.c.typed(parts)
	if err != nil {
		guard.Abort(err)
	}
	w.casts = append(w.casts, t)
}

func (w *walk) call(m *ast.FuncCall) {
	parts := names(m.Funcname)
	if len(parts) == 0 || len(parts) > 2 || len(parts) != len(m.Funcname) {
		reject("function", "the function %s is not on the list", strings.Join(parts, "."))
	}
	name, schemaName := parts[len(parts)-1], ""
	if len(parts) == 2 {
		schemaName = parts[0]
	}
	absent, takes, err := w.c.called(schemaName, name)
	if err != nil {
		w.doubtful(takes, "", err)
	}
	if absent {
		w.missing = cmp.Or(w.missing, name)
	}
	if t := w.c.typeNamed(name); t != nil { // a cast that is written like a call
		w.casts = append(w.casts, t)
	}
	w.n.Functions = append(w.n.Functions, schema.FoldCase(name))
	if w.c.allows(name) {
		w.lent = true
		return
	}
	switch name {
	case "repeat", "lpad", "rpad":
		if len(m.Args) > 1 && (m.FuncVariadic || !isShort(m.Args[1])) {
			reject("too-complex", "%s takes a length of at most 10000: write a number, or least(n, 10000)", name)
		}
	case "xpath", "xpath_exists":
		if len(m.Args) != 2 || m.FuncVariadic || !plainPath.MatchString(m.Args[0].GetAConst().GetSval().GetSval()) {
			reject("too-complex", "%s takes a path that is written out, of plain steps as in /a/b/text()", name)
		}
	case "format":
		if len(m.Args) > 0 && (m.Args[0].GetAConst().GetSval() == nil || wide(m.Args[0].GetAConst().GetSval().GetSval())) {
			reject("too-complex", "format takes a text that is written out, without * and without a width over 9999")
		}
	}
}

// isShort reports whether a length is a number of at most 10,000, or a LEAST with one.
func isShort(length *ast.Node) bool {
	if n := length.GetAConst().GetIval(); n != nil {
		return n.GetIval() <= 10_000
	}
	least := length.GetMinMaxExpr()
	return least != nil && least.Op == ast.MinMaxOp_IS_LEAST && slices.ContainsFunc(least.Args, isShort)
}

// plainPath matches an XPath whose steps go down to children, or that ends in texts or attributes. The parts that it
// finds are apart: //x may stand in itself, and its parts together would be longer than the document by its depth.
// Functions and conditions, which nothing interrupts, are not in it.
var plainPath = regexp.MustCompile(`^(?:(?:/[\w.-]+(?::[\w.-]+)?|/\*)+(?:/text\(\)|/@[\w.:-]+)?|//[\w.:-]+(?:/[\w.:-]+)*/(?:text\(\)|@[\w.:-]+))$`)

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

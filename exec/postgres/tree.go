package postgres

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sqlc-dev/oliphant/ast"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// messages are the parts that the tree of a statement may have. Everything else is refused, also syntax that a later
// version of the parser knows. Missing on purpose: SELECT INTO, row locks, all that makes XML.
var messages = sync.OnceValue(func() map[reflect.Type][]int {
	out := map[reflect.Type][]int{}
	for _, m := range []any{
		(*ast.ParseResult)(nil), (*ast.RawStmt)(nil), (*ast.Node)(nil), (*ast.SelectStmt)(nil), (*ast.ResTarget)(nil), (*ast.ColumnRef)(nil), (*ast.A_Star)(nil), (*ast.String)(nil),
		(*ast.Integer)(nil), (*ast.Float)(nil), (*ast.Boolean)(nil), (*ast.BitString)(nil), (*ast.A_Const)(nil), (*ast.A_Expr)(nil), (*ast.BoolExpr)(nil), (*ast.NullTest)(nil),
		(*ast.BooleanTest)(nil), (*ast.SubLink)(nil), (*ast.RangeVar)(nil), (*ast.RangeSubselect)(nil), (*ast.RangeFunction)(nil), (*ast.RangeTableSample)(nil), (*ast.JoinExpr)(nil),
		(*ast.Alias)(nil), (*ast.FuncCall)(nil), (*ast.WindowDef)(nil), (*ast.SortBy)(nil), (*ast.WithClause)(nil), (*ast.CommonTableExpr)(nil), (*ast.CTESearchClause)(nil),
		(*ast.CTECycleClause)(nil), (*ast.TypeCast)(nil), (*ast.TypeName)(nil), (*ast.CaseExpr)(nil), (*ast.CaseWhen)(nil), (*ast.CoalesceExpr)(nil), (*ast.MinMaxExpr)(nil),
		(*ast.SQLValueFunction)(nil), (*ast.A_ArrayExpr)(nil), (*ast.A_Indirection)(nil), (*ast.A_Indices)(nil), (*ast.RowExpr)(nil), (*ast.CollateClause)(nil),
		(*ast.GroupingSet)(nil), (*ast.GroupingFunc)(nil), (*ast.List)(nil), (*ast.NamedArgExpr)(nil), (*ast.ColumnDef)(nil), (*ast.JsonObjectConstructor)(nil),
		(*ast.JsonArrayConstructor)(nil), (*ast.JsonOutput)(nil), (*ast.JsonReturning)(nil), (*ast.JsonFormat)(nil), (*ast.JsonKeyValue)(nil), (*ast.JsonValueExpr)(nil),
		(*ast.JsonIsPredicate)(nil), (*ast.JsonObjectAgg)(nil), (*ast.JsonArrayAgg)(nil), (*ast.JsonAggConstructor)(nil), (*ast.ParamRef)(nil),
	} {
		t := reflect.TypeOf(m).Elem()
		if fields, ok := within(t); ok {
			out[t] = fields
		}
	}
	return out
})

// within returns the fields of a message that hold messages. ok is false for a message with a field of a kind that the
// walk does not know.
func within(t reflect.Type) (fields []int, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		switch kind := f.Type.Kind(); {
		case kind == reflect.Interface, kind == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct,
			kind == reflect.Slice && f.Type.Elem().Kind() == reflect.Pointer && f.Type.Elem().Elem().Kind() == reflect.Struct:
			fields = append(fields, i)
		case kind == reflect.String, kind == reflect.Bool, f.Type.ConvertibleTo(reflect.TypeFor[int64]()):
		default:
			return nil, false
		}
	}
	return fields, true
}

// Bounds of a tree. The text check bounds its brackets first.
const (
	maxNodes = 400_000
	maxDepth = 4_000
	// The parser tries the readings of a bracket one after the other, so an error in the innermost of twelve costs a
	// thousand times as much as without them: maxEffort bounds the bytes times 2 to the power of the depth, where that is
	// over 3. Of 16,000 statements of people and models the largest has 20,000.
	maxEffort = 1 << 18
	// mostAdded is how many tokens the planner may add to a statement by writing out what it names twice, which no
	// time-out of the server ends. Of 16,000 statements of people and models none adds a hundredth of it.
	mostAdded = 20_000
)

// effort is what a text may cost the parser.
func effort(s string) int {
	open, deepest := 0, 0
	count := func(bracket string) {
		switch bracket {
		case "(", "[":
			open++
			deepest = max(deepest, open)
		case ")", "]":
			open--
		}
	}
	for i := range len(s) {
		count(s[i : i+1])
	}
	if deepest > 3 && len(s)<<min(deepest, 30) > maxEffort { // brackets in strings do not count
		open, deepest = 0, 0
		for token := range sqltext.PostgreSQL().Tokens(s) {
			count(token.Text)
		}
	}
	if deepest <= 3 {
		return 0
	}
	return len(s) << min(deepest, 30)
}

// named is what a statement names.
type named struct {
	reads     reads.Statement
	relations []*relation // of reads.Sources, each once
	functions []string
}

// check parses a statement and refuses all but a SELECT of things that are on the lists. It asks nobody. ours says that
// the text is exec's own and may have parameters. An error about a name that the database does not have is of a text
// with nothing else against it: the engine may be asked for its own words.
func (c *catalog) check(s string, ours bool) (n *named, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, refuse(exec.ReasonGuard, fmt.Sprint("the check of the statement panicked: ", r))
		}
	}()
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return nil, &exec.InvalidError{Fault: exec.FaultSyntax, Message: "the text is not UTF-8 or has a zero byte"}
	}
	if effort(s) > maxEffort {
		return nil, refuse(exec.ReasonTooComplex, "it is too long for brackets nested as deep")
	}
	tree, err := parser.ParseToTree(s)
	if err != nil {
		return nil, &exec.InvalidError{Fault: exec.FaultSyntax, Message: err.Error()}
	}
	if len(tree.GetStmts()) != 1 {
		return nil, refuse(sqltext.ReasonNotReadOnly, "it is not one statement")
	}
	if tree.Stmts[0].GetStmt().GetSelectStmt() == nil {
		return nil, &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: "it is no SELECT", Writes: true}
	}
	w := walk{c: c, ours: ours, n: &named{}, messages: messages(), defined: map[string]bool{}}
	w.n.reads.Call = c.isCall
	if err := w.visit(reflect.ValueOf(tree)); err != nil {
		return nil, err
	}
	if err := w.behindDots(); err != nil {
		return nil, err
	}
	if w.selects > 1 {
		if added := sqltext.PostgreSQL().Parse(s).Expand(nil).Added; added > mostAdded {
			return nil, refuse(exec.ReasonTooComplex, fmt.Sprintf("the server writes a subquery or column out at each place that uses it, which would add %d tokens; at most %d may be added", added, mostAdded))
		}
	}
	if w.missing != nil {
		return nil, w.missing
	}
	if refused := w.n.reads.Denied(); refused != nil {
		return nil, refusedFor(refused, w.n.relations)
	}
	slices.Sort(w.n.functions)
	w.n.functions = slices.Compact(w.n.functions)
	return w.n, nil
}

// isCall reports whether value.name may call a function or cast to a type.
func (c *catalog) isCall(name string) bool {
	_, known := c.typeNamed(name)
	return known || c.functions[name].row
}

// walk is one walk over a tree.
type walk struct {
	c        *catalog
	n        *named
	messages map[reflect.Type][]int
	ours     bool

	ctes         []string // that a name may mean here
	selects      int      // numbered so far
	current      int      // the SELECT that is walked
	nodes, depth int
	sources      []*relation // of n.reads.Sources
	dots         []dot
	defined      map[string]bool    // names that the statement gives to columns
	missing      *exec.InvalidError // the first name that the database does not have
}

// lacks keeps the error about a name that is not there, for the rest of the text may be worse.
func (w *walk) lacks(err error) error {
	if missing, ok := err.(*exec.InvalidError); ok {
		w.missing = cmp.Or(w.missing, missing)
		return nil
	}
	return err
}

// dot is a name behind a dot that could call a function which is not on the list.
type dot struct{ qualifier, name string }

// visit looks at a message and at all that is in it.
func (w *walk) visit(p reflect.Value) error {
	t := p.Type().Elem()
	fields, ok := w.messages[t]
	if !ok {
		return unlisted(t.Name())
	}
	w.nodes++
	w.depth++
	if w.nodes > maxNodes || w.depth > maxDepth {
		return refuse(exec.ReasonTooComplex, fmt.Sprintf("it has over %d parts or is over %d deep", maxNodes, maxDepth))
	}
	if t != nodeType {
		if err := w.look(p.Interface()); err != nil {
			return err
		}
	}
	if s, ok := p.Interface().(*ast.SelectStmt); ok {
		outer, ctes := w.current, len(w.ctes)
		w.selects++
		w.current = w.selects
		defer func() { w.current, w.ctes = outer, w.ctes[:ctes] }()
		if err := w.with(s.GetWithClause()); err != nil {
			return err
		}
	}
	v := p.Elem()
	for _, i := range fields {
		switch f := v.Field(i); f.Kind() {
		case reflect.Pointer:
			if !f.IsNil() && f.Type() != withType {
				if err := w.visit(f); err != nil {
					return err
				}
			}
		case reflect.Slice:
			for j := range f.Len() {
				if f.Index(j).IsNil() {
					continue
				}
				if err := w.visit(f.Index(j)); err != nil {
					return err
				}
			}
		case reflect.Interface: // one of several messages, in a struct of its own
			if f.IsNil() {
				continue
			}
			one := f.Elem().Elem().Field(0)
			if one.Kind() != reflect.Pointer {
				return unlisted(f.Elem().Elem().Type().Name())
			}
			if err := w.visit(one); err != nil {
				return err
			}
		}
	}
	w.depth--
	return nil
}

var (
	nodeType = reflect.TypeFor[ast.Node]()
	withType = reflect.TypeFor[*ast.WithClause]()
)

func unlisted(message string) error {
	switch {
	case message == "LockingClause", message == "IntoClause", strings.HasSuffix(message, "Stmt"):
		return &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: "it does more than read: " + message, Writes: true}
	}
	return refuse(exec.ReasonStatement, message+" is not on the list of what a statement may have")
}

// with looks at common table expressions. Each is known to those behind it and to the statement; with RECURSIVE to all.
func (w *walk) with(clause *ast.WithClause) error {
	for _, cte := range clause.GetCtes() {
		if clause.Recursive {
			w.ctes = append(w.ctes, cte.GetCommonTableExpr().GetCtename())
		}
	}
	for _, cte := range clause.GetCtes() {
		if err := w.visit(reflect.ValueOf(cte)); err != nil {
			return err
		}
		w.ctes = append(w.ctes, cte.GetCommonTableExpr().GetCtename())
	}
	return nil
}

// look judges one message.
func (w *walk) look(message any) error {
	switch m := message.(type) {
	case *ast.RangeVar:
		return w.table(m)
	case *ast.RangeSubselect:
		w.source(nil, m.Alias, "", false)
	case *ast.RangeFunction:
		w.source(nil, m.Alias, "", false)
		if m.Alias == nil { // called like the function
			for _, f := range m.Functions {
				for _, item := range f.GetList().GetItems() {
					if parts := names(item.GetFuncCall().GetFuncname()); len(parts) > 0 {
						w.source(nil, nil, parts[len(parts)-1], false)
					}
				}
			}
		}
	case *ast.RangeTableSample:
		if parts := names(m.Method); len(parts) == 0 || len(parts) > 2 || len(parts) == 2 && parts[0] != "pg_catalog" ||
			parts[len(parts)-1] != "bernoulli" && parts[len(parts)-1] != "system" {
			return refuse(exec.ReasonFunction, "a sample is taken by bernoulli or system")
		}
	case *ast.JoinExpr:
		if m.Alias != nil {
			w.source(nil, m.Alias, "", true)
		}
		if m.JoinUsingAlias != nil {
			w.source(nil, m.JoinUsingAlias, "", true)
		}
		w.n.reads.Natural = w.n.reads.Natural || m.IsNatural
		for _, name := range names(m.UsingClause) {
			w.n.reads.Refs = append(w.n.reads.Refs, reads.Ref{Path: []string{name}})
		}
		if m.IsNatural || len(m.UsingClause) > 0 {
			return w.c.operator("=")
		}
	case *ast.ColumnRef:
		w.column(m)
	case *ast.ResTarget:
		w.defined[m.Name] = true
	case *ast.ColumnDef:
		w.defined[m.Colname] = true
	case *ast.CommonTableExpr:
		w.define(m.Aliascolnames)
	case *ast.Alias:
		w.define(m.Colnames)
	case *ast.A_Indirection:
		for _, name := range names(m.Indirection) {
			w.n.reads.Refs = append(w.n.reads.Refs, reads.Ref{Path: []string{name}})
			w.dots = append(w.dots, dot{"", name})
		}
	case *ast.FuncCall:
		return w.call(m)
	case *ast.TypeName:
		return w.typeName(m)
	case *ast.A_Expr:
		switch m.Kind {
		case ast.A_Expr_Kind_AEXPR_BETWEEN, ast.A_Expr_Kind_AEXPR_NOT_BETWEEN, ast.A_Expr_Kind_AEXPR_BETWEEN_SYM, ast.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
			for _, symbol := range []string{">=", "<=", "<", ">"} {
				if err := w.c.operator(symbol); err != nil {
					return err
				}
			}
			return nil
		}
		return w.operator(m.Name)
	case *ast.SubLink:
		if len(m.OperName) == 0 && m.Testexpr != nil {
			return w.c.operator("=")
		}
		return w.operator(m.OperName)
	case *ast.SortBy:
		return w.operator(m.UseOp)
	case *ast.CaseExpr:
		if m.Arg != nil {
			return w.c.operator("=")
		}
	case *ast.SQLValueFunction:
		if m.Op < ast.SQLValueFunctionOp_SVFOP_CURRENT_DATE || m.Op > ast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N {
			return refuse(exec.ReasonFunction, schema.Fold(strings.TrimPrefix(m.Op.String(), "SVFOP_"))+" is not on the list")
		}
	case *ast.ParamRef:
		if !w.ours {
			return refuse(exec.ReasonStatement, "it has a parameter")
		}
	// Syntax to this parser, and to a server before 16 a call of a function that somebody may have made.
	case *ast.JsonObjectConstructor:
		return w.own("json_object")
	case *ast.JsonArrayConstructor:
		return w.own("json_array")
	case *ast.JsonObjectAgg:
		return w.own("json_objectagg")
	case *ast.JsonArrayAgg:
		return w.own("json_arrayagg")
	}
	return nil
}

func (w *walk) define(columns []*ast.Node) {
	for _, name := range names(columns) {
		w.defined[name] = true
	}
}

func (w *walk) own(name string) error {
	if w.c.functions[name].user {
		return w.c.called("", name)
	}
	return nil
}

// names returns the texts of a list of names; other nodes, as a star or an index, are left out.
func names(nodes []*ast.Node) (out []string) {
	for _, n := range nodes {
		if s := n.GetString_(); s != nil {
			out = append(out, s.Sval)
		}
	}
	return out
}

func (w *walk) source(r *relation, alias *ast.Alias, name string, joined bool) {
	s := reads.Source{Alias: cmp.Or(alias.GetAliasname(), name), Select: w.current, Renamed: len(alias.GetColnames()) > 0, Joined: joined}
	if r != nil {
		s.Relation = r.reads
	}
	w.n.reads.Sources = append(w.n.reads.Sources, s)
	w.sources = append(w.sources, r)
}

func (w *walk) table(m *ast.RangeVar) error {
	if m.Catalogname != "" {
		return refuse(exec.ReasonTable, m.Catalogname+"."+qualified(m.Schemaname, m.Relname)+": a table of another database cannot be read")
	}
	if m.Schemaname == "" && slices.Contains(w.ctes, m.Relname) {
		w.source(nil, m.Alias, m.Relname, false)
		return nil
	}
	r, err := w.c.named(m.Schemaname, m.Relname)
	if err != nil {
		return w.lacks(err)
	}
	w.source(r, m.Alias, m.Relname, false)
	if !slices.Contains(w.n.relations, r) {
		w.n.relations = append(w.n.relations, r)
	}
	return nil
}

func (w *walk) column(m *ast.ColumnRef) {
	ref := reads.Ref{Path: names(m.Fields), Select: w.current}
	ref.Star = len(ref.Path) < len(m.Fields)
	w.n.reads.Refs = append(w.n.reads.Refs, ref)
	if last := len(ref.Path) - 1; !ref.Star && last > 0 {
		w.dots = append(w.dots, dot{ref.Path[last-1], ref.Path[last]})
	}
}

// behindDots refuses names that may call a function by value.name. A harmless one may be meant for a column, if any
// column has its name, of the schema or of the statement. Another one may stand only where all that its qualifier means are relations with that column.
func (w *walk) behindDots() error {
	for _, d := range w.dots {
		calls, strict := w.c.hidden(d.name)
		if !calls || !strict && (w.c.columns[d.name] || w.defined[d.name]) {
			continue
		}
		meant, other := 0, 0
		for i, s := range w.n.reads.Sources {
			if s.Alias != d.qualifier || d.qualifier == "" {
				continue
			}
			if r := w.sources[i]; r != nil && !s.Renamed && r.columns[d.name] {
				meant++
			} else {
				other++
			}
		}
		if meant == 0 || other > 0 {
			return refuse(exec.ReasonFunction, "."+d.name+" may call the function "+d.name+", which is not on the list")
		}
	}
	return nil
}

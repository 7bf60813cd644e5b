package postgres

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sqlc-dev/oliphant/ast"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
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
	// mostReadings bounds the tokens that the parser reads again, in a quarter of a microsecond each: see readings. Of 74,530
	// statements of people and models the most has 201. With the rules and the views in it a statement may have mostSpliced.
	mostReadings = 4_000
	mostSpliced  = 20_000
)

var (
	twice   = guard.Set("substring overlay json_object") // calls with two forms, which the parser tries one after the other
	queries = guard.Set("select with values table")
	goesOn  = guard.Set(") union intersect except order limit offset fetch for") // a query, behind a bracket
)

// readings is how many tokens the parser reads again, at most. It tries each of the brackets before a query as one around
// the query, as far as that goes, and then as one around an expression or a join.
func readings(s string) (n int) {
	t := guard.NewText(sqltext.PostgreSQL().Parse(s))
	type level struct{ times, around int } // how often it reads what stands in a bracket, and behind the bracket in it
	in, open := level{1, 1}, []level(nil)
	for i := range t.Len() {
		switch t.Raw(i) {
		case "(":
			open = append(open, in)
			if t.Raw(i-1) == "(" {
				break // as the one before
			}
			in.around = in.times
			if twice[t.Word(i-1)] {
				in.around *= 2
			}
			run := i
			for t.Raw(run) == "(" {
				run++
			}
			if in.times = in.around; queries[t.Word(run)] {
				in.times *= run - i
			}
			in.times = min(in.times, mostSpliced)
		case ")":
			if last := len(open) - 1; last >= 0 {
				in, open = open[last], open[:last]
			}
			if !goesOn[t.Word(i+1)] {
				in.times = in.around
			}
		}
		n += in.times - 1
	}
	return n
}

// read parses a statement and refuses all but a SELECT of things that are on the lists. It asks nobody. ours says that
// the text is exec's own and may have parameters.
func (c *catalog) read(s string, ours bool) (*guard.Names, error) {
	w, err := c.walked(s, ours, nil)
	if err != nil {
		return nil, err
	}
	return w.n, nil
}

// walked is read, and notes places where at is not nil. ours: the text is exec's own, or has its rules in it.
func (c *catalog) walked(s string, ours bool, at *places) (*walk, error) {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return nil, &exec.InvalidError{Fault: exec.FaultSyntax, Message: "the text is not UTF-8 or has a zero byte"}
	}
	most := mostReadings
	if ours {
		most = mostSpliced
	}
	if n := readings(s); n > most {
		return nil, guard.Refuse(exec.ReasonTooComplex, "the parser would read %d tokens again, for brackets around brackets around queries, "+
			"SUBSTRING, OVERLAY or JSON_OBJECT; at most %d may be", n, most)
	}
	w := walk{c: c, ours: ours, at: at, n: &guard.Names{Call: c.isCall}, messages: messages(), defined: map[string]bool{}}
	err := guard.Walked(func() {
		tree, err := parser.ParseToTree(s)
		if err != nil {
			guard.Stop(&exec.InvalidError{Fault: exec.FaultSyntax, Message: err.Error()})
		}
		if len(tree.GetStmts()) != 1 || tree.Stmts[0].GetStmt().GetSelectStmt() == nil {
			guard.Stop(guard.Refuse(sqltext.ReasonNotReadOnly, "it is not one SELECT"))
		}
		w.visit(reflect.ValueOf(tree))
		w.behindDots()
		w.decide()
	})
	if err != nil {
		return nil, err
	}
	if w.missing != "" {
		w.n.Own = w.missing
	}
	return &w, nil
}

// isCall reports whether value.name may call a function or cast to a type.
func (c *catalog) isCall(name string) bool { return c.typeNamed(name) != nil || c.functions[name].row }

// walk is one walk over a tree. Its methods stop it with a refusal.
type walk struct {
	c        *catalog
	n        *guard.Names
	messages map[reflect.Type][]int
	ours     bool
	at       *places // nil: nobody asks

	ctes         []string // that a name may mean here
	selects      int      // numbered so far
	current      int      // the SELECT that is walked
	nodes, depth int
	dots         []dot
	defined      map[string]bool // names that the statement gives to columns
	missing      string          // the first function that the database does not have
	casts        []*typ          // types that it casts to
	lent         bool            // it calls a function that the policy allows, whose result may be of any type
	doubts       []doubt
}

// dot is a name behind a dot that could call a function which is not on the list.
type dot struct{ qualifier, name string }

// visit looks at a message and at all that is in it.
func (w *walk) visit(p reflect.Value) {
	t := p.Type().Elem()
	fields, ok := w.messages[t]
	if !ok {
		unknown(t.Name())
	}
	w.nodes++
	w.depth++
	if w.nodes > maxNodes || w.depth > maxDepth {
		guard.Stop(guard.Refuse(exec.ReasonTooComplex, "it has over %d parts or is over %d deep", maxNodes, maxDepth))
	}
	if t != nodeType {
		w.look(p.Interface())
	}
	if s, ok := p.Interface().(*ast.SelectStmt); ok {
		outer, ctes := w.current, len(w.ctes)
		w.selects++
		w.current = w.selects
		if w.at != nil && len(s.GroupClause) > 0 {
			w.at.groups = append(w.at.groups, groupAt{s, w.current})
		}
		defer func() { w.current, w.ctes = outer, w.ctes[:ctes] }()
		w.with(s.GetWithClause())
	}
	v := p.Elem()
	for _, i := range fields {
		switch f := v.Field(i); f.Kind() {
		case reflect.Pointer:
			if !f.IsNil() && f.Type() != withType {
				w.visit(f)
			}
		case reflect.Slice:
			for j := range f.Len() {
				if !f.Index(j).IsNil() {
					w.visit(f.Index(j))
				}
			}
		case reflect.Interface: // one of several messages, in a struct of its own
			if f.IsNil() {
				continue
			}
			one := f.Elem().Elem().Field(0)
			if one.Kind() != reflect.Pointer {
				unknown(f.Elem().Elem().Type().Name())
			}
			w.visit(one)
		}
	}
	w.depth--
}

var (
	nodeType = reflect.TypeFor[ast.Node]()
	withType = reflect.TypeFor[*ast.WithClause]()
)

// unknown refuses a message that is not on the list.
func unknown(message string) {
	if message == "LockingClause" || message == "IntoClause" || strings.HasSuffix(message, "Stmt") {
		guard.Stop(guard.Refuse(sqltext.ReasonNotReadOnly, "it does more than read: %s", message))
	}
	guard.Stop(guard.Refuse(exec.ReasonStatement, "%s is not on the list of what a statement may have", message))
}

// with looks at common table expressions. Each is known to those behind it and to the statement; with RECURSIVE to all.
func (w *walk) with(clause *ast.WithClause) {
	for _, cte := range clause.GetCtes() {
		if clause.Recursive {
			w.ctes = append(w.ctes, cte.GetCommonTableExpr().GetCtename())
		}
	}
	for _, cte := range clause.GetCtes() {
		w.visit(reflect.ValueOf(cte))
		w.ctes = append(w.ctes, cte.GetCommonTableExpr().GetCtename())
	}
}

// look judges one message.
func (w *walk) look(message any) {
	switch m := message.(type) {
	case *ast.RangeVar:
		w.table(m)
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
		if w.at != nil {
			w.at.sampled[m.Relation.GetRangeVar()] = true
		}
		if parts := names(m.Method); len(parts) == 0 || len(parts) > 2 || len(parts) == 2 && parts[0] != "pg_catalog" ||
			parts[len(parts)-1] != "bernoulli" && parts[len(parts)-1] != "system" {
			guard.Stop(guard.Refuse(exec.ReasonFunction, "a sample is taken by bernoulli or system"))
		}
	case *ast.JoinExpr:
		if m.Alias != nil {
			w.source(nil, m.Alias, "", true)
		}
		if m.JoinUsingAlias != nil {
			w.source(nil, m.JoinUsingAlias, "", true)
		}
		w.n.Natural = w.n.Natural || m.IsNatural
		for _, name := range names(m.UsingClause) {
			w.n.Refs = append(w.n.Refs, guard.Ref{Path: []string{name}})
		}
		if m.IsNatural || len(m.UsingClause) > 0 {
			w.symbol("=")
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
			w.n.Refs = append(w.n.Refs, guard.Ref{Path: []string{name}})
			w.dots = append(w.dots, dot{"", name})
		}
	case *ast.FuncCall:
		w.call(m)
	case *ast.TypeName:
		w.typeName(m)
	case *ast.A_Expr:
		switch m.Kind {
		case ast.A_Expr_Kind_AEXPR_BETWEEN, ast.A_Expr_Kind_AEXPR_NOT_BETWEEN, ast.A_Expr_Kind_AEXPR_BETWEEN_SYM, ast.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
			w.symbol(">=", "<=", "<", ">")
		default:
			w.operator(m.Name)
		}
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
		if m.Op < ast.SQLValueFunctionOp_SVFOP_CURRENT_DATE || m.Op > ast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N {
			guard.Stop(guard.Refuse(exec.ReasonFunction, "%s is not on the list", schema.Fold(strings.TrimPrefix(m.Op.String(), "SVFOP_"))))
		}
	case *ast.ParamRef:
		if !w.ours {
			guard.Stop(guard.Refuse(exec.ReasonStatement, "it has a parameter"))
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

func (w *walk) define(columns []*ast.Node) {
	for _, name := range names(columns) {
		w.defined[name] = true
	}
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
	s := guard.Source{Alias: cmp.Or(alias.GetAliasname(), name), Select: w.current, Renamed: len(alias.GetColnames()) > 0, Joined: joined}
	if r != nil {
		s.Relation = r.Relation
	}
	w.n.Sources = append(w.n.Sources, s)
}

func (w *walk) table(m *ast.RangeVar) {
	if m.Catalogname != "" {
		guard.Stop(guard.Refuse(exec.ReasonTable, "%s.%s: a table of another database cannot be read", m.Catalogname, qualified(m.Schemaname, m.Relname)))
	}
	if m.Schemaname == "" && slices.Contains(w.ctes, m.Relname) {
		w.source(nil, m.Alias, m.Relname, false)
		return
	}
	r, ok := w.c.find(m.Schemaname, m.Relname)
	switch {
	case !ok:
		w.n.Lacks(m.Relname)
	case r == nil:
		guard.Stop(guard.NotReadable(qualified(m.Schemaname, m.Relname)))
	}
	if w.at != nil && r != nil {
		w.at.tables = append(w.at.tables, tableAt{m, r})
	}
	w.source(r, m.Alias, m.Relname, false)
}

func (w *walk) column(m *ast.ColumnRef) {
	ref := guard.Ref{Path: names(m.Fields), Select: w.current}
	ref.Star = len(ref.Path) < len(m.Fields)
	w.n.Refs = append(w.n.Refs, ref)
	if w.at != nil {
		w.at.columns = append(w.at.columns, columnAt{ref, int(m.Location)})
	}
	if last := len(ref.Path) - 1; !ref.Star && last > 0 {
		w.dots = append(w.dots, dot{ref.Path[last-1], ref.Path[last]})
	}
}

// behindDots refuses names that may call a function by value.name. A harmless one may be meant for a column, if any
// column has its name, of the schema or of the statement. Another one may stand only where all that its qualifier means
// are relations with that column.
func (w *walk) behindDots() {
	for _, d := range w.dots {
		if t := w.c.typeNamed(d.name); t != nil {
			w.casts = append(w.casts, t)
		}
		calls, strict := w.c.hidden(d.name)
		if !calls || !strict && (w.c.columns[d.name] || w.defined[d.name]) {
			continue
		}
		meant, other := 0, 0
		for _, s := range w.n.Sources {
			if s.Alias != d.qualifier || d.qualifier == "" {
				continue
			}
			if s.Relation != nil && !s.Renamed && slices.Contains(s.Relation.Columns(), d.name) {
				meant++
			} else {
				other++
			}
		}
		if meant == 0 || other > 0 {
			guard.Stop(guard.Refuse(exec.ReasonFunction, ".%s may call the function %[1]s, which is not on the list", d.name))
		}
	}
}

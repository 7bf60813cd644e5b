package postgres

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sqlc-dev/oliphant/ast"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// messages are the parts that the tree of a statement may have. Everything else is refused, also syntax that a later
// version of the parser knows. Missing on purpose: SELECT INTO, row locks, all that makes XML.
var messages = guard.NodesOf(
	ast.ParseResult{}, ast.RawStmt{}, ast.Node{}, ast.SelectStmt{}, ast.ResTarget{}, ast.ColumnRef{}, ast.A_Star{},
	ast.String{},
	ast.Integer{}, ast.Float{}, ast.Boolean{}, ast.BitString{}, ast.A_Const{}, ast.A_Expr{}, ast.BoolExpr{},
	ast.NullTest{},
	ast.BooleanTest{}, ast.SubLink{}, ast.RangeVar{}, ast.RangeSubselect{}, ast.RangeFunction{}, ast.RangeTableSample{},
	ast.JoinExpr{},
	ast.Alias{}, ast.FuncCall{}, ast.WindowDef{}, ast.SortBy{}, ast.WithClause{}, ast.CommonTableExpr{},
	ast.CTESearchClause{},
	ast.CTECycleClause{}, ast.TypeCast{}, ast.TypeName{}, ast.CaseExpr{}, ast.CaseWhen{}, ast.CoalesceExpr{},
	ast.MinMaxExpr{},
	ast.SQLValueFunction{}, ast.A_ArrayExpr{}, ast.A_Indirection{}, ast.A_Indices{}, ast.RowExpr{}, ast.CollateClause{},
	ast.GroupingSet{}, ast.GroupingFunc{}, ast.List{}, ast.NamedArgExpr{}, ast.ColumnDef{}, ast.JsonObjectConstructor{},
	ast.JsonArrayConstructor{}, ast.JsonOutput{}, ast.JsonReturning{}, ast.JsonFormat{}, ast.JsonKeyValue{},
	ast.JsonValueExpr{},
	ast.JsonIsPredicate{}, ast.JsonObjectAgg{}, ast.JsonArrayAgg{}, ast.JsonAggConstructor{}, ast.ParamRef{},
)

// mostReadings bounds the tokens that the parser reads again, in a quarter of a microsecond each: see readings. Of
// 74,530 statements of people and models the most has 201. With the rules and the views in it a statement may have
// mostSpliced.
const (
	mostReadings = 4_000
	mostSpliced  = 20_000
)

var (
	// calls with two forms, which the parser tries one after the other
	twice   = guard.Set("substring overlay json_object")
	queries = guard.Set("select with values table")
	goesOn  = guard.Set(") union intersect except order limit offset fetch for") // a query, behind a bracket
)

// readings is how many tokens the parser reads again, at most. It tries each of the brackets before a query as one
// around the query, as far as that goes, and then as one around an expression or a join.
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

// read parses a statement and refuses all but a SELECT of things that are on the lists. It asks nobody. ours: the text
// is exec's own and may have parameters, or has the rules of exec in it.
func (c *catalog) read(s string, ours bool) (*walk, error) {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return nil, &exec.InvalidError{Fault: "syntax", Message: "the text is not UTF-8 or has a zero byte"}
	}
	most := mostReadings
	if ours {
		most = mostSpliced
	}
	if n := readings(s); n > most {
		return nil, guard.Refuse("too-complex", "the parser would read %d tokens again, "+
			"for brackets around brackets around queries, "+
			"SUBSTRING, OVERLAY or JSON_OBJECT; at most %d may be", n, most)
	}
	w := walk{c: c, ours: ours, n: &guard.Names{Call: c.isCall}, defined: map[string]bool{},
		sampled: map[*ast.RangeVar]bool{}}
	w.Walker = guard.Walker{Nodes: messages, Wrapped: true, Visit: w.visit, Unlisted: unlistedMessage}
	err := guard.RecoverWalk(func() {
		w.Walk(selected(s))
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

// selected parses one SELECT.
func selected(s string) *ast.ParseResult {
	tree, err := parser.ParseToTree(s)
	if err != nil {
		guard.Abort(&exec.InvalidError{Fault: "syntax", Message: err.Error()})
	}
	if len(tree.GetStmts()) != 1 || tree.Stmts[0].GetStmt().GetSelectStmt() == nil {
		reject("not-read-only", "it is not one SELECT")
	}
	return tree
}

// isCall reports whether value.name may call a function or cast to a type.
func (c *catalog) isCall(name string) bool { return c.typeNamed(name) != nil || c.functions[name].row }

// walk is one walk over a tree. Its methods stop it with a refusal.
type walk struct {
	guard.Walker
	c    *catalog
	n    *guard.Names
	ours bool

	ctes    []string // that a name may mean here
	selects int      // numbered so far
	current int      // the SELECT that is walked
	dots    []dot
	defined map[string]bool // names that the statement gives to columns
	missing string          // the first function that the database does not have
	casts   []*typ          // types that it casts to
	lent    bool            // it calls a function that the policy allows, whose result may be of any type
	doubts  []doubt

	// What rules are written at.
	tables  []tableAt
	columns []columnAt
	groups  []groupAt
	sampled map[*ast.RangeVar]bool
}

// dot is a name behind a dot that could call a function which is not on the list.
type dot struct{ qualifier, name string }

// visit looks at a message and then at all that is in it.
func (w *walk) visit(message any, inside func()) {
	switch m := message.(type) {
	case *ast.SelectStmt:
		w.query(m, inside)
	case *ast.WithClause: // query walked it
	default:
		w.sources(m)
		w.names(m)
		w.calls(m)
		inside()
	}
}

// unlistedMessage refuses a message that is not on the list.
func unlistedMessage(t reflect.Type) error {
	message := t.Name()
	if message == "LockingClause" || message == "IntoClause" || strings.HasSuffix(message, "Stmt") {
		return guard.Refuse("not-read-only", "it does more than read: %s", message)
	}
	return guard.Refuse("statement", "%s is not on the list of what a statement may have", message)
}

// query walks a SELECT, its common table expressions first. Each of these is known to those behind it and to the
// SELECT; with RECURSIVE to all.
func (w *walk) query(s *ast.SelectStmt, inside func()) {
	outer, ctes := w.current, len(w.ctes)
	w.selects++
	w.current = w.selects
	if len(s.GroupClause) > 0 {
		w.groups = append(w.groups, groupAt{s, w.current})
	}
	with := s.GetWithClause()
	for _, cte := range with.GetCtes() {
		if with.Recursive {
			w.ctes = append(w.ctes, cte.GetCommonTableExpr().GetCtename())
		}
	}
	for _, cte := range with.GetCtes() {
		w.Walk(cte)
		w.ctes = append(w.ctes, cte.GetCommonTableExpr().GetCtename())
	}
	inside()
	w.current, w.ctes = outer, w.ctes[:ctes]
}

// sources looks at what stands in a FROM.
func (w *walk) sources(message any) {
	switch m := message.(type) {
	case *ast.RangeVar:
		w.table(m)
	case *ast.RangeSubselect:
		w.source(nil, m.Alias, "", false)
	case *ast.RangeFunction:
		w.function(m)
	case *ast.RangeTableSample:
		w.sampled[m.Relation.GetRangeVar()] = true
		if method := names(m.Method); !isBuiltin(method) || !samplings[method[len(method)-1]] {
			reject("function", "a sample is taken by bernoulli or system")
		}
	case *ast.JoinExpr:
		w.join(m)
	}
}

var samplings = guard.Set("bernoulli system")

// isBuiltin reports whether a name has no schema, or that of the engine.
func isBuiltin(name []string) bool {
	return len(name) == 1 || len(name) == 2 && name[0] == "pg_catalog"
}

// function looks at functions in a FROM. One without an alias is called like the function.
func (w *walk) function(m *ast.RangeFunction) {
	w.source(nil, m.Alias, "", false)
	if m.Alias != nil {
		return
	}
	for _, f := range m.Functions {
		for _, item := range f.GetList().GetItems() {
			if parts := names(item.GetFuncCall().GetFuncname()); len(parts) > 0 {
				w.source(nil, nil, parts[len(parts)-1], false)
			}
		}
	}
}

func (w *walk) join(m *ast.JoinExpr) {
	for _, alias := range []*ast.Alias{m.Alias, m.JoinUsingAlias} {
		if alias != nil {
			w.source(nil, alias, "", true)
		}
	}
	w.n.Natural = w.n.Natural || m.IsNatural
	for _, name := range names(m.UsingClause) {
		w.n.Refs = append(w.n.Refs, guard.Ref{Path: []string{name}})
	}
	if m.IsNatural || len(m.UsingClause) > 0 {
		w.symbol("=")
	}
}

// names looks at names of columns.
func (w *walk) names(message any) {
	switch m := message.(type) {
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
	case *ast.ParamRef:
		if !w.ours {
			reject("statement", "it has a parameter")
		}
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
	s := guard.Source{Alias: cmp.Or(alias.GetAliasname(), name), Select: w.current, Renamed: len(alias.GetColnames()) > 0,
		Joined: joined}
	if r != nil {
		s.Relation = r.Relation
	}
	w.n.Sources = append(w.n.Sources, s)
}

func (w *walk) table(m *ast.RangeVar) {
	if m.Catalogname != "" {
		reject("table", "%s.%s: a table of another database cannot be read", m.Catalogname,
			qualified(m.Schemaname, m.Relname))
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
		guard.Abort(guard.NotReadable(qualified(m.Schemaname, m.Relname)))
	}
	if r != nil {
		w.tables = append(w.tables, tableAt{m, r})
	}
	w.source(r, m.Alias, m.Relname, false)
}

func (w *walk) column(m *ast.ColumnRef) {
	ref := guard.Ref{Path: names(m.Fields), Select: w.current}
	ref.Star = len(ref.Path) < len(m.Fields)
	w.n.Refs = append(w.n.Refs, ref)
	w.columns = append(w.columns, columnAt{ref, int(m.Location)})
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
			reject("function", ".%s may call the function %[1]s, which is not on the list", d.name)
		}
	}
}

// reject ends a walk with a refusal.
func reject(reason string, format string, args ...any) {
	guard.Abort(guard.Refuse(reason, format, args...))
}

package mysql

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/parser"
	"github.com/sqlc-dev/marino/types"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The limits on a tree. The text check, which bounds brackets, comes before.
const (
	mostNodes = 400_000
	mostDepth = 4_000
)

// nodes are the types of which a tree may be made. What is not here is refused, so new syntax is too.
var nodes = typesOf(
	ast.SelectStmt{}, ast.SetOprStmt{}, ast.SetOprSelectList{}, ast.SelectStmtOpts{}, ast.FieldList{}, ast.SelectField{}, ast.WildCardField{},
	ast.TableRefsClause{}, ast.Join{}, ast.TableSource{}, ast.TableName{}, ast.OnCondition{}, ast.IndexHint{},
	ast.BetweenExpr{}, ast.BinaryOperationExpr{}, ast.WhenClause{}, ast.CaseExpr{}, ast.SubqueryExpr{}, ast.CompareSubqueryExpr{},
	ast.ColumnName{}, ast.ColumnNameExpr{}, ast.ExistsSubqueryExpr{}, ast.PatternInExpr{}, ast.IsNullExpr{}, ast.IsTruthExpr{},
	ast.PatternLikeOrIlikeExpr{}, ast.ParenthesesExpr{}, ast.PositionExpr{}, ast.PatternRegexpExpr{}, ast.RowExpr{}, ast.UnaryOperationExpr{},
	ast.MatchAgainst{}, ast.SetCollationExpr{}, ast.ValuesExpr{}, ast.ValueExprBase{}, ast.Datum{},
	ast.FuncCallExpr{}, ast.FuncCastExpr{}, ast.TrimDirectionExpr{}, ast.AggregateFuncExpr{}, ast.WindowFuncExpr{}, ast.TimeUnitExpr{}, ast.GetFormatSelectorExpr{},
	ast.ByItem{}, ast.GroupByClause{}, ast.HavingClause{}, ast.OrderByClause{}, ast.Limit{},
	ast.CommonTableExpression{}, ast.WithClause{}, ast.WindowSpec{}, ast.PartitionByClause{}, ast.FrameClause{}, ast.FrameExtent{}, ast.FrameBound{},
	ast.CIStr{}, types.FieldType{},
)

// changes are types that stand for more than reading, in words for a person.
var changes = map[reflect.Type]string{
	reflect.TypeFor[ast.SelectIntoOption](): "INTO",
	reflect.TypeFor[ast.SelectLockInfo]():   "FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE",
}

func typesOf(values ...any) map[reflect.Type]bool {
	found := map[reflect.Type]bool{}
	for _, v := range values {
		found[reflect.TypeOf(v)] = true
	}
	return found
}

// named is what a statement names.
type named struct {
	reads     reads.Statement
	relations []*relation     // those that exist, each once, without those under views
	absent    []string        // tables that the catalog does not have, each once
	functions map[string]bool // called
	hints     []string        // indexes that the statement asks for
	limited   bool            // it has a LIMIT, which may be that of the whole
}

// parse reads one statement.
func parse(text string, mode mysql.SQLMode) (statement ast.StmtNode, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the parser panicked"}
		}
	}()
	if text, err = forParser(text, mode); err != nil {
		return nil, err
	}
	p := parser.New()
	p.SetMariaDB(true)
	p.SetSQLMode(mode)
	statements, _, err := p.ParseSQL(text)
	switch {
	case err != nil:
		return nil, &exec.InvalidError{Fault: exec.FaultSyntax, Message: "You have an error in your SQL syntax: " + strings.TrimSpace(err.Error())}
	case len(statements) != 1:
		return nil, &exec.RefusedError{Reason: sqltext.ReasonSeveral, Detail: fmt.Sprintf("it is %d statements", len(statements))}
	}
	return statements[0], nil
}

// check reads a text and refuses it, or says what it names. ours: parameters are allowed.
func (c *catalog) check(text string, ours bool) (*named, error) {
	statement, err := parse(text, c.place.mode)
	if err != nil {
		return nil, err
	}
	w := walker{catalog: c, ours: ours}
	return w.statement(statement)
}

// walker walks one tree.
type walker struct {
	catalog *catalog
	ours    bool                  // parameters are allowed
	view    func(under *relation) // the text is the definition of a view, and names one
	named   named
	visited int
	selects []int // numbers of the SELECTs around, the last is the one
	number  int
	with    [][]common               // common table expressions in scope, a scope a WITH
	within  map[*ast.WithClause]bool // those that inScope visited
}

// common is a common table expression. sure: a name spelled like it means it.
type common struct {
	name string
	sure bool
}

// refusal ends a walk.
type refusal struct{ err error }

func refuse(reason sqltext.Reason, format string, args ...any) {
	panic(refusal{&exec.RefusedError{Reason: reason, Detail: fmt.Sprintf(format, args...), Writes: reason == sqltext.ReasonNotReadOnly}})
}

func (w *walker) statement(s ast.StmtNode) (n *named, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, ok := r.(refusal)
			if n, err = nil, out.err; !ok {
				err = &exec.RefusedError{Reason: exec.ReasonGuard, Detail: fmt.Sprint("the guard panicked: ", r)}
			}
		}
	}()
	w.named.functions, w.within = map[string]bool{}, map[*ast.WithClause]bool{}
	switch s.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
	default:
		refuse(exec.ReasonStatement, "it is no SELECT")
	}
	w.walk(reflect.ValueOf(s), 0)
	return &w.named, nil
}

// walk visits a value and all that its exported fields hold. The parser's own visitor skips some.
func (w *walker) walk(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			w.walk(v.Elem(), depth)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.walk(v.Index(i), depth)
		}
	case reflect.Struct:
		if w.visited++; w.visited > mostNodes || depth > mostDepth {
			refuse(exec.ReasonTooComplex, "its tree has over %d parts or is over %d deep", mostNodes, mostDepth)
		}
		t := v.Type()
		if words := changes[t]; words != "" {
			refuse(sqltext.ReasonNotReadOnly, "it does more than read: %s", words)
		}
		if !nodes[t] && !(w.ours && t == reflect.TypeFor[ast.ParamMarkerExprBase]()) {
			refuse(exec.ReasonStatement, "%s is not among what a statement may be made of", t.Name())
		}
		if t != reflect.TypeFor[ast.CIStr]() && t != reflect.TypeFor[types.FieldType]() && t != reflect.TypeFor[ast.Datum]() {
			w.node(v, t, depth+1)
		}
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if !v.IsNil() {
			refuse(exec.ReasonStatement, "a %s is not among what a statement may be made of", v.Type())
		}
	}
}

// node visits a struct and its fields.
func (w *walker) node(v reflect.Value, t reflect.Type, depth int) {
	fields := func() {
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				w.walk(v.Field(i), depth)
			}
		}
	}
	if !v.CanAddr() { // a struct behind an interface; the parser makes pointers only
		refuse(exec.ReasonGuard, "%s is not where the parser has it", t.Name())
	}
	switch n := v.Addr().Interface().(type) {
	case *ast.SelectStmt:
		w.number++
		w.selects = append(w.selects, w.number)
		if n.Kind == ast.SelectStmtKindTable {
			w.ref(reads.Ref{Star: true, Select: w.number})
		}
		w.inScope(n.With, depth, fields)
		w.selects = w.selects[:len(w.selects)-1]
	case *ast.SetOprStmt:
		w.inScope(n.With, depth, fields)
	case *ast.SetOprSelectList:
		w.inScope(n.With, depth, fields)
	case *ast.WithClause:
		if !w.within[n] {
			refuse(exec.ReasonGuard, "a WITH stands where the guard does not expect one")
		}
	case *ast.SelectStmtOpts:
		if n.CalcFoundRows {
			refuse(exec.ReasonStatement, "SQL_CALC_FOUND_ROWS counts rows for another statement")
		}
		fields()
	case *ast.Join:
		w.named.reads.Natural = w.named.reads.Natural || n.NaturalJoin
		fields()
	case *ast.TableSource:
		w.source(n)
		fields()
	case *ast.WildCardField:
		w.ref(reads.Ref{Path: path(n.Schema, n.Table), Star: true, Select: w.current()})
	case *ast.ColumnName:
		w.ref(reads.Ref{Path: path(n.Schema, n.Table, n.Name)})
	case *ast.Limit:
		w.named.limited = true
		fields()
	case *ast.IndexHint:
		for _, name := range n.IndexNames {
			w.named.hints = append(w.named.hints, name.O)
		}
	case *ast.FuncCallExpr:
		w.function(n.Schema.O, n.FnName.O)
		w.length(lower(n.FnName.O), n.Args)
		fields()
	case *ast.AggregateFuncExpr:
		w.function("", n.F)
		fields()
	case *ast.WindowFuncExpr:
		w.function("", n.Name)
		fields()
	case *ast.FuncCastExpr:
		if n.Tp != nil && n.Tp.GetFlen() > mostLength && n.Tp.GetCharset() == "binary" {
			refuse(exec.ReasonFunction, "a cast makes a value of %d bytes; at most %d are allowed", n.Tp.GetFlen(), mostLength)
		}
		w.named.functions["cast"] = true
		fields()
	default:
		fields()
	}
}

// current is the number of the SELECT around.
func (w *walker) current() int {
	if len(w.selects) == 0 {
		return 0
	}
	return w.selects[len(w.selects)-1]
}

func (w *walker) ref(r reads.Ref) { w.named.reads.Refs = append(w.named.reads.Refs, r) }

// path is a name with what stands before it.
func path(parts ...ast.CIStr) (names []string) {
	for _, p := range parts {
		if p.O != "" {
			names = append(names, p.O)
		}
	}
	return names
}

// inScope visits a WITH and then, with its names in scope, the rest.
func (w *walker) inScope(with *ast.WithClause, depth int, rest func()) {
	if with == nil {
		rest()
		return
	}
	w.within[with] = true
	w.with = append(w.with, nil)
	last := len(w.with) - 1
	if with.IsRecursive { // each may name itself and those behind it
		for _, cte := range with.CTEs {
			w.with[last] = append(w.with[last], common{cte.Name.O, false})
		}
	}
	for _, cte := range with.CTEs {
		w.walk(reflect.ValueOf(cte), depth)
		if !with.IsRecursive {
			w.with[last] = append(w.with[last], common{cte.Name.O, true})
		}
	}
	if with.IsRecursive {
		for i := range w.with[last] {
			w.with[last][i].sure = true
		}
	}
	rest()
	w.with = w.with[:last]
}

// source notes an item of a FROM. A name that may be a common table expression or a table counts as both.
func (w *walker) source(n *ast.TableSource) {
	s := reads.Source{Alias: n.AsName.O, Select: w.current(), Renamed: len(n.ColumnNames) > 0}
	table, ok := n.Source.(*ast.TableName)
	if _, join := n.Source.(*ast.Join); join {
		s.Joined = true
	}
	if !ok {
		w.named.reads.Sources = append(w.named.reads.Sources, s)
		return
	}
	name := table.Name.O
	if s.Alias == "" {
		s.Alias = name
	}
	switch is, sure := w.common(table); {
	case sure:
	case !w.catalog.isCurrent(table.Schema.O):
		refuse(exec.ReasonTable, "%s.%s is outside of the database of the connection", table.Schema.O, name)
	default:
		r := w.catalog.relations[w.catalog.key(name)]
		switch {
		case r != nil:
			s.Relation = r.columns
			if !slices.Contains(w.named.relations, r) {
				w.named.relations = append(w.named.relations, r)
			}
			if r.view && w.view != nil {
				w.view(r)
			}
		case !is && !slices.Contains(w.named.absent, name):
			w.named.absent = append(w.named.absent, name)
		}
	}
	w.named.reads.Sources = append(w.named.reads.Sources, s)
}

// common reports whether a table may be, or is for sure, a common table expression.
func (w *walker) common(table *ast.TableName) (is, sure bool) {
	if table.Schema.O != "" {
		return false, false
	}
	for _, scope := range w.with {
		for _, c := range scope {
			is = is || lower(c.name) == lower(table.Name.O)
			sure = sure || c.sure && c.name == table.Name.O
		}
	}
	return is, sure
}

// function decides on a call.
func (w *walker) function(database, name string) {
	folded := lower(name)
	// A function of the database is one that the policy allows, and never one of the list.
	mine := database != "" && (!w.catalog.isCurrent(database) || !w.catalog.added[folded])
	if mine || !w.catalog.functions[folded] {
		if database != "" {
			folded = lower(database) + "." + folded
		}
		refuse(exec.ReasonFunction, "the function %s is not on the list; Policy.AllowFunctions adds to it", folded)
	}
	if called := parsedAs[folded]; called != "" {
		folded = called
	}
	w.named.functions[folded] = true
}

// length refuses a text of a length that is no small number.
func (w *walker) length(function string, args []ast.ExprNode) {
	i, ok := lengthOf[function]
	if !ok || i >= len(args) {
		return
	}
	if v, ok := args[i].(*ast.ValueExprBase); ok {
		switch {
		case v.Kind() == ast.KindInt64 && v.GetInt64() <= mostLength, v.Kind() == ast.KindUint64 && v.GetUint64() <= mostLength:
			return
		}
	}
	refuse(exec.ReasonFunction, "the length that %s makes has to be a number of at most %d", function, mostLength)
}

// permit refuses a statement that names what may not be read. With something hidden, an absent table has the words of a
// denied one.
func (c *catalog) permit(n *named) error {
	hidden := func(name string) error {
		return &exec.RefusedError{Reason: exec.ReasonTable, Detail: name + " is no table that may be read"}
	}
	if len(n.absent) > 0 && c.hides {
		return hidden(n.absent[0])
	}
	for _, r := range n.relations {
		switch {
		case !r.allowed:
			return hidden(r.name)
		case r.refused != nil:
			return r.refused
		case r.columns.Hides() && slices.ContainsFunc(n.hints, func(index string) bool { return !schema.EqualFold(index, "primary") }):
			return &exec.RefusedError{Reason: exec.ReasonColumn, Detail: "an index hint may give the order of a column of " + r.name + " that may not be read"}
		}
	}
	if refused := n.reads.Denied(); refused != nil {
		return refused
	}
	return nil
}

// analysis is what n reads, with what lies under its views.
func (c *catalog) analysis(n *named) exec.Analysis {
	columns := map[*reads.Relation]map[string]bool{}
	functions := map[string]bool{}
	var add func(n *named)
	add = func(n *named) {
		maps.Copy(functions, n.functions)
		for _, read := range n.reads.Columns() {
			if columns[read.Relation] == nil {
				columns[read.Relation] = map[string]bool{}
			}
			for _, name := range read.Columns {
				columns[read.Relation][name] = true
			}
		}
		for _, r := range n.relations {
			if r.named != nil {
				add(r.named)
			}
		}
	}
	add(n)
	a := exec.Analysis{Kind: "select", Tables: []exec.TableRead{}, Functions: slices.AppendSeq([]string{}, maps.Keys(functions)), Inexact: true}
	slices.Sort(a.Functions)
	for r, names := range columns {
		a.Tables = append(a.Tables, exec.TableRead{Schema: r.Schema, Table: r.Name, Columns: slices.Sorted(maps.Keys(names))})
	}
	slices.SortFunc(a.Tables, func(a, b exec.TableRead) int { return strings.Compare(a.Table, b.Table) })
	return a
}

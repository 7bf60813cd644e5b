package mysql

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/types"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// nodes are the types of which a tree may be made. What is not here is refused, so new syntax is too.
var nodes = guard.NodesOf(
	ast.SelectStmt{}, ast.SetOprStmt{}, ast.SetOprSelectList{}, ast.SelectStmtOpts{}, ast.FieldList{}, ast.SelectField{},
	ast.WildCardField{},
	ast.TableRefsClause{}, ast.Join{}, ast.TableSource{}, ast.TableName{}, ast.OnCondition{}, ast.IndexHint{},
	ast.BetweenExpr{}, ast.BinaryOperationExpr{}, ast.WhenClause{}, ast.CaseExpr{}, ast.SubqueryExpr{},
	ast.CompareSubqueryExpr{},
	ast.ColumnName{}, ast.ColumnNameExpr{}, ast.ExistsSubqueryExpr{}, ast.PatternInExpr{}, ast.IsNullExpr{},
	ast.IsTruthExpr{},
	ast.PatternLikeOrIlikeExpr{}, ast.ParenthesesExpr{}, ast.PositionExpr{}, ast.PatternRegexpExpr{}, ast.RowExpr{},
	ast.UnaryOperationExpr{},
	ast.MatchAgainst{}, ast.SetCollationExpr{}, ast.ValuesExpr{}, ast.ValueExprBase{}, ast.Datum{},
	ast.FuncCallExpr{}, ast.FuncCastExpr{}, ast.TrimDirectionExpr{}, ast.AggregateFuncExpr{}, ast.WindowFuncExpr{},
	ast.TimeUnitExpr{}, ast.GetFormatSelectorExpr{},
	ast.ByItem{}, ast.GroupByClause{}, ast.HavingClause{}, ast.OrderByClause{}, ast.Limit{},
	ast.CommonTableExpression{}, ast.WithClause{}, ast.WindowSpec{}, ast.PartitionByClause{}, ast.FrameClause{},
	ast.FrameExtent{}, ast.FrameBound{},
	ast.JSONTableExpr{}, ast.JSONTableColumn{}, ast.JSONOnResponse{}, ast.CIStr{}, types.FieldType{},
)

// changes are types that stand for more than reading, in words for a person.
var changes = map[reflect.Type]string{
	reflect.TypeFor[ast.SelectIntoOption](): "INTO",
	reflect.TypeFor[ast.SelectLockInfo]():   "FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE",
}

// read reads a statement, or the definition of a view, and refuses it or says what it names. ours: parameters are
// allowed.
func (c *catalog) read(s *sqltext.Statement, mode mysql.SQLMode, ours bool) (*guard.Names, error) {
	w, err := c.walked(s, mode, ours)
	if err != nil {
		return nil, err
	}
	w.names.Functions = slices.Sorted(maps.Keys(w.functions))
	w.names.Own = w.limited
	return &w.names, nil
}

func (c *catalog) walked(s *sqltext.Statement, mode mysql.SQLMode, ours bool) (*walker, error) {
	w := walker{catalog: c, ours: ours, functions: map[string]bool{}, within: map[*ast.WithClause]bool{}}
	w.Walker = guard.Walker{Nodes: nodes, Visit: w.visit, Unlisted: w.unlisted}
	err := guard.RecoverWalk(func() {
		var tree ast.StmtNode
		tree, w.edits = parse(s, mode)
		w.Walk(tree)
	})
	return &w, err
}

// walker walks one tree.
type walker struct {
	guard.Walker
	catalog   *catalog
	ours      bool // parameters are allowed
	names     guard.Names
	functions map[string]bool          // called
	limited   bool                     // it has a LIMIT, which may be that of the whole
	matches   bool                     // it has a MATCH … AGAINST
	selects   int                      // met so far
	current   int                      // number of the SELECT around; 0 for none
	with      []common                 // common table expressions in scope
	within    map[*ast.WithClause]bool // those that inScope visited
	edits     []edit                   // what the parser reads differs in from the text
	tables    []tableAt
	headings  []heading
}

// tableAt is a table in a FROM. unsure: its name may also mean a common table expression.
type tableAt struct {
	*ast.TableName
	source guard.Source
	alias  string
	unsure bool
}

// heading is an item of the SELECT of a number.
type heading struct {
	*ast.SelectField
	of int
}

// common is a common table expression. sure: a name spelled like it means it.
type common struct {
	name string
	sure bool
}

// unlisted refuses a type that is not on the list.
func (w *walker) unlisted(t reflect.Type) error {
	if words := changes[t]; words != "" {
		return guard.Refuse("not-read-only", "it does more than read: %s", words)
	}
	if w.ours && t == reflect.TypeFor[ast.ParamMarkerExprBase]() {
		return nil
	}
	return guard.Refuse("statement", "%s is not among what a statement may be made of", t.Name())
}

// visit visits a node and what it holds.
func (w *walker) visit(node any, inside func()) {
	switch n := node.(type) {
	case *ast.SelectStmt:
		w.query(n, inside)
	case *ast.SetOprStmt:
		w.inScope(n.With, inside)
	case *ast.SetOprSelectList:
		w.inScope(n.With, inside)
	case *ast.WithClause:
		if !w.within[n] {
			reject("guard", "a WITH stands where the guard does not expect one")
		}
	case *ast.WildCardField:
		w.names.Refs = append(w.names.Refs, guard.Ref{Path: path(n.Schema, n.Table), Star: true, Select: w.current})
	case *ast.ColumnName:
		w.names.Refs = append(w.names.Refs, guard.Ref{Path: path(n.Schema, n.Table, n.Name)})
	case *ast.IndexHint:
		w.hint(n)
	default:
		w.note(n)
		w.call(n)
		inside()
	}
}

// query visits a SELECT.
func (w *walker) query(n *ast.SelectStmt, inside func()) {
	around := w.current
	w.selects++
	w.current = w.selects
	if n.Kind == ast.SelectStmtKindTable {
		w.names.Refs = append(w.names.Refs, guard.Ref{Star: true, Select: w.current})
	}
	w.inScope(n.With, inside)
	w.current = around
}

// hint notes the indexes of a hint, but for the primary key.
func (w *walker) hint(n *ast.IndexHint) {
	for _, name := range n.IndexNames {
		if !schema.EqualFold(name.O, "primary") {
			w.names.Indexes = append(w.names.Indexes, name.O)
		}
	}
}

// note notes what a node says of the statement.
func (w *walker) note(node any) {
	switch n := node.(type) {
	case *ast.SelectStmtOpts:
		if n.CalcFoundRows {
			reject("statement", "SQL_CALC_FOUND_ROWS counts rows for another statement")
		}
	case *ast.SelectField:
		w.headings = append(w.headings, heading{n, w.current})
	case *ast.Join:
		w.names.Natural = w.names.Natural || n.NaturalJoin
	case *ast.TableSource:
		w.source(n)
	case *ast.Limit:
		w.limited = true
	case *ast.MatchAgainst:
		w.matches = true
	}
}

// path is a name with what stands before it.
func path(parts ...ast.CIStr) (names []string) {
	for _, p := range parts {
		if p.O != "" {
			names = append(names, p.O)
		}
	}
	return names
}

// inScope visits a WITH and then, with its names in scope, the rest. In the expressions of a WITH in a subquery MariaDB
// 10.11 takes a name of a WITH further out for a table, if there is one.
func (w *walker) inScope(with *ast.WithClause, rest func()) {
	before := len(w.with)
	if with != nil {
		outer := slices.Clone(w.with)
		for i := range w.with {
			w.with[i].sure = false
		}
		w.within[with] = true
		for _, cte := range with.CTEs {
			if with.IsRecursive { // each may name itself and those behind it
				w.with = append(w.with, common{cte.Name.O, false})
			}
		}
		for _, cte := range with.CTEs {
			w.Walk(cte)
			if !with.IsRecursive {
				w.with = append(w.with, common{cte.Name.O, true})
			}
		}
		copy(w.with, outer)
		for i := before; i < len(w.with); i++ {
			w.with[i].sure = true
		}
	}
	rest()
	w.with = w.with[:before]
}

// source notes an item of a FROM. A name that may be a common table expression or a table counts as both.
func (w *walker) source(n *ast.TableSource) {
	s := guard.Source{Alias: n.AsName.O, Select: w.current, Renamed: len(n.ColumnNames) > 0}
	switch source := n.Source.(type) {
	case *ast.Join:
		s.Joined = true
	case *ast.TableName:
		s.Alias = cmp.Or(s.Alias, source.Name.O)
		switch is, sure := w.common(source); {
		case sure:
		case !w.catalog.isCurrent(source.Schema.O):
			reject("table", "%s.%s is outside of the database of the connection", source.Schema.O, source.Name.O)
		default:
			s.Relation = w.catalog.relations[w.catalog.key(source.Name.O)]
			if s.Relation == nil && !is {
				w.names.Lacks(source.Name.O)
			}
			if s.Relation != nil {
				w.tables = append(w.tables, tableAt{source, s, n.AsName.O, is})
			}
		}
	}
	w.names.Sources = append(w.names.Sources, s)
}

// common reports whether a table may be, or is for sure, a common table expression.
func (w *walker) common(table *ast.TableName) (is, sure bool) {
	if table.Schema.O != "" {
		return false, false
	}
	for _, c := range w.with {
		is = is || lower(c.name) == lower(table.Name.O)
		sure = sure || c.sure && c.name == table.Name.O
	}
	return is, sure
}

// reject ends a walk with a refusal.
func reject(reason string, format string, args ...any) {
	guard.Abort(guard.Refuse(reason, format, args...))
}

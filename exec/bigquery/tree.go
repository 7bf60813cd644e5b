package bigquery

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/zetajones/ast"
	"github.com/sqlc-dev/zetajones/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// The limits on a tree. The text check, which bounds length and brackets, comes before, and nested, which bounds what
// nests without brackets.
const (
	mostDepth  = 8_000
	mostNested = 200
)

// nodes are the types of which a tree may be made. What is not here is refused, so new syntax is too.
var nodes = guard.Set(`
QueryStatement Query WithClause WithClauseEntry AliasedQuery Select SelectAs SelectList SelectColumn Alias Star
StarWithModifiers DotStar DotStarWithModifiers StarModifiers StarExceptList StarReplaceItem FromClause FromQuery
TablePathExpression TableSubquery UnnestExpression ExpressionWithOptAlias WithOffset Join ParenthesizedJoin OnClause
UsingClause OnOrUsingClauseList Location PipeJoinLhsPlaceholder SampleClause SampleSize SampleSuffix RepeatableClause
PivotClause PivotExpressionList PivotExpression PivotValueList PivotValue UnpivotClause UnpivotInItemList
UnpivotInItem UnpivotInItemLabel PathExpressionList WhereClause GroupBy GroupByAll GroupingItem Rollup Cube
GroupingSet GroupingSetList GroupingItemOrder Having Qualify OrderBy OrderingExpression Collate NullOrder LimitOffset
Limit LimitAll WindowClause WindowDefinition WindowSpecification WindowFrame WindowFrameExpr PartitionBy SetOperation
SetOperationMetadataList SetOperationMetadata SetOperationType SetOperationAllOrDistinct SetOperationColumnMatchMode
SetOperationColumnPropagationMode ColumnList IdentifierList Identifier PathExpression DotIdentifier ArrayElement
NullLiteral BooleanLiteral IntLiteral FloatLiteral StringLiteral StringLiteralComponent BytesLiteral
BytesLiteralComponent NumericLiteral BigNumericLiteral JSONLiteral DateOrTimeLiteral IntervalExpr RangeLiteral
UnaryExpression BinaryExpression BitwiseShiftExpression AndExpr OrExpr BetweenExpression InList InExpression
AnySomeAllOp LikeExpression QuantifiedComparisonExpression CaseValueExpression CaseNoValueExpression
StructConstructorWithParens StructConstructorArg StructConstructorWithKeyword ArrayConstructor ExpressionSubquery
FunctionCall AnalyticFunctionCall NamedArgument Lambda HavingModifier CastExpression ExtractExpression FormatClause
SimpleType ArrayType StructType StructField RangeType TypeParameterList PipeSelect PipeExtend PipeWindow
PipeLimitOffset PipeDistinct PipeAggregate PipeWhere PipeTablesample PipeOrderBy PipeSet PipeSetItem PipeAs PipeRename
PipeRenameItem PipeDrop PipeJoin PipeSetOperation PipePivot PipeUnpivot TVF`)

// walker walks one tree.
type walker struct {
	named
	added   map[string]bool // functions that the policy adds
	ours    bool            // parameters are allowed
	number  int             // of SELECTs and pipelines
	current int             // number of the one around
	with    []string        // common table expressions in scope
	maybe   []string        // those of recursive WITHs, which may be named before they are in scope
}

// read parses one statement and says what it names.
func read(s *sqltext.Statement, added map[string]bool, ours bool) (n *named, err error) {
	w := walker{added: added, ours: ours}
	err = guard.Walked(func() {
		nested(s)
		statement, err := parser.ParseStatement(forParser(s))
		if err != nil {
			guard.Stop(&guard.InvalidError{Fault: exec.FaultSyntax, Message: strings.TrimSpace(err.Error())})
		}
		q, ok := statement.(*ast.QueryStatement)
		if !ok {
			guard.Stop(guard.Refuse(exec.ReasonStatement, "it is no SELECT"))
		}
		w.walk(reflect.ValueOf(q), 0)
	})
	if err != nil {
		return nil, err
	}
	return &w.named, nil
}

// quotedEscapes are the escapes of a name in backquotes that are harmless: no name of a table or column has one.
var quotedEscapes = strings.NewReplacer(`\\`, "", "\\`", "")

// nested refuses names that the parser would read differently from the service, and what nests without brackets, on
// which the parser would recurse: signs and NOT, CASE, INTERVAL, lambdas and types in angle brackets.
func nested(s *sqltext.Statement) {
	signs, cases, angles, lambdas, last := 0, 0, 0, 0, ""
	for t := range s.Tokens() {
		if t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		if t.Kind == sqltext.QuotedName && strings.Contains(quotedEscapes.Replace(t.Text), `\`) {
			guard.Stop(guard.Refuse(exec.ReasonGuard, "a name in backquotes is written with an escape, which the parser does not read"))
		}
		word := strings.ToUpper(t.Text)
		signs++
		switch word {
		case "NOT", "-", "+", "~", "INTERVAL", "LATERAL", "NEW":
		case "CASE":
			cases, signs = cases+1, 0
		case "END":
			cases, signs = cases-1, 0
		case "->":
			lambdas, signs = lambdas+1, 0
		case "<", "<>":
			if signs = 0; slices.Contains([]string{"ARRAY", "STRUCT", "RANGE", "MAP", "FUNCTION"}, last) {
				angles++
			}
		case ">", ">>":
			angles, signs = max(angles-len(word), 0), 0
		default:
			signs = 0
		}
		last = word
		if max(signs, cases, angles, lambdas) > mostNested {
			guard.Stop(guard.Refuse(exec.ReasonTooComplex, "signs, CASE, types or lambdas are nested over %d deep", mostNested))
		}
	}
}

// forParser is the text as the parser takes it, to which QUALIFY is no reserved word: it wants a WHERE, a GROUP BY or a
// HAVING before it.
func forParser(s *sqltext.Statement) string {
	out, from := "", 0
	seen := []bool{false} // in each bracket that is open
	for t := range s.Tokens() {
		top := &seen[len(seen)-1]
		switch strings.ToUpper(t.Text) {
		case "(":
			seen = append(seen, false)
		case ")":
			seen = seen[:max(len(seen)-1, 1)]
		case "SELECT":
			*top = false
		case "WHERE", "GROUP", "HAVING":
			*top = true
		case "QUALIFY":
			if !*top {
				out, from, *top = out+s.SQL()[from:t.Pos]+"WHERE true ", t.Pos, true
			}
		}
	}
	return out + s.SQL()[from:]
}

// walk visits a value and all that its exported fields hold.
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
		if depth > mostDepth {
			guard.Stop(guard.Refuse(exec.ReasonTooComplex, "its tree is over %d deep", mostDepth))
		}
		switch name := v.Type().Name(); {
		case name == "Span" || name == "ParameterExpr" && w.ours:
			return
		case slices.Contains([]string{"LockMode", "PipeInsert", "PipeExportData", "PipeCreateTable"}, name):
			guard.Stop(guard.Refuse(sqltext.ReasonNotReadOnly, "it does more than read: %s", name))
		case !nodes[name]:
			guard.Stop(guard.Refuse(exec.ReasonStatement, "%s is not among what a statement may be made of", name))
		}
		w.node(v, depth+1)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		guard.Stop(guard.Refuse(exec.ReasonStatement, "a %s is not among what a statement may be made of", v.Type()))
	}
}

// fields visits the fields of a struct but some, which name no column.
func (w *walker) fields(v reflect.Value, depth int, but ...string) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !slices.Contains(but, f.Name) {
			w.walk(v.Field(i), depth)
		}
	}
}

// inside visits what f does as a SELECT or a pipeline of its own.
func (w *walker) inside(f func()) {
	around := w.current
	w.number++
	w.current = w.number
	f()
	w.current = around
}

func (w *walker) path(names ...string) { w.refs = append(w.refs, guard.Ref{Path: names}) }

func (w *walker) star(modifiers *ast.StarModifiers, path ...string) {
	w.refs = append(w.refs, guard.Ref{Star: true, Select: w.current, Path: path, Except: excepted(modifiers)})
}

func (w *walker) source(s source) {
	s.Select = w.current
	w.sources = append(w.sources, s)
}

// alias notes what is a name in a FROM, and no table.
func (w *walker) alias(a *ast.Alias) { w.source(source{Source: guard.Source{Alias: alias(a)}}) }

// node visits a struct.
func (w *walker) node(v reflect.Value, depth int) {
	switch n := v.Addr().Interface().(type) {
	case *ast.Query:
		w.query(n, v, depth)
	case *ast.WithClause:
		w.common(n, depth)
	case *ast.Select:
		// A FROM comes first, since a path of a subquery may begin with an alias of it.
		w.inside(func() {
			w.walk(v.FieldByName("From"), depth)
			w.fields(v, depth, "From")
		})
	case *ast.PipeSelect, *ast.PipeExtend, *ast.PipeAggregate, *ast.PipeWindow: // whose star is that of the pipeline
		w.fields(v.FieldByName("Select").Elem(), depth)
	case *ast.SelectAs:
		if n.TypeName != nil {
			guard.Stop(guard.Refuse(exec.ReasonStatement, "SELECT AS %s is not allowed", strings.Join(cut(n.TypeName), ".")))
		}
	case *ast.Star:
		w.star(nil)
	case *ast.StarWithModifiers:
		w.star(n.Modifiers)
		w.fields(v, depth)
	case *ast.DotStar:
		w.dotStar(n.Expr, nil, depth)
	case *ast.DotStarWithModifiers:
		w.dotStar(n.Expr, n.Modifiers, depth)
	case *ast.TVF:
		guard.Stop(guard.Refuse(exec.ReasonFunction, "the table function %s is not allowed", strings.Join(cut(n.Name), ".")))
	case *ast.TablePathExpression:
		w.table(n, depth)
	case *ast.TableSubquery:
		w.alias(n.Alias)
		w.fields(v, depth)
	case *ast.ExpressionWithOptAlias:
		w.alias(n.Alias)
		w.fields(v, depth)
	case *ast.ParenthesizedJoin:
		w.natural = w.natural || !sampled(n.PostfixOperators)
		w.fields(v, depth)
	case *ast.Join:
		w.natural = w.natural || n.Natural
		w.fields(v, depth)
	case *ast.UsingClause:
		for _, key := range n.Keys {
			w.path(key.Name)
		}
	case *ast.PathExpression:
		w.path(names(n)...)
	case *ast.DotIdentifier:
		w.path(n.Name.Name)
		w.walk(reflect.ValueOf(n.Expr), depth)
	case *ast.PipeRenameItem:
		w.path(n.OldName.Name)
	case *ast.FunctionCall:
		w.function(n)
		if len(n.Args) == 1 && is[*ast.Star](n.Args[0]) && strings.EqualFold(n.Function.Names[0].Name, "count") {
			w.fields(v, depth, "Function", "Args") // count(*) reads rows alone
		} else {
			w.fields(v, depth, "Function")
		}
	case *ast.SimpleType:
		w.fields(v, depth, "Name")
	default:
		w.fields(v, depth)
	}
}

// query visits a query with its WITH in scope. A pipeline gives all columns of what it starts from and joins, unless it
// says which.
func (w *walker) query(n *ast.Query, v reflect.Value, depth int) {
	with := len(w.with)
	w.walk(v.FieldByName("WithClause"), depth)
	if len(n.PipeOperators) == 0 && !is[*ast.FromQuery](n.QueryExpr) {
		w.fields(v, depth, "WithClause")
	} else {
		w.inside(func() {
			if !narrows(n.PipeOperators) {
				w.star(nil)
			}
			w.fields(v, depth, "WithClause")
		})
	}
	w.with = w.with[:with]
}

func is[T any](n ast.Node) bool { _, ok := n.(T); return ok }

// common brings the names of a WITH into scope while it visits them. Each of a recursive one may name them all.
func (w *walker) common(with *ast.WithClause, depth int) {
	around := len(w.maybe)
	for _, entry := range with.Entries {
		if with.Recursive && entry.AliasedQuery != nil {
			w.maybe = append(w.maybe, entry.AliasedQuery.Identifier.Name)
		}
	}
	for _, entry := range with.Entries {
		w.walk(reflect.ValueOf(entry), depth)
		w.with = append(w.with, entry.AliasedQuery.Identifier.Name)
	}
	w.maybe = w.maybe[:around]
}

// narrows reports whether a pipeline comes to a SELECT or AGGREGATE that says which columns go on, before any other
// operator can see all of them, and joins nothing behind it.
func narrows(operators []ast.Node) bool {
	for i, o := range operators {
		switch o.(type) {
		case *ast.PipeSelect, *ast.PipeAggregate:
			return !slices.ContainsFunc(operators[i+1:], is[*ast.PipeJoin])
		case *ast.PipeWhere, *ast.PipeOrderBy, *ast.PipeLimitOffset, *ast.PipeExtend, *ast.PipeTablesample:
		default:
			return false
		}
	}
	return false
}

// table notes a table, a common table expression or an array by its name, or an UNNEST.
func (w *walker) table(n *ast.TablePathExpression, depth int) {
	s := source{Source: guard.Source{Alias: alias(n.Alias), Renamed: !sampled(n.PostfixOperators)}}
	for _, part := range []any{n.Hint, n.ForSystemTime, n.UnnestExpr, n.PostfixOperators} {
		w.walk(reflect.ValueOf(part), depth)
	}
	if n.Offset != nil {
		w.alias(n.Offset.Alias)
	}
	if n.Path == nil {
		w.source(s)
		return
	}
	s.names = cut(n.Path)
	last := s.names[len(s.names)-1]
	if s.Alias == "" {
		s.Alias = last
	}
	for _, name := range s.names {
		switch {
		case strings.EqualFold(name, "INFORMATION_SCHEMA"):
			guard.Stop(guard.Refuse(exec.ReasonTable, "INFORMATION_SCHEMA is not for statements"))
		case strings.HasSuffix(name, "*"):
			guard.Stop(guard.Refuse(exec.ReasonTable, "a wildcard table reads tables that it does not name"))
		}
	}
	same := func(name string) bool { return strings.EqualFold(name, s.names[0]) }
	switch {
	case len(s.names) == 1 && slices.ContainsFunc(w.with, same):
		s.names = nil
	case len(s.names) == 1:
		s.maybe = slices.ContainsFunc(w.maybe, same)
	case slices.ContainsFunc(w.sources, func(o source) bool { return same(o.Alias) }): // u.items of FROM users AS u
		s.maybe = true
		w.path(names(n.Path)...)
	}
	w.source(s)
}

// sampled reports whether what stands behind a table leaves its columns as they are.
func sampled(operators []ast.Node) bool {
	return !slices.ContainsFunc(operators, func(o ast.Node) bool { return !is[*ast.SampleClause](o) })
}

// dotStar notes q.* and x.y.*.
func (w *walker) dotStar(expr ast.Node, modifiers *ast.StarModifiers, depth int) {
	if p, ok := expr.(*ast.PathExpression); ok {
		w.star(modifiers, names(p)...)
	} else {
		w.walk(reflect.ValueOf(expr), depth)
	}
	w.walk(reflect.ValueOf(modifiers), depth)
}

func excepted(m *ast.StarModifiers) (out []string) {
	if m != nil && m.ExceptList != nil {
		for _, name := range m.ExceptList.Identifiers {
			out = append(out, name.Name)
		}
	}
	return out
}

func alias(a *ast.Alias) string {
	if a == nil || a.Identifier == nil {
		return ""
	}
	return a.Identifier.Name
}

// names are the parts of a path.
func names(p *ast.PathExpression) (out []string) {
	for _, name := range p.Names {
		out = append(out, name.Name)
	}
	return out
}

// cut are the parts of the path of a table, where a name in backquotes may hold several.
func cut(p *ast.PathExpression) []string { return strings.Split(strings.Join(names(p), "."), ".") }

// function decides on a call.
func (w *walker) function(n *ast.FunctionCall) {
	name := strings.ToLower(strings.Join(names(n.Function), "."))
	quoted := slices.ContainsFunc(n.Function.Names, func(i *ast.Identifier) bool { return strings.Contains(i.Name, ".") })
	known := name
	if len(n.Function.Names) > 1 {
		known = strings.TrimPrefix(name, "safe.")
	}
	if !w.added[name] && (quoted || !functions[known]) {
		guard.Stop(guard.Refuse(exec.ReasonFunction, "the function %s is not on the list; Policy.AllowFunctions adds to it", name))
	}
	w.functions = append(w.functions, known)
	if i, ok := lengths[known]; ok && !w.added[name] {
		if i < len(n.Args) {
			if lit, ok := n.Args[i].(*ast.IntLiteral); ok {
				if length, err := strconv.ParseInt(lit.Image, 0, 64); err == nil && length <= mostLength {
					return
				}
			}
		}
		guard.Stop(guard.Refuse(exec.ReasonFunction, "the length that %s makes has to be a number of at most %d", known, mostLength))
	}
}

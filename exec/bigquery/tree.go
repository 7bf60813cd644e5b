package bigquery

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/zetajones/ast"
	"github.com/sqlc-dev/zetajones/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/sqltext"
)

// The limits on a tree. The text check, which bounds length and brackets, comes before, and weigh, which bounds what
// nests without brackets.
const (
	mostNodes  = 400_000
	mostDepth  = 8_000
	mostNested = 200
	mostTables = 50 // the service tells no more of a statement
)

// nodes are the types of which a tree may be made. What is not here is refused, so new syntax is too.
var nodes = typesOf(
	ast.QueryStatement{}, ast.Query{}, ast.WithClause{}, ast.WithClauseEntry{}, ast.AliasedQuery{}, ast.Select{}, ast.SelectAs{}, ast.SelectList{}, ast.SelectColumn{},
	ast.Alias{}, ast.Star{}, ast.StarWithModifiers{}, ast.DotStar{}, ast.DotStarWithModifiers{}, ast.StarModifiers{}, ast.StarExceptList{}, ast.StarReplaceItem{},
	ast.FromClause{}, ast.FromQuery{}, ast.TablePathExpression{}, ast.TableSubquery{}, ast.UnnestExpression{}, ast.ExpressionWithOptAlias{}, ast.WithOffset{},
	ast.Join{}, ast.ParenthesizedJoin{}, ast.OnClause{}, ast.UsingClause{}, ast.OnOrUsingClauseList{}, ast.Location{}, ast.PipeJoinLhsPlaceholder{},
	ast.SampleClause{}, ast.SampleSize{}, ast.SampleSuffix{}, ast.RepeatableClause{},
	ast.PivotClause{}, ast.PivotExpressionList{}, ast.PivotExpression{}, ast.PivotValueList{}, ast.PivotValue{},
	ast.UnpivotClause{}, ast.UnpivotInItemList{}, ast.UnpivotInItem{}, ast.UnpivotInItemLabel{}, ast.PathExpressionList{},
	ast.WhereClause{}, ast.GroupBy{}, ast.GroupByAll{}, ast.GroupingItem{}, ast.Rollup{}, ast.Cube{}, ast.GroupingSet{}, ast.GroupingSetList{}, ast.GroupingItemOrder{},
	ast.Having{}, ast.Qualify{}, ast.OrderBy{}, ast.OrderingExpression{}, ast.Collate{}, ast.NullOrder{}, ast.LimitOffset{}, ast.Limit{}, ast.LimitAll{},
	ast.WindowClause{}, ast.WindowDefinition{}, ast.WindowSpecification{}, ast.WindowFrame{}, ast.WindowFrameExpr{}, ast.PartitionBy{},
	ast.SetOperation{}, ast.SetOperationMetadataList{}, ast.SetOperationMetadata{}, ast.SetOperationType{}, ast.SetOperationAllOrDistinct{},
	ast.SetOperationColumnMatchMode{}, ast.SetOperationColumnPropagationMode{}, ast.ColumnList{}, ast.IdentifierList{},
	ast.Identifier{}, ast.PathExpression{}, ast.DotIdentifier{}, ast.ArrayElement{},
	ast.NullLiteral{}, ast.BooleanLiteral{}, ast.IntLiteral{}, ast.FloatLiteral{}, ast.StringLiteral{}, ast.StringLiteralComponent{}, ast.BytesLiteral{},
	ast.BytesLiteralComponent{}, ast.NumericLiteral{}, ast.BigNumericLiteral{}, ast.JSONLiteral{}, ast.DateOrTimeLiteral{}, ast.IntervalExpr{}, ast.RangeLiteral{},
	ast.UnaryExpression{}, ast.BinaryExpression{}, ast.BitwiseShiftExpression{}, ast.AndExpr{}, ast.OrExpr{}, ast.BetweenExpression{}, ast.InList{}, ast.InExpression{},
	ast.AnySomeAllOp{}, ast.LikeExpression{}, ast.QuantifiedComparisonExpression{}, ast.CaseValueExpression{}, ast.CaseNoValueExpression{},
	ast.StructConstructorWithParens{}, ast.StructConstructorArg{}, ast.StructConstructorWithKeyword{}, ast.ArrayConstructor{}, ast.ExpressionSubquery{},
	ast.FunctionCall{}, ast.AnalyticFunctionCall{}, ast.NamedArgument{}, ast.Lambda{}, ast.HavingModifier{}, ast.CastExpression{}, ast.ExtractExpression{}, ast.FormatClause{},
	ast.SimpleType{}, ast.ArrayType{}, ast.StructType{}, ast.StructField{}, ast.RangeType{}, ast.TypeParameterList{},
	ast.PipeSelect{}, ast.PipeExtend{}, ast.PipeWindow{}, ast.PipeLimitOffset{}, ast.PipeDistinct{}, ast.PipeAggregate{}, ast.PipeWhere{}, ast.PipeTablesample{},
	ast.PipeOrderBy{}, ast.PipeSet{}, ast.PipeSetItem{}, ast.PipeAs{}, ast.PipeRename{}, ast.PipeRenameItem{}, ast.PipeDrop{}, ast.PipeJoin{}, ast.PipeSetOperation{},
	ast.PipePivot{}, ast.PipeUnpivot{},
)

// special are types that are refused in words of their own. writes: they stand for more than reading.
var special = map[reflect.Type]struct {
	words  string
	writes bool
}{
	reflect.TypeFor[ast.LockMode]():           {"FOR UPDATE", true},
	reflect.TypeFor[ast.PipeInsert]():         {"|> INSERT", true},
	reflect.TypeFor[ast.PipeExportData]():     {"|> EXPORT DATA", true},
	reflect.TypeFor[ast.PipeCreateTable]():    {"|> CREATE TABLE", true},
	reflect.TypeFor[ast.ForSystemTime]():      {"FOR SYSTEM_TIME AS OF reads what the table was", false},
	reflect.TypeFor[ast.SystemVariableExpr](): {"a system variable", false},
	reflect.TypeFor[ast.ParameterExpr]():      {"a parameter", false},
	reflect.TypeFor[ast.Hint]():               {"a hint", false},
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
	sources   []source
	mentions  []mention
	natural   bool            // what is joined cannot be told from the text
	functions map[string]bool // called, in lower case
	tables    []*table        // of the sources, each once; resolve fills it in
	listing   *listing        // nil: tabledata.list does not answer it
}

// source is an item of a FROM.
type source struct {
	reads.Source
	names []string // of a table: as the statement writes it, cut at dots
	maybe bool     // it may be something else: a common table expression or an array
}

// mention is a place where a column may be named.
type mention struct {
	reads.Ref
	except []string // names that a star leaves out
}

// walker walks one tree.
type walker struct {
	added   map[string]bool // functions that the policy adds
	ours    bool            // parameters are allowed
	named   named
	visited int
	selects []int // numbers of the SELECTs and pipelines around, the last is the one
	number  int
	with    [][]common // common table expressions in scope, a scope a WITH
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

// read parses one statement and says what it names.
func read(s *sqltext.Statement, added map[string]bool, ours bool) (n *named, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, ok := r.(refusal)
			if n, err = nil, out.err; !ok {
				err = &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the parser panicked"}
			}
		}
	}()
	weigh(s)
	statement, err := parser.ParseStatement(forParser(s))
	if err != nil {
		return nil, &exec.InvalidError{Fault: exec.FaultSyntax, Message: strings.TrimSpace(err.Error())}
	}
	q, ok := statement.(*ast.QueryStatement)
	if !ok {
		refuse(exec.ReasonStatement, "it is no SELECT")
	}
	w := walker{added: added, ours: ours, named: named{functions: map[string]bool{}}}
	w.walk(reflect.ValueOf(q), 0)
	w.named.listing = listingOf(q)
	return &w.named, nil
}

// quotedEscapes are the escapes of a name in backquotes that are harmless: no name of a table or column has one.
var quotedEscapes = strings.NewReplacer(`\\`, "", "\\`", "")

// weigh refuses names that the parser would read differently from the service, and what nests without brackets, on which the parser would recurse: signs and NOT, CASE, INTERVAL, lambdas
// and types in angle brackets.
func weigh(s *sqltext.Statement) {
	signs, cases, angles, lambdas, last := 0, 0, 0, 0, ""
	for t := range s.Tokens() {
		if t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		if t.Kind == sqltext.QuotedName && strings.Contains(quotedEscapes.Replace(t.Text), `\`) {
			refuse(exec.ReasonGuard, "a name in backquotes is written with an escape, which the parser does not read")
		}
		sign := false
		word := strings.ToUpper(t.Text)
		switch word {
		case "NOT", "-", "+", "~", "INTERVAL", "LATERAL", "NEW":
			sign = true
		case "CASE":
			cases++
		case "END":
			cases--
		case "<", "<>":
			if last == "ARRAY" || last == "STRUCT" || last == "RANGE" || last == "MAP" || last == "FUNCTION" {
				angles++
			}
		case "->":
			lambdas++
		case ">", ">>":
			angles = max(angles-len(word), 0)
		}
		last = word
		if signs++; !sign {
			signs = 0
		}
		if max(signs, cases, angles, lambdas) > mostNested {
			refuse(exec.ReasonTooComplex, "signs, CASE, types or lambdas are nested over %d deep", mostNested)
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
		t := v.Type()
		if t == reflect.TypeFor[ast.Span]() {
			return
		}
		if w.visited++; w.visited > mostNodes || depth > mostDepth {
			refuse(exec.ReasonTooComplex, "its tree has over %d parts or is over %d deep", mostNodes, mostDepth)
		}
		switch s, is := special[t]; {
		case is && w.ours && t == reflect.TypeFor[ast.ParameterExpr]():
			return
		case is && s.writes:
			refuse(sqltext.ReasonNotReadOnly, "it does more than read: %s", s.words)
		case is:
			refuse(exec.ReasonStatement, "%s is not allowed", s.words)
		case t == reflect.TypeFor[ast.TVF]():
			refuse(exec.ReasonFunction, "the table function %s is not allowed", pathOf(v))
		case !nodes[t]:
			refuse(exec.ReasonStatement, "%s is not among what a statement may be made of", t.Name())
		case !v.CanAddr(): // a struct behind an interface; the parser makes pointers only
			refuse(exec.ReasonGuard, "%s is not where the parser has it", t.Name())
		}
		w.node(v, depth+1)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if !v.IsNil() {
			refuse(exec.ReasonStatement, "a %s is not among what a statement may be made of", v.Type())
		}
	}
}

// pathOf is the name of a table function, for a message.
func pathOf(v reflect.Value) string {
	for i := range v.NumField() {
		if p, ok := v.Field(i).Interface().(*ast.PathExpression); ok && p != nil {
			return strings.Join(cut(p), ".")
		}
	}
	return "there"
}

// fields visits the fields of a struct.
func (w *walker) fields(v reflect.Value, depth int) { w.fieldsBut(v, depth) }

// inside visits what f does as a SELECT or a pipeline of its own.
func (w *walker) inside(f func()) {
	w.number++
	w.selects = append(w.selects, w.number)
	f()
	w.selects = w.selects[:len(w.selects)-1]
}

func (w *walker) current() int {
	if len(w.selects) == 0 {
		return 0
	}
	return w.selects[len(w.selects)-1]
}

func (w *walker) mention(r reads.Ref, except ...string) {
	w.named.mentions = append(w.named.mentions, mention{r, except})
}

// node visits a struct.
func (w *walker) node(v reflect.Value, depth int) {
	switch n := v.Addr().Interface().(type) {
	case *ast.Query:
		w.query(n, v, depth)
	case *ast.Select:
		// A FROM comes first, since a path of a subquery may begin with an alias of it.
		w.inside(func() {
			w.walk(v.FieldByName("From"), depth)
			w.fieldsBut(v, depth, "From")
		})
	case *ast.PipeSelect, *ast.PipeExtend, *ast.PipeAggregate, *ast.PipeWindow:
		w.stage(v.Field(1).Interface().(*ast.Select), depth)
	case *ast.SelectAs:
		if n.TypeName != nil {
			refuse(exec.ReasonStatement, "SELECT AS %s is not allowed", strings.Join(cut(n.TypeName), "."))
		}
	case *ast.Star:
		w.mention(reads.Ref{Star: true, Select: w.current()})
	case *ast.StarWithModifiers:
		w.mention(reads.Ref{Star: true, Select: w.current()}, excepted(n.Modifiers)...)
		w.fields(v, depth)
	case *ast.DotStar:
		w.dotStar(n.Expr, nil, depth)
	case *ast.DotStarWithModifiers:
		w.dotStar(n.Expr, n.Modifiers, depth)
	case *ast.TablePathExpression:
		w.table(n, depth)
	case *ast.TableSubquery:
		w.source(source{Source: reads.Source{Alias: alias(n.Alias)}})
		w.fields(v, depth)
	case *ast.ExpressionWithOptAlias:
		w.source(source{Source: reads.Source{Alias: alias(n.Alias)}})
		w.fields(v, depth)
	case *ast.ParenthesizedJoin:
		w.named.natural = w.named.natural || !sampled(n.PostfixOperators)
		w.fields(v, depth)
	case *ast.Join:
		w.named.natural = w.named.natural || n.Natural
		w.fields(v, depth)
	case *ast.UsingClause:
		for _, key := range n.Keys {
			w.mention(reads.Ref{Path: []string{key.Name}})
		}
	case *ast.PathExpression:
		w.mention(reads.Ref{Path: names(n)})
	case *ast.DotIdentifier:
		w.mention(reads.Ref{Path: []string{n.Name.Name}})
		w.walk(reflect.ValueOf(n.Expr), depth)
	case *ast.PipeRenameItem:
		w.mention(reads.Ref{Path: []string{n.OldName.Name}})
	case *ast.FunctionCall:
		w.function(n)
		if len(n.Args) == 1 && is[*ast.Star](n.Args[0]) && strings.EqualFold(n.Function.Names[0].Name, "count") { // count(*) reads rows alone
			w.fieldsBut(v, depth, "Function", "Args")
		} else {
			w.fieldsBut(v, depth, "Function")
		}
	case *ast.SimpleType:
		w.fieldsBut(v, depth, "Name")
	default:
		w.fields(v, depth)
	}
}

// fieldsBut visits the fields of a struct but some, which name no column.
func (w *walker) fieldsBut(v reflect.Value, depth int, but ...string) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !slices.Contains(but, f.Name) {
			w.walk(v.Field(i), depth)
		}
	}
}

// query visits a query with its WITH in scope. A pipeline gives all columns of what it starts from and joins, unless it
// says which.
func (w *walker) query(n *ast.Query, v reflect.Value, depth int) {
	with := len(w.with)
	if n.WithClause != nil {
		w.common(n.WithClause, depth)
	}
	rest := func() { w.fieldsBut(v, depth, "WithClause") }
	if len(n.PipeOperators) == 0 && !is[*ast.FromQuery](n.QueryExpr) {
		rest()
	} else {
		w.inside(func() {
			if !narrows(n.PipeOperators) {
				w.mention(reads.Ref{Star: true, Select: w.current()})
			}
			rest()
		})
	}
	w.with = w.with[:with]
}

func is[T any](n ast.Node) bool { _, ok := n.(T); return ok }

// narrows reports whether a pipeline comes to a SELECT or AGGREGATE that names its columns before any other operator
// can see all of them, and joins nothing behind it.
func narrows(operators []ast.Node) bool {
	named := false
	for _, o := range operators {
		switch o := o.(type) {
		case *ast.PipeSelect:
			named = named || !starred(o.Select)
		case *ast.PipeAggregate:
			named = named || !starred(o.Select)
		case *ast.PipeJoin:
			if named {
				return false
			}
		case *ast.PipeWhere, *ast.PipeOrderBy, *ast.PipeLimitOffset, *ast.PipeExtend, *ast.PipeTablesample:
		default:
			if !named {
				return false
			}
		}
	}
	return named
}

func starred(s *ast.Select) bool {
	return s.SelectList == nil || slices.ContainsFunc(s.SelectList.Columns, func(c *ast.SelectColumn) bool {
		switch c.Expr.(type) {
		case *ast.Star, *ast.StarWithModifiers, *ast.DotStar, *ast.DotStarWithModifiers:
			return true
		}
		return false
	})
}

// stage visits the SELECT of a pipe operator, whose star is that of the pipeline.
func (w *walker) stage(s *ast.Select, depth int) {
	v := reflect.ValueOf(s).Elem()
	w.visited++
	w.fields(v, depth)
}

// common brings the names of a WITH into scope while it visits them.
func (w *walker) common(with *ast.WithClause, depth int) {
	w.with = append(w.with, nil)
	last := len(w.with) - 1
	if with.Recursive { // each may name itself and those behind it
		for _, entry := range with.Entries {
			if entry.AliasedQuery != nil {
				w.with[last] = append(w.with[last], common{entry.AliasedQuery.Identifier.Name, false})
			}
		}
	}
	for _, entry := range with.Entries {
		w.walk(reflect.ValueOf(entry), depth)
		if !with.Recursive && entry.AliasedQuery != nil {
			w.with[last] = append(w.with[last], common{entry.AliasedQuery.Identifier.Name, true})
		}
	}
	for i := range w.with[last] {
		w.with[last][i].sure = true
	}
}

// scope tells whether a name may be, or is for sure, a common table expression.
func (w *walker) scope(name string) (maybe, sure bool) {
	for _, scope := range w.with {
		for _, c := range scope {
			same := strings.EqualFold(c.name, name)
			maybe, sure = maybe || same, sure || same && c.sure
		}
	}
	return maybe, sure
}

func (w *walker) source(s source) {
	s.Select = w.current()
	w.named.sources = append(w.named.sources, s)
}

// table notes a table, a common table expression or an array by its name, or an UNNEST.
func (w *walker) table(n *ast.TablePathExpression, depth int) {
	s := source{Source: reads.Source{Alias: alias(n.Alias), Renamed: !sampled(n.PostfixOperators)}}
	for _, part := range []any{n.Hint, n.ForSystemTime, n.UnnestExpr, n.PostfixOperators} {
		w.walk(reflect.ValueOf(part), depth)
	}
	if n.Offset != nil {
		w.source(source{Source: reads.Source{Alias: alias(n.Offset.Alias)}})
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
			refuse(exec.ReasonTable, "INFORMATION_SCHEMA is not for statements")
		case strings.HasSuffix(name, "*"):
			refuse(exec.ReasonTable, "a wildcard table reads tables that it does not name")
		}
	}
	if len(s.names) == 1 {
		var sure bool
		if s.maybe, sure = w.scope(last); sure {
			s.names = nil
		}
	} else if w.isAlias(s.names[0]) { // u.items of FROM users AS u
		s.maybe = true
		w.mention(reads.Ref{Path: names(n.Path)})
	}
	w.source(s)
}

func (w *walker) isAlias(name string) bool {
	return slices.ContainsFunc(w.named.sources, func(s source) bool { return strings.EqualFold(s.Alias, name) })
}

// sampled reports whether what stands behind a table leaves its columns as they are.
func sampled(operators []ast.Node) bool {
	return !slices.ContainsFunc(operators, func(o ast.Node) bool { return !is[*ast.SampleClause](o) })
}

// dotStar notes q.* and x.y.*.
func (w *walker) dotStar(expr ast.Node, modifiers *ast.StarModifiers, depth int) {
	if p, ok := expr.(*ast.PathExpression); ok {
		var except []string
		if len(p.Names) == 1 {
			except = excepted(modifiers)
		}
		w.mention(reads.Ref{Path: names(p), Star: true}, except...)
		if len(p.Names) > 1 {
			w.mention(reads.Ref{Path: names(p)})
		}
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
		refuse(exec.ReasonFunction, "the function %s is not on the list; Policy.AllowFunctions adds to it", name)
	}
	w.named.functions[known] = true
	if i, ok := lengths[known]; ok && !w.added[name] {
		if i < len(n.Args) {
			if lit, ok := n.Args[i].(*ast.IntLiteral); ok {
				if length, err := strconv.ParseInt(lit.Image, 0, 64); err == nil && length <= mostLength {
					return
				}
			}
		}
		refuse(exec.ReasonFunction, "the length that %s makes has to be a number of at most %d", known, mostLength)
	}
}

// listingOf returns what tabledata.list has to be asked for the answer of a query: SELECT columns FROM table LIMIT n
// OFFSET k, where a column may be LEFT(column, n), or SELECT count(*) FROM table. nil: it cannot tell.
func listingOf(q *ast.QueryStatement) *listing {
	s, ok := q.Query.QueryExpr.(*ast.Select)
	l := &listing{}
	if !ok || q.Query.WithClause != nil || q.Query.OrderBy != nil || len(q.Query.PipeOperators) > 0 || s.Distinct || s.SelectAs != nil || s.From == nil ||
		s.Where != nil || s.GroupBy != nil || s.Having != nil || s.Qualify != nil || s.Window != nil || s.WithModifier != nil {
		return nil
	}
	from, ok := s.From.TableExpression.(*ast.TablePathExpression)
	if !ok || from.Path == nil || from.UnnestExpr != nil || from.Offset != nil || len(from.PostfixOperators) > 0 || alias(from.Alias) == "" {
		return nil
	}
	if limit := q.Query.Limit; limit != nil {
		l.rows, ok = number(limit.Limit.Expr)
		if limit.Offset != nil && ok {
			l.start, ok = number(limit.Offset)
		}
		if !ok {
			return nil
		}
	}
	for _, c := range s.SelectList.Columns {
		call, _ := c.Expr.(*ast.FunctionCall)
		switch {
		case call == nil:
		case len(s.SelectList.Columns) == 1 && len(call.Args) == 1 && is[*ast.Star](call.Args[0]) && strings.EqualFold(call.Function.Names[0].Name, "count"):
			l.count = true
			return l
		}
		var column listed
		path, ok := c.Expr.(*ast.PathExpression)
		if call != nil && len(call.Args) == 2 && strings.EqualFold(call.Function.Names[0].Name, "left") {
			path, _ = call.Args[0].(*ast.PathExpression)
			column.cut, ok = number(call.Args[1])
		}
		if !ok || path == nil || len(path.Names) < 2 || !strings.EqualFold(path.Names[0].Name, alias(from.Alias)) {
			return nil
		}
		column.path = names(path)[1:]
		l.columns = append(l.columns, column)
	}
	if q.Query.Limit == nil {
		return nil
	}
	return l
}

func number(n ast.Node) (int, bool) {
	lit, ok := n.(*ast.IntLiteral)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(lit.Image)
	return i, err == nil
}

package mysql

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/parser"
	"github.com/sqlc-dev/marino/types"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The limits on a tree. The text check, which bounds brackets, comes before.
const (
	mostNodes = 400_000
	mostDepth = 4_000
)

// nodes are the types of which a tree may be made, with the numbers of their exported fields. What is not here is refused,
// so new syntax is too.
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
	ast.JSONTableExpr{}, ast.JSONTableColumn{}, ast.JSONOnResponse{}, ast.CIStr{}, types.FieldType{},
)

// changes are types that stand for more than reading, in words for a person.
var changes = map[reflect.Type]string{
	reflect.TypeFor[ast.SelectIntoOption](): "INTO",
	reflect.TypeFor[ast.SelectLockInfo]():   "FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE",
}

func typesOf(values ...any) map[reflect.Type][]int {
	found := map[reflect.Type][]int{}
	for _, v := range values {
		t := reflect.TypeOf(v)
		found[t] = []int{}
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				found[t] = append(found[t], i)
			}
		}
	}
	return found
}

// read reads a statement, or the definition of a view, and refuses it or says what it names. ours: parameters are allowed.
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
	err := guard.Walked(func() {
		var tree ast.StmtNode
		tree, w.edits = parse(s, mode)
		w.walk(reflect.ValueOf(tree), 0)
	})
	return &w, err
}

// walker walks one tree.
type walker struct {
	catalog   *catalog
	ours      bool // parameters are allowed
	names     guard.Names
	functions map[string]bool // called
	limited   bool            // it has a LIMIT, which may be that of the whole
	matches   bool            // it has a MATCH … AGAINST
	visited   int
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
			guard.Stop(guard.Refuse(exec.ReasonTooComplex, "its tree has over %d parts or is over %d deep", mostNodes, mostDepth))
		}
		t := v.Type()
		if words := changes[t]; words != "" {
			guard.Stop(guard.Refuse(sqltext.ReasonNotReadOnly, "it does more than read: %s", words))
		}
		fields, known := nodes[t]
		if !known && !(w.ours && t == reflect.TypeFor[ast.ParamMarkerExprBase]()) {
			guard.Stop(guard.Refuse(exec.ReasonStatement, "%s is not among what a statement may be made of", t.Name()))
		}
		w.node(v, t, fields, depth+1)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if !v.IsNil() {
			guard.Stop(guard.Refuse(exec.ReasonStatement, "a %s is not among what a statement may be made of", v.Type()))
		}
	}
}

// node visits a struct and its fields.
func (w *walker) node(v reflect.Value, t reflect.Type, exported []int, depth int) {
	fields := func() {
		for _, i := range exported {
			w.walk(v.Field(i), depth)
		}
	}
	if !v.CanAddr() { // a struct behind an interface; the parser makes pointers only
		guard.Stop(guard.Refuse(exec.ReasonGuard, "%s is not where the parser has it", t.Name()))
	}
	switch n := v.Addr().Interface().(type) {
	case *ast.SelectStmt:
		around := w.current
		w.selects++
		w.current = w.selects
		if n.Kind == ast.SelectStmtKindTable {
			w.names.Refs = append(w.names.Refs, guard.Ref{Star: true, Select: w.current})
		}
		w.inScope(n.With, depth, fields)
		w.current = around
	case *ast.SetOprStmt:
		w.inScope(n.With, depth, fields)
	case *ast.SetOprSelectList:
		w.inScope(n.With, depth, fields)
	case *ast.WithClause:
		if !w.within[n] {
			guard.Stop(guard.Refuse(exec.ReasonGuard, "a WITH stands where the guard does not expect one"))
		}
	case *ast.SelectStmtOpts:
		if n.CalcFoundRows {
			guard.Stop(guard.Refuse(exec.ReasonStatement, "SQL_CALC_FOUND_ROWS counts rows for another statement"))
		}
		fields()
	case *ast.SelectField:
		w.headings = append(w.headings, heading{n, w.current})
		fields()
	case *ast.Join:
		w.names.Natural = w.names.Natural || n.NaturalJoin
		fields()
	case *ast.TableSource:
		w.source(n)
		fields()
	case *ast.WildCardField:
		w.names.Refs = append(w.names.Refs, guard.Ref{Path: path(n.Schema, n.Table), Star: true, Select: w.current})
	case *ast.ColumnName:
		w.names.Refs = append(w.names.Refs, guard.Ref{Path: path(n.Schema, n.Table, n.Name)})
	case *ast.Limit:
		w.limited = true
		fields()
	case *ast.MatchAgainst:
		w.matches = true
		fields()
	case *ast.IndexHint:
		for _, name := range n.IndexNames {
			if !schema.EqualFold(name.O, "primary") {
				w.names.Indexes = append(w.names.Indexes, name.O)
			}
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
			guard.Stop(guard.Refuse(exec.ReasonFunction, "a cast makes a value of %d bytes; at most %d are allowed", n.Tp.GetFlen(), mostLength))
		}
		w.functions["cast"] = true
		fields()
	default:
		fields()
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
func (w *walker) inScope(with *ast.WithClause, depth int, rest func()) {
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
			w.walk(reflect.ValueOf(cte), depth)
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
			guard.Stop(guard.Refuse(exec.ReasonTable, "%s.%s is outside of the database of the connection", source.Schema.O, source.Name.O))
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

// function decides on a call.
func (w *walker) function(database, name string) {
	folded := lower(name)
	// A function of the database is one that the policy allows, and never one of the list.
	mine := database != "" && (!w.catalog.isCurrent(database) || !w.catalog.added[folded])
	if mine || !w.catalog.functions[folded] {
		if database != "" {
			folded = lower(database) + "." + folded
		}
		guard.Stop(guard.Refuse(exec.ReasonFunction, "%s is not allowed here", folded))
	}
	if called := parsedAs[folded]; called != "" {
		folded = called
	}
	w.functions[folded] = true
}

// length refuses a text of a length that is no small number.
func (w *walker) length(function string, args []ast.ExprNode) {
	i, ok := lengthOf[function]
	if !ok || i >= len(args) {
		return
	}
	v, ok := args[i].(*ast.ValueExprBase)
	if !ok || (v.Kind() != ast.KindInt64 || v.GetInt64() > mostLength) && (v.Kind() != ast.KindUint64 || v.GetUint64() > mostLength) {
		guard.Stop(guard.Refuse(exec.ReasonFunction, "the length that %s makes has to be a number of at most %d", function, mostLength))
	}
}

// functions may be called: what they return depends on their arguments, the data and the time alone, and they wait for
// nothing. User, version, server settings, files, locks, sleeps, ciphers and XML (whose errors tell values) are left out.
var functions = strings.Fields(`
abs acos add_months adddate addtime any_value ascii asin atan atan2 avg bin bin_to_uuid bit_and bit_count bit_length
bit_or bit_xor ceil ceiling char char_length character_length charset chr coalesce coercibility collation concat
concat_ws conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_time
current_timestamp curtime date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
degrees dense_rank div elt exp export_set extract field find_in_set first_value floor format from_base64 from_days
from_unixtime get_format greatest group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa
insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull json_array json_array_append
json_array_insert json_arrayagg json_compact json_contains json_contains_path json_depth json_detailed json_equals
json_exists json_extract json_insert json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve
json_normalize json_object json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace
json_search json_set json_type json_unquote json_valid json_value lag last_day last_value lcase lead least left length
lengthb linestring ln localtime localtimestamp locate log log10 log2 lower lpad ltrim make_set makedate maketime max
md5 median microsecond mid min minute mod month monthname natural_sort_key now nth_value ntile nullif nvl nvl2 oct
octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi point polygon position pow
power quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr repeat
replace reverse right round row_number rpad rtrim sec_to_time second sha sha1 sha2 sign sin soundex space sqrt st_area
st_asbinary st_astext st_centroid st_contains st_crosses st_disjoint st_distance st_distance_sphere st_envelope
st_equals st_geometrytype st_geomfromtext st_intersects st_isempty st_length st_overlaps st_pointfromtext st_srid
st_touches st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring
substring_index subtime sum sysdate tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff
to_base64 to_char to_days to_seconds trim truncate ucase uncompressed_length unhex unix_timestamp upper utc_date
utc_time utc_timestamp uuid uuid_to_bin var_pop var_samp variance week weekday weekofyear weight_string year yearweek
insert_func char_func 'tidb` + "`" + `.(dateliteral 'tidb` + "`" + `.(timeliteral 'tidb` + "`" + `.(timestampliteral
`)

// parsedAs are names by which the parser calls a function that has another one. They are on the list as they are, so that
// a function of the database with such a name takes it off.
var parsedAs = map[string]string{"insert_func": "insert", "char_func": "char", "'tidb`.(dateliteral": "date", "'tidb`.(timeliteral": "time", "'tidb`.(timestampliteral": "timestamp"}

// mostLength is the greatest length that a statement may ask of a function that makes text of a length of its choice.
const mostLength = 10_000

// lengthOf is the position of the length among the arguments of those functions.
var lengthOf = map[string]int{"repeat": 1, "space": 0, "lpad": 1, "rpad": 1}

// mostReadings bounds the work of the parser, in tokens. It reads some brackets twice, and each of those inside of them
// twice as often.
const mostReadings = 1 << 18

// castTypes are types, with the token behind them, by which a cast calls one that the parser knows.
var castTypes = map[string]string{"int)": "SIGNED", "integer)": "SIGNED", "varchar(": "CHAR"}

// isUnit tells the units of an interval.
var isUnit = regexp.MustCompile(`^(?:(?:day|hour|minute|second)_)?(?:microsecond|second|minute|hour|day|week|month|quarter|year)$|^year_month$`)

// unreserved are names to MariaDB, unless a bracket follows, and keywords to MySQL 8 or the parser.
var unreserved = guard.Set("rank dense_rank row_number lag lead ntile first_value last_value nth_value cume_dist percent_rank groups system " +
	"function empty of cube array database external generated get ilike lateral option qualify row stored tablesample until virtual")

// unread is grammar of MariaDB that the parser does not have, and what to write.
var unread = []struct {
	words  *regexp.Regexp
	advice string
}{
	{regexp.MustCompile(`(?is)\bgroup_concat\s*\(.*\blimit\b`), "GROUP_CONCAT with a LIMIT: take the rows of a subquery with the LIMIT"},
	{regexp.MustCompile(`(?is)\bfor\s+(?:system_time|portion)\b`), "FOR SYSTEM_TIME: compare the columns row_start and row_end"},
	{regexp.MustCompile(`(?is)\bwithin\s+group\b`), "WITHIN GROUP: number the rows with ROW_NUMBER"},
	{regexp.MustCompile(`(?is)\bwith\s+ties\b`), "WITH TIES: compare with the last row that counts"},
	{regexp.MustCompile(`(?is)\b(?:next|previous)\s+value\s+for\b`), "sequences"},
	{regexp.MustCompile(`(?is)\bwith\b.*\bcycle\b.*\brestrict\b`), "CYCLE … RESTRICT: bound the recursion with a counter"},
}

// unreadable is the error for a text that the parser does not take: that of the parser, if the text has the words of MariaDB
// alone, so that nobody repairs a statement which is right.
func unreadable(text string, err error) error {
	for _, u := range unread {
		if u.words.MatchString(text) {
			return guard.Refuse(exec.ReasonStatement, "the guard's parser does not know %s", u.advice)
		}
	}
	return &exec.InvalidError{Fault: exec.FaultSyntax, Message: "You have an error in your SQL syntax: " + strings.TrimSpace(err.Error())}
}

// nearText is where the parser stopped.
var nearText = regexp.MustCompile(`near "((?s).{1,40})`)

// nearIn says behind which words the parser stopped; "": it does not tell.
func nearIn(err error) string {
	if m := nearText.FindStringSubmatch(err.Error()); m != nil {
		return ", from here on: " + strings.TrimSpace(m[1])
	}
	return ""
}

// beforeBracket are keywords and types that stand in front of a bracket and call nothing.
var beforeBracket = guard.Set(`all and any as between binary by case char cast columns convert decimal distinct double else except exists float for from group
	having in intersect into interval is join json_table like limit not numeric on or order over partition path recursive regexp rlike row select some then
	time datetime timestamp union using values varbinary varchar when where window with xor ties nested set`)

// callsOnlyListed reports whether all words in front of a bracket are those of functions that may be called, or call nothing.
func (c *catalog) callsOnlyListed(s *sqltext.Statement) bool {
	before := ""
	for t := range s.Tokens() {
		if t.Text == "(" && before != "" && !c.functions[before] && !beforeBracket[before] {
			return false
		}
		if before = ""; t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
			before = lower(s.Dialect().Value(t))
		}
	}
	return true
}

// parse reads one statement. It stops the walk, with an error, at what is none.
func parse(s *sqltext.Statement, mode mysql.SQLMode) (ast.StmtNode, []edit) {
	text, edits := forParser(s)
	p := parser.New()
	p.SetMariaDB(true)
	p.SetSQLMode(mode)
	statements, _, err := p.ParseSQL(text)
	switch {
	case err != nil:
		guard.Stop(unreadable(s.SQL(), err))
	case len(statements) != 1:
		guard.Stop(guard.Refuse(sqltext.ReasonSeveral, "it is %d statements", len(statements)))
	}
	return statements[0], edits
}

// edit is a place where the text for the parser goes on as the one that it was made of, byte by byte.
type edit struct{ pos, was int }

// origin returns where what stands at a byte of the text for the parser was.
func origin(edits []edit, pos int) int {
	e := edit{}
	for _, next := range edits {
		if next.pos > pos {
			break
		}
		e = next
	}
	return e.was + pos - e.pos
}

// forParser returns a text as the parser takes it, which knows neither the types INT and VARCHAR of casts nor VALUES
// without ROW, and refuses one that it would read too often. It reads twice, at worst: a bracket that leads to a second
// one and then to a query; the arguments of JSON_VALUE; and what stands behind INTERVAL, which is a literal and its unit
// or an expression, until the next comma.
func forParser(s *sqltext.Statement) (string, []edit) {
	text, tokens := s.SQL(), slices.Collect(s.Tokens())
	words := make([]string, len(tokens)+1) // in lower case, "" for what is none
	for i, t := range tokens {
		if t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
			words[i] = lower(s.Dialect().Value(t))
		}
	}
	next := func(i int) (t sqltext.Token) {
		if i+1 < len(tokens) {
			t = tokens[i+1]
		}
		return t
	}
	// Where a run of brackets ends: in a query or in something else.
	leads := make([]bool, len(tokens)+1)
	for i := len(tokens) - 1; i >= 0; i-- {
		switch words[i] {
		case "select", "with", "table", "values":
			leads[i] = true
		}
		leads[i] = leads[i] || tokens[i].Text == "(" && leads[i+1]
	}
	var (
		out      strings.Builder
		edits    []edit
		from     int
		readings int
		joins    int
		in       level
		open     []level // before each open bracket
	)
	write := func(at int, what string, end int) {
		out.WriteString(text[from:at])
		edits = append(edits, edit{out.Len(), at})
		out.WriteString(what)
		from = end
		edits = append(edits, edit{out.Len(), end})
	}
	behind := 0 // the token behind a FETCH
	for i, t := range tokens {
		if i < behind {
			continue
		}
		if limit, end := fetchAt(words, tokens, i); end > 0 {
			write(t.Pos, limit, tokens[end-1].Pos+len(tokens[end-1].Text))
			behind = end
			continue
		}
		before, word := "", words[i]
		if i > 0 {
			before = words[i-1]
		}
		if before == "as" || i > 0 && tokens[i-1].Text == "," {
			if known := castTypes[word+next(i).Text]; known != "" {
				write(t.Pos, known, t.Pos+len(t.Text))
			}
		}
		frame := before == "current" // CURRENT ROW
		onEmpty := before == "on" && word == "empty" && (next(i).Text == ")" || next(i).Text == "," || words[i+1] != "")
		if unreserved[word] && t.Kind == sqltext.Word && next(i).Text != "(" && !frame && !onEmpty {
			write(t.Pos, "`"+t.Text+"`", t.Pos+len(t.Text))
		}
		switch {
		case t.Text == "(":
			if in.rows {
				write(t.Pos, " ROW", t.Pos)
			}
			open = append(open, in)
			if before == "json_value" || leads[i] && next(i).Text == "(" {
				in.depth++
			}
			in = level{depth: in.depth, inside: in.depth}
		case t.Text == ")":
			if n := len(open); n > 0 {
				in, open = open[n-1], open[:n-1]
			}
		case t.Text == ",":
			in.depth = in.inside
		default:
			in.rows = word == "values" && t.Kind == sqltext.Word &&
				(i == 0 || beginsQuery[before] || tokens[i-1].Text == "(" || tokens[i-1].Text == ")")
		}
		literal := i+2 < len(tokens) && (tokens[i+1].Kind == sqltext.Number || tokens[i+1].Kind == sqltext.String)
		switch {
		case word == "interval" && !(literal && isUnit.MatchString(words[i+2])):
			in.depth++
		case word == "join", word == "straight_join": // the parser goes through those before
			joins++
			readings += joins
		}
		if readings += 1 << min(in.depth, 30); readings > mostReadings {
			guard.Stop(guard.Refuse(exec.ReasonTooComplex, "it has too many joins, or brackets around queries, JSON_VALUE or INTERVAL are nested too deep"))
		}
	}
	return out.String() + text[from:], edits
}

// fetchAt reads OFFSET n ROWS FETCH NEXT n ROWS ONLY, or a part of it, from token i on. It returns the LIMIT that says the same,
// which the parser knows, and the token behind it; 0 where something else stands there.
func fetchAt(words []string, tokens []sqltext.Token, i int) (limit string, end int) {
	word := func(k int) string { return words[min(k, len(words)-1)] }
	rows := func(k int) bool { return word(k) == "row" || word(k) == "rows" }
	number := func(k int) bool { return k < len(tokens) && tokens[k].Kind == sqltext.Number }
	offset, count := "", noLimit
	if word(i) == "offset" && number(i+1) && rows(i+2) {
		offset, end = " OFFSET "+tokens[i+1].Text, i+3
		i = end
	}
	if word(i) == "fetch" && (word(i+1) == "first" || word(i+1) == "next") {
		k, n := i+2, "1"
		if number(k) {
			n = tokens[k].Text
			k++
		}
		if rows(k) && word(k+1) == "only" {
			count, end = n, k+2
		}
	}
	return "LIMIT " + count + offset, end
}

// beginsQuery are the words behind which VALUES begins a query, as it does at the start and behind brackets. Behind others
// it is the function of MySQL.
var beginsQuery = guard.Set("union except intersect all distinct")

// level is where forParser is, inside of one bracket.
type level struct {
	depth, inside int  // how often the parser reads a token, as a power of two: here, and behind the next comma
	rows          bool // VALUES stands before, and then rows of it only
}

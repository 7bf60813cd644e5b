package guard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// rowFunctions look at one row, and return the same for the same arguments. The clock is among them: it moves for
// hidden and other rows alike.
var rowFunctions = Set(`
abs ceil ceiling floor round trunc truncate sign sqrt power pow mod exp ln log log10 log2 greatest least coalesce ifnull iif if nullif nvl isnull
lower upper lcase ucase initcap length char_length character_length octet_length substr substring substring_index left right mid trim ltrim rtrim
replace instr position locate strpos concat concat_ws lpad rpad reverse split_part cast convert typeof hex char ascii unicode printf format
date time datetime julianday strftime unixepoch timediff year month day dayofmonth dayofweek dayofyear dayname monthname quarter week weekday
hour minute second extract date_part date_trunc date_format datediff date_add date_sub adddate subdate last_day str_to_date timestampdiff
to_char to_date to_days make_date age now curdate current_date`)

// listWords may stand in an item of the outermost list and begin no part of it that looks at other rows.
var listWords = Set(`as and or not in is like between case when then else end cast collate from for null true false isnull notnull div mod xor interval
regexp rlike glob ilike escape left right using`)

// listSigns are operators of one row.
var listSigns = Set(`( ) , . + - * / % || :: = <> != < > <= >= <=> -> ->>`)

// castWords go on in the name of a type.
var castWords = Set("varying precision without with time zone")

// listed notes what an item of the outermost list depends on, which stands between two tokens. Its alias is not among
// them.
func (r *failReader) listed(begin, end int) {
	outer := r.i
	defer func() { r.i = outer }()
	item := mention{}
	r.i = begin
	if path, column := r.path(); column && r.i == end {
		item = r.mention(begin, end, path)
	}
	r.at.items = append(r.at.items, item)
	last := end - 1
	if r.text.Raw(last) == "*" && (last == begin || r.text.Raw(last-1) == ".") {
		r.at.starred = true
		return
	}
	r.at.notes = true
	r.loose = !r.expression(begin, end) || r.loose
	r.at.notes = false
}

// expression reads the tokens between two, and reports whether each is known to look at one row, or to be an aggregate
// whose value does not depend on the order of rows.
func (r *failReader) expression(begin, end int) bool {
	for i := begin; i < end; {
		token, word := r.text.Token(i), r.text.Word(i)
		call := r.text.Raw(i+1) == "(" && r.text.IsName(i)
		switch {
		case aggregates[word] && call:
			next, ok := r.aggregated(i)
			if !ok || next > end {
				return false
			}
			i = next
		case word == "as": // a type, up to the bracket behind it
			i = r.behind(i)
		case token.Text == "::":
			for i += 2; castWords[r.text.Word(i)]; i++ {
			}
		case call && word != "" && (rowFunctions[word] || listWords[word]), listSigns[token.Text], listWords[word] &&
			r.text.Raw(i-1) != ".":
			i++
		case call || clauseWords[word]:
			return false
		case token.Kind == sqltext.Number, token.Kind == sqltext.String:
			i++
		default:
			if r.i = i; !r.named(end) {
				return false
			}
			i = r.i
		}
	}
	return true
}

// named reads a column in an item.
func (r *failReader) named(end int) bool {
	at := r.i
	path, ok := r.path()
	if !ok || r.i > end {
		return false
	}
	r.note(at, r.i, path)
	return true
}

// aggregates look at several rows. A value of the first three does not depend on their order.
var aggregates = Set(`count min max sum avg total string_agg array_agg json_agg jsonb_agg group_concat json_arrayagg`)

// aggregated reads the aggregate that begins at a token, and returns the token behind it.
func (r *failReader) aggregated(at int) (next int, ok bool) {
	end := r.behind(at+2) + 1
	if next := r.text.Word(end); next == "over" || next == "filter" || next == "within" {
		return 0, false
	}
	noted := r.at.notes
	defer func() { r.at.notes = noted }()
	r.at.aggregated, r.at.notes = true, false
	begin, last := at+2, end-1 // the argument
	each := r.text.Word(begin) == "distinct"
	if each {
		begin++
	}
	function := series{function: r.text.Word(at), pos: r.text.End(last - 1)}
	switch function.function {
	case "count":
		return end, r.text.Raw(begin) == "*" && begin+1 == last || !r.aggregates(begin, last) && r.expression(begin, last)
	case "min", "max":
		r.i = begin
		path, column := r.path()
		if !column || r.i != last {
			return 0, false
		}
		r.exact = append(r.exact, path[len(path)-1])
		return end, true
	}
	function.columns, function.summed = r.number(begin, last)
	r.series = append(r.series, function)
	return end, !each && (function.summed || !r.aggregates(begin, last) && r.expression(begin, last))
}

// series is an aggregate whose value may depend on the order of rows.
type series struct {
	function string
	pos      int      // where its ORDER BY would stand, in bytes
	summed   bool     // it is a sum or an average of the columns
	columns  []string // folded
}

// arrange returns an ORDER BY for each aggregate whose value depends on the order of rows.
func (r *failReader) arrange(o RewriteRules) (spots []TablePosition, ok bool) {
	for _, s := range r.series {
		if s.summed && (s.function == "sum" || s.function == "avg") && !r.lacks(s.columns, whole) {
			continue
		}
		keys, ok := r.keys(o)
		if !ok || o.Ordered == nil || !o.Ordered(s.function) {
			return nil, false
		}
		spots = append(spots, TablePosition{Pos: s.pos, End: s.pos, Insert: " ORDER BY " + strings.Join(keys, ", ")})
	}
	return spots, true
}

// behind returns the bracket that ends what goes on at a token.
func (r *failReader) behind(at int) int {
	for depth := 0; at < r.text.Len(); at++ {
		switch r.text.Raw(at) {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth < 0 {
			return at
		}
	}
	return at
}

// aggregates reports whether a function of several rows is called between two tokens.
func (r *failReader) aggregates(begin, end int) bool {
	for i := begin; i < end; i++ {
		if aggregates[r.text.Word(i)] && r.text.Raw(i+1) == "(" {
			return true
		}
	}
	return false
}

// number returns the columns of what is summed, if that is these, integers, +, - and *, and CASE over them. Conditions
// of CASE are those of one row.
func (r *failReader) number(begin, end int) (columns []string, ok bool) {
	for i := begin; i < end; {
		token, word := r.text.Token(i), r.text.Word(i)
		switch {
		case word == "when":
			from := i + 1
			for i = from; i < end && r.text.Word(i) != "then"; i++ {
				if r.text.Word(i) == "case" {
					return nil, false
				}
			}
			if r.aggregates(from, i) || !r.expression(from, i) {
				return nil, false
			}
		case word == "case" && r.text.Word(i+1) == "when", word == "then", word == "else", word == "end", word == "null":
			i++
		case slices.Contains([]string{"(", ")", "+", "-", "*"}, token.Text):
			i++
		case token.Kind == sqltext.Number && strings.Trim(token.Text, "0123456789") == "":
			i++
		default:
			r.i = i
			path, ok := r.path()
			if !ok || r.i > end || r.text.Raw(r.i) == "(" {
				return nil, false
			}
			columns = append(columns, path[len(path)-1])
			i = r.i
		}
	}
	return columns, true
}

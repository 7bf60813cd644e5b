package mysql

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// mostReadings bounds the work of the parser, in tokens. It reads some brackets twice, and each of those inside of them
// twice as often.
const mostReadings = 1 << 18

// castTypes are types, with the token behind them, by which a cast calls one that the parser knows.
var castTypes = map[string]string{
	"int)": "SIGNED", "integer)": "SIGNED", "varchar(": "CHAR", "uuid)": "CHAR", "inet4)": "CHAR", "inet6)": "CHAR",
}

// isUnit tells the units of an interval.
var isUnit = regexp.MustCompile(
	`^(?:(?:day|hour|minute|second)_)?(?:microsecond|second|minute|hour|day|week|month|quarter|year)$|^year_month$`)

// unreserved are names to MariaDB, unless a bracket follows, and keywords to MySQL 8 or the parser.
var unreserved = guard.Set("rank dense_rank row_number lag lead ntile first_value last_value nth_value cume_dist " +
	"percent_rank groups system " +
	"function empty of cube array database external generated get ilike lateral option qualify row stored tablesample " +
	"until virtual")

// unread is grammar of MariaDB that the parser does not have, and what to write.
var unread = []struct {
	words  *regexp.Regexp
	advice string
}{
	{regexp.MustCompile(`(?is)\bgroup_concat\s*\(.*\blimit\b`),
		"GROUP_CONCAT with a LIMIT: take the rows of a subquery with the LIMIT"},
	{regexp.MustCompile(`(?is)\bfor\s+(?:system_time|portion)\b`),
		"FOR SYSTEM_TIME: compare the columns row_start and row_end"},
	{regexp.MustCompile(`(?is)\bwithin\s+group\b`), "WITHIN GROUP: number the rows with ROW_NUMBER"},
	{regexp.MustCompile(`(?is)\bmedian\s*\(.*\)\s*over\b`),
		"MEDIAN … OVER: number the rows with ROW_NUMBER, and take the AVG of the middle ones"},
	{regexp.MustCompile(`(?is)\bjson_arrayagg\s*\(.*\border\s+by\b`),
		"JSON_ARRAYAGG with an ORDER BY: write CONCAT('[', GROUP_CONCAT(JSON_QUOTE(x) ORDER BY x SEPARATOR ','), ']')"},
	{regexp.MustCompile(`(?is)\bwith\s+ties\b`), "WITH TIES: compare with the last row that counts"},
	{regexp.MustCompile(`(?is)\b(?:next|previous)\s+value\s+for\b`), "sequences"},
	{regexp.MustCompile(`(?is)\bwith\b.*\bcycle\b.*\brestrict\b`), "CYCLE … RESTRICT: bound the recursion with a counter"},
}

// unreadable is the error for a text that the parser does not take: that of the parser, if the text has the words of
// MariaDB alone, so that nobody repairs a statement which is right.
func unreadable(text string, err error) error {
	for _, u := range unread {
		if u.words.MatchString(text) {
			return guard.Refuse("statement", "the guard's parser does not know %s", u.advice)
		}
	}
	return &exec.InvalidError{Fault: "syntax", Message: "You have an error in your SQL syntax: " +
		strings.TrimSpace(err.Error())}
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

// parse reads one statement. It stops the walk, with an error, at what is none.
func parse(s *sqltext.Statement, mode mysql.SQLMode) (ast.StmtNode, []edit) {
	text, edits := forParser(s)
	p := parser.New()
	p.SetMariaDB(true)
	p.SetSQLMode(mode)
	statements, _, err := p.ParseSQL(text)
	switch {
	case err != nil:
		guard.Abort(unreadable(s.SQL(), err))
	case len(statements) != 1:
		reject("several-statements", "it is %d statements", len(statements))
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
// one and then to a query; the arguments of JSON_VALUE; and what stands behind INTERVAL, which is a literal and its
// unit or an expression, until the next comma.
func forParser(s *sqltext.Statement) (string, []edit) {
	r := newRewriter(s)
	for i := 0; i < r.Len(); i++ {
		if end := max(r.fetch(i), r.gotten(i)); end > 0 {
			i = end - 1
			continue
		}
		r.castType(i)
		r.name(i)
		r.bracket(i)
		r.count(i)
	}
	return r.out.String() + r.sql[r.done:], r.edits
}

// rewriter writes the text for the parser, token by token.
type rewriter struct {
	guard.Text
	sql   string
	words []string // of the tokens, in lower case; "" for what is none
	leads []bool   // whether a run of brackets that begins with a token ends in a query

	out   strings.Builder
	edits []edit
	done  int // how much of sql is in out

	in              level
	open            []level // before each open bracket
	joins, readings int     // so far
}

// level is where a rewriter is, inside of one bracket.
type level struct {
	depth, inside int  // how often the parser reads a token, as a power of two: here, and behind the next comma
	rows          bool // VALUES stands before, and then rows of it only
	gets          bool // it holds the arguments of COLUMN_GET
	casts         bool // it holds those of CAST or CONVERT
}

func newRewriter(s *sqltext.Statement) *rewriter {
	r := &rewriter{Text: guard.NewText(s), sql: s.SQL()}
	r.words, r.leads = make([]string, r.Len()), make([]bool, r.Len()+1)
	for i := r.Len() - 1; i >= 0; i-- {
		if kind := r.Token(i).Kind; kind == sqltext.Word || kind == sqltext.QuotedName {
			r.words[i] = lower(r.Value(i))
		}
		r.leads[i] = queries[r.words[i]] || r.Raw(i) == "(" && r.leads[i+1]
	}
	return r
}

var queries = guard.Set("select with table values")

func (r *rewriter) word(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	return r.words[i]
}

// write writes what stands in place of the text between two bytes.
func (r *rewriter) write(pos int, what string, end int) {
	r.out.WriteString(r.sql[r.done:pos])
	r.edits = append(r.edits, edit{r.out.Len(), pos})
	r.out.WriteString(what)
	r.done = end
	r.edits = append(r.edits, edit{r.out.Len(), end})
}

// fetch writes OFFSET n ROWS FETCH NEXT n ROWS ONLY, or a part of it, as the LIMIT that says the same. It returns the
// token behind it; 0 where something else begins with token i.
func (r *rewriter) fetch(i int) (end int) {
	rows := func(k int) bool { return r.word(k) == "row" || r.word(k) == "rows" }
	number := func(k int) bool { return r.Token(k).Kind == sqltext.Number }
	first, offset, count := i, "", noLimit
	if r.word(i) == "offset" && number(i+1) && rows(i+2) {
		offset, end = " OFFSET "+r.Raw(i+1), i+3
		i = end
	}
	if r.word(i) == "fetch" && (r.word(i+1) == "first" || r.word(i+1) == "next") {
		k, n := i+2, "1"
		if number(k) {
			n = r.Raw(k)
			k++
		}
		if rows(k) && r.word(k+1) == "only" {
			count, end = n, k+2
		}
	}
	if end > 0 {
		r.write(r.Pos(first), "LIMIT "+count+offset, r.End(end-1))
	}
	return end
}

// gotten leaves out the type of COLUMN_GET(d, 'name' AS CHAR(9)). It returns the token behind it; 0 where something
// else begins with token i.
func (r *rewriter) gotten(i int) (end int) {
	if !r.in.gets || r.word(i) != "as" {
		return 0
	}
	depth := 0
	for end = i + 1; end < r.Len(); end++ {
		token := r.Token(end)
		n, err := strconv.Atoi(token.Text)
		switch raw := r.Raw(end); {
		case raw == ")" && depth == 0:
			r.write(r.Pos(i), "", r.Pos(end))
			return end
		case raw == "(":
			depth++
		case raw == ")":
			depth--
		case token.Kind == sqltext.Word, raw == ",", err == nil && n <= mostLength:
		default:
			return 0
		}
	}
	return 0
}

// castType writes the type of a cast as the parser knows it. Elsewhere uuid is a column or an alias.
func (r *rewriter) castType(i int) {
	if !r.in.casts || r.word(i-1) != "as" && r.Raw(i-1) != "," { // UNSIGNED INTEGER is known
		return
	}
	if known := castTypes[r.words[i]+r.Raw(i+1)]; known != "" {
		r.write(r.Pos(i), known, r.End(i))
	}
}

// name writes a name that is a keyword to the parser in quotes.
func (r *rewriter) name(i int) {
	if !unreserved[r.words[i]] || r.Token(i).Kind != sqltext.Word || r.Raw(i+1) == "(" {
		return
	}
	before, next := r.word(i-1), r.Raw(i+1)
	frame := before == "current" // CURRENT ROW
	onEmpty := before == "on" && r.words[i] == "empty" && (next == ")" || next == "," || r.word(i+1) != "")
	if !frame && !onEmpty {
		r.write(r.Pos(i), "`"+r.Raw(i)+"`", r.End(i))
	}
}

// bracket follows the brackets, and writes ROW before those that are a row of VALUES.
func (r *rewriter) bracket(i int) {
	switch before := r.word(i - 1); r.Raw(i) {
	case "(":
		if r.in.rows {
			r.write(r.Pos(i), " ROW", r.Pos(i))
		}
		r.open = append(r.open, r.in)
		if before == "json_value" || r.leads[i] && r.Raw(i+1) == "(" {
			r.in.depth++
		}
		r.in = level{depth: r.in.depth, inside: r.in.depth, gets: before == "column_get", casts: before == "cast" ||
			before == "convert"}
	case ")":
		if last := len(r.open) - 1; last >= 0 {
			r.in, r.open = r.open[last], r.open[:last]
		}
	case ",":
		r.in.depth = r.in.inside
	default:
		begins := i == 0 || beginsQuery[before] || r.Raw(i-1) == "(" || r.Raw(i-1) == ")"
		r.in.rows = begins && r.words[i] == "values" && r.Token(i).Kind == sqltext.Word
	}
}

// beginsQuery are the words behind which VALUES begins a query, as it does at the start and behind brackets. Behind
// others it is the function of MySQL.
var beginsQuery = guard.Set("union except intersect all distinct")

// count counts how often the parser reads a token.
func (r *rewriter) count(i int) {
	switch r.words[i] {
	case "interval":
		kind := r.Token(i + 1).Kind
		if literal := kind == sqltext.Number || kind == sqltext.String; !literal || !isUnit.MatchString(r.word(i+2)) {
			r.in.depth++
		}
	case "join", "straight_join": // the parser goes through those before
		r.joins++
		r.readings += r.joins
	}
	if r.readings += 1 << min(r.in.depth, 30); r.readings > mostReadings {
		reject("too-complex", "it has too many joins, or brackets around queries, JSON_VALUE or INTERVAL are nested too deep")
	}
}

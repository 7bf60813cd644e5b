package mysql

import (
	"regexp"
	"slices"
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
var castTypes = map[string]string{"int)": "SIGNED", "integer)": "SIGNED", "varchar(": "CHAR"}

// isUnit tells the units of an interval.
var isUnit = regexp.MustCompile(`^(?:(?:day|hour|minute|second)_)?(?:microsecond|second|minute|hour|day|week|month|quarter|year)$|^year_month$`)

// unreserved are names to MariaDB, unless a bracket follows, and keywords to MySQL 8 and the parser.
var unreserved = guard.Set("rank dense_rank row_number lag lead ntile first_value last_value nth_value cume_dist percent_rank groups system function empty of cube")

// parse reads one statement. It stops the walk, with an error, at what is none.
func parse(s *sqltext.Statement, mode mysql.SQLMode) ast.StmtNode {
	text := forParser(s)
	p := parser.New()
	p.SetMariaDB(true)
	p.SetSQLMode(mode)
	statements, _, err := p.ParseSQL(text)
	switch {
	case err != nil:
		message := "You have an error in your SQL syntax: " + strings.TrimSpace(err.Error())
		guard.Stop(&exec.InvalidError{Fault: exec.FaultSyntax, Message: message})
	case len(statements) != 1:
		guard.Stop(guard.Refuse(sqltext.ReasonSeveral, "it is %d statements", len(statements)))
	}
	return statements[0]
}

// forParser returns a text as the parser takes it, which knows neither the types INT and VARCHAR of casts nor VALUES
// without ROW, and refuses one that it would read too often. It reads twice, at worst: a bracket that leads to a second
// one and then to a query; the arguments of JSON_VALUE; and what stands behind INTERVAL, which is a literal and its unit
// or an expression, until the next comma.
func forParser(s *sqltext.Statement) string {
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
		from     int
		readings int
		joins    int
		in       level
		open     []level // before each open bracket
	)
	write := func(at int, what string, end int) {
		out.WriteString(text[from:at])
		out.WriteString(what)
		from = end
	}
	for i, t := range tokens {
		before, word := "", words[i]
		if i > 0 {
			before = words[i-1]
		}
		if before == "as" || i > 0 && tokens[i-1].Text == "," {
			if known := castTypes[word+next(i).Text]; known != "" {
				write(t.Pos, known, t.Pos+len(t.Text))
			}
		}
		if unreserved[word] && t.Kind == sqltext.Word && next(i).Text != "(" {
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
	return out.String() + text[from:]
}

// beginsQuery are the words behind which VALUES begins a query, as it does at the start and behind brackets. Behind others
// it is the function of MySQL.
var beginsQuery = guard.Set("union except intersect all distinct")

// level is where forParser is, inside of one bracket.
type level struct {
	depth, inside int  // how often the parser reads a token, as a power of two: here, and behind the next comma
	rows          bool // VALUES stands before, and then rows of it only
}

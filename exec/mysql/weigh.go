package mysql

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sqlc-dev/marino/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// mostAdded is how many tokens a server may add to a statement by writing out what it names twice. It does so before it
// looks at any limit of its own. Of the evaluation data no statement adds a fifth of it.
const mostAdded = 10_000

// weigh refuses a statement that grows where its common table expressions, views and subqueries are written out.
func (c *catalog) weigh(s *sqltext.Statement) error {
	if added := s.Expand(c.expansion).Added; added > mostAdded {
		return &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: fmt.Sprintf(
			"the server writes a subquery, view or column out at each place that uses it, which would add %d tokens; at most %d may be added", added, mostAdded)}
	}
	return nil
}

// mostReadings bounds the work of the parser, in tokens. It reads some brackets twice, and each of those inside of them
// twice as often.
const mostReadings = 1 << 18

// castTypes are types, with the token behind them, by which a cast calls one that the parser knows.
var castTypes = map[string]string{"int)": "SIGNED", "integer)": "SIGNED", "varchar(": "CHAR"}

// isUnit tells the units of an interval.
var isUnit = regexp.MustCompile(`^(?:(?:day|hour|minute|second)_)?(?:microsecond|second|minute|hour|day|week|month|quarter|year)$|^year_month$`)

// unreserved are names to MariaDB, unless a bracket follows, and keywords to MySQL 8 and the parser.
var unreserved = wordSet("rank dense_rank row_number lag lead ntile first_value last_value nth_value cume_dist percent_rank groups system function empty of cube")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// forParser returns a text as the parser takes it, which does not know the types INT and VARCHAR of casts, and refuses
// one that it would read too often. It reads twice, at worst: a bracket that leads to a
// second one and then to a query; the arguments of JSON_VALUE; and what stands behind INTERVAL, which is a literal and
// its unit or an expression, until the next comma.
func forParser(text string, mode mysql.SQLMode) (string, error) {
	d := Dialect{ANSIQuotes: mode.HasANSIQuotesMode(), NoBackslashEscapes: mode.HasNoBackslashEscapesMode()}.Text()
	var tokens []sqltext.Token
	for t := range d.Parse(text).Tokens() {
		if t.Kind != sqltext.Comment && t.Kind != sqltext.Space {
			tokens = append(tokens, t)
		}
	}
	word := func(i int) string {
		if i < 0 || i >= len(tokens) || tokens[i].Kind != sqltext.Word && tokens[i].Kind != sqltext.QuotedName {
			return ""
		}
		return lower(d.Value(tokens[i]))
	}
	// Where a run of brackets ends: in a query or in something else.
	leads := make([]bool, len(tokens)+1)
	for i := len(tokens) - 1; i >= 0; i-- {
		switch word(i) {
		case "select", "with", "table", "values":
			leads[i] = true
		}
		leads[i] = leads[i] || tokens[i].Text == "(" && leads[i+1]
	}
	depth, inside, readings, joins := 0, 0, 0, 0
	var open [][2]int // depth and inside, before each open bracket
	out, from := "", 0
	for i, t := range tokens {
		if before := word(i - 1); i+1 < len(tokens) && (before == "as" || i > 0 && tokens[i-1].Text == ",") {
			if known := castTypes[word(i)+tokens[i+1].Text]; known != "" {
				out, from = out+text[from:t.Pos]+known, t.Pos+len(t.Text)
			}
		}
		if unreserved[word(i)] && t.Kind == sqltext.Word && !(i+1 < len(tokens) && tokens[i+1].Text == "(") {
			out, from = out+text[from:t.Pos]+"`"+t.Text+"`", t.Pos+len(t.Text)
		}
		switch t.Text {
		case "(":
			open = append(open, [2]int{depth, inside})
			if word(i-1) == "json_value" || leads[i] && i+1 < len(tokens) && tokens[i+1].Text == "(" {
				depth++
			}
			inside = depth
		case ")":
			if n := len(open); n > 0 {
				depth, inside, open = open[n-1][0], open[n-1][1], open[:n-1]
			}
		case ",":
			depth = inside
		}
		literal := i+2 < len(tokens) && (tokens[i+1].Kind == sqltext.Number || tokens[i+1].Kind == sqltext.String)
		if word(i) == "interval" && !(literal && isUnit.MatchString(word(i+2))) {
			depth++
		}
		if this := word(i); this == "join" || this == "straight_join" { // the parser goes through those before
			joins++
			readings += joins
		}
		if readings += 1 << min(depth, 30); readings > mostReadings {
			return "", &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: "it has too many joins, or brackets around queries, JSON_VALUE or INTERVAL are nested too deep"}
		}
	}
	return out + text[from:], nil
}

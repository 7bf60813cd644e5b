package periods

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

var (
	partName = regexp.MustCompile(`(?i)\bshare|[_ ]share$|fraction|proportion|percent|\bpct|_pct$`)
	asksPart = regexp.MustCompile(`(?i)\b(share|percent|percentages?|proportion|fraction)\b|\b(in|as|what|which) %`)
	asksRate = regexp.MustCompile(`(?i)\brate\b`)
	noPart   = regexp.MustCompile(
		`(?i)(^|[^a-z])(per|ratio|share[_ ]price|exchange|share (an?|the|any|same))([^a-z]|$)|\d\s*(%|percent)`)
	ofHundred  = regexp.MustCompile(`(?:^|[^\d.])100(?:\.0*)?\s*\*|\*\s*100(?:\.0*)?(?:[^\d.]|$)`)
	byNumber   = regexp.MustCompile(`/\s*[\d.]+[\s)]*(,\s*\d+[\s)]*)?$|/\s*[\d.]+\s*\)?\s*\*\s*100\b`)
	flagOf     = regexp.MustCompile(`(?i)^avg\s*\(\s*(?:\w+\.)?["` + "`" + `]?(is|has)[ _]\w*["` + "`" + `]?\s*\)$`)
	oneOrNone  = regexp.MustCompile(`(?i)\bavg\s*\(\s*case\b.*\bthen\s+1(\.0*)?\s+else\s+0(\.0*)?\s+end\s*\)`)
	totals     = regexp.MustCompile(`(?i)\b(sum|avg|min|max|count)\s*\(`)
	counts     = regexp.MustCompile(`(?i)\bcount\s*\(|\b(sum|avg)\s*\(\s*case\b`)
	unmeasured = regexp.MustCompile(
		`(?is)\bcount\s*\([^()]*\)|\bcase\b.*?\bend\b|\bfilter\s*\([^()]*\)|` +
			`\bfrom\b[^()]*|\bas\s+[\w ]+|\bover\b[^()]*|[a-z_]\w*\s*[(.]`)
	names = regexp.MustCompile(`(?i)[a-z_]\w*`)
)

// IsPercent reports whether an expression is a quotient that 100 makes a percentage. named: its name says so. Without
// one, both sides must have one unit: liters for 100 km are not a percentage.
func IsPercent(expression string, named bool) bool {
	quotient := ofHundred.MatchString(expression) && !byNumber.MatchString(expression)
	return quotient && (named || oneKind(expression))
}

// oneKind reports whether an expression has at most one column, counts aside.
func oneKind(expression string) bool {
	found := map[string]bool{}
	for _, name := range names.FindAllString(unmeasured.ReplaceAllString(expression, " "), -1) {
		switch name = strings.ToLower(name); name {
		case "distinct", "select", "null", "where", "real", "float":
		default:
			found[name] = true
		}
	}
	return len(found) < 2
}

// MarkShares marks the columns of t that are parts of one: quotients in s of which each value lies in 0..1, where the
// question or the name of the column wants a share. A question decides for the only quotient of a statement without a
// factor of 100. An average of a flag needs no word.
func MarkShares(s *sqltext.Statement, question string, t *result.Table) {
	shape := s.Outline()
	if len(shape.Items) != len(t.Columns) || len(t.Types) != len(t.Columns) || len(shape.SetOps) > 0 || shape.Star {
		return
	}
	quotient := func(it sqlshape.SelectItem) bool { return divides(s.Dialect(), it.Text) }
	first := slices.IndexFunc(shape.Items, quotient)
	alone := first >= 0 && !slices.ContainsFunc(shape.Items[first+1:], quotient) && !ofHundred.MatchString(s.SQL())
	for i, it := range shape.Items {
		named := partName.MatchString(t.Columns[i]) && !noPart.MatchString(t.Columns[i])
		wanted := named || alone && wants(question, it.Text)
		share := quotient(it) && wanted && !ofHundred.MatchString(it.Text) || flagOf.MatchString(it.Text)
		if share && withinOne(t, i) {
			t.Types[i].Share = true
		}
	}
}

// wants reports whether a question wants a quotient as a share. A rate is one where rows are counted.
func wants(question, expression string) bool {
	counted := len(totals.FindAllString(expression, -1)) == len(counts.FindAllString(expression, -1))
	return !noPart.MatchString(question) && !byNumber.MatchString(expression) &&
		(asksPart.MatchString(question) || counted && asksRate.MatchString(question))
}

// divides reports whether an expression is a quotient, or the average of ones and zeros.
func divides(d sqltext.Dialect, expression string) bool {
	return oneOrNone.MatchString(expression) || strings.Contains(expression, "/") && d.Parse(expression).Uses("/")
}

// withinOne reports whether all values of a column but NULL lie in 0..1, and one is no whole number of the database,
// which an integer division cuts.
func withinOne(t *result.Table, column int) (exact bool) {
	for _, row := range t.Rows {
		if column >= len(row) || row[column] == nil {
			continue
		}
		f, ok := result.Type{Share: true}.Number(row[column])
		if !ok || f < 0 || f > 100 {
			return false
		}
		_, whole := row[column].(int64)
		exact = exact || !whole
	}
	return exact
}

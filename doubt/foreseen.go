package doubt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// foreseen reports whether the question, or its evidence, names all constants of the statement and none is known to be
// stored otherwise, so that a result without rows may well be the answer. 0 and 1 stand for themselves.
func (in Input) foreseen() bool {
	asked := strings.ToLower(in.Question.Text + " " + in.Question.Evidence)
	if in.has(checks.Absent) || in.has(checks.Odd+"date") {
		return false
	}
	careless := map[int]bool{} // rows that do not count are left out
	for _, c := range in.Statement.Comparisons() {
		for _, l := range c.Literals {
			careless[l.Pos] = unequal[c.Op] && careful.MatchString(c.Column)
		}
	}
	named := 0
	for _, l := range in.Statement.Literals() {
		text := strings.ToLower(strings.Trim(l.Value, "%_"))
		dated := statedTime.MatchString(text)
		switch {
		case careless[l.Pos], text == "", text == "0", text == "1", strings.HasPrefix(l.Value, "%") && len(text) < 3: // %Y
		case l.Kind == sqlshape.String && !dated && strings.ContainsAny(text, "0123456789"):
			return false // in which form it is stored nobody knows
		case len(text) > 3 && strings.Contains(asked, text), slices.Contains(words.Of(asked), text),
			dated && (relative.MatchString(asked) || aMonth.MatchString(asked) || strings.Contains(asked, text[:4]) ||
				strings.Contains(asked, strconv.Itoa(number(text[:4])-1))):
			named++
		default:
			return false
		}
	}
	return named > 0
}

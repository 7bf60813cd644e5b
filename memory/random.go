package memory

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// Random returns at most k pairs for the question, no question twice. A k of 0 or less gives none.
//
// The generator is seeded by seed and the question alone, case and white space aside. So the choice depends neither on
// other questions nor on the order of calls. A pair is no exemplar for its own question, nor for a question that
// differs only in numbers and in the values that the pair's SQL compares with: "How many orders came from France?" does
// not show how to ask for those from Norway. This is the leakage guard of 2.METHODOLOGY.md in MacKenzieOBrian/NLtoSQL.
func (p *Pool) Random(k int, question string, seed int64) []Pair {
	if p == nil || k <= 0 {
		return nil
	}
	asked := template(question, nil)
	h := fnv.New64a()
	h.Write([]byte(words.Fold(question)))
	order := rand.New(rand.NewPCG(uint64(seed), h.Sum64())).Perm(len(p.Pairs))
	return p.pick(k, order, question, func(i int) bool { return isInstance(p.Pairs[i], asked) })
}

// maxValueWords is how many words of a question may stand for one value.
const maxValueWords = 4

// isInstance reports whether asked is the pair's question with other values in place of the numbers and of the literals
// of the pair's SQL.
func isInstance(p Pair, asked []string) bool {
	pattern := ""
	for _, w := range template(p.Question, valuesOf(sqltext.SQLite().Parse(p.SQL))) {
		if w != "?" {
			pattern += regexp.QuoteMeta(w) + " "
		} else {
			pattern += fmt.Sprintf(`(?:\S+ ){1,%d}`, maxValueWords)
		}
	}
	// A question too long for a pattern is no exemplar.
	like, err := regexp.Compile("^" + pattern + "$")
	return err != nil || like.MatchString(strings.Join(append(asked, ""), " "))
}

// valuesOf returns the words of each literal of a statement.
func valuesOf(s *sqltext.Statement) (values [][]string) {
	for _, l := range s.Literals() {
		if w := words.Of(l.Value); len(w) > 0 {
			values = append(values, w)
		}
	}
	return values
}

// template returns the words of a question with "?" in place of each value and of each number. The longest value at a
// place goes first.
func template(question string, values [][]string) (out []string) {
	asked := words.Of(question)
	for i := 0; i < len(asked); {
		n := 0
		for _, v := range values {
			if len(v) > n && len(v) <= len(asked)-i && slices.Equal(v, asked[i:i+len(v)]) {
				n = len(v)
			}
		}
		switch {
		case n == 0 && !isFigure(asked[i]):
			out = append(out, asked[i])
		// 1,234.5 is cut into three numbers: one mask for all of them.
		case i == 0 || out[len(out)-1] != "?" || !isFigure(asked[i]) || !isFigure(asked[i-1]):
			out = append(out, "?")
		}
		i += max(n, 1)
	}
	return out
}

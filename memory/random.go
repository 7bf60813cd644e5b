package memory

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// Random returns at most k pairs for the question, each question once. If k is 0 or less, it returns no pairs.
//
// Only seed and the question, without case and white space, seed the generator. So the choice depends neither on
// other questions nor on the order of calls. A pair is not used for its own question. It is also not used for a
// question that differs only in numbers and in values that the pair's SQL compares with: "How many orders came from
// France?" does not serve the same question about Norway. This is the leakage guard of 2.METHODOLOGY.md in
// MacKenzieOBrian/NLtoSQL.
func (p *Pool) Random(k int, question string, seed int64) []Exemplar {
	if p == nil || k <= 0 {
		return nil
	}
	asked := masking.Template(question, nil)
	h := fnv.New64a()
	h.Write([]byte(words.Fold(question)))
	order := rand.New(rand.NewPCG(uint64(seed), h.Sum64())).Perm(len(p.Pairs))
	return p.pick(k, order, question, func(i int) bool { return isInstance(p.Pairs[i], asked) })
}

// maxValueWords is how many words of a question may stand for one value.
const maxValueWords = 4

// isInstance reports whether asked is the pair's question with other values in place of the numbers and of the literals
// of the pair's SQL.
func isInstance(p Exemplar, asked []string) bool {
	pattern := ""
	for _, w := range masking.Template(p.Question, masking.Values(sqltext.SQLite().Parse(p.SQL))) {
		if w != "?" {
			pattern += regexp.QuoteMeta(w) + " "
		} else {
			pattern += fmt.Sprintf(`(?:\S+ ){1,%d}`, maxValueWords)
		}
	}
	// A question that is too long for a pattern does not serve as an exemplar.
	like, err := regexp.Compile("^" + pattern + "$")
	return err != nil || like.MatchString(strings.Join(append(asked, ""), " "))
}

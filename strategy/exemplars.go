package strategy

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// Pair is a solved question: a few-shot exemplar or a line of training data.
type Pair struct {
	ID       string `json:"id,omitempty"`       // of its owner; may be empty
	Question string `json:"question"`           // as a person asked it
	Evidence string `json:"evidence,omitempty"` // what belonged to it
	SQL      string `json:"sql"`                // a statement that answers it
}

// Shots picks few-shot exemplars for a question.
type Shots struct {
	K int // how many; 0 means none
}

// Pick returns at most K pairs of pool for the question, no question twice.
//
// The choice is random with a generator seeded by seed and the normalised
// question alone, so a question's exemplars depend neither on other questions
// nor on the order of the calls. Leakage guard: a pair is no exemplar for its own
// question, nor for one that differs from it only in numbers and in the values
// that the pair's SQL compares with: "How many orders came from France?" does
// not show how to ask for those from Norway. Specification:
// methods/staged-agent.md 3.2, 3.5.
func (s Shots) Pick(pool []Pair, question string, seed int64) []Pair {
	if s.K <= 0 || len(pool) == 0 {
		return nil
	}
	same := fold(question)
	words := strings.Fields(sqltext.QuestionTemplate(question, nil))
	h := fnv.New64a()
	h.Write([]byte(same))
	rng := rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
	seen := map[string]bool{same: true}
	var picked []Pair
	for _, i := range rng.Perm(len(pool)) {
		p := pool[i]
		key := fold(p.Question)
		if seen[key] || isInstance(p, words) {
			continue
		}
		seen[key] = true
		if picked = append(picked, p); len(picked) == s.K {
			break
		}
	}
	return picked
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// maxValueWords is how many words of a question may stand for one value.
const maxValueWords = 4

// isInstance reports whether words are those of p's question with other values
// in place of the numbers and of the literals of p's SQL.
func isInstance(p Pair, words []string) bool {
	var values []string
	for _, l := range sqltext.SQLite().Literals(p.SQL) {
		values = append(values, l.Value)
	}
	template := strings.Fields(sqltext.QuestionTemplate(p.Question, values))
	// reached[j]: the template so far can stand for the first j words.
	reached := make([]bool, len(words)+1)
	reached[0] = true
	for _, t := range template {
		next := make([]bool, len(words)+1)
		for j, ok := range reached {
			if !ok {
				continue
			}
			if t != "?" {
				if j < len(words) && words[j] == t {
					next[j+1] = true
				}
				continue
			}
			for n := 1; n <= maxValueWords && j+n <= len(words); n++ {
				next[j+n] = true
			}
		}
		reached = next
	}
	return reached[len(words)]
}

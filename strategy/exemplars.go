package strategy

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// Pair is a solved question: a few-shot exemplar or a line of training data.
type Pair struct {
	ID       string `json:"id,omitempty"`
	Question string `json:"question"`
	Evidence string `json:"evidence,omitempty"`
	SQL      string `json:"sql"`
}

// Shots picks few-shot exemplars for a question.
type Shots struct {
	K int // how many; 0 means none
}

// Pick returns at most K pairs of pool for the question.
//
// The choice is random with a generator seeded by seed and the normalised
// question alone, so a question's exemplars depend neither on other questions
// nor on the order of the calls. Leakage guard: a pair whose question, or whose
// question template (numbers and quoted text masked), is that of the question
// is never an exemplar for it. Specification: methods/staged-agent.md 3.2, 3.5.
func (s Shots) Pick(pool []Pair, question string, seed int64) []Pair {
	if s.K <= 0 || len(pool) == 0 {
		return nil
	}
	same := fold(question)
	template := sqltext.QuestionTemplate(question, nil)
	h := fnv.New64a()
	h.Write([]byte(same))
	rng := rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
	var picked []Pair
	for _, i := range rng.Perm(len(pool)) {
		p := pool[i]
		if fold(p.Question) == same || sqltext.QuestionTemplate(p.Question, nil) == template {
			continue
		}
		if picked = append(picked, p); len(picked) == s.K {
			break
		}
	}
	return picked
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

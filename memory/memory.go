// Package memory stores solved questions and finds the ones that are similar to a new question, so that a prompt can
// show them as exemplars.
//
// A [Pool] holds [Exemplar] values, which come from a program, from a file ([ReadExemplars]) or from people
// ([VerifiedAnswers]). Pool.Random picks exemplars at random, [Similar] by similarity.
//
// It also stores [Lessons], which come from errors and corrections of earlier questions. A [RetrievedLessons] has the
// lessons for the prompts of one question, as a section of advice. The package calls no model except an [Embedder],
// whose calls count in the budget of the question. It runs no SQL.
package memory

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Exemplar is a solved question: an exemplar of a prompt or a line of training data.
type Exemplar struct {
	ID       string `json:"id,omitempty"`       // the owner's name for the pair; may be empty
	Question string `json:"question"`           // the question as a person asked it; required unless Past
	Evidence string `json:"evidence,omitempty"` // knowledge given with the question; may be empty
	SQL      string `json:"sql"`                // a statement that answers it; required
	Scope    string `json:"scope,omitempty"`    // the exec.Scope.Key that may see it; "": no scope

	By string     `json:"by,omitempty"` // who confirmed it; "": unknown
	At *time.Time `json:"at,omitempty"` // when it was confirmed; nil: unknown

	// Past marks a statement from a log that nobody confirmed. Its Question is a title or a comment, and may be
	// empty. No prompt shows it. It only shows which tables answer which words: see linker.Index.WithHistory.
	Past bool `json:"past,omitempty"`
	// Valueless reports whether its answer had no rows or only NULLs when it was confirmed. nil: unknown.
	Valueless *bool `json:"valueless,omitempty"`
}

func (p Exemplar) valid() error {
	if strings.TrimSpace(p.SQL) == "" || strings.TrimSpace(p.Question) == "" && !p.Past {
		return errors.New("a solved question needs a question and its SQL")
	}
	return nil
}

// Pool holds solved questions to pick exemplars from. It caches what [Similar] computes for the last schema, so use
// one Pool for many questions. A nil or empty Pool gives no exemplars. Do not change the fields after the first use,
// and do not copy the Pool. Safe for concurrent use.
type Pool struct {
	Pairs []Exemplar
	// Mask masks the question of a pair. nil: the schema of the new question is used for masking. Set it if the pool
	// has questions about several databases.
	Mask func(Exemplar) string

	mu     sync.Mutex
	schema *schema.Schema // the schema and the values of index
	values bool
	index  *index // nil: none yet
}

// pick returns the first k pairs in an order. It leaves out the pairs that skip names, past ones, the question itself
// and questions that it has.
func (p *Pool) pick(k int, order []int, question string, skip func(i int) bool) (picked []Exemplar) {
	seen := map[string]bool{words.Fold(question): true}
	for _, i := range order {
		key := words.Fold(p.Pairs[i].Question)
		if seen[key] || p.Pairs[i].Past || skip(i) {
			continue
		}
		seen[key] = true
		if picked = append(picked, p.Pairs[i]); len(picked) == k {
			break
		}
	}
	return picked
}

// Package memory keeps solved questions and finds those that are like a new question, so that a prompt can show them as
// exemplars.
//
// A [Pool] holds [Pair] values, which come from a program, from a file ([ReadPairs]) or from people ([Confirmed]).
// Pool.Random picks exemplars by chance, [Similar] by likeness.
//
// It also keeps [Lessons]: what errors and corrections of earlier questions taught. A [Recall] is what one question may
// be shown of them, as a section of advice. The package asks no model but an [Embedder], whose calls count in the budget of the question, and runs no SQL.
package memory

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Pair is a solved question: an exemplar of a prompt or a line of training data.
type Pair struct {
	ID       string `json:"id,omitempty"`       // the owner's name for the pair; may be empty
	Question string `json:"question"`           // the question as a person asked it; required, but of a Past one
	Evidence string `json:"evidence,omitempty"` // what was known beside the question; may be empty
	SQL      string `json:"sql"`                // a statement that answers it; required
	Scope    string `json:"scope,omitempty"`    // exec.Scope.Key of those that may see it; "": it belongs to no scope

	By string     `json:"by,omitempty"` // who confirmed it; "": nobody said
	At *time.Time `json:"at,omitempty"` // when it was confirmed; nil: nobody said

	// Past marks a statement of a log, of which nobody said that it answers its Question (a title, a comment; may be empty).
	// It is shown to no model: it only says which tables answer which words, see linker.Index.WithHistory.
	Past bool `json:"past,omitempty"`
	// Valueless says whether its answer had no rows or nothing but NULL when it was confirmed. nil: nobody looked.
	Valueless *bool `json:"valueless,omitempty"`
}

func (p Pair) valid() error {
	if strings.TrimSpace(p.SQL) == "" || strings.TrimSpace(p.Question) == "" && !p.Past {
		return errors.New("a solved question needs a question and its SQL")
	}
	return nil
}

// PairError says which line of a file of pairs is wrong.
type PairError struct {
	File string // name of the file
	Line int    // number of the line, from 1
	Err  error  // what is wrong with the line
}

// Error names the file, the line and the fault.
func (e *PairError) Error() string {
	return fmt.Sprintf("memory: %s, line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong with the line.
func (e *PairError) Unwrap() error { return e.Err }

// Pool is solved questions to pick exemplars from. It keeps what [Similar] computed for the last schema, so that the
// next question costs little: use one Pool for many questions. A nil or empty Pool gives no exemplars. Do not change
// the fields after the first use, and do not copy the Pool. Safe for concurrent use.
type Pool struct {
	Pairs []Pair
	// Mask masks the question of a pair; nil means the [Masker] of the schema that the new question is about. A pool of
	// questions about several databases needs one.
	Mask func(Pair) string

	mu     sync.Mutex
	schema *schema.Schema // the schema and the values of index
	values bool
	index  *index // nil: none yet
}

// pick returns the first k pairs in an order. It leaves out the pairs that skip names, past ones, the question itself and
// questions that it has.
func (p *Pool) pick(k int, order []int, question string, skip func(i int) bool) (picked []Pair) {
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

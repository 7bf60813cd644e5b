// Package leakguard keeps training pairs apart from the questions of an evaluation that they give away.
package leakguard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
)

// In what a pair gives another one away, the plainest one first.
const (
	sameQuestion     = "same_question"     // the question, case and white space aside
	questionTemplate = "question_template" // the question's words, other values aside
	sqlTemplate      = "sql_template"      // the statement, other values, names of aliases, case and comments aside
)

// Guard keeps solved questions apart that give each other away: training pairs from the questions of an evaluation,
// exemplars from the question that they are shown with. It is the leakage guard of 2.METHODOLOGY.md in
// MacKenzieOBrian/NLtoSQL.
//
// The template of a question is its words in lower case, with ? for each number and for each literal of its SQL. The
// template of a statement is that of sqltext.Statement.Template. A question or a statement that is empty matches
// nothing. It does not see a question that asks the same in other words, by another statement. Make one with
// [New]. Safe for concurrent use.
type Guard struct {
	dialect sqltext.Dialect
	places  [3]map[string][]int // of the pairs by what they have, one map for each leak
}

var leaks = [...]string{sameQuestion, questionTemplate, sqlTemplate}

// New returns a Guard for pairs, whose SQL is of dialect d.
func New(d sqltext.Dialect, pairs []memory.Exemplar) *Guard {
	g := &Guard{dialect: d}
	for i := range g.places {
		g.places[i] = make(map[string][]int, len(pairs))
	}
	for at, p := range pairs {
		for i, key := range g.keys(p) {
			if key != "" {
				g.places[i][key] = append(g.places[i][key], at)
			}
		}
	}
	return g
}

// Find returns in what p gives away a pair of the Guard most plainly: "same_question" (case and white space aside),
// "question_template" (other values aside) or "sql_template" (other values, aliases, case and comments aside). places
// are those of all pairs that p shares one of them with, ascending. Without any Find returns "" and nil.
func (g *Guard) Find(p memory.Exemplar) (leak string, places []int) {
	for i, key := range g.keys(p) {
		if at := g.places[i][key]; len(at) > 0 {
			if leak == "" {
				leak = leaks[i]
			}
			places = append(places, at...)
		}
	}
	slices.Sort(places)
	return leak, slices.Compact(places)
}

// keys returns what two pairs may have in common, in the order of leaks.
func (g *Guard) keys(p memory.Exemplar) (keys [len(leaks)]string) {
	s := g.dialect.Parse(p.SQL)
	if strings.TrimSpace(p.SQL) != "" {
		keys[2] = s.Template()
	}
	keys[0], keys[1] = words.Fold(p.Question), strings.Join(masking.Template(p.Question, masking.Values(s)), " ")
	return keys
}

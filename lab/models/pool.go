package models

import (
	"cmp"

	"github.com/texttosql/texttosql/lab/pools"
)

// FromPool returns a model that gives the answers of a pool to questions about
// one database, or about all with database "". Each of a pool's answers is a
// sample, in the pool's order.
//
// Give the database where there is one at hand: two databases may be asked the
// same question, which is an error here without it. Of two questions of one
// database with the same text the first is the one that is answered.
func FromPool(p *pools.Pool, database string) (*Recorded, error) {
	var questions []Question
	type place struct{ database, text string }
	seen := make(map[place]bool)
	for i, q := range p.Questions {
		at := place{q.DB, fold(q.Text)}
		if database != "" && q.DB != database || seen[at] {
			continue
		}
		seen[at] = true
		one := Question{ID: q.ID, Text: q.Text}
		for _, a := range p.Answers[i] {
			one.Replies = append(one.Replies, Reply{Text: a.SQL, Model: cmp.Or(a.Model, a.Run), Usage: a.Usage})
		}
		questions = append(questions, one)
	}
	return NewRecorded(p.Name, questions)
}

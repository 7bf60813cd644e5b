package linker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// What a hit of a word says about a table, in 0..1.
const (
	nameScore   = 1.0
	valueScore  = 0.7
	columnScore = 0.6
	textScore   = 0.4
)

// generic are words that name a column of most tables.
var generic = words.Set("id name code number value")

// lexicalHit is what words and stored values say about one table.
type lexicalHit struct {
	score   float64
	columns []string
	values  []schema.ValueMatch
	names   map[string]bool // words that name the table, and found values, in quotes
	rare    float64         // the score of those among names that few tables have
}

// few is how many tables may have a word that overrules the model's verdict on them. Of the 300 tables of an ERP a hundred
// are called something with order.
const few = 3

// storedValues are the values that the question names, looked up once. The error is ctx.Err().
func storedValues(ctx context.Context, in Input) (found schema.Links, err error) {
	found, err = Values{Choose: true}.Link(ctx, in)
	if err != nil {
		found.Notes = append(found.Notes, fmt.Sprintf("stored values could not be looked up: %v", err))
	}
	return found, ctx.Err()
}

// lexicalHits scores the tables of s, in their order. The words are those of the question, its evidence and its
// components; found are its stored values.
func lexicalHits(in Input, s *schema.Schema, components []Component, found schema.Links) (hits []lexicalHit) {
	asking := in
	for _, c := range components {
		asking.Question += "\n" + c.Text
	}
	asked := askedWords(asking, false)
	telling := maps.Clone(asked)
	maps.DeleteFunc(telling, func(w string, _ bool) bool { return generic[w] })
	hits = make([]lexicalHit, len(s.Tables))
	tables := map[string]int{} // how many tables have a name
	for i := range s.Tables {
		t, hit := &s.Tables[i], &hits[i]
		matched := matchTable(t, asked, in.WithoutValues)
		hit.columns, hit.values, hit.score, hit.names = matched.columns, matched.values, matched.class(), map[string]bool{}
		for w := range telling {
			if matched.words[w] == 3 || isBegun(t.Name, w) || isInflected(t.Name, w) {
				hit.score, hit.names[w] = nameScore, true
			}
		}
		for _, l := range found.Tables {
			if sameTable(l.Schema, l.Table, t.Schema, t.Name) {
				hit.columns, hit.values = union(hit.columns, l.Columns), addValues(hit.values, l.Values)
				hit.score = max(hit.score, valueScore)
				for _, v := range l.Values {
					hit.names[strconv.Quote(v.Span)] = true
				}
			}
		}
		for w := range hit.names {
			tables[w]++
		}
	}
	if len(s.Tables) < len(in.Schema.Tables) { // those that nobody asks about count too
		x := in.index()
		for w := range tables {
			if id, ok := x.ids[w]; ok {
				tables[w] = max(tables[w], int(x.titled[id]))
			}
		}
	}
	for i := range hits {
		for w := range hits[i].names {
			switch {
			case tables[w] > few:
			case telling[w]:
				hits[i].rare = nameScore
			default:
				hits[i].rare = max(hits[i].rare, valueScore)
			}
		}
	}
	return hits
}

// isInflected reports whether a word asked for is a word of a name and one letter more, as superheroe(s) is superhero and
// voted is vote: [words.Stem] knows the endings of most nouns, and of no verb.
func isInflected(name, asked string) bool {
	return slices.ContainsFunc(words.Stems(name), func(w string) bool {
		return len(w) >= minPrefix && len(asked) == len(w)+1 && strings.HasPrefix(asked, w) && !generic[w]
	})
}

// class returns the score of the best word.
func (s scoredTable) class() (best float64) {
	for w, score := range s.words {
		switch {
		case generic[w] || score < 2:
			best = max(best, textScore)
		default:
			best = columnScore
		}
	}
	return best
}

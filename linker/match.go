package linker

import (
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/snapshot"
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

// few is how many tables may have a word that overrules the model's verdict on them. Of the 300 tables of an ERP a
// hundred are called something with order.
const few = 3

// tableHit is what words of a question and stored values say of one table.
type tableHit struct {
	score   float64 // of the best one
	columns []string
	values  []schema.ValueMatch
	names   map[string]float64 // scores of the words that name the table, and of found values, in quotes
	rare    float64            // the best score of those among names that few tables have
}

// matchTable finds the words asked for in a table: in its names, its texts and those of the stored texts that it has.
func matchTable(t *schema.Table, asked map[string]bool, stored []snapshot.Stored) (h tableHit) {
	hit := func(named []string, score float64) (any bool) {
		for _, w := range named {
			if w = words.Stem(w); !asked[w] {
				continue
			}
			any = true
			if generic[w] {
				h.score = max(h.score, textScore)
			} else {
				h.score = max(h.score, score)
			}
		}
		return any
	}
	hit(words.OfName(t.Name), nameScore)
	hit(words.Of(t.Description), textScore)
	for _, v := range stored {
		if v.Schema == t.Schema && v.Table == t.Name {
			span := strings.Join(words.Of(v.Value), " ")
			h.values = append(h.values, schema.ValueMatch{Column: v.Column, Value: v.Value, Span: span})
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		found := hit(words.OfName(c.Name), columnScore)
		found = hit(words.Of(c.Title), textScore) || found
		found = hit(words.Of(c.Description), textScore) || found
		for _, v := range h.values {
			found = v.Column == c.Name && hit(strings.Fields(v.Span), columnScore) || found
		}
		if found {
			h.columns = append(h.columns, c.Name)
		}
	}
	return h
}

func all(named []string, asked map[string]bool) bool {
	return !slices.ContainsFunc(named, func(w string) bool { return !asked[words.Stem(w)] })
}

// isCalled reports whether a word asked for is one of a name, begins one, or is one and a letter more, as superheroe(s)
// is superhero and voted is vote: [words.Stem] knows the endings of most nouns, and of no verb.
func isCalled(name, asked string) bool {
	return isBegun(name, asked) || slices.ContainsFunc(words.Stems(name), func(w string) bool {
		return w == asked || len(w) >= minPrefix && len(asked) == len(w)+1 && strings.HasPrefix(asked, w) && !generic[w]
	})
}

// match says what words of the question, its evidence and its components say of the tables of a wave, and found values.
func (j *judge[T]) match(wave []*judged, found schema.Links) {
	asking := j.Input
	asking.Question += "\n" + j.components
	asked, stored := askedWords(asking, false), j.index().stored(asking)
	tables := map[string]int{} // how many tables a word names
	for _, t := range wave {
		t.match(asked, found, stored)
		for w := range t.hit.names {
			tables[w]++
		}
	}
	if len(wave) < len(j.tables) { // those that nobody asks about count too
		x := j.index()
		for w := range tables {
			if id, ok := x.ids[w]; ok {
				tables[w] = max(tables[w], int(x.titled[id]))
			}
		}
	}
	for _, t := range wave {
		for w, score := range t.hit.names {
			if tables[w] <= few {
				t.hit.rare = max(t.hit.rare, score)
			}
		}
	}
}

// match says what the words asked for and found values say of a table.
func (t *judged) match(asked map[string]bool, found schema.Links, stored []snapshot.Stored) {
	t.hit = matchTable(t.of, asked, stored)
	t.hit.names = map[string]float64{}
	for w := range asked {
		if !generic[w] && isCalled(t.of.Name, w) {
			t.hit.score, t.hit.names[w] = nameScore, nameScore
		}
	}
	for _, l := range found.Tables {
		if !sameTable(l.Schema, l.Table, t.of.Schema, t.of.Name) {
			continue
		}
		t.hit.columns, t.hit.values = union(t.hit.columns, l.Columns), addValues(t.hit.values, l.Values)
		t.hit.score = max(t.hit.score, valueScore)
		for _, v := range l.Values {
			t.hit.names[strconv.Quote(v.Span)] = valueScore
		}
	}
	t.Lexical = t.hit.score
}

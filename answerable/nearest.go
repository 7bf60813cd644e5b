package answerable

import (
	"cmp"
	"slices"

	"github.com/texttosql/texttosql/internal/words"
)

// mostNearest is how much there is instead, at most.
const mostNearest = 5

// alike is from which similarity on a word may be another one that was misspelt.
const alike = 0.75

// nearest names what comes nearest to the unmet words, and then to the question. Where every word is met, there is nothing to
// name.
func (q *Question) nearest(r reading) []string {
	if len(r.unmet) == 0 {
		return nil
	}
	asked := vocabulary{}
	asked.text(q.Text)
	type item struct {
		name  string
		score float64
	}
	var list []item
	add := func(name string, said ...string) {
		v := vocabulary{}
		for _, s := range said {
			v.name(s)
			v.text(s)
		}
		if score := v.near(asked, r.unmet); score > 0 {
			list = append(list, item{name, score})
		}
	}
	if m := q.Knowledge; m != nil {
		for _, x := range m.Metrics {
			add(x.Name, append([]string{x.Name, x.Description}, x.Synonyms...)...)
		}
		for _, t := range m.Terms {
			add(t.Words[0], append([]string{t.Description}, t.Words...)...)
		}
		for _, v := range m.VerifiedQueries {
			add(v.Question, v.Question)
		}
	}
	if q.Schema != nil {
		for i := range q.Schema.Tables {
			t := &q.Schema.Tables[i]
			for _, c := range t.Columns {
				add(t.Name+"."+c.Name, t.Name, c.Name, c.Title, c.Description, c.Described)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(b.score, a.score) })
	var names []string
	for _, x := range list[:min(mostNearest, len(list))] {
		names = append(names, x.name)
	}
	return names
}

// near scores a thing by its words: 2 for each unmet word that may be one of them, 1 for each other word of the question, by
// the number of its words.
func (v vocabulary) near(asked vocabulary, unmet []string) float64 {
	score := 0.0
	for w := range asked {
		if v.has(w) {
			score++
		}
	}
	for _, w := range unmet {
		for name := range v {
			if len(name) > 3 && words.Similarity(words.Stem(w), name) >= alike {
				score += 2
				break
			}
		}
	}
	return score / (1 + float64(len(v))/10)
}

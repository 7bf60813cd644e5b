package answerable

import (
	"cmp"
	"maps"
	"slices"

	"github.com/texttosql/texttosql/internal/words"
)

// mostNearest is how much there is instead, at most.
const mostNearest = 5

// alike is from which similarity on a word may be another one that was misspelt.
const alike = 0.75

// nearest names what comes nearest to the unmet words, and then to the question. Where every word is met, there is
// nothing to name.
func (q *Question) nearest(r reading) []string {
	if len(r.unmet) == 0 {
		return nil
	}
	hits := r.hits(q.Text)
	type item struct {
		name  string
		score float64
	}
	var list []item
	add := func(name string, said ...string) {
		if score := hits.score(said); score > 0 {
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
				if score := hits.score([]string{t.Name, c.Name, c.Title, c.Description, c.Described}); score > 0 {
					list = append(list, item{t.Name + "." + c.Name, score})
				}
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

// hits are the words that come near to a question, each with what it counts: 2 where an unmet word may be it, 1 where
// another word of the question is.
type hits struct {
	words map[string]float64
	cut   map[string][]string // the words of a text, cut once
}

func (r *reading) hits(question string) hits {
	h, asked := hits{map[string]float64{}, map[string][]string{}}, vocabulary{}
	asked.text(question)
	for _, w := range slices.Concat(r.named, slices.Collect(maps.Keys(r.also))) {
		if asked.has(w) {
			h.words[w] = 1
		}
		for _, unmet := range r.unmet {
			if mayBe(words.Stem(unmet), w) {
				h.words[w] = 2
			}
		}
	}
	return h
}

// mayBe reports whether a word may be another one that was misspelt. Words of very different lengths are not compared.
func mayBe(a, b string) bool {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	return short > 3 && 5*short >= 3*long && words.Similarity(a, b) >= alike
}

// score is what the words of a thing count, less for a thing of many words.
func (h hits) score(said []string) float64 {
	score, n := 0.0, 0
	seen := map[string]bool{}
	for _, text := range said {
		if text == "" {
			continue
		}
		cut, known := h.cut[text]
		if !known {
			v := vocabulary{}
			v.name(text)
			v.text(text)
			cut = slices.Sorted(maps.Keys(v))
			h.cut[text] = cut
		}
		for _, w := range cut {
			if n++; h.words[w] > 0 && !seen[w] {
				seen[w] = true
				score += h.words[w]
			}
		}
	}
	return score / (1 + float64(n)/10)
}

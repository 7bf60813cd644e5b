package strategy

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// lexicalIndex finds texts that are similar in words: the cosine of vectors over
// words and pairs of neighbouring words, runs of equal masks taken as one, each
// weighted (1 + ln tf)·ln((N+1)/(df+1) + 1), where tf is how often it stands in
// the text and df in how many of the N texts. It needs no network and no model.
type lexicalIndex struct {
	terms    map[string]int // term -> place
	weights  []float64      // ln(…) of the term at a place
	postings [][]posting    // texts that have the term
}

type posting struct {
	text   int
	weight float64 // of a vector of length 1
}

func newLexicalIndex(texts []string) *lexicalIndex {
	x := &lexicalIndex{terms: map[string]int{}}
	var df []int
	counted := make([]map[int]int, len(texts))
	for i, text := range texts {
		counted[i] = map[int]int{}
		for _, term := range lexicalTerms(text) {
			at, ok := x.terms[term]
			if !ok {
				at = len(df)
				x.terms[term] = at
				df = append(df, 0)
			}
			if counted[i][at]++; counted[i][at] == 1 {
				df[at]++
			}
		}
	}
	x.weights = make([]float64, len(df))
	for at, n := range df {
		x.weights[at] = idf(len(texts), n)
	}
	x.postings = make([][]posting, len(df))
	for i, counts := range counted {
		places, vector, _ := normalized(counts, x.weights)
		for j, at := range places {
			x.postings[at] = append(x.postings[at], posting{i, vector[j]})
		}
	}
	return x
}

// scores returns the similarity of each text to query, in 0..1.
func (x *lexicalIndex) scores(query string, texts int) []float64 {
	counts := map[int]int{}
	unknown := 0.0 // squared weight of terms that no text has
	extra := map[string]int{}
	for _, term := range lexicalTerms(query) {
		if at, ok := x.terms[term]; ok {
			counts[at]++
		} else {
			extra[term]++
		}
	}
	// Float sums depend on their order, so each has a written one.
	for _, tf := range slices.Sorted(maps.Values(extra)) {
		w := (1 + math.Log(float64(tf))) * idf(texts, 0)
		unknown += w * w
	}
	scores := make([]float64, texts)
	places, vector, known := normalized(counts, x.weights)
	shrink := 0.0
	if known > 0 {
		shrink = math.Sqrt(known / (known + unknown))
	}
	for j, at := range places {
		for _, p := range x.postings[at] {
			scores[p.text] += vector[j] * p.weight * shrink
		}
	}
	for i := range scores {
		scores[i] = math.Round(scores[i]*1e9) / 1e9 // last bits are no difference
	}
	return scores
}

func idf(texts, df int) float64 { return math.Log(float64(texts+1)/float64(df+1) + 1) }

// normalized is the vector of the counts, of length 1: its places in order, their
// weights, and the square of its length before.
func normalized(counts map[int]int, weights []float64) (places []int, vector []float64, square float64) {
	places = slices.Sorted(maps.Keys(counts))
	for _, at := range places {
		w := (1 + math.Log(float64(counts[at]))) * weights[at]
		vector = append(vector, w)
		square += w * w
	}
	for i := range vector {
		vector[i] /= math.Sqrt(square)
	}
	return places, vector, square
}

// lexicalTerms are the words of a masked question and the pairs of neighbours.
func lexicalTerms(text string) []string {
	words := strings.Fields(text)
	kept := words[:0]
	for i, w := range words {
		if i > 0 && len(kept) > 0 && w == kept[len(kept)-1] && (w == maskName || w == maskValue) {
			continue
		}
		kept = append(kept, w)
	}
	terms := slices.Clone(kept)
	for i := 1; i < len(kept); i++ {
		terms = append(terms, kept[i-1]+" "+kept[i])
	}
	return terms
}

// ranked are the places of scores, the greatest first, then by place.
func ranked(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

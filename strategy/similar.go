package strategy

import (
	"cmp"
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
		for at, w := range normalized(counts, x.weights) {
			x.postings[at] = append(x.postings[at], posting{i, w})
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
	for _, tf := range extra {
		w := (1 + math.Log(float64(tf))) * idf(texts, 0)
		unknown += w * w
	}
	scores := make([]float64, texts)
	vector := normalized(counts, x.weights)
	known := 0.0
	for at, tf := range counts {
		w := (1 + math.Log(float64(tf))) * x.weights[at]
		known += w * w
	}
	shrink := 0.0
	if known > 0 {
		shrink = math.Sqrt(known / (known + unknown))
	}
	// In the order of places: float sums depend on their order.
	places := make([]int, 0, len(vector))
	for at := range vector {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		for _, p := range x.postings[at] {
			scores[p.text] += vector[at] * p.weight * shrink
		}
	}
	for i := range scores {
		scores[i] = math.Round(scores[i]*1e9) / 1e9 // last bits are no difference
	}
	return scores
}

func idf(texts, df int) float64 { return math.Log(float64(texts+1)/float64(df+1) + 1) }

// normalized is the vector of the counts, of length 1.
func normalized(counts map[int]int, weights []float64) map[int]float64 {
	vector := make(map[int]float64, len(counts))
	places := make([]int, 0, len(counts))
	for at := range counts {
		places = append(places, at)
	}
	slices.Sort(places)
	sum := 0.0
	for _, at := range places {
		w := (1 + math.Log(float64(counts[at]))) * weights[at]
		vector[at] = w
		sum += w * w
	}
	for at := range vector {
		vector[at] /= math.Sqrt(sum)
	}
	return vector
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

package memory

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/schema"
)

// index is what was computed of a pool for one schema.
type index struct {
	mask   func(string) string // masks a question about the schema
	masked []string            // the masked questions of the pool

	// Vectors of length 1, one for each text of masked. A term is a word or a pair of neighbouring words. It weighs (1
	// + ln tf)·ln((N+1)/(df+1) + 1), where tf is how often it stands in the text and df in how many of the N texts.
	vectors [][]weight
	df      map[string]int

	mu       sync.Mutex
	embedded *Vectors // of the embedder asked last; nil: none yet
}

// weight is one entry of a vector.
type weight struct {
	term string
	w    float64
}

// indexed returns the index for s. It makes a new one if the last one is for another schema.
func (p *Pool) indexed(s *schema.Schema, values bool) *index {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index != nil && p.schema == s && p.values == values {
		return p.index
	}
	x := &index{mask: masking.Masker(s, values), df: map[string]int{}}
	for _, pair := range p.Pairs {
		masked := ""
		if p.Mask != nil {
			masked = p.Mask(pair)
		} else {
			masked = x.mask(pair.Question)
		}
		counts := count(masked)
		for _, c := range counts {
			x.df[c.term]++
		}
		x.masked, x.vectors = append(x.masked, masked), append(x.vectors, counts)
	}
	for _, v := range x.vectors {
		x.weigh(v)
	}
	p.schema, p.values, p.index = s, values, x
	return x
}

// count counts the terms of a masked question, sorted, because sums of floats depend on their order. A run of equal
// masks counts as one word.
func count(masked string) (counts []weight) {
	terms := slices.CompactFunc(strings.Fields(masked), func(a, b string) bool {
		return a == b && (a == masking.Name || a == masking.Value)
	})
	for i := len(terms) - 1; i > 0; i-- {
		terms = append(terms, terms[i-1]+" "+terms[i])
	}
	slices.Sort(terms)
	for i, t := range terms {
		if i == 0 || t != terms[i-1] {
			counts = append(counts, weight{term: t})
		}
		counts[len(counts)-1].w++
	}
	return counts
}

// weigh turns counts into a vector of length 1.
func (x *index) weigh(vector []weight) {
	sum := 0.0
	for i, v := range vector {
		w := (1 + math.Log(v.w)) * math.Log(float64(len(x.masked)+1)/float64(x.df[v.term]+1)+1)
		vector[i].w = w
		sum += w * w
	}
	for i := range vector {
		vector[i].w /= math.Sqrt(sum)
	}
}

// cosines returns the similarity of each text to a masked question, in 0..1.
func (x *index) cosines(masked string) []float64 {
	vector := count(masked)
	x.weigh(vector)
	query := map[string]float64{}
	for _, v := range vector {
		query[v.term] = v.w
	}
	scores := make([]float64, len(x.vectors))
	for i, vector := range x.vectors {
		for _, v := range vector {
			scores[i] += v.w * query[v.term]
		}
		scores[i] = math.Round(scores[i]*1e9) / 1e9 // the last bits are no difference
	}
	return scores
}

// keptBy is the Vectors of an embedder: those used last, where they are its.
func (x *index) keptBy(e Embedder) *Vectors {
	x.mu.Lock()
	defer x.mu.Unlock()
	last := x.embedded
	// != may panic
	if last == nil || !reflect.ValueOf(last.By).Comparable() || !reflect.ValueOf(e).Comparable() || last.By != e {
		x.embedded = keptBy(e)
	}
	return x.embedded
}

// distances returns minus the squared distance of each text to a masked question.
func (x *index) distances(ctx context.Context, e Embedder, masked string) ([]float64, error) {
	v := x.keptBy(e)
	ctx, cancel := v.Within(ctx)
	defer cancel()
	found, err := v.EmbedDocuments(ctx, x.masked)
	if err != nil {
		return nil, err
	}
	query, err := v.EmbedQuery(ctx, masked)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(found))
	for i, v := range found {
		if len(v) != len(query) {
			return nil, fmt.Errorf("memory: the embedder gave vectors of %d and %d numbers", len(v), len(query))
		}
		for j := range v {
			d := float64(v[j]) - float64(query[j])
			scores[i] -= d * d
		}
	}
	return scores, nil
}

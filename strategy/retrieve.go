package strategy

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Exemplars retrieves the solved questions that are most like a question: the
// few-shot exemplars of PET-SQL (arXiv 2403.09732). Questions are compared
// masked (Masker), so that "How many singers are from France?" finds "How many
// customers are from Norway?".
//
// The default compares words and needs no network: the cosine of TF-IDF vectors
// over words and word pairs. With an Embedder it is the Euclidean distance of
// embeddings; one that fails is replaced by the default, with a warning. Ties go
// to the pool's order. A pair whose question is that of the question, case and
// white space aside, is never an exemplar for it.
//
// It calls no model but the Embedder. The zero value retrieves 9 pairs of
// Env.Exemplars. Safe for concurrent use.
type Exemplars struct {
	Pool     []Pair   // nil: Env.Exemplars
	K        int      // 0 means 9, negative none
	Embedder Embedder // finds pairs by meaning; nil: by words
	// Skeleton puts pairs first whose SQL has nearly the skeleton of Draft
	// (sqltext.SkeletonOverlap of 0.85 or more), and fills up with the rest.
	Skeleton bool
	Draft    string // a preliminary statement; "" where there is none
	// WithoutTemplate leaves out pairs whose masked question is that of the
	// question: leakage where answers are measured, and the best exemplar there is
	// where they are given.
	WithoutTemplate bool
	// Mask masks the question of a pair of the pool; nil: by the schema of the
	// question. A pool of questions to several databases needs one.
	Mask func(Pair) string
	// Index keeps what was computed of a pool for the next question; nil:
	// Env.Index, or none where there is a Mask. It cannot tell masks apart: each
	// Mask needs an Index of its own.
	Index *ExemplarIndex
}

// Embedder turns texts into vectors. The embedders of langchaingo fit as they
// are.
type Embedder interface {
	// EmbedDocuments returns a vector for each text, in their order.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a question.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// ExemplarIndex keeps the masked and indexed questions of the last pool and
// schema that it was used with, and their embeddings by the last Embedder. The
// zero value is empty and ready for use; safe for concurrent use.
type ExemplarIndex struct {
	mu     sync.Mutex
	schema *schema.Schema
	first  *Pair
	length int
	values bool // the masks know stored values
	pool   *indexedPool
}

// indexedPool is a pool made ready for retrieval.
type indexedPool struct {
	pairs   []Pair
	masker  *Masker
	masked  []string
	lexical *lexicalIndex

	mu         sync.Mutex
	embeddings [][]float32 // nil until an embedder gave them
	by         Embedder    // that gave them
}

const (
	defaultExemplars = 9
	// sameSkeleton is the overlap from which PET-SQL's code takes two skeletons
	// for one.
	sameSkeleton = 0.85
)

// Pick returns the exemplars for a question about s, the most similar first. The
// error is ctx.Err().
func (e Exemplars) Pick(ctx context.Context, env *Env, s *schema.Schema, question string) ([]Pair, error) {
	pairs := e.Pool
	if pairs == nil {
		pairs = env.Exemplars
	}
	k := cmp.Or(e.K, defaultExemplars)
	if len(pairs) == 0 || k < 0 {
		return nil, ctx.Err()
	}
	index := e.Index
	if index == nil && e.Mask == nil {
		index = env.Index
	}
	pool := index.indexed(pairs, s, !env.SkipValues, e.Mask)
	masked := pool.masker.Mask(question)
	order, err := e.order(ctx, pool, masked)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{fold(question): true}
	var first, rest []Pair
	draft := env.DB.Dialect().Text().Skeleton(e.Draft)
	for _, i := range order {
		p := pool.pairs[i]
		key := fold(p.Question)
		if seen[key] || e.WithoutTemplate && pool.masked[i] == masked {
			continue
		}
		seen[key] = true
		if e.Skeleton && e.Draft != "" && sqltext.SkeletonOverlap(draft, env.DB.Dialect().Text().Skeleton(p.SQL)) >= sameSkeleton {
			if first = append(first, p); len(first) == k {
				break
			}
		} else if len(rest) < k {
			if rest = append(rest, p); len(rest) == k && (!e.Skeleton || e.Draft == "") {
				break
			}
		}
	}
	picked := append(first, rest...)
	return picked[:min(k, len(picked))], nil
}

// order ranks the pool.
func (e Exemplars) order(ctx context.Context, pool *indexedPool, masked string) ([]int, error) {
	if e.Embedder != nil {
		scores, err := pool.distances(ctx, e.Embedder, masked)
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		if err == nil {
			return ranked(scores), nil
		}
		trace.From(ctx).Warn("exemplars-lexical", fmt.Sprintf("exemplars are retrieved by words, the embedder failed: %v", err))
	}
	return ranked(pool.lexical.scores(masked, len(pool.pairs))), ctx.Err()
}

// distances returns minus the squared distance of each pair.
func (p *indexedPool) distances(ctx context.Context, e Embedder, masked string) ([]float64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.embeddings == nil || !sameEmbedder(p.by, e) {
		found, err := e.EmbedDocuments(ctx, p.masked)
		if err != nil {
			return nil, err
		}
		if len(found) != len(p.masked) {
			return nil, fmt.Errorf("strategy: the embedder gave %d vectors for %d texts", len(found), len(p.masked))
		}
		p.embeddings, p.by = found, e
	}
	query, err := e.EmbedQuery(ctx, masked)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(p.embeddings))
	for i, v := range p.embeddings {
		if len(v) != len(query) {
			return nil, fmt.Errorf("strategy: the embedder gave vectors of %d and %d numbers", len(v), len(query))
		}
		for j := range v {
			d := float64(v[j]) - float64(query[j])
			scores[i] -= d * d
		}
	}
	return scores, nil
}

// sameEmbedder reports whether a is b; one that cannot be compared never is.
func sameEmbedder(a, b Embedder) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// indexed returns the pool made ready, from the index where it is the same.
func (x *ExemplarIndex) indexed(pairs []Pair, s *schema.Schema, values bool, mask func(Pair) string) *indexedPool {
	if x == nil {
		return newIndexedPool(pairs, s, values, mask)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pool == nil || x.schema != s || x.first != &pairs[0] || x.length != len(pairs) || x.values != values {
		x.schema, x.first, x.length, x.values = s, &pairs[0], len(pairs), values
		x.pool = newIndexedPool(pairs, s, values, mask)
	}
	return x.pool
}

func newIndexedPool(pairs []Pair, s *schema.Schema, values bool, mask func(Pair) string) *indexedPool {
	p := &indexedPool{pairs: pairs, masker: NewMasker(s, values), masked: make([]string, len(pairs))}
	if mask == nil {
		mask = func(pair Pair) string { return p.masker.Mask(pair.Question) }
	}
	for i := range pairs {
		p.masked[i] = mask(pairs[i])
	}
	p.lexical = newLexicalIndex(p.masked)
	return p
}

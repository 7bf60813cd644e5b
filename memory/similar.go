package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Similar picks the solved questions that are most similar to a question: the few-shot exemplars of PET-SQL (arXiv
// 2403.09732). Names of the schema and values are masked before the comparison, so "How many singers are from
// France?" finds "How many customers are from Norway?".
//
// The default compares words and needs no network: it is the cosine of TF-IDF vectors over words and pairs of
// neighbouring words. With an Embedder it is the Euclidean distance of embeddings. If the embedder fails, the default
// replaces it, with a warning. Ties go to the order of the pool. The question itself, without case and white space,
// is never picked. Safe for concurrent use.
type Similar struct {
	Pool     *Pool    // the pairs to pick from; nil: none
	K        int      // how many; 0 means 9, negative none
	Embedder Embedder // compares by meaning; nil: by words
	// Skeleton puts pairs first if the skeleton of their SQL is similar to the skeleton of Draft
	// (sqltext.Statement.Alike of 0.85 or more). The others fill the remaining places.
	Skeleton bool
	Draft    string          // a preliminary statement; "": none
	Dialect  sqltext.Dialect // reads Draft and the SQL of the pairs
	// WithoutTemplate leaves out pairs whose masked question equals the new question, masked. Set it to measure
	// answers. For production leave it unset: such a pair is the best exemplar.
	WithoutTemplate bool
	WithoutValues   bool // do not mask the stored values of the schema in questions
}

// Embedder turns texts into vectors. The embedders of langchaingo implement it unchanged.
type Embedder interface {
	// EmbedDocuments returns a vector for each text, in their order.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a question.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

const (
	defaultExemplars = 9
	// sameSkeleton is the overlap from which PET-SQL's code treats two skeletons as one.
	sameSkeleton = 0.85
)

// Pick returns the exemplars for a question about s, the most similar first. The error is ctx.Err().
func (x Similar) Pick(ctx context.Context, s *schema.Schema, question string) ([]Exemplar, error) {
	k := cmp.Or(x.K, defaultExemplars)
	if x.Pool == nil || len(x.Pool.Pairs) == 0 || k < 0 {
		return nil, ctx.Err()
	}
	index := x.Pool.indexed(s, !x.WithoutValues)
	masked := index.mask(question)
	order, err := x.order(ctx, index, masked)
	if err != nil {
		return nil, err
	}
	if x.Skeleton && x.Draft != "" {
		draft := x.Dialect.Parse(x.Draft)
		alike := slices.DeleteFunc(slices.Clone(order), func(i int) bool {
			return draft.Alike(x.Dialect.Parse(x.Pool.Pairs[i].SQL)) < sameSkeleton
		})
		order = append(alike, order...)
	}
	return x.Pool.pick(k, order, question, func(i int) bool { return x.WithoutTemplate && index.masked[i] == masked }), nil
}

// order returns the places of the pool, the most similar first.
func (x Similar) order(ctx context.Context, index *index, masked string) ([]int, error) {
	var scores []float64
	if x.Embedder != nil {
		var err error
		scores, err = index.distances(ctx, x.Embedder, masked)
		if err != nil && ctx.Err() == nil {
			trace.FromContext(ctx).Warn("exemplars-lexical",
				fmt.Sprintf("exemplars are retrieved by words, the embedder failed: %v", err))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if scores == nil {
		scores = index.cosines(masked)
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order, nil
}

package linker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/trace"
)

// How meaning counts beside words, chosen on data-large by folds with multilingual-e5-small: docs/lab/scale-linking.md.
const (
	meaningWeight = 0.4  // of the table that is closest in meaning, to the best by words
	meaningPower  = 1.5  // of the share that another one has of its lead over the mean
	meaningPast   = 10   // past statements at which the weight is half: they say more than meaning does
	meaningFound  = 0.5  // share of the lead from which on a table counts as found
	mostMeant     = 1000 // bytes of the text of a table
)

// vectorsOf are the vectors of entries.
var vectorsOf = &snapshot.Derived[meant, [][]float32]{
	Reach: snapshot.OfPolicy, Needed: true, // they cost money
	Size: func(_ meant, vectors [][]float32) (bytes int) {
		for _, v := range vectors {
			bytes += 4 * len(v)
		}
		return bytes
	},
}

// keepers keep the vectors of embedders while not all are made.
var keepers = &snapshot.Derived[meant, *memory.Vectors]{Reach: snapshot.OfPolicy, Needed: true}

// meant says whose vectors they are, and by whom.
type meant struct {
	*names
	by memory.Embedder
}

// textOf is what an entry is called and holds: name, description, columns.
func (x *Index) textOf(e int) string {
	t := &x.schema.Tables[x.entries[e].members[0]]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (", strings.Join(words.OfName(t.Name), " "), t.Description)
	for i := range t.Columns {
		if b.Len() >= mostMeant {
			break
		}
		b.WriteString(strings.Join(words.OfName(cmp.Or(t.Columns[i].Title, t.Columns[i].Name)), " ") + ", ")
	}
	return words.Cut(strings.TrimSuffix(b.String(), ", "), mostMeant-1) + ")"
}

// Prepare embeds the tables of Input.Schema in advance, so that no question waits for the Embedder. Call it when a
// program starts or a schema has changed. The Embedder should be a [memory.Vectors] that has a File, or that the
// engine's Lexical also uses. Prepare runs until the embedder has finished or ctx ends; vectors computed by then are
// stored. Without an Embedder it does nothing.
func (l Lexical) Prepare(ctx context.Context, in Input) error {
	if err := in.needs("Lexical"); err != nil || l.Embedder == nil {
		return err
	}
	_, err := in.index().embedded(ctx, keeperOf(l.Embedder))
	return err
}

// best is rank, with how close the tables are to the question in meaning. e may be nil. The error is ctx.Err().
func (x *Index) best(ctx context.Context, in Input, asked map[string]bool, e memory.Embedder) (list []ranked, found int,
	err error) {
	list, found = x.rank(in, asked)
	if e == nil {
		return list, found, nil
	}
	meant, err := x.addMeaning(ctx, in.keeps(x), e, in.Question, list)
	if err != nil && ctx.Err() == nil {
		trace.FromContext(ctx).Warn("link-lexical", fmt.Sprintf("tables are linked by words alone, the embedder failed: %v",
			err))
	}
	return list, found + meant, ctx.Err()
}

// addMeaning adds to the scores of list how close the tables are to a question in meaning, and sorts it again. It
// returns how many it found that words did not. On an error list is as it was.
func (x *Index) addMeaning(ctx context.Context, of *snapshot.Snapshot, e memory.Embedder, question string,
	list []ranked) (found int, err error) {
	if !reflect.ValueOf(e).Comparable() { // as the key of a part it would panic
		of = nil
	}
	v, err := keepers.Of(ctx, of, meant{x.names, e}, func(context.Context) (*memory.Vectors, error) {
		return keeperOf(e), nil
	})
	if err != nil {
		return 0, err
	}
	ctx, cancel := v.Within(ctx)
	defer cancel()
	vectors, err := vectorsOf.Of(ctx, of, meant{x.names, v}, func(ctx context.Context) ([][]float32, error) {
		return x.embedded(ctx, v)
	})
	if err != nil {
		return 0, err
	}
	query, err := v.EmbedQuery(ctx, question)
	if err != nil {
		return 0, err
	}
	near, mean, best, top := make([]float64, len(vectors)), 0.0, math.Inf(-1), 0.0
	for i, v := range vectors {
		if len(v) != len(query) {
			return 0, fmt.Errorf("linker: the embedder gave vectors of %d and %d numbers", len(v), len(query))
		}
		near[i] = cosine(v, query)
		mean, best = mean+near[i]/float64(len(vectors)), max(best, near[i])
	}
	for _, r := range list {
		top = max(top, r.score)
	}
	weight := meaningWeight * cmp.Or(top, 1)
	if x.history != nil { // the best by words has 1
		weight = meaningWeight * meaningPast / (meaningPast + x.history.size())
	}
	if !(best-mean > 1e-9) { // all are equally close, or some are no numbers
		return 0, nil
	}
	for i := range list {
		r := &list[i]
		share := (near[r.entry] - mean) / (best - mean)
		r.score += weight * math.Pow(max(share, 0), meaningPower)
		if !r.found && share >= meaningFound {
			r.found = true
			found++
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return found, nil
}

// embedded asks for the vectors of all entries.
func (x *Index) embedded(ctx context.Context, v *memory.Vectors) ([][]float32, error) {
	texts := make([]string, len(x.entries))
	for i := range texts {
		texts[i] = x.textOf(i)
	}
	return v.EmbedDocuments(ctx, texts)
}

// cosine returns the cosine of the angle between two vectors.
func cosine(a, b []float32) float64 {
	product, squaresA, squaresB := 0.0, 0.0, 0.0
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		product, squaresA, squaresB = product+x*y, squaresA+x*x, squaresB+y*y
	}
	return product / max(math.Sqrt(squaresA*squaresB), 1e-30)
}

// keeperOf returns e if it is a *memory.Vectors, or else a new one that keeps its vectors in memory.
func keeperOf(e memory.Embedder) *memory.Vectors {
	if v, ok := e.(*memory.Vectors); ok {
		return v
	}
	return &memory.Vectors{By: e}
}

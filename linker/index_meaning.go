package linker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/snapshot"
)

const (
	meaningWeight = 0.5  // of the table that is closest in meaning, to the best by words
	meaningFound  = 0.5  // of its lead over the mean, from which on a table counts as found
	mostMeant     = 1000 // bytes of the text of a table
)

// vectorsOf are the vectors of entries, of length 1.
var vectorsOf = &snapshot.Derived[meant, [][]float32]{
	Reach: snapshot.OfPolicy, Needed: true, // they cost money
	Size: func(_ meant, vectors [][]float32) (bytes int) {
		for _, v := range vectors {
			bytes += 4 * len(v)
		}
		return bytes
	},
}

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

// addMeaning adds to the scores of list how close the tables are to a question in meaning, and sorts it again. It returns how
// many it found that words did not. On an error list is as it was.
func (x *Index) addMeaning(ctx context.Context, of *snapshot.Snapshot, e memory.Embedder, question string, list []ranked) (found int, err error) {
	if !reflect.ValueOf(e).Comparable() { // as the key of a part it would panic
		of = nil
	}
	vectors, err := vectorsOf.Of(ctx, of, meant{x.names, e}, func(ctx context.Context) ([][]float32, error) { return x.embedded(ctx, e) })
	if err != nil {
		return 0, err
	}
	var query []float32
	if err := llm.Embed(ctx, []string{question}, func(ctx context.Context) (err error) {
		query, err = e.EmbedQuery(ctx, question)
		return err
	}); err != nil {
		return 0, err
	}
	query = unit(slices.Clone(query))
	near, mean, best, top := make([]float64, len(vectors)), 0.0, math.Inf(-1), 0.0
	for i, v := range vectors {
		if len(v) != len(query) {
			return 0, fmt.Errorf("linker: the embedder gave vectors of %d and %d numbers", len(v), len(query))
		}
		for j := range v {
			near[i] += float64(v[j]) * float64(query[j])
		}
		mean, best = mean+near[i]/float64(len(vectors)), max(best, near[i])
	}
	for _, r := range list {
		top = max(top, r.score)
	}
	if !(best-mean > 1e-9) { // all are equally close, or some are no numbers
		return 0, nil
	}
	for i := range list {
		r := &list[i]
		share := (near[r.entry] - mean) / (best - mean)
		r.score += meaningWeight * cmp.Or(top, 1) * max(share, 0)
		if !r.found && share >= meaningFound {
			r.found = true
			found++
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return found, nil
}

// embedded asks for the vectors of all entries.
func (x *Index) embedded(ctx context.Context, e memory.Embedder) ([][]float32, error) {
	texts := make([]string, len(x.entries))
	for i := range texts {
		texts[i] = x.textOf(i)
	}
	var vectors [][]float32
	if err := llm.Embed(ctx, texts, func(ctx context.Context) (err error) {
		vectors, err = e.EmbedDocuments(ctx, texts)
		return err
	}); err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("linker: the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		vectors[i] = unit(slices.Clone(v))
	}
	return vectors, nil
}

// unit makes a vector one of length 1.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / max(math.Sqrt(sum), 1e-30))
	}
	return v
}

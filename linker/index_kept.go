package linker

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

// sameNames reports whether two schemas differ in profiles and keys at most.
func sameNames(a, b *schema.Schema) bool {
	return slices.EqualFunc(a.Tables, b.Tables, func(a, b schema.Table) bool {
		return a.Name == b.Name && a.Schema == b.Schema && a.Description == b.Description &&
			len(a.Columns) == len(b.Columns) &&
			(len(a.Columns) == 0 || &a.Columns[0] == &b.Columns[0] ||
				slices.EqualFunc(a.Columns, b.Columns, func(a, b schema.Column) bool {
					return a.Name == b.Name && a.Title == b.Title && a.Description == b.Description && a.Described == b.Described
				}))
	})
}

// What is read of a snapshot, so that each version is read once.
var (
	// wholes are indexes of the schema of a snapshot, by what people know of it.
	wholes = &snapshot.Derived[*knowledge.Model, *Index]{
		Reach: snapshot.OfPolicy, Needed: true, Size: func(_ *knowledge.Model, x *Index) int { return sizeOf(x.schema) },
	}
	// indexes are those of the schemas of a snapshot, with profiles and without. One of a part is read at each call.
	indexes = &snapshot.Derived[*schema.Schema, *Index]{Size: func(s *schema.Schema, _ *Index) int { return sizeOf(s) }}
	// histories are what was asked before.
	histories = &snapshot.Derived[pastOf, *history]{Size: func(p pastOf, _ *history) int { return 1000 * p.n }}
)

// pastOf is a list of past statements as an index reads it.
type pastOf struct {
	*names
	first *memory.Exemplar
	n     int
}

// sizeOf estimates what the columns of a schema take in an index.
func sizeOf(s *schema.Schema) (bytes int) {
	for i := range s.Tables {
		bytes += 100 + 15*len(s.Tables[i].Columns)
	}
	return bytes
}

// index is the Index of the schema. Others wait while one caller reads it.
func (in Input) index() *Index {
	if in.Index != nil && in.Index.schema == in.Schema {
		return in.Index
	}
	ctx := context.Background() // nothing here waits for anything but a reading
	x, _ := indexes.Of(ctx, in.Snapshot.For(in.Schema), in.Schema, func(context.Context) (*Index, error) {
		return in.read(ctx), nil
	})
	if len(in.Past) == 0 {
		return x
	}
	y := *x
	y.history, _ = histories.Of(ctx, in.keeps(x), pastOf{x.names, &in.Past[0], len(in.Past)},
		func(context.Context) (*history, error) {
			return x.WithHistory(in.Past).history, nil
		})
	return &y
}

// keeps returns the snapshot if the names of x outlive the question, and nil if they are of a part.
func (in Input) keeps(x *Index) *snapshot.Snapshot {
	if whole, ok := wholes.Known(in.Snapshot, in.Knowledge); ok && whole.names == x.names {
		return in.Snapshot
	}
	return in.Snapshot.For(x.schema)
}

// read makes the Index of the schema. One that differs from that of the snapshot in profiles only shares what was read
// of it.
func (in Input) read(ctx context.Context) *Index {
	of := in.Snapshot
	if of == nil || of.Schema == nil || !sameNames(of.Schema, in.Schema) {
		return newIndex(in.Schema, in.Knowledge)
	}
	whole, _ := wholes.Of(ctx, of, in.Knowledge, func(context.Context) (*Index, error) {
		return newIndex(of.Schema, in.Knowledge), nil
	})
	return whole.profiled(in.Schema)
}

package snapshot

import (
	"context"

	"github.com/texttosql/texttosql/schema"
)

// graphs are the names and foreign keys of the schemas of a snapshot, with profiles and without.
var graphs = &Derived[*schema.Schema, *schema.Graph]{
	Reach: OfPolicy, // a pointer is one schema, whoever has it
	Size:  func(s *schema.Schema, _ *schema.Graph) int { return 200 * len(s.Tables) },
}

// Graph returns the graph of shown. It is stored if shown has many tables and outlives the question.
func (s *Snapshot) Graph(shown *schema.Schema) *schema.Graph {
	if s == nil || shown == nil || len(shown.Tables) <= manyTables {
		return shown.Graph()
	}
	read := func(context.Context) (*schema.Graph, error) { return shown.Graph(), nil }
	g, _ := graphs.Of(context.Background(), s.For(shown), shown, read)
	return g
}

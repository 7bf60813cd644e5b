package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

// TestGraphStored: a graph is stored if its schema has many tables and outlives the question.
func TestGraphStored(t *testing.T) {
	many := &schema.Schema{}
	for i := range 100 {
		many.Tables = append(many.Tables, schema.Table{Name: fmt.Sprint("t", i), Columns: []schema.Column{{Name: "id"}}})
	}
	part, few := *many, &schema.Schema{Tables: many.Tables[:3]}
	at := func(shown *schema.Schema) *snapshot.Snapshot {
		return new(snapshot.Store).At(snapshot.Key{Version: "1"}, shown)
	}
	for _, tt := range []struct {
		why    string
		of     *snapshot.Snapshot
		shown  *schema.Schema
		stored bool
	}{
		{"the schema of the snapshot", at(many), many, true},
		{"a schema that was made for one question", at(many), &part, false},
		{"few tables cost less than the store", at(few), few, false},
		{"no snapshot", nil, many, false},
		{"no schema", at(nil), nil, false},
	} {
		first := tt.of.Graph(tt.shown)
		if stored := first == tt.of.Graph(tt.shown); stored != tt.stored {
			t.Errorf("%s: the second call returned the graph of the first one: %v", tt.why, stored)
		}
		links := schema.Links{Tables: []schema.TableLink{{Table: "t2"}, {Table: "t1"}}}
		want, _ := tt.shown.Restrict(links)
		if got, _ := first.Restrict(links); !cmp.Equal(want, got) {
			t.Errorf("%s: %s", tt.why, cmp.Diff(want, got))
		}
	}
}

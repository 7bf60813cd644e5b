package memory_test

import (
	"testing"

	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

// TestPatternStaysAnchored: a pattern with a bracket of its own too many does not match a part of a name.
func TestPatternStaysAnchored(t *testing.T) {
	declared := &schema.Schema{Tables: []schema.Table{{Name: "old_orders", Columns: []schema.Column{{Name: "id"}}}}}
	live := &schema.Schema{Tables: []schema.Table{{Name: "orders", Columns: []schema.Column{{Name: "id"}}}}}
	r := &memory.RetrievedLessons{Lessons: []memory.Lesson{{Kind: "table_mapping", Pattern: "x)|(?:orders", To: "orders",
		Confidence: 1}}}
	if got := r.Map(declared, live); got != declared {
		t.Errorf("mapped to %s", got.Tables[0].Name)
	}
}

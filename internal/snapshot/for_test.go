package snapshot_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

var profiled = &snapshot.Derived[string, *schema.Schema]{}

// TestFor: what is made of a schema is stored where the schema itself is.
func TestFor(t *testing.T) {
	shown, other := &schema.Schema{}, &schema.Schema{Dialect: "x"}
	s := new(snapshot.Store).At(snapshot.Key{Version: "1"}, shown)
	check := func(why string, of *schema.Schema, stored bool) {
		t.Helper()
		if got := s.For(of); (got != nil) != stored || stored && got != s {
			t.Errorf("%s: %v", why, got)
		}
	}
	check("the schema of the snapshot", shown, true)
	check("a schema of one question", other, false)
	profiled.Keep(s, "a", other)
	profiled.Keep(s, "b", other)
	check("a schema that is a part", other, true)
	profiled.Forget(s, "a")
	check("a schema that is another part, too", other, true)
	profiled.Keep(s, "b", &schema.Schema{})
	check("a schema that another one replaced", other, false)
	var none *snapshot.Snapshot
	if none.For(shown) != nil {
		t.Error("a nil snapshot stores something")
	}
}

package snapshot_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

// TestManyTables: a schema with many tables finds the same texts and names as a part of it, which has other places.
func TestManyTables(t *testing.T) {
	whole := &schema.Schema{}
	columns := []schema.Column{{Name: "paidStates", Profile: read}, {Name: "secret", Sensitive: true}}
	for i := range 100 {
		whole.Tables = append(whole.Tables, schema.Table{Name: fmt.Sprint("orders", i), Columns: columns})
	}
	part := &schema.Schema{Tables: append([]schema.Table{whole.Tables[99]}, whole.Tables[1:80]...)}
	other := &schema.Schema{Tables: slices.Clone(whole.Tables)}
	other.Tables[99].Columns = []schema.Column{{Name: "paidStates"}}
	s := new(snapshot.Store).At(snapshot.Key{Version: "1"}, whole)
	for i := range whole.Tables {
		s.KeepTexts(&whole.Tables[i], map[string][]string{"paidStates": {fmt.Sprint("Blue ", i)},
			"secret": {fmt.Sprint("Blue ", i)}})
	}

	for _, tt := range []struct {
		why      string
		shown    *schema.Schema
		question string
		want     []string
	}{
		{"the whole schema", whole, "the blue 99", []string{"orders99.paidStates=Blue 99"}},
		{"a part has the table in another place", part, "the blue 99", []string{"orders99.paidStates=Blue 99"}},
		{"a part does not show the table", part, "the blue 0", nil},
		{"another question profiled the table", other, "the blue 99", nil},
		{"and this one profiled the others", other, "the blue 98", []string{"orders98.paidStates=Blue 98"}},
	} {
		words := s.Words(tt.shown)
		if diff := cmp.Diff(tt.want, told(words.Named(tt.question))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		for word, want := range map[string]bool{"order": true, "state": true, "paid": true, "blue": false} {
			if got := words.InNames(word); got != want {
				t.Errorf("%s: a name has %s: %v", tt.why, word, got)
			}
		}
	}
}

package linker_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// steady holds what the first of several runs gave.
type steady string

// same fails the test where a run gave or told something else than the first.
func (s *steady) same(t *testing.T, root *trace.Span, got any, run string) {
	t.Helper()
	told := testutil.Value(root.Comparable())(t)
	bytes := testutil.Value(json.Marshal(got))(t)
	this := steady(append(bytes, told...))
	if *s == "" {
		*s = this
	}
	if diff := cmp.Diff(*s, this); diff != "" {
		t.Fatalf("%s (-first +this):\n%s", run, diff)
	}
}

package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// TestRun: the second request of the hedge answers after its two seconds, both are counted, and the cache makes no
// call.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(t.Context(), &out, hanging()); err != nil {
			t.Fatal(err)
		}
		text := "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
		want := "2 s, 2 calls: " + text + "\n0 s, 0 calls: " + text + "\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeysOf: no key of a row stands for two columns, also where one is called like a key that is made up.
func TestKeysOf(t *testing.T) {
	for _, test := range []struct {
		why     string
		columns []string
		want    []string
	}{
		{"apart", []string{"a", "b"}, []string{"a", "b"}},
		{"twice", []string{"n", "n"}, []string{"n", "n_2"}},
		{"three times", []string{"n", "n", "n"}, []string{"n", "n_2", "n_3"}},
		{"beside a name like a made-up one", []string{"n", "n", "n_2"}, []string{"n", "n_3", "n_2"}},
		{"before it", []string{"n_2", "n", "n"}, []string{"n_2", "n", "n_3"}},
		{"both twice", []string{"n", "n", "n_2", "n_2"}, []string{"n", "n_3", "n_2", "n_2_2"}},
		{"no name", []string{"", ""}, []string{"", "_2"}},
	} {
		if diff := cmp.Diff(test.want, keysOf(test.columns)); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
}

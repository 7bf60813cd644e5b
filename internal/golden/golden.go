// Package golden compares what a test made with a file of its testdata folder, or with a value.
//
//	golden.Check(t, "reports.golden", got)
//	golden.Equal(t, want, got, tt.why)
//
// go test ./PACKAGE -update writes the files anew.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// Check fails the test if got is not what testdata/name holds.
func Check[T string | []byte](t testing.TB, name string, got T) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}

// Equal fails the test if got is not want, behind the words that say what it is about. Options of go-cmp may be among
// them.
func Equal(t testing.TB, want, got any, about ...any) {
	t.Helper()
	var words []any
	var options []cmp.Option
	for _, a := range about {
		if o, ok := a.(cmp.Option); ok {
			options = append(options, o)
		} else {
			words = append(words, a)
		}
	}
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Error(append(words, "(-want +got):\n"+diff)...)
	}
}

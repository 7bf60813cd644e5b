// Package evaldata finds the evaluation data for tests: databases, questions and recorded answers, which are not part of
// the project. The variable TEXTTOSQL_DATA names its folder. Where it is not set, tests that need it are skipped.
package evaldata

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Path returns a path below the folder of the evaluation data, or skips the test.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("TEXTTOSQL_DATA")
	if dir == "" {
		t.Skip("TEXTTOSQL_DATA is not set: no evaluation data")
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// Lines decodes a file of JSON lines, gzipped if its name ends in ".gz". What
// cannot be read fails the test.
func Lines[T any](t testing.TB, path string) iter.Seq[T] {
	return func(yield func(T) bool) {
		t.Helper()
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var in io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			if in, err = gzip.NewReader(f); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 16<<20)
		for n := 1; lines.Scan(); n++ {
			var v T
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				t.Fatalf("%s, line %d: %v", path, n, err)
			}
			if !yield(v) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

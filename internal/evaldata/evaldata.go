// Package evaldata finds the evaluation data for tests: databases, questions,
// recorded answers and hostile statements, which are not part of the project.
//
//	for _, p := range evaldata.Payloads(t) {
//		…
//	}
//
// The variable TEXTTOSQL_DATA names its folder. Where it is not set, tests that
// need it are skipped.
package evaldata

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Path returns a path below the folder of the evaluation data, or skips the test.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	return Folder(t, "TEXTTOSQL_DATA", elem...)
}

// Knowledge returns a path below the folder of what people know of databases, or skips the test. The variable
// TEXTTOSQL_DATA_KNOWLEDGE names that folder.
func Knowledge(t testing.TB, elem ...string) string {
	t.Helper()
	return Folder(t, "TEXTTOSQL_DATA_KNOWLEDGE", elem...)
}

// Folder returns a path below the folder that an environment variable names, or skips the test.
func Folder(t testing.TB, variable string, elem ...string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skip(variable + " is not set: no evaluation data")
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

// Payload is a line of security/payloads*.jsonl: a hostile or harmless text, and
// what must become of it.
type Payload struct {
	ID     string
	Engine string // "sqlite" and other engines, or "prompt"
	Expect string // "refuse", "survive" or "accept"
	Why    string
	Where  string // of prompts: what carries the text
	Rows   int    // that an accepted statement has
	Want   string // the statement in an accepted reply
	Policy struct {
		DenyColumns []string `json:"deny_columns"`
		DenyTables  []string `json:"deny_tables"`
	}
	Text string `json:"-"` // written out
}

// UnmarshalJSON writes the text of a line out: it stands there as it is, as
// base64, or as a generator of a long one.
func (p *Payload) UnmarshalJSON(data []byte) error {
	type plain Payload
	if err := json.Unmarshal(data, (*plain)(p)); err != nil {
		return err
	}
	var form struct {
		Text      string
		Base64    []byte
		Generator struct {
			Prefix, Repeat, Middle, Close, Suffix string
			Times                                 int
		}
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	g := form.Generator
	p.Text = form.Text + string(form.Base64) +
		g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle + strings.Repeat(g.Close, g.Times) + g.Suffix
	return nil
}

// Payloads returns the hostile and the harmless texts, of all engines.
func Payloads(t testing.TB) (all []Payload) {
	t.Helper()
	for _, file := range []string{"payloads.jsonl", "payloads_engines.jsonl", "payloads_resources.jsonl"} {
		all = slices.AppendSeq(all, Lines[Payload](t, Path(t, "security", file)))
	}
	return all
}

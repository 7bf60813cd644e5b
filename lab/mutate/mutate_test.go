package mutate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/need"
)

const source = `package p

import "errors"

func Sign(x int, err error) (int, error) {
	if !(x < 0) && x != 7 {
		x++
		return x, err
	}
	errors.Is(err, nil)
	return 1, nil
}
`

// module writes a module whose test looks at some of what its package does.
func module(t *testing.T, test string) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": source, "p_test.go": test} {
		need.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// TestFind shows every operator at its place.
func TestFind(t *testing.T) {
	dir := module(t, "package p\n")
	got := need.Value(Find(dir))(t)
	cond := "!(x < 0) && x != 7"
	want := []Mutant{
		{Line: 6, Operator: "condition", Old: cond, New: "((" + cond + ") || true)"},
		{Line: 6, Operator: "condition", Old: cond, New: "((" + cond + ") && false)"},
		{Line: 6, Operator: "not", Old: "!", New: ""},
		{Line: 6, Operator: "compare", Old: "<", New: "<="},
		{Line: 6, Operator: "constant", Old: "0", New: "1"},
		{Line: 6, Operator: "logic", Old: "&&", New: "||"},
		{Line: 6, Operator: "compare", Old: "!=", New: "=="},
		{Line: 6, Operator: "constant", Old: "7", New: "8"},
		{Line: 7, Operator: "arithmetic", Old: "++", New: "--"},
		{Line: 8, Operator: "return", Old: "err", New: "nil"},
		{Line: 10, Operator: "statement", Old: "errors.Is(err, nil)", New: ""},
		{Line: 11, Operator: "constant", Old: "1", New: "2"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Mutant{}, "File"), cmpopts.IgnoreUnexported(Mutant{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := Find(dir, "typo"); err == nil {
		t.Error("an operator that is none is an error")
	}
	if one := need.Value(Find(dir, "logic"))(t); len(one) != 1 {
		t.Errorf("one operator of all: %v", one)
	}
}

// TestRun has a mutant of each status.
func TestRun(t *testing.T) {
	dir := module(t, `package p

import "testing"

func TestSign(t *testing.T) {
	for x := 0; x < 3; {
		x, _ = Sign(x, nil)
	}
}
`)
	tests := Tests{Dir: dir, Packages: []string{"."}, Timeout: 20 * time.Second}
	if got := need.Value(tests.Run(t.Context(), nil))(t); got != Survived {
		t.Fatalf("without a mutant: %s", got)
	}
	mutants := need.Value(Find(dir))(t)
	for at, want := range map[int]string{
		7:  Survived, // no test has 7
		10: Unbuilt,  // an import that nothing uses
		9:  Survived, // no test has an error
	} {
		if got := need.Value(tests.Run(t.Context(), &mutants[at]))(t); got != want {
			t.Errorf("%v: %s, want %s", mutants[at], got, want)
		}
	}
	tests.Timeout = 3 * time.Second
	if got := need.Value(tests.Run(t.Context(), &mutants[8]))(t); got != Late { // counts down for ever
		t.Errorf("%v: %s, want %s", mutants[8], got, Late)
	}
	const test = "package p\n\nimport \"testing\"\n\nfunc TestSign(t *testing.T) {\n\tif x, _ := Sign(1, nil); x != 2 {\n\t\tt.Fail()\n\t}\n}\n"
	need.OK(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(test), 0o600))
	tests.Timeout = 0
	if got := need.Value(tests.Run(t.Context(), &mutants[8]))(t); got != Killed {
		t.Errorf("%v: %s, want %s", mutants[8], got, Killed)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "p.go")); err != nil || string(text) != source {
		t.Error("the file itself was changed")
	}
}

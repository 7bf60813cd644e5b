package mutate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/testutil"
)

const source = `package p

import "errors"

const most = 9

var scale float64 = 2
var grow = func(x int) int { return x + 4 }

func Sign(x int, err error) (int, error) {
	if !(x < 0) && x != 7 {
		x++
		return x, err
	}
	errors.Is(err, nil)
	return 1, nil
}

type list []string

func (l list) join(more ...string) (all string) {
each:
	for _, word := range append(l, more...) {
		if word == "" {
			continue each
		}
		all = all + word
	}
	return
}
`

// module writes a module with a package and its test.
func module(t *testing.T, test string) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": source, "p_test.go": test} {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// TestFind shows every operator at its place.
func TestFind(t *testing.T) {
	dir := module(t, "package p\n")
	got := testutil.Value(Find(dir))(t)
	cond := "!(x < 0) && x != 7"
	empty := `word == ""`
	want := []Mutant{
		{Line: 7, Operator: "constant", Old: "2", New: "3"},
		{Line: 8, Operator: "arithmetic", Old: "+", New: "-"},
		{Line: 8, Operator: "constant", Old: "4", New: "5"},
		{Line: 11, Operator: "condition", Old: cond, New: "((" + cond + ") || true)"},
		{Line: 11, Operator: "condition", Old: cond, New: "((" + cond + ") && false)"},
		{Line: 11, Operator: "not", Old: "!", New: ""},
		{Line: 11, Operator: "compare", Old: "<", New: "<="},
		{Line: 11, Operator: "constant", Old: "0", New: "1"},
		{Line: 11, Operator: "logic", Old: "&&", New: "||"},
		{Line: 11, Operator: "compare", Old: "!=", New: "=="},
		{Line: 11, Operator: "constant", Old: "7", New: "8"},
		{Line: 12, Operator: "arithmetic", Old: "++", New: "--"},
		{Line: 13, Operator: "return", Old: "err", New: "nil"},
		{Line: 15, Operator: "statement", Old: "errors.Is(err, nil)", New: ""},
		{Line: 16, Operator: "constant", Old: "1", New: "2"},
		{Line: 24, Operator: "condition", Old: empty, New: "((" + empty + ") || true)"},
		{Line: 24, Operator: "condition", Old: empty, New: "((" + empty + ") && false)"},
		{Line: 24, Operator: "compare", Old: "==", New: "!="},
		{Line: 25, Operator: "statement", Old: "continue each", New: ""},
		{Line: 27, Operator: "statement", Old: "all = all + word", New: ""},
		{Line: 27, Operator: "arithmetic", Old: "+", New: "-"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Mutant{}, "File"),
		cmpopts.IgnoreUnexported(Mutant{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := Find(dir, "typo"); err == nil {
		t.Error("an operator that is none is an error")
	}
	if one := testutil.Value(Find(dir, "logic"))(t); len(one) != 1 {
		t.Errorf("one operator of all: %v", one)
	}
}

// TestJudge has a mutant of each status, and of each home.
func TestJudge(t *testing.T) {
	dir := module(t, `package p

import "testing"

func TestSign(t *testing.T) {
	for x := 0; x < 3; {
		x, _ = Sign(x, nil)
	}
}

func TestVariables(t *testing.T) {
	if scale != 2 || grow(1) != 5 {
		t.Fail()
	}
}

func TestJoin(t *testing.T) {
	if list.join(list{"a", ""}, "b", "c") != "abc" {
		t.Fail()
	}
}
`)
	mutants := testutil.Value(Find(dir))(t)
	b := testutil.Value(Build(t.Context(), t.TempDir(), dir, "", mutants))(t)
	b.limit = 3 * time.Second
	tests := []struct {
		number     int
		status, by string
		reason     string
	}{
		{1, Killed, "TestVariables", "the value of a variable"},
		{2, Killed, "TestVariables", "a function in a variable"},
		{9, Survived, "", "no test has a negative number"},
		{12, Late, "", "it counts down without end"},
		{13, Survived, "", "no test has an error"},
		{15, Survived, "", "no test has 7"},
		{17, Survived, "", "an empty word adds nothing"},
		{20, Killed, "TestJoin", "a method with a label and variadic words"},
		{21, Unbuilt, "", "strings have no difference"},
	}
	for _, tt := range tests {
		m := mutants[tt.number-1]
		if m.Status != Unbuilt {
			testutil.OK(t, b.Judge(t.Context(), tt.number, &m))
		}
		if diff := cmp.Diff([]string{tt.status, tt.by}, []string{m.Status, m.By}); diff != "" {
			t.Errorf("line %d, %q became %q: %s: -want +got:\n%s", m.Line, m.Old, m.New, tt.reason, diff)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "p.go")); err != nil || string(text) != source {
		t.Error("the file itself was changed")
	}
}

// TestBuildFails shows that tests which fail without a mutant judge none.
func TestBuildFails(t *testing.T) {
	dir := module(t, "package p\n\nimport \"testing\"\n\nfunc TestNo(t *testing.T) { t.Fail() }\n")
	if _, err := Build(t.Context(), t.TempDir(), dir, "", testutil.Value(Find(dir))(t)); err == nil {
		t.Error("no error")
	}
}

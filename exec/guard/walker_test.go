package guard_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/sqltext"
)

// The tree of a parser that knows queries, names and something newer.
type (
	query struct {
		Columns []*name
		From    any
		Where   map[string]any
		Hook    func()
		Top     [1]*name
		hidden  *newer
	}
	star    struct{} // as parsers write a *
	name    struct{ Text string }
	newer   struct{ Name *name }
	wrapper struct{ Name *name }
	scalar  struct{ Count int }
)

// walked walks a tree with queries and names on its list, and returns the names in order.
func walked(tree any, w guard.Walker) (names string, err error) {
	var found strings.Builder
	w.Nodes = guard.NodesOf(query{}, name{}, star{})
	w.Visit = func(node any, inside func()) {
		if n, ok := node.(*name); ok {
			found.WriteString(n.Text)
		}
		inside()
	}
	if w.Unlisted == nil {
		w.Unlisted = func(t reflect.Type) error { return guard.Refuse("not-read-only", "%s", t) }
	}
	err = guard.RecoverWalk(func() { w.Walk(tree) })
	return found.String(), err
}

// TestWalker: all of a tree is visited, and nothing that is not on the list.
func TestWalker(t *testing.T) {
	a, b, c := &name{"a"}, &name{"b"}, &name{"c"}
	deep := func(n int) any {
		tree := &query{}
		for range n {
			tree = &query{From: tree}
		}
		return tree
	}
	wide := func(n int) any { return &query{Columns: slicesOf(a, n)} }
	for _, test := range []struct {
		why   string
		tree  any
		w     guard.Walker
		names string
		err   string
	}{
		{"slices, arrays, interfaces and pointers", &query{Columns: []*name{a, nil, b}, From: &query{Top: [1]*name{c}}},
			guard.Walker{}, "abc", ""},
		{"a type without fields", &query{From: &star{}, Top: [1]*name{c}}, guard.Walker{}, "c", ""},
		{"nothing", (*query)(nil), guard.Walker{}, "", ""},
		{"an unlisted type", &query{Columns: []*name{a}, From: &newer{b}}, guard.Walker{}, "a", "newer"},
		{"in a slice", []any{a, &newer{b}}, guard.Walker{}, "a", "newer"},
		{"an unlisted leaf is not entered", &query{From: &newer{b}, Top: [1]*name{c}},
			guard.Walker{Unlisted: func(reflect.Type) error { return nil }}, "c", ""},
		{"a field that parsers keep to themselves", &query{hidden: &newer{b}}, guard.Walker{}, "", ""},
		{"a map", &query{Where: map[string]any{"x": a}}, guard.Walker{}, "", "map[string]"},
		{"a function", &query{Hook: func() {}}, guard.Walker{}, "", "func()"},
		{"a struct behind an interface, whose address nobody has", &query{From: name{"a"}}, guard.Walker{}, "",
			"not where the parser has it"},
		{"a wrapper", &query{From: &wrapper{a}}, guard.Walker{Wrapped: true}, "a", ""},
		{"a wrapper where there should be none", &query{From: &wrapper{a}}, guard.Walker{}, "", "wrapper"},
		{"what is in a wrapper is looked at", &query{From: &struct{ Is *newer }{&newer{a}}}, guard.Walker{Wrapped: true}, "",
			"newer"},
		{"an empty wrapper", &query{From: &wrapper{}}, guard.Walker{Wrapped: true}, "", ""},
		{"a wrapper of no node", &query{From: &scalar{1}}, guard.Walker{Wrapped: true}, "", "scalar"},
		{"as deep as may be", deep(4_000), guard.Walker{}, "", ""},
		{"deeper", deep(4_001), guard.Walker{}, "", "over 4000 deep"},
		{"as many parts as may be", wide(399_999), guard.Walker{}, "*", ""},
		{"more", wide(400_000), guard.Walker{}, "*", "over 400000 parts"},
	} {
		names, err := walked(test.tree, test.w)
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.why, err, test.err)
		}
		if test.names != "*" {
			if diff := cmp.Diff(test.names, names); diff != "" {
				t.Errorf("%s: %s", test.why, diff)
			}
		}
	}
	var refused *execerr.RefusedError
	if _, err := walked(deep(5000), guard.Walker{}); !errors.As(err, &refused) || refused.Reason != "too-complex" ||
		refused.Writes {
		t.Errorf("too deep: %v", err)
	}
	if _, err := walked(&query{From: name{"a"}}, guard.Walker{}); !errors.As(err, &refused) || refused.Reason != "guard" {
		t.Errorf("not where the parser has it: %v", err)
	}
}

func slicesOf(n *name, count int) []*name {
	all := make([]*name, count)
	for i := range all {
		all[i] = n
	}
	return all
}

// TestFinder: places come in the order of the text, whatever the order in which they were found.
func TestFinder(t *testing.T) {
	d := sqltext.PostgreSQL()
	people := guard.NewRelation("public", "people", []string{"id"})
	const text = `SELECT public.p.id, x.* FROM only people, public . "people" p tail`
	f := &guard.Finder{Text: guard.NewText(d.Parse(text))}
	at := func(part string) int { return strings.Index(text, part) }
	last, err := f.Table(people, at(`public . "`), "people", "p")
	if err != nil || f.Raw(last) != `"people"` {
		t.Fatalf("the last token of the name is %q, %v", f.Raw(last), err)
	}
	f.Hint(last+2, last+2)
	if _, err := f.Table(people, at("people,"), "people", ""); err != nil {
		t.Fatal(err)
	}
	f.Put(at("only"), at("people,"), "")
	n := &guard.Names{Sources: []guard.Source{{Alias: "p", Relation: people}, {Alias: "x"}, {Alias: "y", Relation: people},
		{Alias: "y", Relation: guard.NewRelation("public", "other", nil)}}}
	same := func(a, b string) bool { return a == b }
	if err := f.Unqualify(n, at("public.p"), "p", same); err != nil {
		t.Error(err)
	}
	var got []string
	for _, s := range f.Spots() {
		got = append(got, fmt.Sprintf("%q %q %q", text[s.Pos:s.End], s.Alias, text[s.HintPos:s.HintEnd]))
	}
	want := []string{`"public." "" ""`, `"only " "" ""`, `"people" "people" ""`, `"public . \"people\"" "" "tail"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for why, err := range map[string]error{
		"another name stands there":         second(f.Table(people, at("public.p"), "people", "")),
		"no token begins there":             second(f.Table(people, at("people,")+1, "people", "")),
		"no token of a schema begins there": f.Unqualify(n, 1, "p", same),
		"nothing is called so":              f.Unqualify(n, at("public.p"), "P", same),
		"a subquery is called so":           f.Unqualify(n, at("public.p"), "x", same),
		"two tables are called so":          f.Unqualify(n, at("public.p"), "y", same),
	} {
		var refused *execerr.RefusedError
		if !errors.As(err, &refused) || refused.Reason != "rows" {
			t.Errorf("%s: %v", why, err)
		}
	}
	long := &guard.Finder{Text: guard.NewText(d.Parse("SELECT a.b.p.id FROM people p"))}
	if err := long.Unqualify(n, 7, "p", same); err == nil {
		t.Error("a catalog in front of the schema")
	}
}

func second[T any](_ T, err error) error { return err }

func ExampleWalker() {
	w := guard.Walker{
		Nodes: guard.NodesOf(query{}, name{}),
		Unlisted: func(t reflect.Type) error {
			return guard.Refuse("statement", "%s is not on the list", t.Name())
		},
		Visit: func(node any, inside func()) {
			fmt.Printf("%T\n", node)
			inside()
		},
	}
	fmt.Println(guard.RecoverWalk(func() { w.Walk(&query{Columns: []*name{{"id"}}, From: &newer{}}) }))
	// Output:
	// *guard_test.query
	// *guard_test.name
	// exec: refused (statement): newer is not on the list
}

func ExampleFinder() {
	statement := sqltext.SQLite().Parse("SELECT o.id FROM orders o NOT INDEXED")
	f := &guard.Finder{Text: guard.NewText(statement)}
	last, err := f.Table(guard.NewRelation("main", "orders", []string{"id"}), 17, "orders", "o")
	f.Hint(last+2, last+3)
	for _, s := range f.Spots() {
		fmt.Println(statement.SQL()[s.Pos:s.End], "|", statement.SQL()[s.HintPos:s.HintEnd], err)
	}
	// Output: orders | NOT INDEXED <nil>
}

package linker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

// fixed links the same whatever it is asked.
func fixed(links schema.Links) linker.Linker {
	return linker.Func(func(context.Context, linker.Input) (schema.Links, error) { return links, nil })
}

func TestUnion(t *testing.T) {
	table := func(name string, score float64, columns ...string) schema.TableLink {
		return schema.TableLink{Table: name, Score: score, Columns: columns}
	}
	norway := schema.ValueMatch{Column: "country", Value: "Norway", Span: "Norway"}
	blob := schema.ValueMatch{Column: "photo", Value: []byte{1}, Span: "photo"}
	links := func(tables ...schema.TableLink) schema.Links { return schema.Links{Tables: tables} }
	tests := []struct {
		name string
		of   []schema.Links
		want schema.Links
		why  string
	}{
		{"nothing", nil, schema.Links{}, "no linker has no opinion"},
		{"no opinions", []schema.Links{{}, {}}, schema.Links{}, "nor have two without one"},
		{"one opinion", []schema.Links{{}, links(table("a", 1))}, links(table("a", 1)), "the other one counts"},
		{"order", []schema.Links{links(table("b", 1)), links(table("a", 9))}, links(table("b", 1), table("a", 9)),
			"as first linked, not by score"},
		{"scores", []schema.Links{links(table("a", 1)), links(table("a", 2))}, links(table("a", 3)), "added"},
		{"case", []schema.Links{links(table("a", 1)), links(table("A", 2))}, links(table("a", 1), table("A", 2)),
			"a schema may have both; Restrict knows"},
		{"columns", []schema.Links{links(table("a", 0, "x", "y")), links(table("a", 0, "Y", "z"))},
			links(table("a", 0, "x", "y", "z")), "each once"},
		{"all columns", []schema.Links{links(table("a", 0, "x")), links(table("a", 0))}, links(table("a", 0)),
			"no column named means all of them"},
		{
			"no column left", []schema.Links{links(schema.TableLink{Table: "a", Columns: []string{}}),
				links(table("a", 0, "x"))}, links(table("a", 0)),
			"also where the list is empty and not nil",
		},
		{
			"schemas", []schema.Links{links(schema.TableLink{Schema: "x", Table: "a"}), links(table("a", 0))},
			links(schema.TableLink{Schema: "x", Table: "a"}, table("a", 0)), "tables of one name in two schemas are two",
		},
		{
			"whole", []schema.Links{links(table("a", 1)), {Whole: true}},
			schema.Links{Whole: true, Tables: []schema.TableLink{table("a", 1)}},
			"the whole is more than a part",
		},
		{"notes", []schema.Links{{Notes: []string{"one"}}, {Notes: []string{"two"}}},
			schema.Links{Notes: []string{"one", "two"}}, "all of them"},
		{
			"values",
			[]schema.Links{
				links(schema.TableLink{Table: "a", Values: []schema.ValueMatch{norway, blob}}),
				links(schema.TableLink{Table: "a",
					Values: []schema.ValueMatch{norway, {Column: "name", Value: "Norway", Span: "Norway"}, blob}}),
			},
			links(schema.TableLink{Table: "a", Values: []schema.ValueMatch{norway, blob,
				{Column: "name", Value: "Norway", Span: "Norway"}}}),
			"each once, values that == cannot compare too",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var u linker.Union
			for _, l := range tt.of {
				u = append(u, fixed(l))
			}
			got := testutil.Value(u.Link(t.Context(), linker.Input{}))(t)
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}

// TestUnionKeepsItsParts: links that were merged are not changed by it.
func TestUnionKeepsItsParts(t *testing.T) {
	part := func() schema.Links {
		return schema.Links{
			Tables: []schema.TableLink{
				{Table: "a", Score: 1, Columns: append(make([]string, 0, 8), "x"), Values: append(make([]schema.ValueMatch, 0, 8),
					schema.ValueMatch{Column: "x"})},
			},
		}
	}
	a := part()
	other := schema.Links{Tables: []schema.TableLink{{Table: "a", Score: 1, Columns: []string{"y"},
		Values: []schema.ValueMatch{{Column: "y"}}}}}
	testutil.Value((linker.Union{fixed(a), nil, fixed(other)}).Link(t.Context(), linker.Input{}))(t)
	if diff := cmp.Diff(part(), a); diff != "" {
		t.Errorf("a part was changed (-before +after):\n%s", diff)
	}
	if extended := a.Tables[0].Columns[:2]; extended[1] != "" {
		t.Errorf("the memory behind a part was written to: %q", extended)
	}
}

func TestUnionFails(t *testing.T) {
	broken := errors.New("broken")
	u := linker.Union{fixed(schema.Links{}), linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
		return schema.Links{}, broken
	})}
	if _, err := u.Link(t.Context(), linker.Input{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

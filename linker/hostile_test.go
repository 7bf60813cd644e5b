package linker_test

import (
	"context"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// TestConfidenceAsText: a model that writes its confidence as a text has judged the table all the same.
func TestConfidenceAsText(t *testing.T) {
	for text, want := range map[string]float64{`"0.9"`: .9, `" 1 "`: 1, `"high"`: .5, `"NaN"`: .5, `null`: .5, `{}`: .5,
		`7`: 1, `-1`: 0, `"-Inf"`: 0} {
		calls := 0
		model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			calls++
			return llm.Response{Text: `{"is_relevant": true, "joins_needed": false, "confidence": ` + text + `}`}, nil
		})
		id, err := linker.PerTable{Model: model}.Run(t.Context(), linker.Input{Question: "?", Schema: numbered("part_%d", 1)})
		if err != nil || calls != 2 || id.Tables[0].Score != want || id.Tables[0].Problem != "" {
			t.Errorf("%s: %+v, %d calls, %v; want %v", text, id.Tables, calls, err, want)
		}
	}
}

// TestJoinsKeyWithoutColumns: a declared schema may have keys that name no column.
func TestJoinsKeyWithoutColumns(t *testing.T) {
	a := schema.Table{Name: "a", Columns: []schema.Column{{Name: "id", Type: "INTEGER"}}, PrimaryKey: []string{"id"}}
	b := schema.Table{Name: "b", Columns: []schema.Column{{Name: "a_id", Type: "INTEGER"}},
		ForeignKeys: []schema.ForeignKey{
			{RefTable: "a"}, {Columns: []string{"a_id"}, RefTable: "a", RefColumns: []string{"id"}},
		}}
	in := linker.Input{Question: "?", Schema: &schema.Schema{Tables: []schema.Table{a, b}}}
	plan, err := linker.Joins{}.Connect(t.Context(), in, tableNames("a", "b"))
	if got, want := joined(plan, err), "a.id = b.a_id 1.00 declared"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

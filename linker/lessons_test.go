package linker_test

import (
	"context"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

// TestPerTableAdvice: what lessons say of a table stands in the prompt about this table, within its tokens.
func TestPerTableAdvice(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{
		{Name: "kunden", Columns: []schema.Column{{Name: "id"}}},
		{Name: "log", Columns: []schema.Column{{Name: "id"}}},
	}}
	var lessons memory.Lessons
	if err := lessons.Add(memory.Lesson{Kind: memory.TableLesson, From: "customers", To: "kunden"}); err != nil {
		t.Fatal(err)
	}
	recall, err := lessons.Recall(memory.RecallInput{Question: "How many customers?", Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	var advised []string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text := req.Messages[len(req.Messages)-1].Text
		if strings.Contains(text, `"customers" is the table "kunden"`) {
			advised = append(advised, text)
		}
		return llm.Response{Text: `{"is_relevant": true, "relevant_columns": ["id"], "final_tables": ["kunden"], "joins_needed": false}`,
			StopReason: llm.StopEnd}, nil
	})
	in := linker.Input{Question: "How many customers?", Schema: s, Lessons: recall}
	if _, err := (linker.PerTable{Model: model, Workers: 1}).Study(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if len(advised) != 1 || !strings.Contains(advised[0], "CREATE TABLE kunden") {
		t.Errorf("advice in %d prompts: %q", len(advised), advised)
	}
}

package enginetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestCallsAfterCorrections: a session with the three-phase agent pays for what a correction changes and nothing else;
// no table is judged again after a table or a column correction.
func TestCallsAfterCorrections(t *testing.T) {
	live := map[string]int{}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		live[req.Purpose]++
		last := req.Messages[len(req.Messages)-1].Text
		text := usa
		switch req.Purpose {
		case "table":
			text = `{"is_relevant": true, "confidence": 0.9, "relevant_columns": [], "reasoning": "it may be"}`
		case "tables":
			text = `{"final_tables": ["customers", "people"], "removed_tables": ["orders"], "reasoning": "both have names"}`
		case "synthesis":
			joins := "false"
			if strings.Contains(last, "orders") {
				joins = "true"
			}
			text = `{"tables": ["customers"], "columns": [], "joins_needed": ` + joins + `, "reasoning": ""}`
		}
		return llm.Response{Text: text}, nil
	})
	e := testutil.Value(texttosql.New(open(t, shop+twin), llm.Named("m", model),
		texttosql.WithStrategy(threephase.Strategy{Tables: linker.PerTable{Sequential: false, Workers: 1}})))(t)
	s := converse(t, e, &session.MemoryStore{}, "")
	var q *session.QuestionError
	tests := []struct {
		why  string
		do   func() (*texttosql.Result, error)
		want map[string]int
		asks bool
	}{
		{"the question: every table, together, synthesis; then the user", func() (*texttosql.Result, error) {
			return s.Ask(t.Context(), "Who lives in the USA?")
		}, map[string]int{"table": 3, "tables": 1, "synthesis": 1}, true},
		{"a table: together, if more than one is left, synthesis, SQL", func() (*texttosql.Result, error) {
			return s.Choose(t.Context(), optionOf(s, "customers"))
		}, map[string]int{"tables": 1, "synthesis": 1, "generate": 1}, false},
		{"a column: SQL", func() (*texttosql.Result, error) {
			return s.Correct(t.Context(), "land means customers.country")
		}, map[string]int{"generate": 1}, false},
		{"words: everything", func() (*texttosql.Result, error) {
			return s.Correct(t.Context(), "I mean those who are still alive")
		}, map[string]int{"table": 3, "tables": 1, "synthesis": 1, "generate": 1}, false},
	}
	for _, tt := range tests {
		clear(live)
		_, err := tt.do()
		if tt.asks && !errors.As(err, &q) || !tt.asks && err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		if diff := cmp.Diff(tt.want, live); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
	legal(t, s.Record())
}

// optionOf is the id of the pending option of a table.
func optionOf(s *texttosql.Conversation, table string) string {
	for _, o := range s.Record().Pending.Options {
		if o.Table != nil && o.Table.Name == table {
			return o.ID
		}
	}
	return ""
}

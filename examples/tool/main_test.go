package main

import (
	"encoding/json"
	"testing"

	"github.com/texttosql/texttosql/tool"
)

// TestRun: a call of the tool, as the framework makes it.
func TestRun(t *testing.T) {
	text, err := run(t.Context(), `{"question": "Which customers live in the USA?", "evidence": "country is spelled out"}`)
	var out tool.Out
	if err != nil || json.Unmarshal([]byte(text), &out) != nil {
		t.Fatal(text, err)
	}
	if out.SQL != "SELECT name FROM customers WHERE country = 'USA'" || len(out.Table.Rows) != 1 ||
		out.Conversation == "" {
		t.Errorf("%s", text)
	}
	if text, err := run(t.Context(), `{"question": " "}`); err == nil {
		t.Errorf("no question: %s", text)
	}
}

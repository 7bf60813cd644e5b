package linker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
)

// chatty is a model that writes prose first, unless it holds itself to the schemas of requests.
type chatty struct {
	obeys   bool
	replies map[string]string // by purpose

	mu      sync.Mutex
	calls   int
	schemas map[string]string
}

func (c *chatty) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.schemas[req.Purpose] = string(req.Schema)
	said := strings.Contains(req.Messages[len(req.Messages)-1].Text, "That cannot be used")
	if !said && (!c.obeys || req.Schema == nil) {
		return llm.Response{Text: "Let me look at this."}, nil
	}
	return llm.Response{Text: c.replies[req.Purpose]}, nil
}

// TestAskInAShape: every request for JSON has a schema, which saves the second call where the model is held to it, and
// changes nothing where it is not.
func TestAskInAShape(t *testing.T) {
	replies := map[string]string{
		"decompose": `{"components": [{"text": "customers", "type": "entity"}]}`,
		"score":     `{"relevant": true, "score": 1, "reason": "", "matched_components": [], "relevant_columns": ["id"]}`,
		"table":     `{"is_relevant": true, "confidence": 0.9, "relevant_columns": ["id"], "reasoning": ""}`,
		"tables":    `{"final_tables": ["customers", "offices"], "removed_tables": [], "reasoning": ""}`,
		"synthesis": `{"columns": [], "joins_needed": true, "combine": "join", "filters": [], "aggregations": [], "ordering": [], "reasoning": ""}`,
		"join":      `{"found_joins": true, "joins": [{"left_column": "id", "right_column": "id", "confidence": 0.9, "reasoning": ""}]}`,
	}
	in := linker.Input{Question: "Who bought nothing?", Schema: example}
	var results []string
	var calls []int
	schemas := map[string]string{}
	for _, obeys := range []bool{true, false} {
		m := &chatty{obeys: obeys, replies: replies, schemas: schemas}
		reduced := testutil.Value(linker.MapReduce{Model: m}.Run(t.Context(), in))(t)
		id := testutil.Value(linker.PerTable{Model: m}.Run(t.Context(), in))(t)
		plan := testutil.Value(linker.Joins{Model: m}.Connect(t.Context(), in, id.Final))(t)
		found := testutil.Value(json.Marshal([]any{reduced.Tables, id.Tables, id.Final, plan.Joins}))(t)
		results = append(results, string(found))
		calls = append(calls, m.calls)
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" || calls[1] != 2*calls[0] {
		t.Errorf("%d calls where the model obeys, %d where it does not; results (-obeys +not):\n%s", calls[0], calls[1], diff)
	}
	var doc bytes.Buffer
	for _, purpose := range slices.Sorted(maps.Keys(schemas)) {
		fmt.Fprintf(&doc, "%s\n", purpose)
		if err := json.Indent(&doc, []byte(schemas[purpose]), "", "  "); err != nil {
			t.Errorf("%s: %v", purpose, err)
		}
		doc.WriteString("\n\n")
	}
	golden.Check(t, "schemas.txt", doc.String())
}

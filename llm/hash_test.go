package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/texttosql/texttosql/llm"
)

// Recordings hold hashes: a change of these two breaks every one of them.
func TestHashIsStable(t *testing.T) {
	temperature := 0.8
	tests := []struct {
		req  llm.Request
		want string
	}{
		{llm.Request{}, "b0f66adc83641586656866813fd9dd0b"},
		{llm.Request{
			Messages:    []llm.Message{{Role: llm.System, Text: "s"}, {Role: llm.User, Text: "q"}},
			Temperature: &temperature, MaxTokens: new(512), Seed: new(7), Stop: []string{";"},
		}, "e54a946920ccaa36703692c22707cb48"},
	}
	for _, tt := range tests {
		if got := tt.req.Hash(); got != tt.want {
			t.Errorf("Hash = %s, want %s", got, tt.want)
		}
	}
}

func TestHashTellsRequestsApart(t *testing.T) {
	zero, one := 0.0, 1.0
	user := func(texts ...string) llm.Request {
		var r llm.Request
		for _, text := range texts {
			r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: text})
		}
		return r
	}
	requests := map[string]llm.Request{
		"nothing":               {},
		"an empty message":      user(""),
		"one message":           user("ab"),
		"the same text in two":  user("a", "b"),
		"in the other order":    user("b", "a"),
		"another role":          {Messages: []llm.Message{{Role: llm.System, Text: "ab"}}},
		"role and text shifted": {Messages: []llm.Message{{Role: "usera", Text: "b"}}},
		"temperature 0":         {Temperature: &zero},
		"temperature 1":         {Temperature: &one},
		"top_p":                 {TopP: new(0.9)},
		"another top_p":         {TopP: new(0.5)},
		"a limit":               {MaxTokens: new(1)},
		"a seed":                {Seed: new(1)},
		"a stop":                {Stop: []string{"a"}},
		"an empty stop":         {Stop: []string{""}},
		"two stops":             {Stop: []string{"a", ""}},
		"an effort":             {Effort: "low"},
		"another effort":        {Effort: "high"},
	}
	seen := make(map[string]string)
	for why, req := range requests {
		if other, ok := seen[req.Hash()]; ok {
			t.Errorf("%q and %q have one hash", why, other)
		}
		seen[req.Hash()] = why
	}
	a, b := ask("q"), sampled("q", 5)
	b.Purpose, b.Schema, b.CachePrefix = "judge", json.RawMessage(`{"type":"object"}`), 1
	if a.Hash() != b.Hash() {
		t.Error("what is not sent, or not by every client, changes the hash")
	}
}

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestRunExemplars: what a run shows beside a question, what its guard keeps away, and that the output says which.
func TestRunExemplars(t *testing.T) {
	var mu sync.Mutex
	var prompts strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		prompts.Write(body)
		mu.Unlock()
		fmt.Fprint(w, `{"choices":[{"message":{"content":"SELECT count(*) FROM customers"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DATA": data(t)}
	file := filepath.Join(t.TempDir(), "solved.jsonl")
	write(t, file, `{"question": "How many  CUSTOMERS are there?", "sql": "SELECT 1"}
{"question": "How many countries are there?", "sql": "SELECT 2"}
{"question": "What is their number?", "sql": "select COUNT ( * ) from Customers"}
{"question": "Which have a number over 7?", "sql": "SELECT 4 FROM customers"}
`)
	for _, tt := range []struct {
		why    string
		flags  []string
		shown  []string
		hidden []string
		told   string
	}{
		{"no pool", nil, nil, []string{"cows", "SELECT 1", "example pairs"}, "zero-shot"},
		{
			"a file, guarded", []string{"--exemplars", file}, []string{"SELECT 4 FROM"},
			[]string{"SELECT 1", "SELECT 2", "COUNT ( * )"}, file + ", guarded",
		},
		{
			"questions about other databases", []string{"--exemplars", "train"}, []string{"How many cows are there?"},
			[]string{"SELECT name FROM customers"}, "train, guarded",
		},
	} {
		prompts.Reset()
		args := []string{"run", "--dataset", "spider_dev", "--strategy", "petsql", "--model", "openai:m", "--limit", "1",
			"--json", "--rounds", "50"}
		out, _ := measured(t, env, append(args, tt.flags...)...)
		for _, text := range tt.shown {
			if !strings.Contains(prompts.String(), text) {
				t.Errorf("%s: %q is not shown in\n%s", tt.why, text, prompts.String())
			}
		}
		for _, text := range tt.hidden {
			if strings.Contains(prompts.String(), text) {
				t.Errorf("%s: %q is shown in\n%s", tt.why, text, prompts.String())
			}
		}
		lines := objects(t, out)
		if got := lines[len(lines)-1]["exemplars"]; got != tt.told {
			t.Errorf("%s: the output says %q, want %q", tt.why, got, tt.told)
		}
	}
	for _, tt := range []struct {
		why, strategy string
		flags         []string
		want          string
	}{
		{"a strategy that shows none", "self-consistency", []string{"--exemplars", "train"}, "the strategy shows none"},
		{"no such file", "petsql", []string{"--exemplars", "nowhere.jsonl"}, "nowhere.jsonl"},
	} {
		args := []string{"run", "--dataset", "spider_dev", "--strategy", tt.strategy, "--model", "openai:m"}
		if _, _, err := evaluate(t, env, append(args, tt.flags...)...); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func noEnv(string) string { return "" }

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), nil, &out, noEnv); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	at := 0
	for _, want := range []string{
		"none is called", "── Which customers in the USA never ordered?", "step 0", "thought:     How is the country written?",
		"action:      find[USA]", "observation: it is stored in customers.country", "observation: Error: no such column: customer",
		"action:      describe[orders]",
		"FOREIGN KEY (customer_id) REFERENCES customers(id)", "Success: rows=", "Noor Hughes", "4 calls", "action:      samples[order_items]",
		"Error: name the columns", "pieces", "3 calls",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("%q is not where it should be in\n%s", want, text)
		}
		at += i
	}
}

// TestModel: a model is asked as its spec says, and walks vote.
func TestModel(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"content":"Thought: t\nAction: query[SELECT count(*) FROM orders]"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	var out strings.Builder
	err := run(t.Context(), []string{"-model", "openai:m", "-n", "3", "How many orders are there?"}, &out, func(key string) string { return env[key] })
	if err != nil || !strings.Contains(out.String(), "walk 1, step 0") || !strings.Contains(out.String(), "SELECT count(*) FROM orders\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestRunErrors(t *testing.T) {
	nobody := func(name string) string { return map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}[name] }
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"a question that has no script", []string{"Who?"}, "no model is configured"},
		{"a question without a word", []string{""}, "the question is empty"},
		{"no walk", []string{"-n", "-1"}, "samples"},
		{"steps below zero", []string{"-steps", "-1"}, "ReAct.Steps is -1"},
		{"too few steps", []string{"-steps", "1"}, "no candidate"},
		{"a database without a model", []string{"-db", "nowhere.sqlite", "Who?"}, "no model is configured"},
		{"a database that is not there", []string{"-model", "ollama:a", "-db", "nowhere.sqlite", "Who?"}, "nowhere.sqlite: no such file"},
		{"a model that is no spec", []string{"-model", "nobody"}, "unknown provider"},
		{"no server", []string{"-model", "ollama:a", "Who?"}, "no server at http://127.0.0.1:1"},
	} {
		if err := run(t.Context(), test.args, io.Discard, nobody); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(test.want)) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, nil, io.Discard, noEnv); err == nil {
		t.Error("cancelled: no error")
	}
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func none(string) string { return "" }

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), nil, &out, none); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"none is called", "Linked schema, 2 of 4 tables:\n  customers(", "customers is nearest",
		"Elected by 2 of 3 samples", "has no vote: exec: invalid statement", "is kept", "model large: llm: permanent: the script lets this model fail",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
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
		{"a question without a word", []string{" "}, "the question is empty"},
		{"a model that is no spec", []string{"-model", "gpt"}, "unknown provider"},
		{"the second model is no spec", []string{"-model", "ollama:a", "-model", "gpt"}, "unknown provider"},
		{"a database without a model", []string{"-db", "none.sqlite", "Who?"}, "no model is configured"},
		{"a database that is not there", []string{"-model", "ollama:a", "-db", "none.sqlite", "Who?"}, "none.sqlite: no such file"},
		{"a database of one's own and the shop's questions", []string{"-model", "ollama:a", "-db", "none.sqlite"}, "-db needs a question"},
		{"two models of one name", []string{"-model", "ollama:a", "-model", "ollama:a"}, "ollama:a"},
		{"no server", []string{"-model", "ollama:a", "Who?"}, "no server at http://127.0.0.1:1"},
	} {
		var out strings.Builder
		err := run(t.Context(), test.args, &out, nobody)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
		if out.Len() > 0 {
			t.Errorf("%s: printed %q", test.why, out.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, nil, io.Discard, none); err == nil {
		t.Error("cancelled: no error")
	}
}

// TestNoAnswer: a question that every model answers in vain still shows both
// rounds, and the program fails.
func TestNoAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"model":"a","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"DROP TABLE \u001b[31mcustomers"}}]}`)
	}))
	t.Cleanup(server.Close)
	var out strings.Builder
	err := run(t.Context(), []string{"-model", "ollama:a", "How many customers are there?"}, &out, func(name string) string {
		return map[string]string{"OLLAMA_HOST": server.URL}[name]
	})
	if err == nil {
		t.Error("no error")
	}
	for _, part := range []string{"Round 1", "Round 2", "has no vote", "No answer"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("the terminal would obey the model:\n%q", out.String())
	}
}

package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

func none(string) string { return "" }

// TestRun: each strategy answers the listed question, and shows what it does.
func TestRun(t *testing.T) {
	for name, part := range map[string]string{
		"agent":  `observation="it is stored in customers.country"`,
		"maker":  `cluster votes="7" answer="customers.country = 'USA'`,
		"petsql": "round 1 sql=", "qasql": `skipped="no_profile"`, "consensus": `rejected="not-read-only`,
		"direct": "\nOne statement; not voted on.\n",
	} {
		var out strings.Builder
		if err := run(t.Context(), []string{"-s", name}, &out, none); err != nil || !strings.Contains(out.String(), part) ||
			!strings.Contains(out.String(), "Noor Hughes") {
			t.Errorf("%s: %v, no %q in\n%s", name, err, part, &out)
		}
	}
	for name := range strategies {
		if err := run(t.Context(), []string{"-s", name}, io.Discard, none); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunErrors(t *testing.T) {
	nobody := func(name string) string { return map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}[name] }
	for _, tt := range []struct {
		why  string
		args []string
		want string
	}{
		{"a question that has no script", []string{"Who?"}, "no model is configured"},
		{"a question without a word", []string{"-model", "ollama:a", " "}, "question is empty"},
		{"a strategy that is none", []string{"-s", "best"}, "want one of agent, consensus"},
		{"a model that is no spec", []string{"-model", "gpt"}, "unknown provider"},
		{"two models of one name", []string{"-model", "ollama:a", "-model", "ollama:a"}, "ollama:a"},
		{"no server", []string{"-model", "ollama:a", "Who?"}, "cannot reach http://127.0.0.1:1: connection refused"},
	} {
		if err := run(t.Context(), tt.args, io.Discard, nobody); err == nil || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, nil, io.Discard, none); err == nil {
		t.Error("cancelled: no error")
	}
}

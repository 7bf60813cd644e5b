package main

import (
	"context"
	"io"
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
	for _, want := range []string{
		"scope: ", "× customers, orders; left join orders\n", "agreed: customers, orders; left join orders on customers.id = orders.customer_id",
		"filter: ", "agreed: customers.country = 'USA' AND orders.id IS NULL",
		"projection: ", "confidence 0.", "calls",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Index(text, "scope: ") > strings.Index(text, "filter: ") || strings.Index(text, "filter: ") > strings.Index(text, "projection: ") {
		t.Errorf("the steps are out of order:\n%s", text)
	}
	// An early stop comes to the same answer.
	var other strings.Builder
	if err := run(t.Context(), []string{"-k", "3"}, &other, noEnv); err != nil || !strings.Contains(other.String(), "Noor Hughes") {
		t.Errorf("%v\n%s", err, other.String())
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
		{"no samples", []string{"-n", "0"}, "samples"},
		{"a lead below zero", []string{"-k", "-1"}, "-k is -1"},
		{"a database without a question", []string{"-db", "nowhere.sqlite"}, "-db needs a question"},
		{"a database without a model", []string{"-db", "nowhere.sqlite", "Who?"}, "no model is configured"},
		{"a database that is not there", []string{"-model", "ollama:a", "-db", "nowhere.sqlite", "Who?"}, "nowhere.sqlite: no such file"},
		{"a model that is no spec", []string{"-model", "nobody"}, "unknown provider"},
		{"no server", []string{"-model", "ollama:a"}, "no server at http://127.0.0.1:1"},
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

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
		"scope: ", "× customers, orders\n", "agreed: customers, orders on customers.id = orders.customer_id",
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
	// Speculation and an early stop come to the same answer.
	for _, args := range [][]string{{"-speculate"}, {"-k", "3"}} {
		var other strings.Builder
		if err := run(t.Context(), args, &other, noEnv); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(other.String(), "Noor Hughes") {
			t.Errorf("%v:\n%s", args, other.String())
		}
	}
}

func TestRunErrors(t *testing.T) {
	for _, args := range [][]string{{"Who?"}, {"-n", "0"}, {"-k", "-1"}, {"-db", "nowhere.sqlite"}, {"-model", "nobody"}} {
		if err := run(t.Context(), args, io.Discard, noEnv); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, nil, io.Discard, noEnv); err == nil {
		t.Error("cancelled: no error")
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"none is called", "Linked schema, 2 of 4 tables:\n  customers(", "customers is nearest",
		"Elected by 2 of 3 draws", "has no vote: exec: invalid statement", "keeps", "model large",
	} {
		if !strings.Contains(strings.ReplaceAll(out.String(), "is kept", "keeps"), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
}

func TestRunErrors(t *testing.T) {
	none := func(string) string { return "" }
	for _, args := range [][]string{{"Who?"}, {"-model", "gpt"}, {"-db", "none.sqlite", "Who?"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}, none); err == nil {
			t.Errorf("%v is no error", args)
		}
	}
}

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
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
	last := -1
	for _, want := range []string{
		"component: never ordered (filter)", "table: 0.00 products\n", "table: 0.90 orders, linked\n", "context: Q1 full_schema, about",
		"context: Q3 minimal_profile is left out, no_profile", "with option 1 shown first: only customers in the USA are asked for", "Noor Hughes", "confidence 0.83",
	} {
		at := strings.Index(text, want)
		if at <= last {
			t.Errorf("%q is not there, or before its turn, in\n%s", want, text)
		}
		last = at
	}
	if want := "Q2 sme_metadata\n  SELECT c.name FROM customer "; !strings.Contains(text, want) || !strings.Contains(text, "    failed: exec: invalid statement") {
		t.Errorf("the failed attempt of the second context is not in\n%s", text)
	}
}

// TestDescribe: the first run has the columns described, the second one finds them in the file.
func TestDescribe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	for _, tt := range []struct {
		described int
		why       string
	}{{4, "four tables"}, {0, "all is there"}} {
		var out strings.Builder
		if err := run(t.Context(), []string{"-describe", file}, &out, noEnv); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\ndescribed "); got != tt.described {
			t.Errorf("%s: %d tables described", tt.why, got)
		}
		if !strings.Contains(out.String(), "context: Q3 minimal_profile, about") {
			t.Errorf("%s: the third context is left out:\n%s", tt.why, out.String())
		}
	}
}

func TestRunErrors(t *testing.T) {
	torn := filepath.Join(t.TempDir(), "torn.json")
	if err := os.WriteFile(torn, []byte(`{"version": 1, "descri`), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := func(name string) string { return map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}[name] }
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"a question that has no script", []string{"Who?"}, "no model is configured"},
		{"a question without a word", []string{""}, "the question is empty"},
		{"no samples", []string{"-n", "0"}, "samples"},
		{"a database without a question", []string{"-db", "nowhere.sqlite"}, "-db needs a question"},
		{"a database that is not there", []string{"-model", "ollama:a", "-db", "nowhere.sqlite", "Who?"}, "nowhere.sqlite: no such file"},
		{"a file of descriptions that is torn", []string{"-describe", torn}, "the json ends in the middle"},
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

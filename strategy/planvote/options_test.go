package planvote_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// TestPlainOptions: what a caller may know of a question or a database.
func TestPlainOptions(t *testing.T) {
	const (
		two  = "SELECT name, country FROM customers WHERE id = 1"
		star = "SELECT * FROM customers WHERE id = 1"
		none = "SELECT name FROM customers WHERE id = 99"
		null = "SELECT total FROM orders WHERE id = 3"
	)
	tests := []struct {
		name    string
		voter   strategy.Strategy
		run     bool // execution is allowed
		replies []string
		sql     string // "" for ErrNoCandidate
		sure    float64
		why     string
	}{
		{"any number of columns", planvote.Plain{}, true, []string{two, two, everyone}, two, 0.75,
			"off by default: two of three decide"},
		{"one column", planvote.Plain{ExpectColumns: 1}, true, []string{two, two, everyone}, everyone, 0.4,
			"the others have no vote"},
		{"two columns", planvote.Augmented{ExpectColumns: 2}, true, []string{two, everyone, everyone}, two, 0.4, ""},
		{"star, run", planvote.Plain{ExpectColumns: 1}, true, []string{star, star, everyone}, everyone, 0.4,
			"the result has three"},
		{"star, not run", planvote.Plain{ExpectColumns: 1}, false, []string{star, star, everyone}, star, 0.75,
			"the text does not tell"},
		{"not run", planvote.Plain{ExpectColumns: 1}, false, []string{two, two, everyone}, everyone, 0.4,
			"the select list tells"},
		{"as published", planvote.Plain{ExpectColumns: 1}.Published(), true, []string{two, two, everyone}, everyone, 1,
			"M9's filter"},
		{"none fits", planvote.Plain{ExpectColumns: 3}, true, []string{two, everyone}, "", 0, ""},
		{"empty results win", planvote.Plain{}, true, []string{none, none, everyone}, none, 0.75,
			"off by default: two of three decide"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "generate", Replies: llmtest.Texts(tt.replies...),
				Repeat: true}}}
			env := shopEnv(t, script)
			env.WithoutExecution = !tt.run
			out, err := tt.voter.Generate(t.Context(), env, strategy.Task{Question: "q", Samples: len(tt.replies)})
			if tt.sql == "" {
				if !errors.Is(err, strategy.ErrNoCandidate) ||
					!strings.Contains(err.Error(), "it has 2 columns, not the 3 expected") {
					t.Fatalf("got %+v, %v", out, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out.SQL != tt.sql || out.Confidence != tt.sure {
				t.Errorf("got %q with %v, want %q with %v: %s", out.SQL, out.Confidence, tt.sql, tt.sure, tt.why)
			}
		})
	}
	if err := (planvote.Plain{ExpectColumns: -1}).Validate(0); err == nil {
		t.Error("a negative number of columns is accepted")
	}
}

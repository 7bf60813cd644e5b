package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/memory"
)

func none(string) string { return "" }

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), nil, &out, none); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"none is called", "Noor Hughes", "the draft was revised: count(*) counts lines",
		"no such column: state", "16\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
	for _, args := range [][]string{{"Who?"}, {"-model", "nobody"}, {""}} {
		if err := run(t.Context(), args, io.Discard, none); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, nil, io.Discard, none); err == nil {
		t.Error("cancelled: no error")
	}
}

// TestCritique: what the calls see, and what stands when one of them is of no use.
func TestCritique(t *testing.T) {
	const usa, all = "SELECT name FROM customers WHERE country = 'USA'", "SELECT name FROM customers"
	for _, tt := range []struct {
		why, draft, critique, revise string
		sql                          string // the answer; "" for none
		calls                        int
	}{
		{"nothing to say against it", usa, "OK.", "", usa, 2},
		{"revised", all, "only the USA", usa, usa, 3},
		{"the database speaks first", "SELECT nme FROM customers", "", usa, usa, 2},
		{"a worse revision", usa, "all of them", "SELECT nme FROM customers", usa, 3},
		{"no revision", usa, "all of them", "", usa, 3},
		{"no critique", usa, "", "", "", 2},
		{"nothing runs", "SELECT nme FROM customers", "", "SELECT 1; SELECT 2", "", 2},
	} {
		t.Run(tt.why, func(t *testing.T) {
			model := &llmtest.Script{}
			for purpose, text := range map[string]string{"generate": tt.draft, "critique": tt.critique, "revise": tt.revise} {
				replies := llmtest.Texts(text)
				if text == "" {
					replies = llmtest.Errors(&llm.Error{Class: llm.ClassPermanent, Message: "no reply"})
				}
				model.Rules = append(model.Rules, llmtest.Rule{Purpose: purpose, Replies: replies, Repeat: true})
			}
			db, closeDB, err := shop.Open("")
			if err != nil {
				t.Fatal(err)
			}
			defer closeDB()
			engine, err := texttosql.New(db, model, texttosql.WithStrategy(Critique{}),
				texttosql.WithMemory(memory.Options{Exemplars: solved}))
			if err != nil {
				t.Fatal(err)
			}
			r, err := engine.Ask(t.Context(), "Which customers live in the USA?")
			if r == nil || r.SQL != tt.sql || (err == nil) != (tt.sql != "") || len(model.Requests()) != tt.calls {
				t.Fatalf("%q after %d calls, %v; want %q after %d", r.SQL, len(model.Requests()), err, tt.sql, tt.calls)
			}
			if first := model.Requests()[0].Messages; !strings.Contains(first[1].Text, solved[0].Question) || len(first) != 8 {
				t.Errorf("the draft is not shown the solved question that is most alike: %+v", first)
			}
		})
	}
}

package tool_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/tool"
)

func engine(t *testing.T, model llm.Model, opts ...texttosql.Option) *texttosql.Engine {
	t.Helper()
	db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "shop.sqlite")))(t)
	t.Cleanup(func() { db.Close() })
	testutil.Value(db.Exec("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers " +
		"VALUES (1, 'Ada'), (2, 'Bo')"))(t)
	e := testutil.Value(texttosql.New(db, model, opts...))(t)
	return e
}

// TestAsk: an answer, a follow-up, a question back with its choice, and what is an error.
func TestAsk(t *testing.T) {
	const all, some = "SELECT name FROM customers", "SELECT name FROM customers WHERE id = 1"
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "unclear", Replies: llmtest.Texts(all, some, all, some)},
		{Contains: "down", Replies: llmtest.Errors(&llm.Error{Class: llm.ClassPermanent, Status: 401}), Repeat: true},
		{Replies: llmtest.Texts(all), Repeat: true},
	}}
	e := engine(t, model, texttosql.WithStrategy(strategy.SelfConsistency{Samples: 4}), texttosql.WithClarifyBelow(0.6))
	ask := tool.Ask(e, nil)

	first, err := ask(t.Context(), tool.In{Question: "Who?", Evidence: "all of them"})
	if err != nil || first.SQL != all || len(first.Table.Rows) != 2 || first.Confidence <= 0.5 || first.Why == "" ||
		first.Options != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	text, err := json.Marshal(first)
	if err != nil || !json.Valid(text) {
		t.Errorf("%s, %v", text, err)
	}
	follow, err := ask(t.Context(), tool.In{Question: "And their names?", Conversation: first.Conversation})
	if err != nil || follow.Conversation != first.Conversation {
		t.Errorf("%+v, %v", follow, err)
	}

	back, err := ask(t.Context(), tool.In{Question: "unclear"})
	if err != nil || back.SQL != "" || back.Table != nil || len(back.Options) != 2 || back.Why == "" ||
		back.Conversation == first.Conversation {
		t.Fatalf("a question back: %+v, %v", back, err)
	}
	chosen, err := ask(t.Context(), tool.In{Conversation: back.Conversation, Choice: back.Options[1].ID})
	if err != nil || chosen.SQL != back.Options[1].SQL || chosen.Table == nil {
		t.Errorf("a choice: %+v, %v", chosen, err)
	}

	for _, tt := range []struct {
		why  string
		in   tool.In
		want error
	}{
		{"no question", tool.In{}, strategy.ErrEmptyQuestion},
		{"no such conversation", tool.In{Question: "Who?", Conversation: "00000000000000000000000000"}, nil},
		{"an option that there is not", tool.In{Conversation: chosen.Conversation, Choice: "r9"}, nil},
		{"a model that cannot be asked", tool.In{Question: "down"}, nil},
	} {
		got, err := ask(t.Context(), tt.in)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || got.SQL != "" {
			t.Errorf("%s: %+v, %v", tt.why, got, err)
		}
	}
}

// TestRefused: what the data cannot answer is a reply that says so, with what there is instead.
func TestRefused(t *testing.T) {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT id FROM weather", "I cannot tell."),
		Repeat: true}}}
	ask := tool.Ask(engine(t, model, texttosql.WithRefuseBelow(0.2)), nil)
	for question, options := range map[string]int{"What is the humidity?": 0,
		"What is the humidity of the customers?": 2} {
		out, err := ask(t.Context(), tool.In{Question: question})
		if err != nil || !out.Refused || !strings.Contains(out.Why, "nothing about humidity") ||
			len(out.Options) != options || out.SQL != "" {
			t.Errorf("%s: %+v, %v", question, out, err)
		}
	}
}

func ExampleAsk() {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, " +
		"'Ada')"); err != nil {
		log.Fatal(err)
	}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true}}}
	e, err := texttosql.New(db, model)
	if err != nil {
		log.Fatal(err)
	}
	ask := tool.Ask(e, &session.MemoryStore{})
	out, err := ask(context.Background(), tool.In{Question: "Who are the customers?"})
	fmt.Println(out.SQL, out.Table.Rows, err)
	// Output: SELECT name FROM customers [[Ada]] <nil>
}

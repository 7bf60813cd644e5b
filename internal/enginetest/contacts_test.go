package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
)

// Stored texts of [peopleSQL]: contacts, and codes that look a little like them.
var (
	contacts = []string{"ada@example.com", "bo@example.com", "+49 30 1234567", "212-555-0100"}
	codes    = []string{"SO-2024-00017", "0000123456", "2024-04-01", "1.234,50", "2024.11.0", "DE89370400440532013000",
		"pad@1.3.0"}
)

// peopleSQL makes a table with contacts and codes.
func peopleSQL() string {
	columns, values := []string{"id INTEGER PRIMARY KEY", "mail TEXT", "phone TEXT"}, [2]string{}
	for row := range values {
		values[row] = fmt.Sprintf("(%d,'%s','%s'", row+1, contacts[row], contacts[row+2])
		for _, code := range codes {
			values[row] += fmt.Sprintf(",'%s'", code)
		}
	}
	for i := range codes {
		columns = append(columns, fmt.Sprintf("code_%d TEXT", i))
	}
	return fmt.Sprintf("CREATE TABLE people (%s); INSERT INTO people VALUES %s), %s);", strings.Join(columns, ", "),
		values[0], values[1])
}

// promptsOf returns what a strategy shows to a model of people.
func promptsOf(t *testing.T, s strategy.Strategy, p exec.Policy) string {
	t.Helper()
	var (
		mu      sync.Mutex
		prompts strings.Builder
	)
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range req.Messages {
			prompts.WriteString(m.Text + "\n")
		}
		text := "SELECT id FROM people"
		if _, ok := s.(agent.ReAct); ok && req.Messages[len(req.Messages)-1].Role == llm.User {
			text = "Thought: rows\nAction: samples[people]"
		}
		return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
	})
	db, err := exec.New(strategytest.PoolOf(t, peopleSQL()), sqlite.Dialect{}, exec.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: snap.Schema, Snapshot: snap}
	env.Schema = strategytest.Profiled(t, env)
	task := strategy.Task{Question: "Which people are there?"}
	if _, err := s.Generate(t.Context(), env, task); err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
		t.Fatal(err)
	}
	return prompts.String()
}

// TestContactsInPrompts: no prompt of a preset shows an e-mail address or a phone number, and sample rows keep all
// other values. Policy.Reveal shows them.
func TestContactsInPrompts(t *testing.T) {
	withRows := presets()
	withRows["ReAct with samples"] = agent.ReAct{Tools: agent.Tools()}
	showsRows := []string{"augmented", "augmented published", "PETSQL", "PETSQL published", "ReAct with samples"}
	for _, name := range slices.Sorted(maps.Keys(withRows)) {
		t.Run(name, func(t *testing.T) {
			prompts := promptsOf(t, withRows[name], exec.Policy{})
			for _, contact := range contacts {
				if strings.Contains(prompts, contact) {
					t.Errorf("%q is shown", contact)
				}
			}
			if !slices.Contains(showsRows, name) {
				return
			}
			revealed := promptsOf(t, withRows[name], exec.Policy{Reveal: []string{"people.mail", "people.phone"}})
			for _, text := range slices.Concat(codes, []string{"(not shown)"}) {
				if !strings.Contains(prompts, text) {
					t.Errorf("%q is not shown:\n%s", text, prompts)
				}
			}
			for _, contact := range contacts {
				if !strings.Contains(revealed, contact) {
					t.Errorf("%q is revealed and not shown", contact)
				}
			}
		})
	}
}

// Package live asks a small real model, whose replies are what no script would think of: prose, refusals, half
// statements, replies cut in the middle. .ci/live asks it again; the test plays what it replied.
package live

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/providers"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

const samples = 6

// asked are the questions by database; every second one of them goes to SelfConsistency.
var asked = []struct {
	database  string
	questions []string
}{
	{"shop", []string{
		"How many customers are there?",
		"Which customers live in the USA?",
		"Which customers in the USA never ordered?",
		"List the names of all products.",
		"What is the price of the cheapest product?",
		"How many orders are open?",
		"Which product was ordered most often?",
		"What is the total of all orders?",
		"Show the five newest orders.",
		"How many customers does each country have?",
		"Delete all orders.",
		"Who are you?",
		"Wie viele Kunden gibt es?",
	}},
}

// call is one recorded call of the model. What was sent is not in its key, so that a recording outlives a change of
// the prompts: a reply of such a model says little about what it was asked.
type call struct {
	Question string
	Purpose  string
	Sample   int
	Text     string
	Stop     string
	Usage    llm.Usage
	Error    string `json:",omitempty"`
}

// TestLive plays the recording, or asks the model of TEXTTOSQL_LIVE_MODEL ("openai:smollm2") and makes it anew.
func TestLive(t *testing.T) {
	spec := os.Getenv("TEXTTOSQL_LIVE_MODEL")
	for _, part := range asked {
		t.Run(part.database, func(t *testing.T) {
			db := shop(t)
			tape := filepath.Join("testdata", part.database+".jsonl")
			var model func(question string) llm.Model
			save := func() {}
			if spec == "" {
				model = player(t, tape)
			} else {
				model, save = recorder(t, spec, tape)
			}
			var report strings.Builder
			for i, question := range part.questions {
				var s strategy.Strategy = strategy.Consensus{}
				if i%2 == 1 {
					s = strategy.SelfConsistency{}
				}
				engine, err := texttosql.New(db, model(question), texttosql.WithStrategy(s), texttosql.WithSamples(samples))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := engine.Ask(t.Context(), question)
				if answer == nil {
					t.Fatalf("%s: no result beside the error %v", question, err)
				}
				t.Logf("%s: %v", question, err)
				fmt.Fprintf(&report, "── %s (%T)\n%s\n", question, s, outcome(t, answer, err))
			}
			save()
			golden.Check(t, part.database+".golden", report.String())
		})
	}
}

// shop is the database of the examples.
func shop(t *testing.T) *sql.DB {
	t.Helper()
	script, err := os.ReadFile("../../../../examples/shop/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "shop.db"))
	if err == nil {
		_, err = db.Exec(string(script))
		t.Cleanup(func() { db.Close() })
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// outcome says what became of a question, and holds it to what must be true of every answer.
func outcome(t *testing.T, r *texttosql.Result, err error) string {
	t.Helper()
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
		if r.Confidence != 0 || r.Rows != nil {
			t.Errorf("%s: confidence %v and rows %v beside the error %v", r.Question, r.Confidence, r.Rows, err)
		}
	} else {
		fmt.Fprintf(&b, "%s\nconfidence %.2f, %d rows\n", r.SQL, r.Confidence, len(r.Rows.Rows))
	}
	fmt.Fprintf(&b, "%d samples, %d with a vote\n", r.Ballot.Sampled, r.Ballot.Voted)
	without := 0
	for _, a := range r.Ballot.Abstained {
		without++
		if a.Why == "" {
			t.Errorf("%s: candidate %d has no vote and no reason", r.Question, a.Candidate)
		}
		fmt.Fprintf(&b, "  sample %d had no vote: %s\n", r.Candidates[a.Candidate].Sample, a.Why)
	}
	if err == nil && 2*without > samples && r.Confidence > 0.5 {
		t.Errorf("%s: confidence %v where %d of %d samples had no vote", r.Question, r.Confidence, without, samples)
	}
	for _, c := range r.Candidates {
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "  sample %d, %s: %s\n", c.Sample, f.Rule, f.Detail)
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "  warning %s: %s\n", w.Code, w.Message)
	}
	return b.String()
}

// player answers from a recording.
func player(t *testing.T, path string) func(question string) llm.Model {
	calls := map[string][]call{}
	key := func(question, purpose string, sample int) string { return fmt.Sprint(question, "\n", purpose, sample) }
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var c call
		if err := lines.Decode(&c); err != nil {
			t.Fatal(err)
		}
		k := key(c.Question, c.Purpose, c.Sample)
		calls[k] = append(calls[k], c)
	}
	var mu sync.Mutex
	return func(question string) llm.Model {
		return llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			k := key(question, req.Purpose, req.Sample)
			if len(calls[k]) == 0 {
				t.Errorf("%s: nothing recorded for %s %d: run .ci/live", question, req.Purpose, req.Sample)
				return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "not recorded"}
			}
			c := calls[k][0]
			calls[k] = calls[k][1:]
			if c.Error != "" {
				return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: c.Error}
			}
			return llm.Response{Text: c.Text, StopReason: c.Stop, Usage: c.Usage}, nil
		})
	}
}

// recorder asks the live model, one call at a time, and writes the calls down at the end.
func recorder(t *testing.T, spec, path string) (model func(question string) llm.Model, end func()) {
	live, err := providers.Model(spec, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	var (
		calls []call
		mu    sync.Mutex
	)
	model = func(question string) llm.Model {
		return llm.Wrap(live, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			resp, err := live.Complete(ctx, req)
			if ctx.Err() != nil {
				return resp, err
			}
			c := call{Question: question, Purpose: req.Purpose, Sample: req.Sample, Text: resp.Text, Stop: resp.StopReason,
				Usage: resp.Usage}
			if err != nil {
				c.Error = err.Error()
			}
			calls = append(calls, c)
			return resp, err
		})
	}
	return model, func() {
		order := func(a, b call) int { // stable: repairs of one sample stay in their order
			return cmp.Or(strings.Compare(a.Question, b.Question), strings.Compare(a.Purpose, b.Purpose), a.Sample-b.Sample)
		}
		slices.SortStableFunc(calls, order)
		var b bytes.Buffer
		lines := json.NewEncoder(&b)
		for _, c := range calls {
			if err := lines.Encode(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

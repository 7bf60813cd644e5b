// Package evaluation holds an engine against labelled questions in CI: a change of model, prompt or schema that makes it worse than you
// allow fails the build. Copy this file, testdata/questions.jsonl and evaluation.yml, and put your database and your model in.
//
//	go test ./examples/evaluation -v                              # a scripted model
//	MODEL=openai:gpt-5-mini go test ./examples/evaluation -v      # a real one
//
// Without Go the command does the same: texttosql eval --db shop.db --min-ex 0.8 questions.jsonl.
package evaluation

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/evaltest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
)

// least is the share of right answers below which the build fails. With few questions one more wrong one is no proof: the interval
// that is printed says how much one can know.
const least = 0.6

// shop makes an engine over a new shop, and returns the path of its database.
func shop(t *testing.T, options ...texttosql.Option) (engine *texttosql.Engine, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	script, err := os.ReadFile("testdata/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(script)); err != nil {
		t.Fatal(err)
	}
	model := scripted
	if spec := os.Getenv("MODEL"); spec != "" {
		if model, err = providers.Model(spec, os.Getenv); err != nil {
			t.Fatal(err)
		}
	}
	engine, err = texttosql.New(db, model, append(options, texttosql.WithBudget(llm.Budget{Calls: 20}))...)
	if err != nil {
		t.Fatal(err)
	}
	return engine, file
}

// TestExpected holds single questions to what is expected of them: a report of what drifted.
func TestExpected(t *testing.T) {
	engine, _ := shop(t, texttosql.WithRefuseBelow(0.2))
	evaltest.Run(t, engine, "testdata/expected.jsonl")
}

func TestQuality(t *testing.T) {
	engine, file := shop(t)
	questions, err := eval.ReadDataset("testdata/questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	store := eval.NewStore(eval.StoreConfig{
		Find: func(string) (string, error) { return file, nil },
		Open: func(path string) (*sql.DB, error) { return sql.Open("sqlite3", "file:"+path+"?mode=ro") },
	})
	defer store.Close()
	report, err := eval.Run(t.Context(), func(ctx context.Context, q eval.Question) (eval.Answer, error) {
		r, err := engine.Generate(ctx, q.Text, texttosql.Question{Evidence: q.Evidence})
		if r == nil {
			return eval.Answer{}, err
		}
		return eval.Answer{SQL: r.SQL, Usage: r.Usage}, err
	}, questions, &eval.Scorer{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	right, _ := report.Estimate(eval.EX{}.Name())
	t.Logf("%.2f of %d questions are right, 95 %%: %.2f to %.2f", right.Value, right.N, right.Low, right.High)
	for _, v := range report.Verdicts {
		if v.Scores == nil || v.Scores[0] < 1 {
			t.Logf("wrong: %s\n  %s", v.Question.Text, v.SQL)
		}
	}
	if right.Value < least {
		t.Errorf("below %.2f", least)
	}
}

// scripted stands for a model that gets two of three right.
var scripted = llm.Named("scripted", llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
	prompt := req.Messages[len(req.Messages)-1].Text
	switch {
	case strings.Contains(prompt, "never ordered"):
		return llm.Response{Text: "SELECT name FROM customers WHERE country = 'USA' AND id NOT IN (SELECT customer_id FROM orders)"}, nil
	case strings.Contains(prompt, "How many orders"):
		return llm.Response{Text: "SELECT count(*) FROM orders"}, nil
	case strings.Contains(prompt, "humidity"):
		return llm.Response{Text: "No table has anything about humidity."}, nil
	}
	return llm.Response{Text: "SELECT name FROM customers"}, nil
}))

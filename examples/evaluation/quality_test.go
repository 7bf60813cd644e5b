// Package evaluation holds an engine against labelled questions in CI: a change of model, prompt or schema that makes
// it worse than you allow fails the build. Copy this file, testdata/questions.jsonl and evaluation.yml, and put your
// database and your model in.
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
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/texttosqltest"
)

// least is the share of right answers below which the build fails. With few questions one more wrong one is no proof:
// the interval that is printed says how much one can know.
const least = 0.6

// openShop makes an engine over a new shop, and returns the path of its database.
func openShop(t *testing.T, options ...texttosql.Option) (engine *texttosql.Engine, file string) {
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
		if model, err = shop.Model(spec, os.Getenv); err != nil {
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
	engine, _ := openShop(t, texttosql.WithRefuseBelow(0.2))
	texttosqltest.Run(t, engine, "testdata/expected.jsonl")
}

func TestQuality(t *testing.T) {
	engine, file := openShop(t)
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
		r, err := engine.Generate(ctx, q.Text, texttosql.WithEvidence(q.Evidence))
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

// scripted is a model that answers two of three questions right.
var scripted = llm.Named("scripted", &llmtest.Script{Rules: []llmtest.Rule{
	{Contains: "never ordered", Repeat: true,
		Replies: llmtest.Texts("SELECT name FROM customers WHERE country = 'USA' AND id NOT IN (SELECT customer_id " +
			"FROM orders)")},
	{Contains: "How many orders", Repeat: true, Replies: llmtest.Texts("SELECT count(*) FROM orders")},
	{Contains: "humidity", Repeat: true, Replies: llmtest.Texts("No table has anything about humidity.")},
	{Repeat: true, Replies: llmtest.Texts("SELECT name FROM customers")},
}})

package texttosql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func ExampleWithKnowledge() {
	m, err := knowledge.Read(
		strings.NewReader(`{"metrics": [{"name": "revenue", "expr": "SUM(orders.total)", "where": "orders.total > 15"}],
		"tables": [{"name": "orders"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		if r.Purpose == "metric" {
			return llm.Response{Text: `{"metrics": ["revenue"]}`}, nil
		}
		return llm.Response{Text: "SELECT SUM(total) FROM orders"}, nil
	})
	engine, err := texttosql.New(inMemory(), model, texttosql.WithKnowledge(m), texttosql.WithSamples(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := engine.Ask(context.Background(), "What is our revenue?")
	fmt.Println(answer.Grounds, answer.Rows.Rows, err)
	// Output: [by metric revenue] [[20]] <nil>
}

// What the data cannot answer is refused, and the refusal says why.
func ExampleWithRefuseBelow() {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(
		"SELECT AVG(humidity) FROM weather",
		"I cannot answer this with the given tables.",
		"SELECT AVG(total) FROM orders WHERE total > 30",
		"SELECT country FROM customers WHERE country = 'Humidity'",
	)}}}
	engine, err := texttosql.New(inMemory(), model, texttosql.WithSamples(4), texttosql.WithRefuseBelow(0.2))
	if err != nil {
		panic(err)
	}
	_, err = engine.Ask(context.Background(), "What was the average humidity by country?")
	fmt.Println(failure.Of(err).Message)
	if refused := (*texttosql.UnanswerableError)(nil); errors.As(err, &refused) {
		fmt.Println(refused.Unmet, refused.Nearest)
	}
	// Output:
	// The data has nothing about humidity.
	// [humidity] [customers.country]
}

// A question that a person verified is answered without a model, with the values that it names.
func ExampleWithKnowledge_verified() {
	byCountry := knowledge.Model{VerifiedQueries: []knowledge.VerifiedQuery{{
		Name: "customers of a country", Question: "Which customers are in USA?",
		SQL:        "SELECT name FROM customers WHERE country = :country",
		Params:     []knowledge.Param{{Name: "country", Column: "customers.country", Default: "USA"}},
		VerifiedBy: "the sales team", VerifiedAt: "2026-03-02",
	}}}
	engine, err := texttosql.New(inMemory(), says("SELECT 1"), texttosql.WithKnowledge(byCountry))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "Which customers are in Norway?")
	fmt.Println(answer.Rows.Rows, answer.Grounds, err)
	// Output: [[Bo]] [verified by the sales team, 2026-03-02 (country: Norway)] <nil>
}

package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/strategy"
)

// lengths is an embedder that a test can follow: a question is as long as it is.
type lengths struct{}

func (lengths) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = []float32{float32(len(text))}
	}
	return vectors, nil
}

func (lengths) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text))}, nil
}

// Exemplars by meaning: any embedder of langchaingo fits. The pool is embedded
// once, and kept in the index.
func ExampleEmbedder() {
	env := exampleEnv(nil)
	env.Index = new(strategy.ExemplarIndex) // texttosql.Engine has one
	env.Exemplars = []strategy.Pair{
		{Question: "List all.", SQL: "SELECT name FROM customers"},
		{Question: "What is the greatest total of an order that was ever placed?", SQL: "SELECT max(total) FROM orders"},
	}
	for _, question := range []string{"Who?", "Which of our many customers placed the greatest order ever?"} {
		got, err := strategy.Exemplars{K: 1, Embedder: lengths{}}.Pick(context.Background(), env, env.Schema, question)
		fmt.Println(got[0].SQL, err)
	}
	// Output:
	// SELECT name FROM customers <nil>
	// SELECT max(total) FROM orders <nil>
}

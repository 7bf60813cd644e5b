// Vectors shows solved questions that are like the new one in meaning, not in words: exemplars by embeddings.
//
//	go run ./examples/vectors                                  # an embedder of four words, and a scripted model
//	OPENAI_API_KEY=… go run ./examples/vectors -openai         # text-embedding-3-small, and gpt-5-mini
//
// Any memory.Embedder does, as those of langchaingo, with whatever store of vectors stands behind it.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// solved are questions with their answers, as people confirmed them.
var solved = []memory.Exemplar{
	{Question: "What is the turnover of 2024?", SQL: "SELECT sum(total) FROM orders WHERE ordered_on LIKE '2024%' " +
		"AND status <> 'cancelled'"},
	{Question: "Which buyers come from France?", SQL: "SELECT name FROM customers WHERE country = 'France'"},
	{Question: "How many orders are open?", SQL: "SELECT count(*) FROM orders WHERE status = 'open'"},
}

const schema = `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), ordered_on DATE, status TEXT, total REAL);
INSERT INTO customers VALUES (1, 'Ada', 'France'), (2, 'Bo', 'Sweden');
INSERT INTO orders VALUES (1, 1, '2023-05-01', 'shipped', 20.5), (2, 2, '2023-07-02', 'cancelled', 99), (3, 1, '2023-09-03', 'shipped', 10);`

const question = "How much money did we make in 2023?"

func main() {
	log.SetFlags(0)
	real := flag.Bool("openai", false, "embed and ask with OpenAI, by OPENAI_API_KEY")
	flag.Parse()
	var embedder memory.Embedder = concepts{}
	model := llm.Named("scripted", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{
			Text: "SELECT sum(total) FROM orders WHERE ordered_on LIKE '2023%' AND status <> 'cancelled'"}, nil
	}))
	if *real {
		embedder, model = openai.Embedder("text-embedding-3-small"), openai.Model("gpt-5-mini")
	}
	if err := run(context.Background(), os.Stdout, embedder, model); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, embedder memory.Embedder, model llm.Model) error {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	for _, by := range []struct {
		name     string
		embedder memory.Embedder
	}{{"words", nil}, {"meaning", embedder}} {
		picked, err := memory.Similar{Pool: &memory.Pool{Pairs: solved}, K: 1, Embedder: by.embedder}.Pick(ctx, nil, question)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "nearest by %-8s %s\n", by.name+":", picked[0].Question)
	}
	engine, err := texttosql.New(db, model, texttosql.WithMemory(memory.Options{Exemplars: solved}),
		texttosql.WithStrategy(petsql.Strategy{
			Prompter: petsql.REp{Exemplars: memory.Similar{K: 2, Embedder: embedder}},
		}))
	if err != nil {
		return err
	}
	answer, err := engine.Ask(ctx, question)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n%s\n%v\n", question, answer.SQL, answer.Rows.Rows)
	return nil
}

// concepts stands for an embedding model: a vector says how much a text is of money, of people, of orders.
type concepts struct{}

var axes = [][]string{{"money", "turnover", "revenue", "make"}, {"buyers", "customers", "people"}, {"orders", "open"}}

// EmbedQuery returns the vector of a question.
func (concepts) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, len(axes))
	for i, words := range axes {
		for _, word := range words {
			if strings.Contains(strings.ToLower(text), word) {
				v[i] = 1
			}
		}
	}
	return v, nil
}

// EmbedDocuments returns the vectors of texts.
func (c concepts) EmbedDocuments(ctx context.Context, texts []string) (all [][]float32, err error) {
	for _, text := range texts {
		v, _ := c.EmbedQuery(ctx, text)
		all = append(all, v)
	}
	return all, nil
}

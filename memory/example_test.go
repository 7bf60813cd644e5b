package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
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

// Exemplars by meaning: any embedder of langchaingo fits. The pool is embedded once, and the vectors stay in the Pool.
func ExampleEmbedder() {
	pool := &memory.Pool{Pairs: []memory.Exemplar{
		{Question: "List all.", SQL: "SELECT name FROM customers"},
		{Question: "What is the greatest total of an order that was ever placed?", SQL: "SELECT max(total) FROM orders"},
	}}
	for _, question := range []string{"Who?", "Which of our many customers placed the greatest order ever?"} {
		got, err := memory.Similar{Pool: pool, K: 1, Embedder: lengths{}}.Pick(context.Background(), shop, question)
		fmt.Println(got[0].SQL, err)
	}
	// Output:
	// SELECT name FROM customers <nil>
	// SELECT max(total) FROM orders <nil>
}

func ExampleSimilar() {
	pool := &memory.Pool{Pairs: []memory.Exemplar{
		{Question: "What is the total of all orders?", SQL: "SELECT sum(total) FROM orders"},
		{Question: "How many customers live in Norway?", SQL: "SELECT count(*) FROM customers WHERE country = 'Norway'"},
	}}
	got, err := memory.Similar{Pool: pool, K: 1}.Pick(context.Background(), shop, "How many orders are there in 2024?")
	fmt.Println(got[0].Question, err)
	// Output: How many customers live in Norway? <nil>
}

// A file of solved questions is checked when it is read, and the error names the
// line.
func ExampleReadExemplars() {
	dir, err := os.MkdirTemp("", "pairs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "solved.jsonl")
	text := `{"question": "How many customers are there?", "sql": "SELECT count(*) FROM customers"}` + "\n"
	for _, more := range []string{"", `{"question": "How many orders are there?"}`} {
		if err := os.WriteFile(path, []byte(text+more), 0o600); err != nil {
			fmt.Println(err)
			return
		}
		pairs, err := memory.ReadExemplars(path) // for a Pool, or for texttosql.WithMemory
		var wrong *fileerr.Memory
		if errors.As(err, &wrong) {
			fmt.Println("line", wrong.Line, wrong.Err)
			continue
		}
		fmt.Println(len(pairs), err)
	}
	// Output:
	// 1 <nil>
	// line 2 a solved question needs a question and its SQL
}

// What a person confirms is an exemplar for the next question, in this process
// and in the next.
func ExampleOpenVerifiedAnswers() {
	dir, err := os.MkdirTemp("", "confirmed")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "confirmed.jsonl")
	for _, sql := range []string{"SELECT count(*) FROM customers", "SELECT count(id) FROM customers"} {
		kept, err := memory.OpenVerifiedAnswers(path)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = kept.Add(memory.Exemplar{Question: "How many customers are there?", SQL: sql})
		pairs, _ := kept.Pairs()
		fmt.Println(len(pairs), pairs[0].SQL, err, kept.Close())
	}
	// Output:
	// 1 SELECT count(*) FROM customers <nil> <nil>
	// 1 SELECT count(id) FROM customers <nil> <nil>
}

func ExampleVerifiedAnswers() {
	var kept memory.VerifiedAnswers // in memory; memory.OpenVerifiedAnswers keeps a file
	err := kept.Add(memory.Exemplar{Question: "How many live in Norway?",
		SQL: "SELECT count(*) FROM customers WHERE country = 'Norway'"})
	pairs, _ := kept.Pairs()
	fmt.Println(len(pairs), pairs[0].Question, err)
	// Output: 1 How many live in Norway? <nil>
}

// No exemplar gives the answer away: a pair that differs from the question in a
// value alone is left out.
func ExamplePool_Random() {
	pool := &memory.Pool{Pairs: []memory.Exemplar{
		{Question: "Which customers live in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway'"},
		{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"},
	}}
	for _, pair := range pool.Random(2, "Which customers live in the USA?", 1) {
		fmt.Println(pair.Question)
	}
	// Output: How many orders are there?
}

// desk is a shelf of one text.
type desk struct {
	text    []byte
	version int
}

func (d *desk) String() string { return "the desk" }

func (d *desk) Read(string) ([]byte, string, error) { return d.text, fmt.Sprint(d.version), nil }

func (d *desk) Change(change func([]byte) ([]byte, error)) error {
	text, err := change(d.text)
	if err == nil && text != nil {
		d.text = text
		d.version++
	}
	return err
}

// Lessons may be kept anywhere. Package session/pgstore keeps them on PostgreSQL.
func ExampleLessonsOn() {
	shelf := &desk{}
	for _, database := range []string{"shop", "library", "shop"} {
		lessons, err := memory.LessonsOn(shelf)
		if err != nil {
			fmt.Println(err)
			return
		}
		lessons.Database = database
		_, err = lessons.Learn(memory.Episode{
			Session: "s", Question: "How many customers are there?", Completed: true,
			Declared: &schema.Schema{Tables: []schema.Table{{Name: "customers"}}},
			Live:     &schema.Schema{Tables: []schema.Table{{Name: "PROD_customers"}}},
			Attempts: []struct{ SQL, Missing string }{{SQL: "SELECT count(*) FROM customers", Missing: "customers"}},
			SQL:      "SELECT count(*) FROM PROD_customers", Tables: []schema.TableName{{Name: "PROD_customers"}},
		})
		list, _ := lessons.All()
		fmt.Println(database, len(list), list[0].From, list[0].To, err)
	}
	shelf.text, shelf.version = shelf.text[:50], 9
	_, err := memory.LessonsOn(shelf)
	fmt.Println(err)
	// Output:
	// shop 1 customers PROD_customers <nil>
	// library 1 customers PROD_customers <nil>
	// shop 1 customers PROD_customers <nil>
	// memory: the desk is no file of lessons, repair or move it: unexpected end of JSON input
}

// Vectors of the texts of a schema or of solved questions are in a file when the program starts again.
func ExampleVectors() {
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for range 2 { // the program is started twice
		embedder := &memory.Vectors{
			By: lengths{}, Name: "multilingual-e5-small", File: filepath.Join(dir, "vectors.jsonl"), QueryPrefix: "query: ",
			DocumentPrefix: "passage: ",
		}
		vectors, err := embedder.EmbedDocuments(context.Background(), []string{"orders", "customers"})
		fmt.Println(vectors, err)
	}
	// Output:
	// [[15] [18]] <nil>
	// [[15] [18]] <nil>
}

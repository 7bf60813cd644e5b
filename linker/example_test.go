package linker_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
)

var example = &schema.Schema{Tables: []schema.Table{
	{Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "name", Type: "TEXT"}, {Name: "country", Type: "TEXT"}}},
	{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "customer_id"}, {Name: "shippedOn"}}},
	{Name: "offices", Columns: []schema.Column{{Name: "id"}, {Name: "city", Type: "TEXT"}}},
}}

func ExampleLexical() {
	links, err := linker.Lexical{}.Link(context.Background(), linker.Input{
		Question: "Which customers have orders that were never shipped?",
		Schema:   example,
	})
	for _, t := range links.Tables {
		fmt.Println(t.Table, t.Score)
	}
	fmt.Println(err)
	// Output:
	// orders 6
	// customers 1.5
	// <nil>
}

// A question in a language that the schema is not written in keeps the whole of
// it, and the links say so.
func ExampleLexical_otherLanguage() {
	links, _ := linker.Lexical{}.Link(context.Background(), linker.Input{
		Question: "有哪些客户住在美国？",
		Schema:   example,
	})
	fmt.Println(links.Whole, links.Notes)
	// Output: true [no word of the question matches the schema: the whole schema is kept]
}

func ExampleValues() {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := pool.Exec("CREATE TABLE customers (id INTEGER, name TEXT, country TEXT); INSERT INTO customers VALUES (1, 'Ada', 'Norway')"); err != nil {
		panic(err)
	}
	ctx := context.Background()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		panic(err)
	}
	s, err := db.Schema(ctx)
	if err != nil {
		panic(err)
	}

	links, err := linker.Values{}.Link(ctx, linker.Input{Question: "How much did Ada from Norway order?", Schema: s, DB: db})
	for _, t := range links.Tables {
		for _, v := range t.Values {
			fmt.Printf("%s.%s = %q\n", t.Table, v.Column, v.Value)
		}
	}
	fmt.Println("the whole schema is kept:", links.Whole, err)
	// Output:
	// customers.name = "Ada"
	// customers.country = "Norway"
	// the whole schema is kept: true <nil>
}

func ExampleUnion() {
	mine := linker.Func(func(_ context.Context, in linker.Input) (schema.Links, error) {
		if strings.Contains(in.Question, "branch") { // a word of this house
			return schema.Links{Tables: []schema.TableLink{{Table: "offices"}}}, nil
		}
		return schema.Links{}, nil // no opinion
	})
	links, err := linker.Union{linker.Lexical{}, mine}.Link(context.Background(), linker.Input{
		Question: "In which countries is there a branch?",
		Schema:   example,
	})
	for _, t := range links.Tables {
		fmt.Println(t.Table)
	}
	fmt.Println(err)
	// Output:
	// customers
	// offices
	// <nil>
}

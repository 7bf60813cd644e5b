package linker_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
)

var example = &schema.Schema{Tables: []schema.Table{
	{Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "name", Type: "TEXT"},
		{Name: "country", Type: "TEXT"}}},
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
	// orders 2.953
	// customers 0.846
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

// An engine keeps the Index of its schema; a program that links by itself keeps one too.
func ExampleLexical_Index() {
	x := linker.Lexical{}.Index(example)
	links, _ := linker.Lexical{Tables: 1}.Link(context.Background(), linker.Input{Question: "Which cities have offices?",
		Schema: example, Index: x})
	fmt.Println(links.Tables[0].Table)
	// Output: offices
}

// What was asked before says that turnover is about orders.
func ExampleIndex_WithHistory() {
	x := linker.Lexical{}.Index(example).WithHistory([]memory.Exemplar{{Question: "Turnover by month",
		SQL: "SELECT count(*) FROM orders GROUP BY shippedOn"}})
	links, _ := linker.Lexical{}.Link(context.Background(), linker.Input{Question: "turnover of last year",
		Schema: example, Index: x})
	fmt.Println(links.Tables[0].Table)
	// Output: orders
}

func ExampleIndex_Family() {
	s := &schema.Schema{}
	for _, name := range []string{"hits_2023", "hits_2024", "visitors"} {
		s.Tables = append(s.Tables, schema.Table{Name: name, Columns: []schema.Column{{Name: "day"}, {Name: "page"}}})
	}
	fmt.Println(linker.Lexical{}.Index(s).Family(schema.TableName{Name: "hits_2024"}))
	// Output: [hits_2023 hits_2024]
}

// shopDB is a small database with its schema.
func shopDB() (db *exec.DB, s *schema.Schema, done func()) {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	pool.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := pool.Exec(`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id));
		CREATE TABLE offices (id INTEGER PRIMARY KEY, city TEXT);
		INSERT INTO customers VALUES (1, 'Ada', 'Norway')`); err != nil {
		panic(err)
	}
	if db, err = exec.New(pool, sqlite.Dialect{}, exec.Config{}); err != nil {
		panic(err)
	}
	if s, err = db.Schema(context.Background()); err != nil {
		panic(err)
	}
	return db, s, func() { pool.Close() }
}

// The question names the orders, and the customers only by a country that one of
// them has.
func Example() {
	db, s, done := shopDB()
	defer done()

	links, err := linker.Union{linker.Lexical{}, linker.Values{Choose: true}}.Link(context.Background(), linker.Input{
		Question: "How many orders came from Norway?", Schema: s, DB: db,
	})
	if err != nil {
		panic(err)
	}
	small, _ := s.Restrict(links)
	for _, t := range small.Tables {
		fmt.Println(t.Name)
	}
	// Output:
	// customers
	// orders
}

func ExampleValues() {
	db, s, done := shopDB()
	defer done()

	links, err := linker.Values{}.Link(context.Background(), linker.Input{Question: "How much did Ada from Norway order?",
		Schema: s, DB: db})
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

// A linker of one's own knows what a word means in this house.
func ExampleFunc() {
	house := linker.Func(func(_ context.Context, in linker.Input) (schema.Links, error) {
		if strings.Contains(in.Question, "branch") {
			return schema.Links{Tables: []schema.TableLink{{Table: "offices"}}}, nil
		}
		return schema.Links{}, nil // no opinion
	})
	for _, question := range []string{"How many branches are there?", "How many are there?"} {
		links, err := house.Link(context.Background(), linker.Input{Question: question, Schema: example})
		small, _ := example.Restrict(links)
		fmt.Println(len(small.Tables), err)
	}
	// Output:
	// 1 <nil>
	// 3 <nil>
}

func ExampleUnion() {
	links, err := linker.Union{linker.Names{}, linker.Lexical{Tables: 1}}.Link(context.Background(), linker.Input{
		Question: "Which customers have orders that were never shipped?",
		Schema:   example,
	})
	for _, t := range links.Tables {
		fmt.Println(t.Table, t.Score)
	}
	fmt.Println(links.Notes, err)
	// Output:
	// customers 1
	// orders 3.953
	// [2 tables match words of the question, the best 1 are kept] <nil>
}

// The model says of each table whether the question needs it; here a script stands in for it.
func ExampleMapReduce() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "decompose", Replies: llmtest.Texts(`{"entity": "customers", "filter": "ordered nothing"}`)},
		{Contains: "TABLE customers", Replies: llmtest.Texts(`{"relevant": true, "score": 1, "relevant_columns": ["name"]}`)},
		{Contains: "TABLE orders",
			Replies: llmtest.Texts(`{"relevant": true, "score": 0.9, "relevant_columns": ["customer_id"]}`)},
		{Contains: "TABLE offices", Replies: llmtest.Texts(`{"relevant": false}`)},
	}}
	reduced, err := linker.MapReduce{Model: model}.Run(context.Background(), linker.Input{
		Question: "Who bought nothing?", Schema: example,
	})
	for _, t := range reduced.Tables {
		fmt.Println(t.Table, t.Score, t.Columns, t.Relevant)
	}
	fmt.Println(reduced.Components, err)
	// Output:
	// customers 1 [name] true
	// orders 0.9 [customer_id] true
	// offices 0 [] false
	// [{customers entity} {ordered nothing filter}] <nil>
}

// Each table is judged alone, then those that are relevant together, and then the model says what the question asks of
// them; here a script stands in for it.
func ExamplePerTable() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "table", Contains: "TABLE customers",
			Replies: llmtest.Texts(`{"is_relevant": true, "confidence": 0.9, "relevant_columns": ["name"]}`)},
		{Purpose: "table", Contains: "TABLE orders", Replies: llmtest.Texts(`{"is_relevant": true, "confidence": 0.8}`)},
		{Purpose: "table", Replies: llmtest.Texts(`{"is_relevant": false, "confidence": 0.9}`)},
		{Purpose: "tables", Replies: llmtest.Texts(`{"final_tables": ["customers", "orders"]}`)},
		{Purpose: "synthesis", Replies: llmtest.Texts(`{"joins_needed": true, "aggregations": "count of orders"}`)},
	}}
	id, err := linker.PerTable{Model: model}.Run(context.Background(), linker.Input{Question: "Who ordered most often?",
		Schema: example})
	for _, v := range id.Tables {
		fmt.Println(v.Table, v.Relevant, v.Score)
	}
	fmt.Println(id.Final, id.JoinsNeeded, id.Aggregations, err)
	// Output:
	// customers true 0.9
	// orders true 0.8
	// offices false 0.9
	// [customers orders] true count of orders <nil>
}

// The schema declares no foreign keys, so names say how its tables are joined.
func ExampleJoins() {
	plan, err := linker.Joins{}.Connect(context.Background(), linker.Input{Question: "Who ordered most often?",
		Schema: example}, []schema.TableName{{Name: "customers"}, {Name: "orders"}})
	for _, j := range plan.Joins {
		fmt.Printf("%s by %s, %.2f\n", j.Join, j.Origin, j.Confidence)
	}
	fmt.Println(err)
	// Output:
	// customers.id = orders.customer_id by names, 0.71
	// <nil>
}

func ExampleJoins_Candidates() {
	orders, _ := example.Lookup("", "orders")
	customers, _ := example.Lookup("", "customers")
	for _, j := range (linker.Joins{}).Candidates(orders, customers) {
		fmt.Printf("%s %.2f\n", j.Join, j.Confidence)
	}
	// Output: customers.id = orders.customer_id 0.71
}

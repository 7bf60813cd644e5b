package enginetest_test

import (
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
)

// TestHeadlines: the headline knows which rows tie with the last one, and what the columns hold that are not shown.
func TestHeadlines(t *testing.T) {
	const tables = "CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT, price TEXT, sold_on DATE);" +
		"INSERT INTO products VALUES (1, 'Ink', '9.50', '2024-05-01'), (2, 'Pad', '110.00', NULL), (3, 'Cup', '12.25', " +
		"'2024-05-03');" +
		"CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT, joined DATE);" +
		"INSERT INTO customers VALUES (1, 'Ann', 'Paris', '2020-03-01'), (2, 'Bo', 'Rome', '2018-01-02'), (3, 'Cy', " +
		"'Paris', '2021-07-09')," +
		"(4, 'Di', 'Oslo', '2018-01-02');"
	bills := texttosql.WithDialect(billed{})
	for _, tt := range []struct {
		why, question, sql, want string
		options                  []texttosql.Option
	}{
		{"a tie", "Which city has the fewest customers?",
			"SELECT city FROM customers GROUP BY city ORDER BY count(*) LIMIT 1",
			"Lowest number of customers: Oslo and at least one other.", nil},
		{"no tie", "Which city has the most customers?",
			"SELECT city FROM customers GROUP BY city ORDER BY count(*) DESC LIMIT 1",
			"Paris has the highest number of customers.", nil},
		{"a tie behind the first one", "Which 2 cities have the most customers?",
			"SELECT city, count(*) AS n FROM customers GROUP BY city ORDER BY n DESC LIMIT 2", "Paris has the most: 2.", nil},
		{"a tie of times", "Who joined first?", "SELECT name FROM customers ORDER BY joined LIMIT 1",
			"Earliest joined: Bo and at least one other.", nil},
		{"a time that is not shown", "Who joined last?", "SELECT name FROM customers ORDER BY joined DESC LIMIT 1",
			"Latest joined: Cy.", nil},
		{"a tie inside", "What is the newest customer called?",
			"SELECT name FROM customers WHERE city = (SELECT city FROM customers GROUP BY city ORDER BY count(*) LIMIT 1)", "",
			nil},
		{"the first one is missing", "Which product was sold first?",
			"SELECT name FROM products ORDER BY sold_on LIMIT 1", "", nil},
		{"the last one is not", "Which product was sold last?", "SELECT name FROM products ORDER BY sold_on DESC LIMIT 1",
			"Latest product sold: Cup.", nil},
		{"numbers stored as text", "What is the most expensive product?",
			"SELECT name FROM products ORDER BY price DESC LIMIT 1", "", nil},
		{"the same as numbers", "What is the most expensive product?",
			"SELECT name, CAST(price AS REAL) AS price FROM products ORDER BY 2 DESC LIMIT 1", "Highest price: Pad, 110.", nil},
		{"nobody looks for ties that cost money", "Which city has the fewest customers?",
			"SELECT city FROM customers GROUP BY city ORDER BY count(*) LIMIT 1", "", []texttosql.Option{bills}},
		{"without a limit there are none", "How many customers are there by city?",
			"SELECT city, count(*) AS n FROM customers GROUP BY city ORDER BY n DESC",
			"Paris has the most: 2 of 4 (50 %).", []texttosql.Option{bills}},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true, Replies: llmtest.Texts(tt.sql)}}}
		options := append(tt.options, texttosql.WithStrategy(strategy.Direct{}))
		e := testutil.Value(texttosql.New(open(t, tables), model, options...))(t)
		golden.Equal(t, tt.want, testutil.Value(e.Ask(t.Context(), tt.question))(t).Summary, tt.why)
	}
}

// TestModelHeadlineOfATie: a model that sees one row would name a winner, so it writes no headline of a tie.
func TestModelHeadlineOfATie(t *testing.T) {
	const tables = "CREATE TABLE customers(id INTEGER PRIMARY KEY, city TEXT); INSERT INTO customers VALUES (1, " +
		"'Paris'), (2, 'Rome')"
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "headline", Repeat: true, Replies: llmtest.Texts("Paris is the smallest city.")},
		{Repeat: true, Replies: llmtest.Texts("SELECT city FROM customers GROUP BY city ORDER BY count(*) LIMIT 1")},
	}}
	e := testutil.Value(texttosql.New(open(t, tables), model, texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithSummary()))(t)
	res := testutil.Value(e.Ask(t.Context(), "Which city has the fewest customers?"))(t)
	golden.Equal(t, "Lowest number of customers: Paris and at least one other.", res.Summary, "a tie")
}

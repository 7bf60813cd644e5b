package summary_test

import (
	"context"
	"fmt"
	"time"

	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

func ExampleSentence() {
	sql := "SELECT country, sum(amount) FROM payments WHERE paid_on >= '2024-01-01' AND paid_on < '2025-01-01' " +
		"GROUP BY country ORDER BY 2 DESC"
	fmt.Println(summary.Sentence(sqltext.SQLite(), sql))
	// Output:
	// Total amount of payments in 2024 by country; highest first.
}

func ExampleFound() {
	rows := &result.Table{
		Columns: []string{"country", "n"},
		Rows:    [][]any{{"Germany", int64(412)}, {"France", int64(300)}, {"Spain", int64(88)}},
	}
	fmt.Println(summary.Found(sqltext.SQLite(), "SELECT country, count(*) AS n FROM customers GROUP BY country", rows,
		time.Time{}, nil, false))
	// Output:
	// Germany has the most: 412 of 800 (52 %), then France with 300.
}

func ExamplePreviewRows() {
	names := []string{"name", "total"}
	payments := &result.Table{Columns: names, Rows: [][]any{{"Ann", 2138816.4}, {"Bo", int64(990)}}}
	orders := &result.Table{Columns: names, Rows: [][]any{{"Bo", int64(1204)}, {"Ann", int64(998)}}}
	for i, text := range summary.PreviewRows([]*result.Table{payments, orders}) {
		fmt.Println(i+1, text)
	}
	// Output:
	// 1 Ann 2,138,816.40, Bo 990.00
	// 2 Bo 1,204, Ann 998
}

func ExampleHeadline() {
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "Ann has ordered most often, 12 times."}, nil
	})
	rows := &result.Table{Columns: []string{"name", "orders"}, Rows: [][]any{{"Ann", int64(12)}, {"Bo", int64(3)}}}
	fmt.Println(summary.Headline{Model: model}.Of(context.Background(), "Who orders most often?", rows))
	// Output:
	// Ann has ordered most often, 12 times. <nil>
}

func ExamplePlural() {
	for _, name := range []string{"OrderItem", "superhero", "staff"} {
		fmt.Println(summary.Plural(name))
	}
	// Output:
	// order items true
	// superheroes true
	// staff false
}

package shop_test

import (
	"context"
	"fmt"
	"log"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
)

func Example() {
	db, close, err := shop.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer close()
	engine, err := texttosql.New(db, shop.Listed().Model())
	if err != nil {
		log.Fatal(err)
	}
	question := shop.Listed().Questions()[0]
	answer, err := engine.Ask(context.Background(), question)
	fmt.Println(question)
	fmt.Println(answer.SQL, answer.Rows.Rows, err)
	// Output:
	// Which customers in the USA never ordered?
	// SELECT name FROM customers WHERE country = 'USA' AND id NOT IN (SELECT customer_id FROM orders) [[Mina Jansen] [Noor Hughes]] <nil>
}

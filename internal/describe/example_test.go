package describe_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/internal/describe"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func ExampleColumns() {
	dir, err := os.MkdirTemp("", "describe")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "### Table\ncustomers\n",
			Replies: llmtest.Texts(`{"id": "Number of a customer.", "name": "Name of it.", "country": "Where it is."}`)},
		{Contains: "### Table\norders\n",
			Replies: llmtest.Texts(
				`{"id": "Number of an order.", "customer_id": "Who ordered.", "total": "What the order costs."}`)},
	}}
	db := strategytest.ExampleEnv(model).DB // exec.New(pool, sqlite.Dialect{}, exec.Config{})

	columns := describe.Columns{Model: model, File: filepath.Join(dir, "shop.json")}
	for range 2 { // the second time everything is there
		file, err := columns.Describe(context.Background(), db, nil)
		if err != nil {
			log.Fatal(err) // what was described is in the file; another call goes on
		}
		fmt.Println(len(model.Requests()), "calls;", file.Descriptions["orders.total"].Described)
	}
	// Output:
	// 2 calls; What the order costs.
	// 2 calls; What the order costs.
}

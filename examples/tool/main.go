// Tool gives an engine to agents of eino (github.com/cloudwego/eino) as a tool. It invokes the tool as an agent does,
// on a small database with a scripted model, so that it needs no key:
//
//	go run . '{"question": "Which customers live in the USA?"}'
//
// An agent is given the tool by compose.ToolsNodeConfig or react.AgentConfig.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	"github.com/cloudwego/eino/components/tool/utils"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/tool"
)

func main() {
	arguments := `{"question": "Which customers live in the USA?"}`
	if len(os.Args) > 1 {
		arguments = os.Args[1]
	}
	out, err := run(context.Background(), arguments)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out)
}

// run answers the arguments of a tool's call, as JSON.
func run(ctx context.Context, arguments string) (string, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return "", err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		INSERT INTO customers VALUES (1, 'Ada', 'USA'), (2, 'Bo', 'Sweden')`)
	if err != nil {
		return "", err
	}
	// in its place: openai.Model("gpt-5-mini")
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT name FROM customers WHERE country = 'USA'"}, nil
	})
	engine, err := texttosql.New(db, model)
	if err != nil {
		return "", err
	}
	ask, err := utils.InferTool("ask_database", tool.Description, tool.Ask(engine, nil))
	if err != nil {
		return "", err
	}
	return ask.InvokableRun(ctx, arguments)
}

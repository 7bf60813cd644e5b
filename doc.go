// Package texttosql answers a question with one checked, read-only SQL statement:
//
//	package main
//	import (
//		"context"
//		"database/sql"
//		"fmt"
//		_ "github.com/mattn/go-sqlite3"
//		"github.com/texttosql/texttosql"
//		"github.com/texttosql/texttosql/llm/openai"
//	)
//	func main() {
//		db, _ := sql.Open("sqlite3", "file:shop.db?mode=ro")
//		engine, err := texttosql.New(db, openai.Model("gpt-5-mini")) // reads OPENAI_API_KEY
//		if err != nil {
//			panic(err)
//		}
//		answer, err := engine.Ask(context.Background(), "Which customers never ordered?")
//		fmt.Println(answer.SQL, answer.Closing(), err)
//	}
//
// Next, read about [Engine] and [Result]. [WithPolicy] restricts what statements read, [WithBudget] limits the cost,
// and [WithKnowledge] adds metrics. Package strategy has other ways to an answer.
package texttosql

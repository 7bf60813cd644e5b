package models_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval/models"
	"github.com/texttosql/texttosql/strategy"
)

// A question is asked again of a model that answered it three times.
func Example() {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := db.Exec("CREATE TABLE singer (id INTEGER, name TEXT); INSERT INTO singer VALUES (1, 'Ada'), (2, 'Bo')"); err != nil {
		panic(err)
	}

	m, err := models.NewRecorded("spider_dev/all", []models.Question{{
		ID: "6", Text: "How many singers are there?",
		Replies: []models.Reply{{Text: "SELECT count(*) FROM singer"}, {Text: "SELECT max(name) FROM singer"}, {Text: "SELECT count(id) FROM singer"}},
	}})
	if err != nil {
		panic(err)
	}
	engine, err := texttosql.New(db, m, texttosql.WithStrategy(strategy.SelfConsistency{Samples: 3}))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "How many singers are there?")
	fmt.Println(answer.SQL, answer.Rows.Rows, err)
	// Output:
	// SELECT count(*) FROM singer [[2]] <nil>
}

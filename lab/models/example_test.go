package models_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
)

// singersDB is a small database.
func singersDB() *sql.DB {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := db.Exec(`CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		CREATE TABLE concert (id INTEGER PRIMARY KEY, singer_id INTEGER REFERENCES singer(id));
		INSERT INTO singer VALUES (1, 'Ada', 'France'), (2, 'Bo', 'Norway')`); err != nil {
		panic(err)
	}
	return db
}

// A question is asked again of a model that answered it three times.
func Example() {
	db := singersDB()
	defer db.Close()

	m, err := models.NewRecorded("spider_dev/all", []models.Question{{
		ID: "6", Text: "How many singers are there?",
		Replies: []models.Reply{{Text: "SELECT count(*) FROM singer"}, {Text: "SELECT max(name) FROM singer"},
			{Text: "SELECT count(id) FROM singer"}},
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

// A strategy that settles tables, conditions and statement one after the other
// samples each from the answers to the whole question.
func ExamplePhases() {
	pool := singersDB()
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		panic(err)
	}
	const question = "Who is from France?"
	recorded, err := models.NewRecorded("three samples",
		[]models.Question{{ID: "1", Text: question, Replies: []models.Reply{
			{Text: "SELECT name FROM singer WHERE country = 'France'"},
			{Text: "SELECT s.name FROM singer AS s JOIN concert AS c ON s.id = c.singer_id WHERE s.country = 'France'"},
			{Text: "SELECT name FROM singer WHERE country = 'France' ORDER BY name"},
		}}})
	if err != nil {
		panic(err)
	}
	m, err := models.NewPhases(context.Background(), recorded, db, models.PhaseOptions{})
	if err != nil {
		panic(err)
	}
	for _, step := range []string{"maker.scope", "maker.filter"} {
		reply, err := m.Complete(context.Background(), llm.Request{
			Messages: []llm.Message{{Role: llm.User, Text: question}}, Purpose: step, Sample: 1,
		})
		fmt.Println(reply.Text, err)
	}

	engine, err := texttosql.New(pool, m, texttosql.WithStrategy(maker.Strategy{Samples: 3}))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), question)
	fmt.Println(answer.SQL, answer.Rows.Rows, err)
	// Output:
	// Tables: concert, singer
	// Joins: concert.singer_id = singer.id <nil>
	// singer.country = 'France' <nil>
	// SELECT name FROM singer WHERE country = 'France' [[Ada]] <nil>
}

func ExampleTrajectories() {
	walk := models.Trajectory{Run: "a", Question: "1", Steps: []models.TrajectoryStep{
		{Thought: "I count.", Action: "query", SQL: "SELECT count(*) FROM singers"},
		{Thought: "The table is called singer.", Action: "query", SQL: "SELECT count(*) FROM singer", OK: true},
	}}
	model, err := models.NewTrajectories("a", []models.Trajectory{walk},
		[]models.Question{{ID: "1", Text: "How many singers are there?"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := llm.Request{Purpose: "agent.step", Messages: []llm.Message{
		{Role: llm.User, Text: "Question: How many singers are there?"},
		{Role: llm.Assistant, Text: walk.Steps[0].Reply()},
		{Role: llm.User, Text: "Observation: Error: no such table"},
	}}
	reply, err := model.Complete(context.Background(), request)
	fmt.Println(reply.Text, err)
	// Output:
	// Thought: The table is called singer.
	// Action: query[SELECT count(*) FROM singer] <nil>
}

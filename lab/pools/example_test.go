package pools_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/pools"
)

// petFolder makes a folder of evaluation data: two questions about the database
// of petShop, and what three systems answered.
func petFolder() (dir string, done func()) {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		log.Fatal(err)
	}
	for _, sub := range []string{"questions", "predictions", "db/own"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			log.Fatal(err)
		}
	}
	makePets(filepath.Join(dir, "db", "own"))
	for path, lines := range map[string]string{
		"questions/questions_pets.jsonl": `
{"qid": 1, "db_id": "pets", "question": "How many cats are there?", "gold": "SELECT count(*) FROM pet WHERE kind = 'cat'"}
{"qid": 2, "db_id": "pets", "question": "Who is the oldest?", "gold": "SELECT name FROM pet ORDER BY age DESC LIMIT 1"}`,
		"predictions/preds_pets.jsonl.gz": `
{"run": "small", "qid": 1, "sql": "SELECT count(kind) FROM pet"}
{"run": "large", "qid": 1, "sql": "SELECT count(*) FROM pet WHERE kind LIKE 'cat'"}
{"run": "large", "qid": 2, "sql": "SELECT name FROM pet WHERE age = 9"}
{"run": "tuned", "qid": 1, "sql": "SELECT count(name) FROM pet WHERE kind = 'cat'"}`, // files need not be packed
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(lines), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}

// Every run in a file of answers is scored on a dataset.
func Example() {
	dir, done := petFolder() // or os.Getenv("TEXTTOSQL_DATA")
	defer done()
	folder, err := pools.OpenFolder(dir)
	if err != nil {
		log.Fatal(err)
	}
	dataset, err := folder.Dataset("pets")
	if err != nil {
		log.Fatal(err)
	}
	store := eval.NewStore(eval.StoreConfig{
		Find: folder.Database,
		Open: func(path string) (*sql.DB, error) {
			return sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
		},
	})
	defer store.Close()

	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.VA{}, eval.EX{}}}
	path := folder.Path("predictions", "preds_pets.jsonl.gz")
	reports, err := scorer.ScoreRuns(context.Background(), dataset, path, eval.Answers(path))
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range reports {
		fmt.Print(r)
	}
	// Output:
	// small on pets, 2 questions
	//   va         0.5000
	//   ex_set     0.0000
	//   without an answer: 1
	// large on pets, 2 questions
	//   va         1.0000
	//   ex_set     1.0000
	// tuned on pets, 2 questions
	//   va         0.5000
	//   ex_set     0.5000
	//   without an answer: 1
}

// The answers of all runs vote on each question that any of them answered.
func ExampleFolder_Pool() {
	dir, done := petFolder()
	defer done()
	folder, err := pools.OpenFolder(dir)
	if err != nil {
		log.Fatal(err)
	}
	pool, err := folder.Pool("pets/all")
	if err != nil {
		log.Fatal(err)
	}
	for i, q := range pool.Questions {
		fmt.Printf("%s: %d answers, the first of %s: %s\n", q.Key(), len(pool.Answers[i]), pool.Answers[i][0].Run,
			pool.Answers[i][0].SQL)
	}
	// Output:
	// pets/1: 3 answers, the first of small: SELECT count(kind) FROM pet
	// pets/2: 1 answers, the first of large: SELECT name FROM pet WHERE age = 9
}

// makePets writes the database of the examples into dir.
func makePets(dir string) {
	db, err := sql.Open("sqlite3", filepath.Join(dir, "pets.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE pet (name TEXT, kind TEXT, age INTEGER);" +
		"INSERT INTO pet VALUES ('Rex', 'dog', 4), ('Tom', 'cat', 2), ('Ada', 'cat', 9)"); err != nil {
		log.Fatal(err)
	}
}

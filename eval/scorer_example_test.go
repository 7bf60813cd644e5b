package eval_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/eval"
)

// petShop makes a small database in a temporary folder and returns a way to find it.
func petShop() (find func(id string) (string, error), done func()) {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		log.Fatal(err)
	}
	makePets(dir)
	return in(dir), func() { os.RemoveAll(dir) }
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

func ExampleScorer_Score() {
	find, done := petShop()
	defer done()
	store := eval.NewStore(eval.StoreConfig{Find: find, Open: openReadOnly})
	defer store.Close()

	q := eval.Question{ID: "1", DB: "pets", Text: "Which kinds of pets are there?", Gold: "SELECT DISTINCT kind FROM pet"}
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.VA{}, eval.EX{}, eval.EX{Rule: "bag"}}}
	for _, answer := range []string{
		"SELECT kind FROM pet GROUP BY 1", "SELECT kind FROM pet", "SELECT kind, count(*) FROM pet GROUP BY kind",
		"SELECT species FROM pet",
	} {
		v, err := scorer.Score(context.Background(), q, answer)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(v.Answer.Status)
		for i, name := range scorer.Names() {
			fmt.Printf("  %s %.2f", name, v.Scores[i])
		}
		fmt.Println()
	}
	// Output:
	// ok  va 1.00  ex_set 1.00  ex_bag 1.00
	// ok  va 1.00  ex_set 1.00  ex_bag 0.00
	// ok  va 1.00  ex_set 0.00  ex_bag 0.00
	// error  va 0.00  ex_set 0.00  ex_bag 0.00
}

func ExampleScorer_ScoreRuns() {
	find, done := petShop()
	defer done()
	store := eval.NewStore(eval.StoreConfig{Find: find, Open: openReadOnly})
	defer store.Close()

	dataset, err := eval.NewDataset("pets", []eval.Question{
		{ID: "1", DB: "pets", Text: "How many cats are there?", Gold: "SELECT count(*) FROM pet WHERE kind = 'cat'"},
		{ID: "2", DB: "pets", Text: "Who is the oldest?", Gold: "SELECT name FROM pet ORDER BY age DESC LIMIT 1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	answers := func(yield func(eval.Answer, error) bool) { // or eval.Answers(path)
		_ = yield(eval.Answer{Run: "small", Question: "1", SQL: "SELECT count(kind) FROM pet"}, nil) &&
			yield(eval.Answer{Run: "large", Question: "1", SQL: "SELECT count(*) FROM pet WHERE kind = 'cat'"}, nil) &&
			yield(eval.Answer{Run: "large", Question: "2", SQL: "SELECT name FROM pet WHERE age = 9"}, nil)
	}
	scorer := eval.Scorer{Store: store}
	reports, err := scorer.ScoreRuns(context.Background(), dataset, "answers", answers)
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
	//   ex_bag     0.0000
	//   without an answer: 1
	// large on pets, 2 questions
	//   va         1.0000
	//   ex_set     1.0000
	//   ex_bag     1.0000
}

func ExampleReadDataset() {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "dev.json")
	bird := `[{"question_id": 0, "db_id": "pets", "question": "How many cats?", "evidence": "", "SQL": "SELECT count(*) FROM pet", "difficulty": "simple"}]`
	if err := os.WriteFile(path, []byte(bird), 0o600); err != nil {
		log.Fatal(err)
	}
	dataset, err := eval.ReadDataset(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range dataset.Questions {
		fmt.Println(q.Key(), q.DB, q.Difficulty, q.Gold)
	}
	// Output:
	// dev/0 pets simple SELECT count(*) FROM pet
}

func ExampleTrial() {
	// A metric of one's own: as many columns as the gold.
	find, done := petShop()
	defer done()
	store := eval.NewStore(eval.StoreConfig{Find: find, Open: openReadOnly})
	defer store.Close()
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{columns{}}}
	v, err := scorer.Score(context.Background(), eval.Question{DB: "pets", Gold: "SELECT name FROM pet"},
		"SELECT name, age FROM pet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Scores)
	// Output:
	// [0]
}

type columns struct{}

func (columns) Name() string { return "columns" }

func (columns) Score(_ context.Context, t *eval.Trial) (float64, error) {
	if t.Answer.OK() && t.Answer.Columns == t.Gold.Columns {
		return 1, nil
	}
	return 0, nil
}

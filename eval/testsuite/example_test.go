package testsuite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/eval/testsuite"
)

// An answer that is right by chance on the database, and not on its variations.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "suite")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	open := func(path string) (*sql.DB, error) { return sql.Open("sqlite3", path) }
	base := filepath.Join(dir, "shop.sqlite")
	db, err := open(base)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = db.Exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL, total REAL NOT NULL);
		INSERT INTO orders (state, total) VALUES ('sent', 10), ('sent', 25), ('open', 40), ('open', 5), ('sent', 90)`)
	if err != nil {
		fmt.Println(err)
		return
	}
	db.Close()

	// Nothing is lost yet, so everything that finds nothing is right.
	gold := "SELECT COUNT(*) FROM orders WHERE state = 'lost' AND total > 20"
	m, err := testsuite.Generator{Open: open, Golds: []testsuite.Gold{{ID: "1", SQL: gold}}}.Generate(ctx, base, filepath.Join(dir, "suite"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d replicas, %d of %d mutants killed, %d blind golds\n", len(m.Replicas), m.Killed, m.Mutants, len(m.Blind))

	suite, err := testsuite.Load(filepath.Join(dir, "suite"), eval.StoreConfig{Open: open})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer suite.Close()
	store := eval.NewStore(eval.StoreConfig{Open: open, Find: func(string) (string, error) { return base, nil }})
	defer store.Close()
	scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{
		eval.EX{}, testsuite.TS{Suites: map[string]*testsuite.Suite{"shop": suite}},
	}}
	for _, answer := range []string{
		"SELECT COUNT(id) FROM orders WHERE total > 20 AND state = 'lost'",
		"SELECT COUNT(*) FROM orders WHERE state = 'lost'",
	} {
		v, err := scorer.Score(ctx, eval.Question{DB: "shop", Gold: gold}, answer)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("EX", v.Scores[0], "TS", v.Scores[1], answer)
	}
	// Output:
	// 10 replicas, 5 of 5 mutants killed, 0 blind golds
	// EX 1 TS 1 SELECT COUNT(id) FROM orders WHERE total > 20 AND state = 'lost'
	// EX 1 TS 0 SELECT COUNT(*) FROM orders WHERE state = 'lost'
}

func ExampleMutants() {
	for _, m := range testsuite.Mutants(nil, "SELECT MAX(total) FROM orders WHERE state = 'open' AND total < 50") {
		fmt.Println(m.Edit+":", m.SQL)
	}
	// Output:
	// < to <=: SELECT MAX(total) FROM orders WHERE state = 'open' AND total <= 50
	// drop conjunct: SELECT MAX(total) FROM orders WHERE total < 50
	// drop conjunct: SELECT MAX(total) FROM orders WHERE state = 'open'
	// max to min: SELECT MIN(total) FROM orders WHERE state = 'open' AND total < 50
	// literal - 1: SELECT MAX(total) FROM orders WHERE state = 'open' AND total < 49
	// literal + 1: SELECT MAX(total) FROM orders WHERE state = 'open' AND total < 51
}

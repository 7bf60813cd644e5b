package testsuite_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/testsuite"
)

func openFile(path string) (*sql.DB, error) { return sql.Open("sqlite3", path) }

// orders makes a small database in a folder of its own.
func orders() (dir, base string, done func()) {
	dir, err := os.MkdirTemp("", "suite")
	if err != nil {
		log.Fatal(err)
	}
	base = filepath.Join(dir, "shop.sqlite")
	db, err := openFile(base)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL, total REAL NOT NULL);
		INSERT INTO orders (state, total) VALUES ('sent', 10), ('sent', 25), ('open', 40), ('open', 5), ('sent', 90)`); err != nil {
		log.Fatal(err)
	}
	return dir, base, func() { os.RemoveAll(dir) }
}

// An answer that is right by chance on the database, and not on its variations.
func Example() {
	ctx := context.Background()
	dir, base, done := orders()
	defer done()

	// Nothing is lost yet, so everything that finds nothing is right.
	gold := "SELECT COUNT(*) FROM orders WHERE state = 'lost' AND total > 20"
	g := testsuite.Generator{Open: openFile, Golds: []testsuite.Gold{{ID: "1", SQL: gold}}}
	m, err := g.Generate(ctx, base, filepath.Join(dir, "suite"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(m.Replicas), "replicas")

	suite, err := testsuite.Load(filepath.Join(dir, "suite"), eval.StoreConfig{Open: openFile})
	if err != nil {
		log.Fatal(err)
	}
	defer suite.Close()
	store := eval.NewStore(eval.StoreConfig{Open: openFile, Find: func(string) (string, error) { return base, nil }})
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
			log.Fatal(err)
		}
		fmt.Println("EX", v.Scores[0], "TS", v.Scores[1], answer)
	}
	// Output:
	// 20 replicas
	// EX 1 TS 1 SELECT COUNT(id) FROM orders WHERE total > 20 AND state = 'lost'
	// EX 1 TS 0 SELECT COUNT(*) FROM orders WHERE state = 'lost'
}

package training_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/lab/training"
	"github.com/texttosql/texttosql/memory"
)

// ExampleExporter_Export writes confirmed answers as training data, and finds out later whether an engine asks as the
// adapter was trained.
func ExampleExporter_Export() {
	dir, err := os.MkdirTemp("", "export")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(shop); err != nil {
		log.Fatal(err)
	}
	exporter, err := training.NewExporter(context.Background(), db)
	if err != nil {
		log.Fatal(err)
	}
	ctx, train := context.Background(), filepath.Join(dir, "train.jsonl")
	pairs := []memory.Exemplar{
		{Question: "Who lives in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway'"},
		{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"},
	}
	test := []memory.Exemplar{{Question: "Who lives in Peru?", SQL: "SELECT name FROM customers WHERE country = 'Peru'"}}

	report, err := exporter.Export(ctx, train, pairs, training.Config{K: 0, Against: test})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range report.Dropped {
		fmt.Println("pair", d.Line, d.Reason)
	}
	run, err := exporter.Manifest(ctx, 3) // of an engine that shows three exemplars
	fmt.Println(report.Manifest.Kept, "kept;", report.Manifest.Unfit(run), err)
	// Output:
	// pair 1 question_template
	// 1 kept; [exemplars: trained with 0, run with 3] <nil>
}

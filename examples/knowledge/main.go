// Knowledge computes metrics from their definitions, and answers a verified question, without a model:
//
//	go run ./examples/knowledge                                          # a small shop, and knowledge.json
//	go run ./examples/knowledge -db acme.sqlite -dbt semantic_manifest.json -metrics loss_payment_amount -by claim.company_claim_number
//
// It reads the file, checks it in the database, leaves out what does not hold, and prints the statement and the rows.
// The second line takes a dbt project: dbt's insurance benchmark (dbt-labs/semantic-layer-llm-benchmarking) is one.
package main

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/knowledge/dbt"
)

//go:embed knowledge.json
var ofShop []byte

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("knowledge", flag.ContinueOnError)
	path := flags.String("db", "", "SQLite `file`; default: a small shop")
	manifest := flags.String("dbt", "", "semantic_manifest.json of dbt; default: knowledge.json of this folder")
	metrics := flags.String("metrics", "revenue,orders,average_order", "`names` of metrics, with commas")
	by := flags.String("by", "customers.country", "columns to group by, with commas; none: one row")
	question := flags.String("question", "How many orders has Noor Hughes?", "a verified question, with a value of yours")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: there are flags only, see -h", flags.Arg(0))
	}
	model, err := read(*manifest)
	if err != nil {
		return err
	}
	pool, done, err := open(*path)
	if err != nil {
		return err
	}
	defer done()

	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		return err
	}
	faults, err := model.Check(ctx, db, "sqlite")
	if err != nil {
		return err
	}
	for _, f := range faults {
		fmt.Fprintln(out, "does not hold:", f)
	}
	model = model.Without(faults)

	request := knowledge.Request{Metrics: strings.Split(*metrics, ",")}
	if *by != "" {
		request.GroupBy = strings.Split(*by, ",")
	}
	statement, err := model.Compile(request, "sqlite")
	if err != nil {
		return err
	}
	rows, err := db.Query(ctx, statement)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, statement)
	if err := rows.WriteTable(out); err != nil || *manifest != "" {
		return err
	}

	engine, err := texttosql.New(pool, shop.Listed().Model(), texttosql.WithKnowledge(model))
	if err != nil {
		return err
	}
	answer, err := engine.Ask(ctx, *question)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s %v: %v, %d calls of a model\n", *question, answer.Rows.Rows, answer.Grounds, answer.Usage.Calls)
	return nil
}

// read reads dbt's manifest, or the file of this folder.
func read(manifest string) (knowledge.Model, error) {
	if manifest == "" {
		return knowledge.Read(bytes.NewReader(ofShop))
	}
	f, err := os.Open(manifest)
	if err != nil {
		return knowledge.Model{}, err
	}
	defer f.Close()
	return dbt.Read(f)
}

// open opens a file for reading, or makes a shop.
func open(path string) (*sql.DB, func(), error) {
	if path == "" {
		return shop.Open("")
	}
	pool, err := sql.Open("sqlite3", "file:"+url.PathEscape(path)+"?mode=ro")
	return pool, func() { pool.Close() }, err
}

// Guard runs statements that a program has already, without a model: as a function, and as a tool of an MCP server.
//
//	go run ./examples/guard                 # Query, Stream, Check and rejected statements, for the seller of one country
//	go run ./examples/guard -country USA
//	go run ./examples/guard -mcp            # an MCP server on stdin and stdout
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/exec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal("guard: ", err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("guard", flag.ContinueOnError)
	country := flags.String("country", "Germany", "the seller's `country`")
	serve := flags.Bool("mcp", false, "serve MCP on stdin and stdout")
	flags.SetOutput(io.Discard) // main prints the error
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			flags.PrintDefaults()
		}
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: there are flags only, see -h", flags.Arg(0))
	}

	pool, closePool, err := shop.Open("")
	if err != nil {
		return err
	}
	defer closePool()
	engine, err := texttosql.New(pool, texttosql.NoModel, texttosql.WithPolicy(policy), texttosql.WithLimits(limits))
	if err != nil {
		return err
	}
	if err := engine.Ready(ctx); err != nil {
		return err
	}

	scope := texttosql.NewScope(map[string]any{"country": *country})
	if *serve {
		scopeOf := func(*mcp.CallToolRequest) (exec.Scope, error) { return scope, nil }
		return newServer(engine, scopeOf).Run(ctx, &mcp.StdioTransport{})
	}
	own, err := engine.For(texttosql.WithScope(scope))
	if err != nil {
		return err
	}
	return show(ctx, own, out)
}

// policy lets a seller read the products, and the customers of one country without the day on which they joined.
// Orders stand in neither list.
var policy = exec.Policy{
	DenyColumns: []string{"customers.joined"},
	Rows:        map[string]string{"customers": "country = :country"},
	Shared:      []string{"products"},
}

var limits = exec.Limits{
	Answer: exec.Bounds{Rows: 4, Timeout: 500 * time.Millisecond},
	Stream: exec.Bounds{Timeout: time.Minute},
}

// show runs statements as the seller whose engine it gets.
func show(ctx context.Context, engine *texttosql.Engine, out io.Writer) error {
	table, err := engine.Query(ctx, "SELECT name, city FROM customers ORDER BY name")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Query:")
	if err := table.WriteTable(out); err != nil {
		return err
	}

	pairs, err := countRows(ctx, engine, "SELECT c.name, p.name FROM customers c CROSS JOIN products p")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nStream: %d rows\n", pairs)

	checked, err := engine.Check(ctx, "SELECT name FROM products WHERE price > 100")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nCheck: the statement reads %s\n\n", checked.Analysis.Tables[0].Table)

	for _, text := range []string{
		"DELETE FROM customers", "SELECT name, joined FROM customers", "SELECT count(*) FROM orders",
		"SELECT nam FROM customers", "SELECT name FROM customers ORDER",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
	} {
		_, err := engine.Query(ctx, text)
		fmt.Fprintf(out, "%s\n  %s\n", text, advise(err))
	}
	return nil
}

// countRows reads any number of rows in constant memory.
func countRows(ctx context.Context, engine *texttosql.Engine, text string) (n int, err error) {
	rows, err := engine.Stream(ctx, text)
	if err != nil {
		return 0, err
	}
	for _, err := range rows.Rows() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// advise returns the next step after an error of a statement.
func advise(err error) string {
	var refused *exec.RefusedError
	var invalid *exec.InvalidError
	var limit *exec.LimitError
	switch {
	case err == nil:
		return "it ran"
	case errors.As(err, &refused):
		return fmt.Sprintf("rejected (%s), nothing ran: %s", refused.Reason, refused.Detail)
	case errors.As(err, &invalid):
		return fmt.Sprintf("wrong (%s), nothing ran: %s", invalid.Fault, invalid.Message)
	case errors.As(err, &limit):
		return fmt.Sprintf("stopped at the limit on %s (%s): read less", limit.Limit, limit.Max)
	case errors.Is(err, exec.ErrBusy), errors.Is(err, exec.ErrUnavailable):
		return "the database cannot be reached: retry later"
	}
	return "the program failed: see its log"
}

// Batch answers more questions than one machine can: they are jobs of River (riverqueue.com) on PostgreSQL, and any
// number of processes on any number of machines work on them.
//
//	export BATCH_DSN=postgres://me@host/batch
//	go run . -db shop.db -model openai:gpt-4o-mini add questions.jsonl   # {"id": "1", "question": "…", "evidence": "…"} a line
//	go run . -db shop.db -model openai:gpt-4o-mini work                  # as often as you like, anywhere; ends when all is answered
//	go run . -db shop.db -model openai:gpt-4o-mini status
//	go run . -db shop.db -model openai:gpt-4o-mini results > answers.jsonl
//
// A question runs once. The key of its job is its ID and all that its answer depends on: its words, the schema, the
// model and the samples. So "add" may be called again at any time, and asks again only if one of these has changed. The
// answer, its rows and its trace are stored in the transaction that completes the job. Each reply of the model is
// stored as soon as it arrives. If a process is killed, another one takes its question after -deadline and half a
// minute. Only the calls in flight are paid for again.
//
// What may pass (a rate limit, a provider or a database that is down, a deadline) is tried again, later and later, up
// to 25 times. What will not (no statement passes, content that is declined) is an answer too: its class is in the
// column failure. A refused key pauses the queue for everybody; "add" with the same questions goes on.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/llm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal("batch: ", err)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("batch", flag.ContinueOnError)
	spec := flags.String("model", "", "the model to ask: openai:NAME, ollama:NAME or anthropic:NAME")
	path := flags.String("db", "", "the SQLite `file` that is asked")
	samples := flags.Int("n", 5, "statements that are sampled for a question")
	parallel := flags.Int("parallel", 8, "questions that this process works on at a time")
	deadline := flags.Duration("deadline", 2*time.Minute,
		"the longest that a question that is added may take; a dead process's questions are taken over after it")
	flags.SetOutput(io.Discard) // main tells the error, once
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return err
	}
	switch {
	case getenv("BATCH_DSN") == "":
		return errors.New("set BATCH_DSN to the PostgreSQL database of the batch")
	case *path == "" || *spec == "":
		return errors.New("-db and -model are needed (-h lists the flags)")
	}
	model, err := shop.Model(*spec, getenv)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+*path+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	engine, err := texttosql.New(db, llm.Chain(model, replied), texttosql.WithSamples(*samples))
	if err != nil {
		return err
	}
	known, err := engine.Schema(ctx)
	if err != nil {
		return err
	}
	b, err := open(ctx, getenv("BATCH_DSN"), fmt.Sprint(known.Fingerprint(), " ", llm.NameOf(model), " ", *samples),
		*deadline)
	if err != nil {
		return err
	}
	defer b.pool.Close()
	switch verb := flags.Arg(0); {
	case verb == "add" && flags.NArg() == 2:
		file, err := os.Open(flags.Arg(1))
		if err != nil {
			return err
		}
		defer file.Close()
		added, known, err := b.add(ctx, file)
		fmt.Fprintf(stdout, "%d added, %d were there\n", added, known)
		return err
	case verb == "work":
		return b.work(ctx, engine, *parallel)
	case verb == "status":
		return b.status(ctx, stdout)
	case verb == "results":
		return b.results(ctx, stdout)
	}
	return errors.New("want add FILE, work, status or results")
}

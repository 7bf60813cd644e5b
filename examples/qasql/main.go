// Qasql shows QA-SQL at work, stage by stage: the components of the question, the score of each table, the five views of the
// schema, every attempt at a statement, and the judge's verdict.
//
//	go run ./examples/qasql                                      # a listed question, scripted replies
//	go run ./examples/qasql -describe shop.descriptions.json     # has the model describe the columns first
//	go run ./examples/qasql -model openai:gpt-4o-mini -db shop.sqlite "How many orders are open?"
//
// The file of descriptions is for people to read and to edit. A second run asks only about what it does not have.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/describe"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/trace"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("qasql", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: qasql [flags] [question]\n\nAnswers a question from five views of the schema, and prints each stage.\n\n")
		flags.PrintDefaults()
	}
	spec := cli.ModelFlag(flags)
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	evidence := flags.String("evidence", "", "knowledge that belongs to the question")
	samples := flags.Int("n", 1, "statements a view")
	file := flags.String("describe", "", "JSON `file` of descriptions: the model writes those that it does not have")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	s, err := readScript()
	if err != nil {
		return err
	}
	scripted := cli.Scripted{Questions: []string{s.Question}, Models: []llm.Model{llm.Named("scripted", s)}, File: "examples/qasql/replies.json", Model: providers.Model}
	models, questions, err := scripted.Choose(stdout, getenv, *path, question, *spec)
	if err != nil {
		return err
	}
	pool, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()

	descriptions := schema.Descriptions{}
	if *file != "" {
		db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
		if err != nil {
			return err
		}
		described, err := describe.Columns{Model: models[0], File: *file, Progress: func(table schema.TableName, done, of int) {
			cli.Say(stdout, "described %s (%d of %d)\n", table, done, of)
		}}.Describe(ctx, db, nil)
		if err != nil {
			return err
		}
		for _, note := range described.Notes {
			cli.Say(stdout, "%s: %s\n", *file, note)
		}
		descriptions = described.Descriptions
	}
	engine, err := texttosql.New(pool, models[0],
		texttosql.WithStrategy(qasql.Strategy{}),
		texttosql.WithDescriptions(descriptions),
		texttosql.WithSamples(*samples),
		texttosql.WithReveal(trace.PrivateReplies), // components and reasons are the model's words
		texttosql.WithProgress((&stages{w: stdout}).settled))
	if err != nil {
		return err
	}
	cli.Say(stdout, "\n── %s\n", questions[0])
	r, err := engine.Ask(ctx, questions[0], texttosql.WithEvidence(*evidence))
	if err != nil {
		return cli.Brief(err)
	}
	cli.Say(stdout, "\n%s\n\n", r.SQL)
	if err := r.Rows.WriteTable(stdout); err != nil {
		return err
	}
	cli.Say(stdout, "\nconfidence %.2f: %s\n%d calls, %d tokens\n", r.Confidence, r.Ballot.Explain(), r.Usage.Calls, r.Usage.PromptTokens+r.Usage.CompletionTokens)
	for _, n := range r.Notes {
		cli.Say(stdout, "  %s\n", n)
	}
	return nil
}

// stages prints each stage when it is settled.
type stages struct {
	w        io.Writer
	contexts []any // names of those that are asked, in the order of samples
}

func (s *stages) settled(p texttosql.Progress) {
	if p.Kind != trace.Ended {
		return
	}
	switch p.Step {
	case "link":
		for _, e := range p.Span.Events() {
			switch a := attrs(e.Attrs); e.Name {
			case "component":
				cli.Say(s.w, "component: %v (%v)\n", a["text"], a["type"])
			case "table":
				linked := ""
				if a["kept"] == true {
					linked = ", linked"
				}
				cli.Say(s.w, "table: %.2f %v%s\n", a["score"], a["table"], linked)
			}
		}
	case "contexts":
		for _, e := range p.Span.Events() {
			a := attrs(e.Attrs)
			if a["skipped"] != "" {
				cli.Say(s.w, "context: %v is left out, %v\n", a["context"], a["skipped"])
				continue
			}
			s.contexts = append(s.contexts, a["context"])
			cli.Say(s.w, "context: %v, about %v tokens\n", a["context"], a["tokens"])
		}
	case "sample":
		a := attrs(p.Span.Attrs())
		i, _ := a["sample"].(int64)
		cli.Say(s.w, "%v\n", s.contexts[int(i)%len(s.contexts)])
		s.attempt(p.Span)
		for _, again := range p.Span.Children() {
			if again.Name() == "refine" {
				s.attempt(again)
			}
		}
	case "judge":
		for _, e := range p.Span.Events() {
			a := attrs(e.Attrs)
			cli.Say(s.w, "judge: option %v, with option %v shown first: %v\n", a["option"], a["first"], a["reason"])
		}
	}
}

// attempt prints one statement and what became of it.
func (s *stages) attempt(span *trace.Span) {
	a := attrs(span.Attrs())
	switch {
	case span.Failure() != "":
		cli.Say(s.w, "  no reply: %s\n", span.Failure())
	case a["rejected"] != nil:
		cli.Say(s.w, "  %v\n    failed: %v\n", a["sql"], a["rejected"])
	default:
		cli.Say(s.w, "  %v\n", a["sql"])
	}
}

func attrs(list []trace.Attr) map[string]any {
	m := map[string]any{}
	for _, a := range list {
		m[a.Key] = a.Value
		if secret, ok := a.Value.(trace.Secret); ok {
			m[a.Key] = secret.String()
		}
	}
	return m
}

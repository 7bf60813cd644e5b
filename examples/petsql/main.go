// Petsql shows PET-SQL at work: a first statement links the schema, then every model answers with the linked tables only,
// and their results vote.
//
//	go run ./examples/petsql                                      # the listed questions, scripted replies
//	go run ./examples/petsql -model openai:gpt-4o-mini -model ollama:qwen2.5-coder "Which products are cheap?"
//
// It prints both rounds step by step: the preliminary statement, the linked schema, the tokens that it saves, the answer of
// each model and the votes. The first model links.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("petsql", flag.ContinueOnError)
	var specs []string
	flags.Func("model", "a model to ask, a `spec`; may be repeated, the first one links: "+cli.Specs, func(spec string) error {
		specs = append(specs, spec)
		return nil
	})
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: petsql [flags] [question]\n\nAnswers a question in two rounds: a first statement links the schema, then all models vote.\n\n")
		flags.PrintDefaults()
	}
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	script, err := readScript()
	if err != nil {
		return err
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	scripted := cli.Scripted{Questions: script.questions(), Models: script.models(), File: "examples/petsql/replies.json", Model: providers.Model}
	models, questions, err := scripted.Choose(stdout, getenv, *path, question, specs...)
	if err != nil {
		return err
	}
	db, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()
	engine, err := texttosql.New(db, models[0], texttosql.WithModels(models[1:]...), texttosql.WithStrategy(petsql.Strategy{}))
	if err != nil {
		return err
	}
	s, err := engine.Schema(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, q := range questions {
		answer, err := engine.Ask(ctx, q)
		if err != nil {
			failed = append(failed, cli.Brief(err))
			// If a question got no reply at all, the next one will get none either.
			if answer == nil || len(answer.Candidates) == 0 || ctx.Err() != nil {
				break
			}
		}
		if err := show(stdout, s, answer, err); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// show prints both rounds of one answer.
func show(w io.Writer, s *schema.Schema, r *texttosql.Result, err error) error {
	cli.Say(w, "\n── %s\n", r.Question)
	if rounds, err := strategy.ReadReport[petsql.Report](r.Report); err == nil {
		cli.Say(w, "Round 1 with all %d tables (about %d tokens):\n  %s\n", rounds.Tables, rounds.FullTokens, orNone(rounds.PreSQL))
		small, _ := s.Restrict(r.Links)
		cli.Say(w, "Linked schema, %d of %d tables:\n", rounds.Shown, rounds.Tables)
		for _, t := range small.Tables {
			var columns []string
			for _, c := range t.Columns {
				columns = append(columns, c.Name)
			}
			cli.Say(w, "  %s(%s)\n", t.Name, strings.Join(columns, ", "))
		}
		cli.Say(w, "Round 2 with them (about %d tokens), difficulty %s:\n", rounds.Tokens, rounds.Grade)
	}
	for _, c := range r.Candidates {
		cli.Say(w, "  %-8s %s\n", c.Model, orNone(c.SQL))
		if c.Rejected != "" {
			cli.Say(w, "           has no vote: %s\n", c.Rejected)
		}
	}
	for _, n := range r.Notes {
		cli.Say(w, "  note: %s\n", n)
	}
	if err != nil {
		cli.Say(w, "No answer: %v\n", err)
		return nil
	}
	cli.Say(w, "Elected by %s: %s\n\n", r.Ballot.Explain(), r.SQL)
	if err := r.Rows.WriteTable(w); err != nil {
		return err
	}
	cli.Say(w, "%d calls, confidence %.2f\n", r.Usage.Calls, r.Confidence)
	return nil
}

func orNone(sql string) string {
	if sql == "" {
		return "(no statement)"
	}
	return strings.Join(strings.Fields(sql), " ")
}

//go:embed replies.json
var replies []byte

// script holds the replies of the models when none is configured.
type script []struct {
	Question string            `json:"question"`
	Link     string            `json:"link"`
	Final    map[string]string `json:"final"` // by model; "" lets it fail
}

func readScript() (s script, err error) { return s, json.Unmarshal(replies, &s) }

func (s script) questions() (list []string) {
	for _, e := range s {
		list = append(list, e.Question)
	}
	return list
}

// models returns three models that answer from the script.
func (s script) models() (list []llm.Model) {
	for _, name := range []string{"small", "medium", "large"} {
		list = append(list, llm.Named(name, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			for _, e := range s {
				if !slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return strings.Contains(m.Text, e.Question) }) {
					continue
				}
				text := e.Final[name]
				if req.Purpose == "link" {
					text = e.Link
				}
				if text != "" {
					return llm.Response{Text: text, StopReason: llm.StopEnd}, ctx.Err()
				}
			}
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "the script lets this model fail here, to show that the others answer"}
		})))
	}
	return list
}

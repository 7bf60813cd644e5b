// Strategies answers one question by the method of your choice, and prints each step as it ends:
//
//	go run ./examples/strategies -s agent      # a loop of tools: thought, action, observation
//	go run ./examples/strategies -s maker      # tables, then conditions, then the statement, each settled by votes
//	go run ./examples/strategies -s petsql     # a first statement links the schema, then every model votes
//	go run ./examples/strategies -s qasql      # five views of the schema, attempts, a judge
//	go run ./examples/strategies -s consensus -model openai:gpt-5-mini -model ollama:qwen2.5-coder "Who ordered most?"
//
// They differ by a name: the line of texttosql.WithStrategy. Without -model the replies are scripted, for the listed
// question.
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/trace"
)

var strategies = map[string]strategy.Strategy{
	"agent":     agent.ReAct{Tools: agent.Tools()},
	"consensus": strategy.Consensus{},
	"direct":    strategy.Direct{},
	"maker":     maker.Strategy{},
	"petsql":    petsql.Strategy{},
	"qasql":     qasql.Strategy{},
}

// listed is the question whose replies are scripted.
const listed = "Which customers in the USA never ordered?"

//go:embed shop.sql
var schemaSQL string

//go:embed replies.json
var replies []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("strategies", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if slices.Contains(args, "-h") {
		flags.SetOutput(out)
	}
	name := flags.String("s", "consensus", "the `name` of a strategy: "+strings.Join(slices.Sorted(maps.Keys(strategies)),
		", "))
	var models []llm.Model
	flags.Func("model", "a model, as openai:NAME, ollama:NAME or anthropic:NAME; may be repeated",
		func(spec string) error {
			m, err := shop.Model(spec, getenv)
			models = append(models, m)
			return err
		})
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, known := strategies[*name]
	question := strings.Join(flags.Args(), " ")
	switch {
	case !known:
		return fmt.Errorf("-s %s: unknown; want one of %s", *name, strings.Join(slices.Sorted(maps.Keys(strategies)), ", "))
	case question == "":
		question = listed
	case len(models) == 0:
		return errors.New("no model is configured: give -model openai:NAME, ollama:NAME or anthropic:NAME")
	}
	if len(models) == 0 {
		models = []llm.Model{scripted()}
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	if _, err := db.ExecContext(ctx, schemaSQL); err != nil {
		return err
	}
	engine, err := texttosql.New(db, models[0], texttosql.WithModels(models[1:]...),
		texttosql.WithStrategy(chosen), // the one line that differs
		texttosql.WithTraceContent(trace.PrivateReplies|trace.PrivateRows),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.Kind == "ended" {
				step(out, p.Span)
			}
		}))
	if err != nil {
		return err
	}
	answer, err := engine.Ask(ctx, question)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n%s\n\n", question, answer.SQL)
	if err := answer.Rows.WriteTable(out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s\n%s\n%d calls\n", answer.Closing(), answer.Ballot.Explain(), answer.Usage.Calls)
	return err
}

// quiet are steps and attributes that say nothing of a method.
var quiet = []string{"question", "schema", "profile", "statements", "exec.query", "model call", "rows", "prompt",
	"request", "sha256", "grade"}

// step prints what a step of the trace has, indented by its depth.
func step(out io.Writer, s *trace.Span) {
	if slices.Contains(quiet, s.Name()) {
		return
	}
	indent := ""
	for p := s.Parent(); p != nil && p.Parent() != nil; p = p.Parent() {
		indent += "  "
	}
	fmt.Fprintf(out, "%s%s%s\n", indent, s.Name(), words(indent+"   ", s.Attrs()))
	for _, e := range s.Events() {
		fmt.Fprintf(out, "%s  %s%s\n", indent, e.Name, words(indent+"     ", e.Attrs))
	}
	if why := s.Failure(); why != "" {
		fmt.Fprintf(out, "%s  failed: %q\n", indent, why)
	}
}

// words writes attributes, quoted, so that no terminal obeys what a model wrote. Long values are cut, and long lines
// broken.
func words(indent string, attrs []trace.Attr) (text string) {
	width := len(indent)
	for _, a := range attrs {
		value := strings.Join(strings.Fields(fmt.Sprint(a.Value)), " ")
		if secret, ok := a.Value.(trace.Secret); ok {
			value = strings.Join(strings.Fields(secret.String()), " ")
		}
		if value == "" || slices.Contains(quiet, a.Key) {
			continue
		}
		one := fmt.Sprintf(" %s=%.100q", a.Key, value)
		if width += len(one); width > 130 {
			text, width = text+"\n"+indent, len(indent)+len(one)
		}
		text += one
	}
	return text
}

// scripted stands for a model: it replies by the purpose of a request.
func scripted() llm.Model {
	var script map[string][]string
	err := json.Unmarshal(replies, &script)
	return llm.Named("scripted", llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		said := script[req.Purpose]
		if err != nil || len(said) == 0 {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no scripted reply to a request for " +
				req.Purpose, Err: err}
		}
		at := req.Sample
		if req.Purpose == "agent.step" { // the step that follows those of the conversation
			at = 0
			for _, m := range req.Messages {
				if m.Role == llm.Assistant {
					at++
				}
			}
		}
		return llm.Response{Text: said[at%len(said)], StopReason: llm.StopEnd}, nil
	}))
}

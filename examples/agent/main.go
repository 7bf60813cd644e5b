// Agent answers one question through a loop of tools, and prints each step as it happens: what the model thought, which
// action it took and what it saw.
//
//	go run ./examples/agent                                   # the listed questions, scripted replies
//	go run ./examples/agent -model openai:gpt-4o-mini "Which three products sold the most pieces?"
//	go run ./examples/agent -model ollama:qwen2.5-coder -db shop.sqlite -n 3 "How many orders are open?"
//
// The method is agent.ReAct with all its tools. The first statement that runs is the answer; with -n several walks vote.
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
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/trace"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: agent [flags] [question]\n\nAnswers a question step by step with tools.\n\n")
		flags.PrintDefaults()
	}
	spec := cli.ModelFlag(flags)
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	evidence := flags.String("evidence", "", "knowledge that belongs to the question")
	walks := flags.Int("n", 1, "walks, which vote")
	steps := flags.Int("steps", 7, "steps of a walk, at most")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	scripted, err := script()
	if err != nil {
		return err
	}
	chosen, questions, err := scripted.Choose(stdout, getenv, *path, question, *spec)
	if err != nil {
		return err
	}
	db, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()
	engine, err := texttosql.New(db, chosen[0],
		texttosql.WithStrategy(agent.ReAct{Tools: agent.Tools(), Steps: *steps}),
		texttosql.WithSamples(*walks),
		texttosql.WithReveal(trace.PrivateReplies|trace.PrivateRows), // thoughts and observations are private
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.Kind == trace.Ended && p.Step == "step" {
				taken(stdout, p.Span, *walks > 1)
			}
		}))
	if err != nil {
		return err
	}
	var failed []error
	for _, q := range questions {
		cli.Say(stdout, "\n── %s\n", q)
		r, err := engine.Ask(ctx, q, texttosql.WithEvidence(*evidence))
		if err != nil {
			failed = append(failed, cli.Brief(err))
			continue
		}
		cli.Say(stdout, "\n%s\n\n", r.SQL)
		if err := r.Rows.WriteTable(stdout); err != nil {
			return err
		}
		cli.Say(stdout, "\nconfidence %.2f: %s\n%d calls\n", r.Confidence, r.Ballot.Explain(), r.Usage.Calls)
		for _, n := range r.Notes {
			cli.Say(stdout, "  %s\n", n)
		}
	}
	return errors.Join(failed...)
}

// taken prints a step.
func taken(w io.Writer, span *trace.Span, several bool) {
	attr := func(key string) any {
		v, _ := span.Attr(key)
		if secret, ok := v.(trace.Secret); ok {
			return secret.Text
		}
		return v
	}
	walk := ""
	if several {
		sample, _ := span.Parent().Attr("sample")
		walk = fmt.Sprintf("walk %v, ", sample)
	}
	cli.Say(w, "\n%sstep %v\n  thought:     %v\n  action:      %v[%v]\n  observation: %v\n",
		walk, attr("step"), attr("thought"), attr("action"), attr("argument"), attr("observation"))
}

//go:embed walks.json
var walks []byte

// walk is a question with the steps of a model that answers it.
type walk struct {
	Question string
	Steps    []struct{ Thought, Action, SQL string }
}

// script is what stands for a model where none is configured: it takes the step that follows those in the conversation.
func script() (cli.Scripted, error) {
	var list []walk
	if err := json.Unmarshal(walks, &list); err != nil {
		return cli.Scripted{}, fmt.Errorf("examples/agent/walks.json: %w", err)
	}
	s := cli.Scripted{File: "examples/agent/walks.json", Model: providers.Model}
	for _, w := range list {
		s.Questions = append(s.Questions, w.Question)
	}
	s.Models = []llm.Model{llm.Named("scripted", llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		taken := 0
		for _, m := range slices.Backward(req.Messages) {
			if m.Role == llm.Assistant {
				taken++
				continue
			}
			asked := slices.IndexFunc(list, func(w walk) bool { return strings.Contains(m.Text, w.Question) })
			if asked >= 0 && req.Sample == 0 && taken < len(list[asked].Steps) {
				step := list[asked].Steps[taken]
				reply := fmt.Sprintf("Thought: %s\nAction: %s[%s]", step.Thought, step.Action, step.SQL)
				return llm.Response{Text: reply, StopReason: llm.StopEnd, Usage: llm.Estimate(req, reply)}, nil
			}
		}
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "scripted: no step is left for this question"}
	}))}
	return s, nil
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// Tool is one action of ReAct. It must be safe for concurrent use, and return soon after ctx ends.
type Tool interface {
	// Spec names the tool. It must not change.
	Spec() Spec
	// Call does what the tool does. An error is shown to the model as an observation; a *strategy.DatabaseError ends
	// the walk.
	Call(ctx context.Context, env *strategy.Env, in Input) (Observation, error)
}

// Spec is a tool as the prompt shows it, in one line.
type Spec struct {
	Name     string // name of the action: small letters, digits and _
	Argument string // what stands in the brackets: "SQL", "table"; "": nothing
	Help     string // what the action does
}

func (s Spec) call() string { return s.Name + "[" + s.Argument + "]" }

// Input is what a tool is called with.
type Input struct {
	Task     strategy.Task      // what is asked
	Examiner *strategy.Examiner // that of the question: a statement that runs through it is run once
	Sample   int                // index of the walk
	Model    string             // name of the model that walks
	Argument string             // the argument as the model wrote it, of any length
}

// Observation is what came of a call.
type Observation struct {
	// Text is what the model sees: as one line, without the marks of the protocol and of turns, at most 1,000 runes. The
	// tool keeps stored values out of it under Env.WithoutValues.
	Text string
	SQL  string // the statement that was run; "" for none
	OK   bool   // the action did what it should; with SQL: the statement ran and may be the answer
	Rows int    // rows of the result

	problem string // what was wrong with SQL, unmasked
}

// Tools returns the tools of this package of these names, in their order; without a name all: "query" (runs a statement,
// or plans it under Env.WithoutExecution), "list_tables", "describe" (columns and keys of a table), "samples" (three rows
// of a table), "find" (which columns hold a value) and "explain" (the plan of a statement). A name that no tool has
// stands for nil, which ReAct.Validate refuses.
func Tools(names ...string) []Tool {
	all := []Tool{
		tool{Spec{actionQuery, "SQL", "runs one SELECT statement"}, runSQL},
		tool{Spec{"list_tables", "", "lists the tables"}, listTables},
		tool{Spec{"describe", "table", "shows columns and keys of a table"}, describeTable},
		tool{Spec{"samples", "table", "shows three rows of a table"}, sampleRows},
		tool{Spec{"find", "value", "says which columns hold a value"}, findValue},
		tool{Spec{"explain", "SQL", "shows the plan of a statement without running it"}, explainSQL},
	}
	if len(names) == 0 {
		return all
	}
	tools := make([]Tool, len(names))
	for i, name := range names {
		if at := slices.IndexFunc(all, func(t Tool) bool { return t.Spec().Name == name }); at >= 0 {
			tools[i] = all[at]
		}
	}
	return tools
}

// tool is one of this package.
type tool struct {
	spec Spec
	do   func(context.Context, *strategy.Env, Input) (Observation, error)
}

func (t tool) Spec() Spec { return t.spec }

func (t tool) Call(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	return t.do(ctx, env, in)
}

const maxObservation = 1_000 // runes

// protocolMark is what the reader of replies would take for a mark of its own.
var protocolMark = regexp.MustCompile(`(?i)(thought|action|observation)([ \t]*\d{0,3}[*_ \t]*)[:：]`)

// clean is an observation as a prompt may show it: nothing in it speaks.
func clean(text string) string {
	return words.Short(protocolMark.ReplaceAllString(strategy.OneLine(text), "$1$2 -"), maxObservation)
}

// runSQL runs one statement, or plans it under Env.WithoutExecution. The statement goes through
// the Examiner of the question, so it is guarded and bounded, and run once. The observation shows the number of rows,
// the columns and two rows; those of columns marked Sensitive, and all under Env.WithoutValues, it does not show.
func runSQL(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	c, err := in.Examiner.Examine(ctx, in.Sample, in.Model, llm.Response{Text: in.Argument, StopReason: llm.StopEnd})
	switch {
	case ctx.Err() != nil:
		return Observation{SQL: c.SQL}, ctx.Err()
	case err != nil:
		return Observation{SQL: c.SQL}, &strategy.DatabaseError{Err: err}
	case c.Rejected != "":
		what := c.Rejected
		if invalid := (*exec.InvalidError)(nil); errors.As(in.Examiner.Invalid(c.SQL), &invalid) {
			what = invalid.Message
		}
		return Observation{SQL: c.SQL, Text: "Error: " + strategy.ErrorLine(what, env.WithoutValues), problem: strategy.ErrorLine(c.Rejected, false)}, nil
	case c.Parsed(env.DB.Language().Text).Outline().Star:
		return Observation{SQL: c.SQL, Text: "Error: name the columns that the question asks for instead of *", problem: "select_star_forbidden"}, nil
	}
	out := Observation{SQL: c.SQL, OK: true, Rows: c.Rows, Text: "Success: the statement is valid; nothing is run here"}
	if !env.WithoutExecution {
		out.Text = fmt.Sprintf("Success: rows=%d; columns=%d; truncated=%t", c.Rows, c.Columns, c.Truncated)
	}
	if preview := strings.Split(strings.TrimSpace(c.Preview), "\n"); len(preview) > 1 && !env.WithoutValues {
		out.Text += "; names=" + preview[1] + "; preview=" + strings.Join(preview[2:min(len(preview), 4)], ", ")
	}
	return out, nil
}

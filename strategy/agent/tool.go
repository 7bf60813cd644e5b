package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// Tool is one action of ReAct. It must be safe for concurrent use, and return soon after ctx ends.
type Tool interface {
	// Spec returns the line for the prompt. name is the action's name: small letters, digits and _. argument
	// describes the text between the brackets, such as "SQL"; "": no argument. help describes the action. The tool
	// must always return the same values.
	Spec() (name, argument, help string)
	// Call runs the tool. The model sees an error as an observation; a *strategy.DatabaseError ends the walk.
	Call(ctx context.Context, env *strategy.Env, in Input) (Observation, error)
}

// Input is the input of a tool call.
type Input struct {
	Task     strategy.Task     // the question
	Examiner *strategy.Checker // the question's checker; it runs each statement once
	Sample   int               // index of the walk
	Model    string            // name of the model that walks
	Argument string            // the argument as the model wrote it, of any length
}

// Observation is the result of a call.
type Observation struct {
	// Text is the observation for the model: one line, without the marks of the protocol and of turns, at most 1,000
	// runes. Under Env.WithoutValues the tool must leave out stored values.
	Text string
	SQL  string // the statement that was run; "" for none
	OK   bool   // the action succeeded; with SQL: the statement ran and may be the answer
	Rows int    // rows of the result

	problem string // the problem of SQL, unmasked
}

// Tools returns the named tools of this package, in the order of the names. Without names it returns all of them. The
// tool "query" runs a statement, or plans it under Env.WithoutExecution. The others are "list_tables", "describe"
// (columns and keys of a table), "samples" (three rows of a table), "find" (which columns hold a value) and "explain"
// (the plan of a statement). For an unknown name the tool is nil, which ReAct.Validate rejects.
func Tools(names ...string) []Tool {
	all := []Tool{
		tool{actionQuery, "SQL", "runs one SELECT statement", runSQL},
		tool{"list_tables", "", "lists the tables", listTables},
		tool{"describe", "table", "shows columns and keys of a table", describeTable},
		tool{"samples", "table", "shows three rows of a table", sampleRows},
		tool{"find", "value", "says which columns hold a value", findValue},
		tool{"explain", "SQL", "shows the plan of a statement without running it", explainSQL},
	}
	if len(names) == 0 {
		return all
	}
	tools := make([]Tool, len(names))
	for i, name := range names {
		if at := slices.IndexFunc(all, func(t Tool) bool { return nameOf(t) == name }); at >= 0 {
			tools[i] = all[at]
		}
	}
	return tools
}

// tool is one of this package.
type tool struct {
	name, argument, help string
	do                   func(context.Context, *strategy.Env, Input) (Observation, error)
}

func (t tool) Spec() (name, argument, help string) { return t.name, t.argument, t.help }

func (t tool) Call(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	return t.do(ctx, env, in)
}

// callOf writes a call of a tool as a prompt shows it.
func callOf(t Tool) string {
	name, argument, _ := t.Spec()
	return name + "[" + argument + "]"
}

func nameOf(t Tool) string {
	name, _, _ := t.Spec()
	return name
}

const maxObservation = 1_000 // runes

// protocolMark is what the reader of replies would take for a mark of its own.
var protocolMark = regexp.MustCompile(`(?i)(thought|action|observation)([ \t]*\d{0,3}[*_ \t]*)[:：]`)

// clean is an observation as a prompt may show it: nothing in it speaks.
func clean(text string) string {
	return words.Short(protocolMark.ReplaceAllString(prompttext.OneLine(text), "$1$2 -"), maxObservation)
}

// runSQL runs one statement, or plans it under Env.WithoutExecution. The statement goes through the Checker of the
// question, so it is guarded and bounded, and runs once. The observation shows the number of rows, the columns and
// two rows. It omits values of columns marked Sensitive, and all values under Env.WithoutValues.
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
		return Observation{SQL: c.SQL, Text: "Error: " + env.ErrorLine(what), problem: prompttext.ErrorLine(c.Rejected,
			false)}, nil
	case c.Parsed(env.DB.Language().Text).Outline().Star:
		return Observation{SQL: c.SQL, Text: "Error: name the columns that the question asks for instead of *",
			problem: "select_star_forbidden"}, nil
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

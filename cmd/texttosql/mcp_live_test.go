package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/providers"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// agentTasks are questions about the shop, with what a right answer says.
var agentTasks = []struct{ question, want string }{
	{"How many customers are there?", "40"},
	{"Which product is the cheapest, and what does it cost?", "Notebook, Ruled"},
	{"How many customers live in Germany?", "6"},
	{"How many orders were placed in May 2024?", "3"},
	{"Which country has the most customers?", "USA"},
	{"What is the name of the customer with id 1?", "Ada Kowalski"},
	{"How many orders have the status shipped?", "71"},
	{"How many products are in the category Office?", "4"},
	{"What is the date of the newest order?", "2025-06-17"},
	{"Delete the customer with id 1.", "only reads"},
}

const agentSteps = 6

// agentStep is a call of a tool in a reply.
type agentStep struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// TestLiveAgent: a small real model does ten tasks with the tools of serve-mcp. It plays what the model replied, in
// order, so that the recording outlives other texts of the tools; TEXTTOSQL_LIVE_MODEL=openai:NAME asks the model and
// makes the recording anew.
func TestLiveAgent(t *testing.T) {
	cmd := asProgram(newFakeProvider(t), "serve-mcp", "--db", shopFile(t))
	cmd.Stderr = newNotes(t).File
	cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil))(t)
	defer cs.Close()

	tape := filepath.Join("testdata", "live_agent.json")
	replies := map[string][]string{}
	var live llm.Model
	if spec := os.Getenv("TEXTTOSQL_LIVE_MODEL"); spec != "" {
		live = testutil.Value(providers.Model(spec, os.Getenv))(t)
	} else {
		testutil.OK(t, json.Unmarshal(testutil.Value(os.ReadFile(tape))(t), &replies))
	}
	told := describeTools(t, cs)
	var report strings.Builder
	for _, task := range agentTasks {
		fmt.Fprintf(&report, "── %s\n", task.question)
		step := 0
		next := func(messages []llm.Message) string {
			step++
			if live == nil {
				if step > len(replies[task.question]) {
					t.Fatalf("%s: nothing is recorded for step %d: ask the model again", task.question, step)
				}
				return replies[task.question][step-1]
			}
			resp := testutil.Value(live.Complete(t.Context(), llm.Request{Messages: messages, MaxTokens: new(300)}))(t,
				task.question)
			replies[task.question] = append(replies[task.question], resp.Text)
			return resp.Text
		}
		answer, read := act(t.Context(), t, cs, told, task.question, next, &report)
		fmt.Fprintf(&report, "answered: %v, read: %v, %d calls\n", strings.Contains(answer, task.want),
			strings.Contains(read, task.want), step)
	}
	if live != nil {
		testutil.OK(t, os.WriteFile(tape, append(testutil.Value(json.MarshalIndent(replies, "", "\t"))(t), '\n'), 0o644))
	}
	golden.Check(t, "live_agent.golden", report.String())
}

// describeTools says to a model which tools there are, in the form that models of Qwen are trained on.
func describeTools(t *testing.T, cs *mcp.ClientSession) string {
	var b strings.Builder
	b.WriteString("You answer questions about a database, in one sentence.\n\n# Tools\n\nYou may call one or more " +
		"functions to assist with " +
		"the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>")
	for _, tool := range testutil.Value(cs.ListTools(t.Context(), nil))(t).Tools {
		signature := map[string]any{"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}
		b.WriteString("\n" +
			string(testutil.Value(json.Marshal(map[string]any{"type": "function", "function": signature}))(t)))
	}
	b.WriteString("\n</tools>\n\nFor each function call, return a json object with function name and arguments within " +
		"<tool_call></tool_call> " +
		"XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>")
	return b.String()
}

// act lets a model call tools until it replies without a call, which is its answer; "": it never does. read is what the
// tool query said.
func act(ctx context.Context, t *testing.T, cs *mcp.ClientSession, told, question string,
	next func([]llm.Message) string, report *strings.Builder) (answer, read string) {
	messages := []llm.Message{{Role: llm.System, Text: told}, {Role: llm.User, Text: question}}
	for range agentSteps {
		reply := next(messages)
		fmt.Fprintf(report, "> %s\n", strings.ReplaceAll(strings.TrimSpace(reply), "\n", "\n  "))
		step, calls := stepOf(reply)
		if !calls {
			return strings.TrimSpace(reply), read
		}
		said := callTool(ctx, t, cs, step)
		if step.Name == "query" {
			read += said
		}
		first, rest, _ := strings.Cut(said, "\n")
		fmt.Fprintf(report, "< %s (and %d lines)\n", first, strings.Count(rest, "\n"))
		messages = append(messages, llm.Message{Role: llm.Assistant, Text: reply},
			llm.Message{Role: llm.User, Text: "<tool_response>\n" + said + "\n</tool_response>"})
	}
	return "", read
}

// stepOf reads the first call of a reply: in its tags, in a code block, or bare, with or without what a small model
// leaves out at the end.
func stepOf(reply string) (step agentStep, calls bool) {
	from := strings.Index(reply, "{")
	if from < 0 {
		return step, false
	}
	for _, end := range []string{"", "}"} {
		err := json.NewDecoder(strings.NewReader(strings.TrimRight(reply[from:], "` \n") + end)).Decode(&step)
		if err == nil && step.Name != "" {
			return step, true
		}
	}
	return step, false
}

func callTool(ctx context.Context, t *testing.T, cs *mcp.ClientSession, step agentStep) string {
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: step.Name, Arguments: step.Arguments})
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, c := range res.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text
}

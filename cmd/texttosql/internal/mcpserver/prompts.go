package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts adds what a person can pick in a client instead of typing it.
func (c *client) addPrompts() {
	how := "Look at the schema, run one SELECT with the tool query, and say what it counts or lists."
	if c.Model {
		how = "Use the tool ask. Look at status, confidence and warnings of its result; where it asks back, ask me."
	}
	for _, p := range []struct {
		mcp.Prompt
		text string
	}{
		{mcp.Prompt{Name: "ask", Title: "Ask the database",
			Description: "Answers a question from the database, with the statement behind it.",
			Arguments:   []*mcp.PromptArgument{{Name: "question", Description: "The question, in words.", Required: true}}},
			how + " Show the statement beside the answer.\n\nThe question: "},
		{mcp.Prompt{Name: "explore", Title: "What the database holds",
			Description: "Tells what the tables hold, and what can be asked."},
			"Look at the schema, and at a few rows of the main tables with the tool sample_rows. " +
				"Say in a short list what the database holds, " +
				"then name five questions that it can answer, and run none of them yet."},
	} {
		c.mcp.AddPrompt(&p.Prompt, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if len(p.Arguments) > 0 && req.Params.Arguments["question"] == "" {
				return nil, toldError("the prompt ask needs a question")
			}
			text := &mcp.TextContent{Text: p.text + req.Params.Arguments["question"]}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
		})
	}
}

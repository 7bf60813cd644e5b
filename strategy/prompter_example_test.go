package strategy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// shortPrompt is a prompt of one message, as a fine-tuned model may want it.
func shortPrompt(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	tables, err := env.Render(ctx, in.Sample, schema.Renderer{Form: schema.Code}, in.Schema)
	return []llm.Message{{Role: llm.User, Text: tables.Text + "-- " + in.Task.Question}}, err
}

// A prompter of one's own wraps one that is there, or stands alone as shortPrompt
// does.
func ExamplePrompterFunc() {
	dated := strategy.PrompterFunc(func(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
		error) {
		messages, err := strategy.Prompt{Form: schema.Code}.Prompt(ctx, env, in)
		if err == nil {
			messages[0].Text += "\nToday is 2024-05-01.\n"
		}
		return messages, err
	})
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(
		"SELECT count(*) FROM orders", "SELECT count(id) FROM orders", "SELECT sum(total) FROM orders",
	)}}}
	out, err := strategy.Pipeline{
		Prompter: strategy.RotatePrompts{dated, strategy.PrompterFunc(shortPrompt)},
		Sampler:  strategy.Sampler{Samples: 3, Temperature: 0.7},
	}.Generate(context.Background(), exampleEnv(model), strategy.Task{Question: "How many orders are there?"})
	fmt.Println(out.SQL, err)
	messages := model.RequestsFor("generate")[1].Messages
	fmt.Println(messages[len(messages)-1].Text)
	// Output:
	// SELECT count(*) FROM orders <nil>
	// customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT)
	// orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL)
	// -- How many orders are there?
}

// A section of a program's own stands before the question, and how to work behind it.
func ExamplePromptInput() {
	fiscal := strategy.PrompterFunc(func(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
		error) {
		in.Sections = append(in.Sections, "### Fiscal year\nIt begins in July.")
		return strategy.Prompt{Steps: "First write the tables."}.Prompt(ctx, env, in)
	})
	env := strategytest.ExampleEnv(nil)
	messages, err := fiscal.Prompt(context.Background(), env, strategy.PromptInput{
		Task: strategy.Task{Question: "What did we sell this year?"}, Schema: env.Schema,
	})
	_, own, _ := strings.Cut(messages[1].Text, "\n\n### Fiscal")
	fmt.Println("### Fiscal"+own, err)
	// Output:
	// ### Fiscal year
	// It begins in July.
	//
	// ### Question
	// What did we sell this year?
	//
	// ### How to answer
	// First write the tables. Then give the statement in one ```sql block at the very end.
	//  <nil>
}

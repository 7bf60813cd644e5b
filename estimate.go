package texttosql

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Estimated is what a question may cost.
type Estimated struct {
	Least llm.Usage // where the model agrees with itself at once, in short replies
	Most  llm.Usage // where it disagrees or errs all the time, and every reply takes all of its tokens; within WithBudget's calls
}

// Estimate says what Ask would cost, without a call of a model: it rehearses the strategy on replies of its own, which agree,
// disagree or fail, and counts the prompts that are written for them. Statements that read a column of the first table are
// put through the guard and the limits as those of a question are. Tokens are estimated from lengths, without a
// provider's cache, and Money is by WithBudget's Prices. Calls repeated after a failure of the provider are not in it.
// Strategies that ask for what is neither a statement nor described by a schema (llm.Request.Schema) may take fewer calls
// than Least. The errors are those of Ask about the question and the database, and ctx.Err().
func (e *Engine) Estimate(ctx context.Context, question string, opts ...AskOption) (Estimated, error) {
	q := newQuestion(question, opts)
	if err := q.validate(); err != nil {
		return Estimated{}, err
	}
	e, err := e.within(q)
	if err != nil {
		return Estimated{}, err
	}
	var all []llm.Usage
	for _, replies := range [][]string{nil, {"SELECT %d AS n"}, {"SELECT n_%d FROM no_such_table"}, {"SELECT %d AS n", "SELECT n_%d FROM no_such_table"}} {
		env, err := e.env(trace.Into(ctx, nil), q, e.budget.Start())
		if err != nil {
			return Estimated{}, classify(err)
		}
		r := rehearsal{engine: e, replies: replies, plain: "SELECT 1"}
		if t := env.Schema.Tables[0]; len(t.Columns) > 0 {
			r.plain = fmt.Sprintf("SELECT %s FROM %s", env.Quote(t.Columns[0].Name), t.TableName().Quoted(env))
		}
		env.Host.Answered = nil
		env.Host.CallsLeft = r.left
		for i, m := range env.Models {
			env.Models[i] = llm.Named(llm.NameOf(m), llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				return r.reply(ctx, i, req)
			}))
		}
		_, err = e.generate(ctx, env, strategy.Task{Question: q.Text, Evidence: q.Evidence, Samples: cmp.Or(q.Samples, e.samples)}, nil)
		if ctx.Err() != nil {
			return Estimated{}, ctx.Err()
		}
		if r.used.Calls == 0 && err != nil {
			return Estimated{}, classify(err)
		}
		all = append(all, r.used)
	}
	by := func(a, b llm.Usage) int {
		return cmp.Or(cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.PromptTokens+a.CompletionTokens, b.PromptTokens+b.CompletionTokens))
	}
	return Estimated{Least: slices.MinFunc(all, by), Most: slices.MaxFunc(all, by)}, nil
}

// rehearsal stands in for the models of one question.
type rehearsal struct {
	engine  *Engine
	replies []string // formats for the number of the call, in turns; none: it agrees with itself
	plain   string   // what it says then

	mu   sync.Mutex
	used llm.Usage
}

// left is Host.CallsLeft of the rehearsal.
func (r *rehearsal) left() (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.engine.budget.Calls-r.used.Calls, 0), r.engine.budget.Calls > 0
}

func (r *rehearsal) reply(ctx context.Context, model int, req llm.Request) (llm.Response, error) {
	if left, bounded := r.left(); ctx.Err() != nil || bounded && left == 0 {
		return llm.Response{}, cmp.Or(ctx.Err(), error(&llm.BudgetError{Limit: "calls", Max: float64(r.engine.budget.Calls)}))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, text, agrees := r.used.Calls, r.plain, len(r.replies) == 0
	switch {
	case !agrees:
		text = fmt.Sprintf(r.replies[n%len(r.replies)], n)
	case req.Schema != nil:
		text = string(least(req.Schema))
	}
	u := llm.Estimate(req, text)
	if !agrees && req.MaxTokens != nil {
		u.CompletionTokens = max(*req.MaxTokens, r.engine.learners[model].Learned())
	}
	prices := r.engine.budget.Prices
	price, ok := prices[llm.NameOf(r.engine.models[model])]
	if !ok {
		price = prices[""]
	}
	u.Money = price.Of(u)
	r.used = r.used.Add(u)
	return llm.Response{Text: text, StopReason: llm.StopEnd, Usage: u}, nil
}

// least is the smallest value that a JSON schema describes.
func least(schema json.RawMessage) json.RawMessage {
	var s struct {
		Type       string                     `json:"type"`
		Enum       []json.RawMessage          `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "object":
		for name, of := range s.Properties {
			s.Properties[name] = least(of)
		}
		text, _ := json.Marshal(s.Properties) // raw values that were decoded
		return text
	}
	values := map[string]string{"array": "[]", "boolean": "true", "number": "1", "integer": "1"}
	return json.RawMessage(cmp.Or(values[s.Type], `""`))
}

package texttosql

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Estimated is the least and the most that a question may cost. Each field is estimated on its own: the calls
// of Most and the tokens of Most may come from different runs.
type Estimated struct {
	Least llm.Usage // the samples agree at once, the replies are short, and one table is needed
	// Most is the cost if the samples disagree or fail all the time and every reply uses all of its tokens, within
	// the calls of WithBudget. It assumes that the question needs one table, or two that a key joins, which its words
	// rank first. A question that needs more tables, or a table after the first wave, may cost more.
	Most llm.Usage
}

// Estimate returns what Ask would cost and calls no model. It runs the strategy on made-up replies that agree,
// disagree or fail, and counts the prompts. Statements that read a column of the first table go through the
// guard and the limits, like the statements of a question.
//
// Its options are WithScope, WithPolicy, WithSamples, WithEvidence and WithMemory.
//
// Tokens are estimated from lengths, without a provider's cache. Money uses the Prices of WithBudget. Retries
// after a provider failure are not counted, nor the calls of WithSecondOpinion (at most two). A strategy may
// take fewer calls than Least if it asks for replies that are neither statements nor described by a schema
// (llm.Request.Schema). The errors are the errors of Ask about the question and the database, and ctx.Err().
func (e *Engine) Estimate(ctx context.Context, question string, opts ...AskOption) (Estimated, error) {
	q, err := heeding("Estimate", question, opts, "WithSamples", "WithEvidence", "WithMemory")
	if err == nil {
		err = q.validate()
	}
	if err != nil {
		return Estimated{}, err
	}
	e, err = e.within(q)
	if err != nil {
		return Estimated{}, err
	}
	// The width is fixed, so that no length depends on which of parallel calls comes first.
	const varied, invalid = "SELECT %04d AS n", "SELECT n_%04d FROM no_such_table"
	var out Estimated
	for i, course := range []course{
		{needed: 1}, {needed: 2}, {needed: 2, replies: []string{varied}}, {needed: 2, replies: []string{invalid}},
		{broken: true, replies: []string{varied}}, {broken: true, replies: []string{invalid}},
		{broken: true, replies: []string{varied, invalid}},
	} {
		env, err := e.env(trace.NewContext(ctx, nil), q, e.budget.Start())
		if err != nil {
			return Estimated{}, classify(err)
		}
		task := q.task(e.samples)
		r := &rehearsal{course: course, engine: e, plain: "SELECT 1"}
		if r.about, err = shownFirst(ctx, env, task, course.needed); err != nil {
			return Estimated{}, err
		}
		if t := env.Schema.Tables[0]; len(t.Columns) > 0 {
			r.plain = fmt.Sprintf("SELECT %s FROM %s", env.Quote(t.Columns[0].Name), t.TableName().Quoted(env))
		}
		env.Host.Learners = nil
		env.Host.CallsLeft = r.left
		for i, m := range env.Models {
			env.Models[i] = llm.Named(llm.NameOf(m), llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				return r.reply(ctx, i, req)
			}))
		}
		_, err = e.generate(ctx, env, task, nil)
		if ctx.Err() != nil {
			return Estimated{}, ctx.Err()
		}
		if r.used.Calls == 0 && err != nil {
			return Estimated{}, classify(err)
		}
		if i == 0 {
			out = Estimated{r.used, r.used}
		}
		out.take(r.used)
	}
	return out, nil
}

// take makes room in the range for what one course of a question used.
func (e *Estimated) take(u llm.Usage) {
	least, most := &e.Least, &e.Most
	least.Calls, most.Calls = min(least.Calls, u.Calls), max(most.Calls, u.Calls)
	least.PromptTokens, most.PromptTokens = min(least.PromptTokens, u.PromptTokens), max(most.PromptTokens, u.PromptTokens)
	least.CompletionTokens, most.CompletionTokens = min(least.CompletionTokens, u.CompletionTokens),
		max(most.CompletionTokens, u.CompletionTokens)
	least.Money, most.Money = min(least.Money, u.Money), max(most.Money, u.Money)
}

// shownFirst is how prompts about a table begin that words of the question put first, and, of two, about one that a key
// joins to it. Judges of tables say yes to these alone.
func shownFirst(ctx context.Context, env *strategy.Env, t strategy.Task, n int) (about []string, err error) {
	links, err := linker.Lexical{Tables: 1, Fill: true}.Link(ctx, env.LinkerInput(t, nil))
	if err != nil || len(links.Tables) == 0 {
		return nil, err
	}
	first, _ := env.Schema.Lookup(links.Tables[0].Schema, links.Tables[0].Table)
	tables := []*schema.Table{first}
	for i := range env.Schema.Tables {
		other := &env.Schema.Tables[i]
		if other != first && (refers(env.Schema, first, other) || refers(env.Schema, other, first)) {
			tables = append(tables, other)
		}
	}
	for _, t := range tables[:min(n, len(tables))] {
		about = append(about, "CREATE TABLE "+t.TableName().Quoted(env)+" ")
	}
	return about, nil
}

// refers reports whether a foreign key of a table leads to another one.
func refers(s *schema.Schema, from, to *schema.Table) bool {
	return slices.ContainsFunc(from.ForeignKeys, func(k schema.ForeignKey) bool {
		t, ok := s.Lookup(cmp.Or(k.RefSchema, from.Schema), k.RefTable)
		return ok && t == to
	})
}

// course is how the models of a rehearsal reply.
type course struct {
	replies []string // formats for the number of the call, in turns by sample; none: they agree
	needed  int      // tables that are relevant
	broken  bool     // no reply is JSON
}

// rehearsal stands in for the models of one question.
type rehearsal struct {
	course
	engine *Engine
	plain  string   // its text if it agrees with itself
	about  []string // how the prompts about the tables needed begin

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
	case req.Schema != nil && !r.broken:
		text = string(least(req.Schema, r.says(req)))
	case !agrees:
		text = fmt.Sprintf(r.replies[req.Sample%len(r.replies)], n)
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

// says answers a yes-or-no question. The answer is no if the question is about one table that is not needed.
func (r *rehearsal) says(req llm.Request) bool {
	text := req.Messages[len(req.Messages)-1].Text
	return req.Purpose != "table" && req.Purpose != "score" || slices.ContainsFunc(r.about, func(t string) bool {
		return strings.Contains(text, t)
	})
}

// least is the smallest value that a JSON schema describes, with yes or no in the place of a boolean.
func least(schema json.RawMessage, yes bool) json.RawMessage {
	var s struct {
		Type       string                     `json:"type"`
		Enum       []json.RawMessage          `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "array" && s.Items != nil && yes:
		return slices.Concat([]byte("["), least(s.Items, yes), []byte("]"))
	case s.Type == "object":
		for name, of := range s.Properties {
			s.Properties[name] = least(of, yes)
		}
		text, _ := json.Marshal(s.Properties) // raw values that were decoded
		return text
	}
	values := map[string]string{"array": "[]", "boolean": strconv.FormatBool(yes), "number": "1", "integer": "1"}
	return json.RawMessage(cmp.Or(values[s.Type], `"x"`))
}

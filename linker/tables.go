package linker

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// A call shows so many columns at most, and no more than those whose names fit the reply, which may repeat them all.
const (
	maxCallColumns = 80
	maxReplyTokens = 1024
	maxNameTokens  = maxReplyTokens * 3 / 5 // the rest is for the reason and the brackets
)

// perTable asks a model about each of some tables: one call for each text of a table. T is the JSON object of a reply.
type perTable[T any] struct {
	first   int // how many tables were asked about before: what the spans of these follow
	model   llm.Model
	workers int // most calls at once
	// texts writes the table in place i, once for each call about it.
	texts   func(ctx context.Context, i int, t *schema.Table) ([]string, error)
	request func(table string) llm.Request     // makes the request from a text
	check   func(reply T) error                // says what is wrong with a reply; may be nil
	heard   func(t *schema.Table, replies []T) // told of each table without an error, one after the other if workers is 1; may be nil
}

// tableReply is what the model said about one table.
type tableReply[T any] struct {
	of   []T         // by part of the table
	err  error       // the first part that failed ended the table
	span *trace.Span // of its calls
}

// ask returns the replies in the order of tables, whatever the order of arrival. The error is ctx.Err(), or that of a
// spent budget; every other one stands in the reply of its table. No goroutine outlives ask if none outlives the calls
// of the model.
func (p perTable[T]) ask(ctx context.Context, tables []*schema.Table) ([]tableReply[T], error) {
	replies := make([]tableReply[T], len(tables))
	var group errgroup.Group
	group.SetLimit(p.workers)
	for i, t := range tables {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			within, span := trace.StartAt(ctx, p.first+i, "table", trace.Attr{Key: "table", Value: trace.SQL(t.TableName().String())})
			defer span.End()
			of, err := p.askOne(within, i, t)
			if span.Fail(err); ctx.Err() != nil {
				span.Cancelled()
			}
			replies[i] = tableReply[T]{of, err, span}
			return nil
		})
	}
	group.Wait() // the errors are in the replies
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range replies {
		if errors.Is(replies[i].err, llm.ErrBudget) {
			return nil, replies[i].err
		}
	}
	return replies, nil
}

// askOne makes the calls about a table, one after the other.
func (p perTable[T]) askOne(ctx context.Context, i int, t *schema.Table) (replies []T, err error) {
	texts, err := p.texts(ctx, i, t)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		reply, err := llm.Ask(ctx, p.model, p.request(text), p.check)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	if p.heard != nil {
		p.heard(t, replies)
	}
	return replies, nil
}

// tooMany is the error of replies of which more than half failed.
func tooMany[T any](replies []tableReply[T]) error {
	failed, first := 0, error(nil)
	for _, r := range replies {
		if r.err != nil {
			failed, first = failed+1, cmp.Or(first, r.err)
		}
	}
	if 2*failed > len(replies) {
		return fmt.Errorf("linker: the model failed on %d of %d tables: %w", failed, len(replies), first)
	}
	return nil
}

// renderer writes tables for a prompt about them: without stored values, in the dialect of the database.
func (in Input) renderer() schema.Renderer {
	r := schema.Renderer{WithoutValues: true}
	if in.DB != nil {
		r.Names = exec.Names{Dialect: in.DB.Dialect()}
	}
	return r
}

// inParts writes a table, in parts if it is wide, so that a model sees all of its columns. Each part has the foreign keys.
func (in Input) inParts(ctx context.Context, _ int, t *schema.Table) (texts []string, err error) {
	for _, part := range partsOf(t) {
		renderer := in.renderer()
		text, err := renderer.Render(ctx, part)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text.Text+t.References(renderer.Names))
	}
	return texts, nil
}

// greedy is a request for a JSON object at temperature 0, which it says. seed may be nil.
func greedy(seed func(int) *int, purpose, rules, text string) llm.Request {
	zero := 0.0
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: rules}, {Role: llm.User, Text: text}},
		Purpose:  purpose, Temperature: &zero, MaxTokens: new(maxReplyTokens),
	}
	if seed != nil {
		req.Seed = seed(0)
	}
	return req
}

// partsOf returns a table as schemas of that table alone, each with as many of its columns as one call may show.
func partsOf(t *schema.Table) (parts []*schema.Schema) {
	whole := &schema.Schema{Tables: []schema.Table{*t}}
	from, tokens := 0, 0
	cut := func(to int) {
		place := 0
		parts = append(parts, whole.Project(func(*schema.Table) bool { return true }, func(*schema.Table, *schema.Column) bool {
			place++
			return from < place && place <= to
		}))
		from, tokens = to, 0
	}
	for i, c := range t.Columns {
		cost := schema.EstimateTokens(c.Name) + 3 // quotes and a comma
		if i > from && (i-from == maxCallColumns || tokens+cost > maxNameTokens) {
			cut(i)
		}
		tokens += cost
	}
	cut(len(t.Columns))
	return parts
}

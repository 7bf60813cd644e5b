package linker

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

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

// perTable asks a model about each of some tables: one call a table, and several for a wide one, so that it sees all
// columns. T is the JSON object of a reply.
type perTable[T any] struct {
	model   llm.Model
	workers int                            // most calls at once
	request func(table string) llm.Request // makes the request from the text of a table
	check   func(reply T) error            // says what is wrong with a reply; may be nil
	quote   func(name string) string       // writes a name as the dialect does; nil: schema.QuoteName
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
			within, span := trace.StartAt(ctx, i, "table", trace.Attr{Key: "table", Value: t.TableName().String()})
			defer span.End()
			of, err := p.askOne(within, t)
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

// askOne asks about the parts of a table, one after the other.
func (p perTable[T]) askOne(ctx context.Context, t *schema.Table) (replies []T, err error) {
	for _, part := range partsOf(t) {
		text, err := schema.Renderer{WithoutValues: true, Quote: p.quote}.Render(ctx, part)
		if err != nil {
			return nil, err
		}
		reply, err := llm.Ask(ctx, p.model, p.request(text.Text), p.check)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
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

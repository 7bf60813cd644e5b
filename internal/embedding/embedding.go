// Package embedding counts calls of embedding models on the budget of a question, which its context carries.
package embedding

import "context"

// Counter is what counts the calls: an *llm.BudgetTracker.
type Counter interface {
	Embed(ctx context.Context, texts []string, call func(context.Context) error) error
}

type key struct{}

// NewContext returns a context in which calls count on c.
func NewContext(ctx context.Context, c Counter) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// Call makes a call for texts, through the counter of ctx if it has one.
func Call(ctx context.Context, texts []string, call func(context.Context) error) error {
	if c, ok := ctx.Value(key{}).(Counter); ok {
		return c.Embed(ctx, texts, call)
	}
	return call(ctx)
}

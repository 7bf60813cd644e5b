package httpserver

import (
	"context"
	"sync"
)

// notes are what the parts of a server know of a request, for the line about it.
type notes struct {
	mu    sync.Mutex
	lines []any // names and values by turns
}

type notesKey struct{}

// Noted returns a context in which Note is heard, and what was noted so far, as names and values by turns.
func Noted(ctx context.Context) (context.Context, func() []any) {
	n := &notes{}
	return context.WithValue(ctx, notesKey{}, n), func() []any {
		n.mu.Lock()
		defer n.mu.Unlock()
		return append([]any(nil), n.lines...)
	}
}

// Note says something of the request of ctx: whose it is, which conversation it is about. It says nothing where nobody
// hears.
func Note(ctx context.Context, name, value string) {
	if n, _ := ctx.Value(notesKey{}).(*notes); n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.lines = append(n.lines, name, value)
	}
}

type conversationKey struct{}

// WithConversation returns a context of work on a conversation, for the line about a question that fails.
func WithConversation(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, conversationKey{}, id)
}

// Conversation is the id of WithConversation; "": there is none.
func Conversation(ctx context.Context) string {
	id, _ := ctx.Value(conversationKey{}).(string)
	return id
}

// Carry returns ctx with the notes of a request.
func Carry(ctx, request context.Context) context.Context {
	return context.WithValue(ctx, notesKey{}, request.Value(notesKey{}))
}

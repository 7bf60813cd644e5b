package trace

import (
	"context"
	"time"
)

// Span is one piece of work of an answer: a stage, a model call, a statement,
// a vote. Spans form a tree; Start adds a child to the span in ctx.
//
// Children are ordered by slot (see Slot), then by start. A caller that starts
// children in parallel gives each a slot, so that the tree is the same whatever
// the timing. All methods may be called on a nil *Span and then do nothing.
// Safe for concurrent use.
type Span struct {
	// unexported: mutex, name, kind, start, duration, attrs, events, warnings, usage, children
}

// Attr is a name and a value. Values are string, bool, int, int64, float64,
// time.Duration, []string, or anything that encodes to JSON.
type Attr struct {
	Key   string
	Value any
}

// Warning is something the person who asked should know.
type Warning struct {
	Code    string `json:"code"` // stable, lower case with dashes: "schema-linked"
	Message string `json:"message"`
}

func New(name string, attrs ...Attr) *Span                                           { panic("todo") }
func Into(ctx context.Context, s *Span) context.Context                              { panic("todo") }
func From(ctx context.Context) *Span                                                 { panic("todo") }
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) { panic("todo") }
func StartAt(ctx context.Context, slot int, name string, attrs ...Attr) (context.Context, *Span) {
	panic("todo")
}
func (s *Span) Set(key string, value any)        {}
func (s *Span) Event(name string, attrs ...Attr) {}
func (s *Span) Warn(code, message string)        {}
func (s *Span) AddUsage(u Usage)                 {}
func (s *Span) Cancelled()                       {} // moves the span to the section that comparisons leave out
func (s *Span) Fail(err error)                   {}
func (s *Span) End()                             {}
func (s *Span) Usage() Usage                     { return Usage{} } // of s and all below it, cancelled ones included
func (s *Span) Warnings() []Warning              { return nil }     // of s and all below it, in tree order, each once
func (s *Span) Duration() time.Duration          { return 0 }

package llm

import (
	"context"

	"github.com/texttosql/texttosql/trace"
)

// Model is the port to a language model: one request, one reply.
//
// An implementation returns ctx.Err() when ctx ended, whatever the provider
// said, an *Error for a failed call, and never an empty reply without an error.
// It must be safe for concurrent use. llmtest.Conformance checks all of this.
type Model interface {
	// Complete sends req and returns the reply, which is the model's own.
	Complete(ctx context.Context, req Request) (Response, error)
}

// Func makes a Model of a function.
type Func func(ctx context.Context, req Request) (Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, req Request) (Response, error) { return f(ctx, req) }

// Role is who speaks in a Message.
type Role string

// The roles. Instructions go in System messages; everything that a person, a
// database or a model wrote goes in User and Assistant messages.
const (
	System    Role = "system"    // rules, which no other message may change
	User      Role = "user"      // what is asked, with all that belongs to it
	Assistant Role = "assistant" // what the model said, or an example of it
)

// Message is one turn of the conversation.
type Message struct {
	Role Role   `json:"role"` // who speaks
	Text string `json:"text"` // UTF-8; may have many lines
}

// Request is one call. A model does not change what it is given: the same
// Messages may be in use by parallel calls.
type Request struct {
	Messages []Message // in the order of the conversation; at least one

	// Purpose says what the reply is for: "generate", "link", "repair",
	// "judge", …. It is for traces, middlewares and tests; it is not sent.
	Purpose string
	// Draw is the index of this draw within the question, from 0. Equal
	// requests of different draws are different calls: it is part of cache and
	// replay keys. It is not sent.
	Draw int

	Temperature *float64 // nil: the model's default; adapters never turn nil into 0
	MaxTokens   int      // upper bound of the reply in tokens; 0: the adapter's default
	Seed        int      // 0: none
	Stop        []string // the reply ends before the first of them
}

// StopReason says why a reply ended.
type StopReason string

// The reasons. A reply cut at StopLength is no error here: its reader decides.
const (
	StopUnknown StopReason = ""       // the provider did not say
	StopEnd     StopReason = "stop"   // the model was done, or met a stop text
	StopLength  StopReason = "length" // the reply was cut at MaxTokens
	StopFilter  StopReason = "filter" // the provider held the reply back
)

// Response is one reply.
type Response struct {
	Text       string     // the reply, untrimmed; never empty without an error
	StopReason StopReason // why it ended
	Usage      Usage      // what it cost, failed attempts included
	Model      string     // the name the provider gives itself; may be empty
}

// Usage is what calls cost.
type Usage = trace.Usage

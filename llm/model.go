package llm

import (
	"context"
	"encoding/json"

	"github.com/texttosql/texttosql/trace"
)

// Model is the port to a language model: one request, one reply.
//
// An implementation returns ctx.Err() once ctx has ended, whatever the provider said. It returns an *Error for a failed
// call, and never an empty reply without an error: ClassNoRoom where MaxTokens was used up before the first word.
// It must be safe for concurrent use. llmtest.Conformance checks this.
type Model interface {
	// Complete sends req and returns the reply.
	Complete(ctx context.Context, req Request) (Response, error)
}

// Func is a function that serves as a Model.
type Func func(ctx context.Context, req Request) (Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, req Request) (Response, error) { return f(ctx, req) }

// Role says who speaks in a Message.
type Role string

// The roles. Instructions go into System messages. Text of a person, a database or a model goes into User and Assistant
// messages.
const (
	System    Role = "system"    // rules that no other message may change
	User      Role = "user"      // the question, with everything that belongs to it
	Assistant Role = "assistant" // a reply of the model, or an example of a reply
)

// Message is one turn of the conversation.
type Message struct {
	Role Role   `json:"role"` // the speaker
	Text string `json:"text"` // UTF-8, one or more lines
}

// Request is one call. A model must not change it: parallel calls may share the same Messages.
type Request struct {
	Messages []Message // the messages in the order of the conversation; at least one

	// Purpose says what the reply is for: "generate", "link", "repair", "judge", …. It serves traces, middlewares and
	// tests. It is not sent.
	Purpose string
	// Sample is the index of the sample within the question, from 0. Equal requests with different indexes are
	// different calls: the index is part of cache and replay keys. It is not sent.
	Sample int

	// Numbers that are nil are not sent: the model's default holds, or, for MaxTokens, that of the adapter.

	Temperature *float64 // 0 or more
	TopP        *float64 // nucleus sampling, over 0 to 1
	MaxTokens   *int     // upper bound of the reply in tokens, at least 1; reasoning counts into it where the provider says so
	Seed        *int     // any number
	Stop        []string // the reply ends before the first of these texts

	// Effort says how long a reasoning model may think; "": as the model does by itself. A client sends it only to a
	// model that has it.
	Effort Effort
	// Schema is the JSON schema that the reply has to follow; nil: any text. A client sends it where the provider holds
	// the model to it. Messages describe the shape too, so a client may ignore it.
	Schema json.RawMessage
	// CachePrefix is how many of the first Messages other requests begin with as well, 0 to len(Messages). A client whose
	// provider wants a mark for its prompt cache sets it at the end of the last of them; any other client ignores it.
	CachePrefix int
}

// Effort is how long a reasoning model thinks before it answers. Providers have these words or numbers of tokens in their
// place; a client sends the nearest that its provider takes.
type Effort string

// The efforts.
const (
	EffortMinimal Effort = "minimal" // as little as the model can, none at all where it may
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
)

// StopReason says why a reply ended; "" if the provider did not say.
type StopReason string

// The reasons. A reply that was cut at MaxTokens is not an error of the call; the reader of the reply decides.
const (
	StopEnd    StopReason = "stop"   // the model was done, or met a stop text
	StopLength StopReason = "length" // the reply was cut at MaxTokens
	StopFilter StopReason = "filter" // the provider held the reply back
)

// Response is one reply.
type Response struct {
	Text       string     // the reply, untrimmed; never empty without an error
	StopReason StopReason // why the reply ended
	Usage      Usage      // the cost, failed attempts included
	Model      string     // the model's name for itself, as the provider reports it; may be empty
}

// Usage is the cost of calls.
type Usage = trace.Usage

package llm

import (
	"context"
	"encoding/json"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/trace"
)

// Model is the port to a language model: one request, one reply.
//
// An implementation returns ctx.Err() once ctx has ended, whatever the provider said. It returns an *Error for a
// failed call. It never returns an empty reply without an error: if MaxTokens was used up before the first word, the
// error is of ClassOutOfTokens. It must be safe for concurrent use. llmtest.Conformance checks this.
type Model interface {
	// Complete sends req and returns the reply.
	Complete(ctx context.Context, req Request) (Response, error)
}

// Func is a function that serves as a Model.
type Func func(ctx context.Context, req Request) (Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, req Request) (Response, error) { return f(ctx, req) }

// The roles. Instructions go into System messages. Text of a person, a database or a model goes into User and Assistant
// messages.
const (
	System    = "system"    // rules that no other message may change
	User      = "user"      // the question, with everything that belongs to it
	Assistant = "assistant" // a reply of the model, or an example of a reply
)

// Message is one turn of the conversation.
type Message struct {
	Role string `json:"role"` // the speaker: System, User or Assistant
	Text string `json:"text"` // UTF-8, one or more lines
}

// Request is one call. A model must not change it: parallel calls may share the same Messages.
type Request struct {
	Messages []Message // the messages in the order of the conversation; at least one

	// Purpose is the use of the reply: "generate", "link", "repair", "judge", "metric", …. It serves traces,
	// middlewares and tests. It is not sent.
	Purpose string
	// Sample is the index of the sample within the question, from 0. Equal requests with different indexes are
	// different calls: the index is part of cache and replay keys. It is not sent.
	Sample int

	// Plain means that the messages are sent byte for byte: an Engine adds no line about the day. Published prompts
	// set it. It is not sent.
	Plain bool

	// Numbers that are nil are not sent: the model's default holds, or, for MaxTokens, that of the adapter.

	Temperature *float64 // 0 or more
	TopP        *float64 // nucleus sampling, over 0 to 1
	MaxTokens   *int     // most tokens of the reply, at least 1; some providers count reasoning too
	Seed        *int     // any number
	Stop        []string // the reply ends before the first of these texts

	// Effort is how long a reasoning model may think: "minimal", "low", "medium" or "high"; "": the model's default.
	// A client sends it only to models that support it.
	Effort string
	// Schema is the JSON schema of the reply; nil: any text. A client sends it if the provider enforces it. The
	// messages describe the shape too, so a client may ignore Schema.
	Schema json.RawMessage
	// CachePrefix is the number of first Messages that other requests share, 0 to len(Messages). If the provider's
	// prompt cache needs a mark, the client sets it at the end of the last shared message. Other clients ignore
	// CachePrefix.
	CachePrefix int
}

// The values of Response.StopReason. A reply that was cut at MaxTokens is not an error of the call; the reader of the
// reply decides.
const (
	StopEnd    = "stop"   // the model was done, or met a stop text
	StopLength = "length" // the reply was cut at MaxTokens
	StopFilter = "filter" // the provider held the reply back
)

// Response is one reply.
type Response struct {
	Text       string // the reply, untrimmed; never empty without an error
	StopReason string // why the reply ended, StopEnd for example; "" if the provider did not report it
	Usage      Usage  // the cost, failed attempts included
	Model      string // the model's name for itself, as the provider reports it; may be empty
}

// Answer returns Text without the reasoning before the answer. The reasoning ends at the last </think>, or at the
// mark of another model.
func (r Response) Answer() string { return prompttext.AnswerText(r.Text) }

// Usage is the cost of calls.
type Usage = trace.Usage

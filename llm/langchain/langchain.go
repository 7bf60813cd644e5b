package langchain

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
	"github.com/tmc/langchaingo/llms"
)

const (
	// defaultMaxTokens is the most that every current model of the three
	// providers accepts: the first Claude 3 models refuse more. Anthropic stops
	// at 2,048 unless told, and a reasoning model spends its thoughts from it.
	defaultMaxTokens = 4096

	// defaultTemperature is the documented default of OpenAI and Anthropic, and
	// the only value that OpenAI's reasoning models take.
	defaultTemperature = 1.0
)

// Config is what an adapter adds to requests. The zero Config is the default.
type Config struct {
	// Temperature is for requests without one; nil means 1. langchaingo sends an
	// unset temperature as 0, which would make all draws of a question equal, so
	// something is always set. A pointer, because 0 is a temperature.
	Temperature *float64

	// MaxTokens is for requests without a limit, in tokens of the reply, those of
	// hidden reasoning included; 0 or less means 4,096.
	MaxTokens int

	// Options are given to every call, before those that the request sets.
	// Streaming and several choices a call are switched off after them: with the
	// first langchaingo mixes choices, and of the second only OpenAI knows.
	// They must be safe for concurrent use, so no map that a call may change.
	Options []llms.CallOption
}

// Model makes an [llm.Model] of a langchaingo model with the zero [Config].
func Model(m llms.Model) llm.Model { return Config{}.Model(m) }

// Model makes an [llm.Model] of a langchaingo model. See the package comment
// for what it does about the traps of the library.
//
// A nil m, as constructors return it beside an error, gives a model whose every
// call is a permanent [*llm.Error].
//
// The result is safe for concurrent use if m is; the clients of OpenAI, Ollama
// and Anthropic are. It never asks for another model than the one m was built
// with.
func (c Config) Model(m llms.Model) llm.Model {
	if v := reflect.ValueOf(m); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{
				Class:   llm.ClassPermanent,
				Message: "no model: the langchaingo model is nil; the error of its constructor says why",
			}
		})
	}
	if c.MaxTokens <= 0 {
		c.MaxTokens = defaultMaxTokens
	}
	a := &adapter{model: m, config: c, temperature: defaultTemperature}
	if c.Temperature != nil {
		a.temperature = *c.Temperature
	}
	return a
}

type adapter struct {
	model       llms.Model
	config      Config
	temperature float64 // for requests without one

	// refuses is set once the provider took a call without a temperature that it
	// had refused with one.
	refuses atomic.Bool
}

// Complete makes one call, or two where the first fails because of the
// temperature.
func (a *adapter) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ended(ctx); err != nil {
		return llm.Response{}, err
	}
	messages, err := messagesOf(req.Messages)
	if err != nil {
		return llm.Response{}, err
	}
	c := call{messages: messages, request: req, maxTokens: req.MaxTokens, temperature: a.temperature}
	if c.maxTokens <= 0 {
		c.maxTokens = a.config.MaxTokens
	}
	if req.Temperature != nil {
		c.temperature = *req.Temperature
	}
	if a.refuses.Load() {
		return a.withoutTemperature(ctx, c)
	}

	n := new(notes)
	resp, err := a.attempt(ctx, c, n)
	if err == nil || !namesTemperature(err, n) {
		return resp, err
	}
	if !n.seen() && c.temperature == defaultTemperature {
		return resp, err // without our transport the second call would be the first again
	}
	resp, err = a.withoutTemperature(ctx, c)
	if err == nil {
		resp.Usage.Calls++
		// Not before: the word may have stood in an error that repeats the prompt.
		// And not for what Anthropic merely finds too high.
		if c.temperature <= 1 {
			a.refuses.Store(true)
		}
	}
	return resp, err
}

// withoutTemperature makes c without a temperature, or, where the transport is
// not ours and cannot take it out of the request, with the one that is the
// default anyway.
func (a *adapter) withoutTemperature(ctx context.Context, c call) (llm.Response, error) {
	asked := c.temperature
	c.temperature = defaultTemperature
	resp, err := a.attempt(ctx, c, &notes{dropTemperature: true})
	if err == nil && asked != defaultTemperature {
		trace.From(ctx).Warn("temperature-refused",
			fmt.Sprintf("the provider refuses temperature %g for this model; its own default was used", asked))
	}
	return resp, err
}

// call is one request with its gaps filled.
type call struct {
	messages    []llms.MessageContent
	request     llm.Request
	temperature float64
	maxTokens   int
}

// attempt makes c once.
func (a *adapter) attempt(ctx context.Context, c call, n *notes) (llm.Response, error) {
	out, err := a.generate(context.WithValue(ctx, notesKey{}, n), c.messages, a.options(c))
	// First, whatever came back: a cancelled call of the Ollama client is a
	// success without text, and the OpenAI client hides the error of the context.
	if err := ended(ctx); err != nil {
		return llm.Response{}, err
	}
	if err != nil {
		return llm.Response{}, failure(err, n)
	}
	return response(out, c.maxTokens, n)
}

// generate makes the call. A reply can make the clients panic: OpenAI's does on
// {"choices":[null]}. What a provider sends must not end the program, so that is
// an error; panics other than those of the runtime are not about the reply.
func (a *adapter) generate(ctx context.Context, m []llms.MessageContent, o []llms.CallOption) (out *llms.ContentResponse, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("the client cannot read the reply: %w", r)
		default:
			panic(r)
		}
	}()
	return a.model.GenerateContent(ctx, m, o...)
}

// options are the options of one call. All that a client might keep from its
// construction is set here, because Ollama's overwrites it with zeros.
func (a *adapter) options(c call) []llms.CallOption {
	options := append(a.config.Options[:len(a.config.Options):len(a.config.Options)],
		llms.WithTemperature(c.temperature),
		llms.WithMaxTokens(c.maxTokens),
		llms.WithStreamingFunc(nil),
		llms.WithStreamingReasoningFunc(nil),
		llms.WithN(0),
		llms.WithCandidateCount(0),
	)
	if c.request.Seed != 0 { // 0 is "no seed" to the clients as well
		options = append(options, llms.WithSeed(c.request.Seed))
	}
	if len(c.request.Stop) > 0 {
		options = append(options, llms.WithStopWords(c.request.Stop))
	}
	return options
}

// ended returns ctx.Err(), also in the moment between the passing of the
// deadline and the timer that says so: a dialer has a timer of its own.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

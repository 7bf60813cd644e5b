package langchain

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
	"github.com/texttosql/texttosql/trace"
	"github.com/tmc/langchaingo/llms"
)

const (
	// defaultMaxTokens is the most that every model of OpenAI, Ollama and Anthropic accepts: the first Claude 3 models
	// refuse more. Anthropic's client sends 2,048 by default, and the reasoning of a model counts towards the limit.
	defaultMaxTokens = 4096

	// defaultTemperature is the documented default of OpenAI and Anthropic, and the only value that OpenAI's reasoning
	// models take.
	defaultTemperature = 1.0
)

// Config has the values that an adapter adds to requests. The zero Config is the default.
type Config struct {
	// Temperature is used for requests without one; nil means 1. The adapter always sends one, because langchaingo
	// sends an unset temperature as 0, which would make all samples of a question equal.
	Temperature *float64

	// MaxTokens limits the reply for requests without a limit, hidden reasoning included; 0 or less means 4,096.
	MaxTokens int

	// Options are passed to every call, before the options from the request. After them the adapter switches off
	// streaming, with which langchaingo mixes choices, and several choices per call, which only OpenAI supports.
	// Options must be safe for concurrent use.
	Options []llms.CallOption
}

// Model turns a langchaingo model into an [llm.Model], with the zero [Config].
func Model(m llms.Model) llm.Model { return Config{}.Model(m) }

// Model turns a langchaingo model into an [llm.Model]; see the package comment.
//
// Constructors return a nil m together with an error. texttosql.New rejects a nil m, and every call of it returns a
// permanent [*llm.Error]. Both errors name what the constructor needs, such as OPENAI_API_KEY in the environment. The
// result is safe for concurrent use if m is; the clients of OpenAI, Ollama and Anthropic are. It always uses the
// model that m was created with.
func (c Config) Model(m llms.Model) llm.Model {
	if v := reflect.ValueOf(m); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return missing{v}
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

// missing is the model of a client that could not be made.
type missing struct{ client reflect.Value }

// Complete returns the error of Validate.
func (m missing) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, m.Validate()
}

// Validate says what to do.
func (m missing) Validate() error {
	text := "no model: the langchaingo client is nil; the error of its constructor says why"
	if m.client.IsValid() {
		at := m.client.Type().Elem().PkgPath()
		if variable := variables[at[strings.LastIndexByte(at, '/')+1:]]; variable != "" {
			text += ", and most often the environment variable " + variable + " is not set"
		}
	}
	return &llm.Error{Class: llm.ClassPermanent, Message: text}
}

// variables are those from which langchaingo's packages take a key.
var variables = map[string]string{
	"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "googleai": "GOOGLE_API_KEY",
	"mistral": "MISTRAL_API_KEY",
	"cohere":  "COHERE_API_KEY", "huggingface": "HUGGINGFACEHUB_API_TOKEN",
}

type adapter struct {
	model       llms.Model
	config      Config
	temperature float64 // for requests without one

	refuses atomic.Bool // the provider took a call without a temperature after it had refused it with one
	folds   atomic.Bool // messages of the system go to the user's
}

// Complete makes one call, and another one if it fails because of the temperature or of messages of the system.
func (a *adapter) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := wire.Ended(ctx); err != nil {
		return llm.Response{}, err
	}
	return wire.Fold(&a.folds, req, func(req llm.Request) (llm.Response, *wire.Call, error) {
		last := new(wire.Call)
		resp, err := a.complete(ctx, req, &last)
		return resp, last, err
	})
}

// complete leaves the last call in last.
func (a *adapter) complete(ctx context.Context, req llm.Request, last **wire.Call) (llm.Response, error) {
	messages, err := messagesOf(req)
	if err != nil {
		return llm.Response{}, err
	}
	c := call{messages, req, a.temperature, a.config.MaxTokens}
	if req.MaxTokens != nil && *req.MaxTokens > 0 {
		c.maxTokens = *req.MaxTokens
	}
	if req.Temperature != nil {
		c.temperature = *req.Temperature
	}
	if a.refuses.Load() {
		return a.withoutTemperature(ctx, c, last)
	}

	n := new(notes)
	resp, err := a.attempt(ctx, c, n)
	*last = n.Call
	if err == nil || !namesTemperature(err, n) {
		return resp, err
	}
	if !n.Sent() && c.temperature == defaultTemperature {
		return resp, err // without our transport the second call would be the first again
	}
	resp, err = a.withoutTemperature(ctx, c, last)
	if err == nil {
		resp.Usage.Calls++
		// Only now is it sure: the first error may have repeated a prompt with the word "temperature". Anthropic
		// refuses temperatures over 1 merely as too high.
		if c.temperature <= 1 {
			a.refuses.Store(true)
		}
	}
	return resp, err
}

// withoutTemperature makes c without a temperature. If the transport is not ours, which alone can take it out of the
// request, it makes c with the default temperature.
func (a *adapter) withoutTemperature(ctx context.Context, c call, last **wire.Call) (llm.Response, error) {
	asked := c.temperature
	c.temperature = defaultTemperature
	n := &notes{dropTemperature: true}
	resp, err := a.attempt(ctx, c, n)
	*last = n.Call
	if err == nil && asked != defaultTemperature {
		trace.FromContext(ctx).Warn("temperature-refused",
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
	if c.request.TopP != nil {
		n.topP = *c.request.TopP
	}
	out, err := a.generate(n.begin(ctx), c.messages, a.options(c))
	// The context comes first: a cancelled call of the Ollama client is a success without text, and the OpenAI client
	// hides the error of the context.
	if err := wire.Ended(ctx); err != nil {
		return llm.Response{}, err
	}
	if err != nil {
		n.TellRaw(ctx)
		return llm.Response{}, failure(err, n)
	}
	if n.topP != 0 && !n.sentTopP.Load() {
		trace.FromContext(ctx).Warn("top-p-unsent", fmt.Sprintf("top_p %g was not sent, as far as the adapter can tell: %s",
			n.topP, "OpenAI's client drops it, and an HTTP client that is not of langchain.HTTPClient cannot put it back"))
	}
	resp, err := response(out, c.maxTokens, n)
	if err != nil {
		n.TellRaw(ctx)
	}
	return resp, err
}

// generate makes the call. It turns a runtime error of the client into an error, because a reply must not end the
// program: OpenAI's client panics on {"choices":[null]}. Other panics are not about the reply and go on.
func (a *adapter) generate(ctx context.Context, m []llms.MessageContent,
	o []llms.CallOption) (out *llms.ContentResponse, err error) {
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

// options returns the options of one call. It sets everything that was given to the client's constructor, because
// Ollama's client overwrites it with zeros.
func (a *adapter) options(c call) []llms.CallOption {
	options := append(a.config.Options[:len(a.config.Options):len(a.config.Options)],
		llms.WithTemperature(c.temperature), llms.WithMaxTokens(c.maxTokens),
		llms.WithStreamingFunc(nil), llms.WithStreamingReasoningFunc(nil),
		llms.WithN(0), llms.WithCandidateCount(0),
	)
	if c.request.Seed != nil && *c.request.Seed != 0 { // 0 is "no seed" to the clients
		options = append(options, llms.WithSeed(*c.request.Seed))
	}
	if c.request.TopP != nil {
		options = append(options, llms.WithTopP(*c.request.TopP))
	}
	if len(c.request.Stop) > 0 {
		options = append(options, llms.WithStopWords(c.request.Stop))
	}
	return options
}

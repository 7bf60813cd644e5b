package strategy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/vote"
)

// Sampler configures the sampling of a Pipeline. The zero Sampler makes one greedy sample.
type Sampler struct {
	Samples       int       // maximum samples; Task.Samples overrides it; 0 means 1
	Temperature   float64   // the temperature of every sample; 0 is greedy
	TopP          float64   // the top_p of every sample (nucleus sampling), up to 1; 0: the model's default
	FirstGreedy   bool      // sample 0 at temperature 0, regardless of Temperature
	MaxTokens     int       // maximum tokens of a reply; 0 means 1,024; a preset documents its own value
	StopSequences []string  // a reply ends before the first of them
	Stop          vote.Stop // nil, or a voter whose State fails: all samples at once
	MinVotes      int       // quorum; 0 means 1

	// Effort is how long a reasoning model may think: "minimal", "low", "medium" or "high"; "": the model's default.
	Effort string
	// AtOnce sends all samples of a wave at the same time. Otherwise Env.Send may send the first sample of each
	// prompt before the others. AtOnce has less latency, and pays the full price for every prompt.
	AtOnce bool

	// Plain sets llm.Request.Plain: the messages are sent as the Prompter wrote them.
	Plain bool

	// Requests makes every so-many-th sample, including the first one, ask for a metric request instead of a
	// statement: 2 means every second one. A request is compiled from the definitions of Env.Knowledge and is
	// then a candidate like any other. A reply that no metric answers the question is neither a vote nor an
	// abstention. If all requests of the waves so far had this reply, later samples are statements. 0, or an Env
	// without metrics: no requests.
	Requests int
	// Offset is the index of the first sample if an earlier round of the same question made some: samples are
	// distinguished by index.
	Offset int
	// Purpose of the requests; "" means "generate". Samples whose prompt shows more than the question, such as a
	// correction, have their own purpose: stored replies to the question do not answer them.
	Purpose string
}

func (s Sampler) samples(t Task) int {
	return cmp.Or(t.Samples, s.Samples, 1)
}

// Validate rejects numbers out of range. samples is the number that the question sets; 0: none.
func (s Sampler) Validate(samples int) error {
	errs := []error{
		fields.Check("strategy: Sampler.Samples", s.Samples, fields.MaxSamples),
		fields.Check("strategy: Sampler.Temperature", s.Temperature, 0),
		fields.Check("strategy: Sampler.TopP", s.TopP, 1),
		fields.Check("strategy: Sampler.MaxTokens", s.MaxTokens, 0),
		fields.Check("strategy: Sampler.MinVotes", s.MinVotes, 0),
		fields.Check("strategy: Sampler.First", s.Offset, 0),
		fields.Check("strategy: Sampler.Requests", s.Requests, 0),
		checkSamples(samples),
	}
	if n := s.samples(Task{Samples: samples}); s.MinVotes > n {
		errs = append(errs, fmt.Errorf("strategy: Sampler.MinVotes is %d, more than the %d samples", s.MinVotes, n))
	}
	return errors.Join(errs...)
}

func checkSamples(n int) error {
	if n > fields.MaxSamples {
		return fmt.Errorf("strategy: %d samples; at most %d are possible", n, fields.MaxSamples)
	}
	return nil
}

// Request is the request of sample i.
func (s Sampler) Request(env *Env, i int, messages []llm.Message) llm.Request {
	temperature := s.Temperature
	if s.FirstGreedy && i == 0 {
		temperature = 0
	}
	req := llm.Request{
		Messages: messages, Purpose: cmp.Or(s.Purpose, "generate"), Sample: i,
		Temperature: &temperature, MaxTokens: new(cmp.Or(s.MaxTokens, 1024)),
		Seed: env.SeedOf(i), Stop: s.StopSequences, Effort: s.Effort, Plain: s.Plain,
	}
	if s.TopP > 0 {
		req.TopP = &s.TopP
	}
	return req
}

package strategy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/vote"
)

// Sampler says how a Pipeline samples. The zero Sampler makes one greedy sample.
type Sampler struct {
	Samples       int       // samples at most; Task.Samples overrides it; 0 means 1
	Temperature   float64   // the temperature of every sample; 0 is greedy
	TopP          float64   // the top_p of every sample (nucleus sampling), up to 1; 0: the model's default
	FirstGreedy   bool      // sample 0 at temperature 0, whatever Temperature says
	MaxTokens     int       // the most tokens of a reply; 0 means 1,024, and a preset says what it sends
	StopSequences []string  // a reply ends before the first of them
	Stop          vote.Stop // nil: every sample is made, all at once; also, with a warning, where the voter's State fails
	MinVotes      int       // quorum; 0 means 1

	// Effort is how long a reasoning model may think; "": as it does by itself.
	Effort llm.Effort
	// AtOnce sends all samples of a wave at the same time, where Env.Send would let the first of each prompt go ahead: less
	// latency, for the full price of every prompt.
	AtOnce bool

	// Requests makes every so-many-th sample, the first one included, ask for a metric request in place of a statement: 2 is
	// every second one. A request is compiled from the definitions of Env.Knowledge and then is a candidate as any other. A
	// reply that says that no metric answers the question is neither a vote nor an abstention; once all requests of the waves
	// so far say so, the samples are statements. 0, and an Env without metrics: none.
	Requests int
	// First is the index of the first sample, where an earlier round of the same question made some: samples are told
	// apart by their index.
	Offset int
	// Purpose of the requests; "" means PurposeGenerate. Samples that are shown more than the question, as a correction
	// is, have a purpose of their own: stored replies to the question do not answer them.
	Purpose string
}

func (s Sampler) samples(t Task) int {
	return cmp.Or(t.Samples, s.Samples, 1)
}

// Validate refuses numbers out of range. samples is what the question asks for; 0: nothing.
func (s Sampler) Validate(samples int) error {
	errs := []error{
		fields.Check("strategy: Sampler.Samples", s.Samples, MaxSamples),
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

// MaxSamples is how many samples a question may have: more are a mistake, and each takes memory before the first is
// made.
const MaxSamples = 10_000

func checkSamples(n int) error {
	if n > MaxSamples {
		return fmt.Errorf("strategy: %d samples; at most %d are possible", n, MaxSamples)
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
		Messages: messages, Purpose: cmp.Or(s.Purpose, PurposeGenerate), Sample: i,
		Temperature: &temperature, MaxTokens: new(cmp.Or(s.MaxTokens, 1024)),
		Seed: env.SeedOf(i), Stop: s.StopSequences, Effort: s.Effort,
	}
	if s.TopP > 0 {
		req.TopP = &s.TopP
	}
	return req
}

// The purposes of the requests of this package (llm.Request.Purpose).
const (
	PurposeGenerate = "generate" // a request for a sample
	PurposeRepair   = "repair"   // a request of a Repairer
	PurposeJudge    = "judge"    // a request of a Judge
	PurposeMetric   = "metric"   // a request for a sample that is a metric request
)

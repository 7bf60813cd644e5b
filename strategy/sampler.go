package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/vote"
)

// Sampler says how a Pipeline draws. The zero Sampler makes one greedy draw.
type Sampler struct {
	Samples     int       // draws at most; Task.Samples overrides it; 0 means 1
	Temperature float64   // of every draw; 0 is greedy
	FirstGreedy bool      // draw 0 at temperature 0, whatever Temperature says
	MaxTokens   int       // of a reply; 0 means 1,024, and a preset says what it sends
	StopTexts   []string  // a reply ends before the first of them
	Wave        vote.Wave // how draws are sent out; the zero Wave wastes none
	Until       vote.Stop // nil: every draw is made, all at once; also, with a warning, where the voter's Tally fails
	MinVotes    int       // quorum; 0 means 1

	// First is the index of the first draw, where an earlier round of the same
	// question made some: draws are told apart by their index.
	First int
	// Purpose of the requests; "" means PurposeGenerate. Draws that are shown
	// more than the question, as a correction is, have one of their own: stored
	// replies to the question do not answer them.
	Purpose string
}

func (s Sampler) samples(t Task) int {
	return cmp.Or(t.Samples, s.Samples, 1)
}

// validate looks at the sampler as it draws where samples were asked for; 0: none
// were.
func (s Sampler) validate(samples int) error {
	errs := []error{inRange("Sampler", draws("Samples", s.Samples), number("Temperature", s.Temperature),
		number("MaxTokens", s.MaxTokens), number("MinVotes", s.MinVotes), number("First", s.First)), checkSamples(samples)}
	if n := s.samples(Task{Samples: samples}); s.MinVotes > n {
		errs = append(errs, fmt.Errorf("strategy: Sampler.MinVotes is %d, more than the %d draws", s.MinVotes, n))
	}
	return errors.Join(errs...)
}

// MaxSamples is how many draws a question may have: more are a mistake, and each
// takes memory before the first is made.
const MaxSamples = 10_000

func checkSamples(n int) error {
	if n > MaxSamples {
		return fmt.Errorf("strategy: %d draws; at most %d are possible", n, MaxSamples)
	}
	return nil
}

// Request is the request of draw i.
func (s Sampler) Request(env *Env, i int, messages []llm.Message) llm.Request {
	temperature := s.Temperature
	if s.FirstGreedy && i == 0 {
		temperature = 0
	}
	return llm.Request{
		Messages: messages, Purpose: cmp.Or(s.Purpose, PurposeGenerate), Draw: i,
		Temperature: &temperature, MaxTokens: cmp.Or(s.MaxTokens, 1024),
		Seed: env.SeedOf(i), Stop: s.StopTexts,
	}
}

// The purposes of the requests of this package (llm.Request.Purpose).
const (
	PurposeGenerate = "generate" // of a draw
	PurposeRepair   = "repair"   // of a Repairer
	PurposeJudge    = "judge"    // of a Judge
	PurposeCorrect  = "correct"  // of ExecutionFeedback

	// The phases of MAKER.
	PurposeScope      = "maker.scope"      // which tables
	PurposeFilter     = "maker.filter"     // which conditions
	PurposeProjection = "maker.projection" // the statement
)

// draw asks the model of draw i.
func (s Sampler) draw(ctx context.Context, env *Env, p Prompter, in PromptInput) (llm.Response, string, error) {
	messages, err := p.Prompt(ctx, env, in)
	if err != nil {
		return llm.Response{}, "", err
	}
	model, name := env.Model(in.Draw)
	reply, err := model.Complete(ctx, s.Request(env, in.Draw, messages))
	return reply, name, err
}

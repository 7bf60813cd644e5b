package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// ReAct is the tool loop: the model thinks, names one action, sees its result, and continues until a statement runs.
//
// A reply is "Thought: …" and "Action: name[argument]", in plain text, so any model can write it; finish[SQL]
// means query[SQL]. The first statement that runs ends the loop and is the answer. A statement with * goes
// back to the model once, as in the source, and is the answer only if no other one runs. The third repetition
// of an action ends the loop.
//
// In 1,060 recorded walks of the source's agent, as many answers were right without looking at the result, with 45 %
// fewer calls (docs/lab/agent.md).
// Continuing after an error helped.
//
// A sample is a whole walk: WithSamples(n) makes n at temperature 0.7, which vote by result. A question takes at most
// Steps × samples calls. Outcome.Report is a ReActReport; Outcome.Steps has every action.
type ReAct struct {
	Steps     int           // replies of a walk at most; 0 means 7
	Shots     int           // worked examples from Env.Exemplars, only those that run; 0 means 3, negative none
	Tools     []Tool        // nil: Tools("query"); Tools() returns all tools of this package
	MaxTokens int           // the most tokens of a reply; 0 means 512
	ToolTime  time.Duration // time limit of a tool call; 0 means 30 s

	published bool
}

// purposeStep is the purpose of the requests of ReAct (llm.Request.Purpose).
const purposeStep = "agent.step"

// Published returns r in the form of its source: 256 tokens a reply, errors by class, and an action "finish" that
// ends the walk. The second statement that runs also ends it. As in the source, the SQL inside finish is ignored: the
// answer is the last statement that ran.
func (r ReAct) Published() ReAct {
	r.published, r.MaxTokens = true, cmp.Or(r.MaxTokens, 256)
	return r
}

// toolName is what an action may be called.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Validate rejects numbers out of range, and tools with a duplicate name or a name that an action cannot have.
func (r ReAct) Validate(samples int) error {
	errs := []error{
		fields.Check("agent: ReAct.Steps", r.Steps, 100), fields.Check("agent: ReAct.MaxTokens", r.MaxTokens, 0),
		fields.Check("agent: ReAct.ToolTime", r.ToolTime, 0), strategy.Sampler{}.Validate(samples),
	}
	if r.Tools != nil && len(r.Tools) == 0 {
		errs = append(errs, &strategy.ConfigError{Field: "agent: ReAct.Tools",
			Problem: "the list is empty; leave it nil for Tools(\"query\")"})
	}
	seen := map[string]bool{actionFinish: true}
	for i, t := range r.Tools {
		field := fmt.Sprintf("agent: ReAct.Tools[%d]", i)
		if t == nil {
			errs = append(errs, &strategy.ConfigError{Field: field, Problem: "it is nil"})
			continue
		}
		name := nameOf(t)
		if !toolName.MatchString(name) || seen[name] {
			errs = append(errs,
				&strategy.ConfigError{Field: field,
					Problem: fmt.Sprintf("its name is %q; want small letters, a name that no other tool has, and not %q", name,
						actionFinish)})
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// Generate answers one question. It returns the errors of strategy.Pipeline.
func (r ReAct) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := cmp.Or(env.Validate(t), r.Validate(t.Samples)); err != nil {
		return nil, err
	}
	run, err := r.start(ctx, env, t)
	if err != nil {
		return nil, err
	}
	defer run.examiner.Close()
	out, err := run.pipeline().Generate(ctx, &run.walking, t)
	return run.told(ctx, out), err
}

// pipeline is the composition: each model is one that walks, so a reply is the statement at which a walk ended.
func (r *run) pipeline() strategy.Pipeline {
	p := strategy.Pipeline{
		Prompter: strategy.PrompterFunc(r.prompt),
		Sampler: strategy.Sampler{
			MaxTokens: cmp.Or(r.MaxTokens, 512), Purpose: purposeStep, StopSequences: []string{"\nObservation:"},
			Stop: vote.Decided, Plain: r.published,
		},
		Examiner: r.examiner,
	}
	if r.task.Samples > 1 {
		p.Sampler.Temperature = 0.7
	}
	return p
}

// run is one question.
type run struct {
	ReAct
	env      *strategy.Env
	walking  strategy.Env // env with models that walk
	task     strategy.Task
	tools    []Tool
	calls    *regexp.Regexp // a tool's name before a bracket, at the start of a line
	examiner *strategy.Checker
	examples []example
	walks    []walk // by sample; each sample writes its own
}

// start fills in what is left open, and works the examples out.
func (r ReAct) start(ctx context.Context, env *strategy.Env, t strategy.Task) (*run, error) {
	s := &run{ReAct: r, env: env, walking: *env, task: t, tools: r.Tools, walks: make([]walk, max(t.Samples, 1))}
	s.Steps, s.ToolTime = cmp.Or(r.Steps, 7), cmp.Or(r.ToolTime, 30*time.Second)
	if s.tools == nil {
		s.tools = Tools(actionQuery)
	}
	s.calls = s.named()
	s.walking.Models = nil
	for _, m := range env.Models {
		s.walking.Models = append(s.walking.Models,
			llm.Named(llm.NameOf(m), llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				w := &s.walks[req.Sample]
				*w = s.walk(ctx, m, req)
				return w.reply(ctx)
			})))
	}
	s.walking.Host.CallsLeft = func() (int, bool) { // a sample may take as many calls as a walk has steps
		left, bounded := env.CallsLeft()
		return left / s.Steps, bounded
	}
	s.examiner = strategy.NewChecker(ctx, env, t, nil, nil)
	if err := s.work(ctx); err != nil {
		s.examiner.Close()
		return nil, err
	}
	return s, nil
}

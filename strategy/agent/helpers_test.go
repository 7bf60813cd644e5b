package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/trace"
)

const (
	usa    = strategytest.USA
	broken = strategytest.Broken
)

// scripted gives walk i the steps of walks[i], the last one again and again. It may be asked in any order.
func scripted(walks ...[]string) llm.Model {
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		steps := walks[req.Sample%len(walks)]
		taken := 0
		for _, m := range req.Messages {
			switch {
			case m.Role == llm.Assistant:
				taken++
			case strings.HasSuffix(m.Text, "### Question\n"+strategytest.USATask.Question+"\n"):
				taken = 0 // what stands before are examples
			}
		}
		return llm.Response{Text: steps[min(taken, len(steps)-1)], StopReason: llm.StopEnd,
			Usage: llm.Usage{Calls: 1, Known: true}}, nil
	})
}

// act writes a step.
func act(name, argument string) string { return "Thought: t\nAction: " + name + "[" + argument + "]" }

func acts(statements ...string) (steps []string) {
	for _, sql := range statements {
		steps = append(steps, act("query", sql))
	}
	return steps
}

// asked runs ReAct about the customers in the USA, and counts the calls.
func asked(t *testing.T, env *strategy.Env, loop agent.ReAct, model llm.Model, samples int) (
	out *strategy.Outcome, report agent.ReActReport, calls int, err error,
) {
	t.Helper()
	lock := make(chan struct{}, 1)
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		lock <- struct{}{}
		calls++
		<-lock
		return model.Complete(ctx, req)
	})
	task := strategytest.USATask
	task.Samples = samples
	out, err = loop.Generate(trace.NewContext(t.Context(), trace.Tracer{}.New("question")),
		strategytest.Asking(env, counted), task)
	if out != nil {
		var rerr error
		if report, rerr = strategy.ReadReport[agent.ReActReport](out.Report); rerr != nil {
			t.Error(rerr)
		}
	}
	return out, report, calls, err
}

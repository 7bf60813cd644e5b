package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/trace"
)

// One call of each kind, in one trace: a reply with everything, an attempt that
// failed and its repetition, an attempt that was too slow, a cancelled call.
func TestTraceGolden(t *testing.T) {
	for name, keep := range map[string]trace.Sensitivity{
		"trace.json":         0,
		"trace_private.json": trace.PrivatePrompts | trace.PrivateReplies,
	} {
		synctest.Test(t, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{
				{Purpose: "generate", Times: 1, Replies: []llmtest.Reply{
					{Text: "SELECT 1", Model: "m-2026-01", Usage: llm.Usage{Calls: 1, PromptTokens: 40, CompletionTokens: 3,
						Known: true}},
					{Err: &llm.Error{Class: llm.ClassRateLimit, Status: 429, Message: "slow down, sk-0123456789abcdef"}},
					{Text: "too late", Delay: time.Hour},
				}},
				{Purpose: "generate", Repeat: true, Replies: llmtest.Texts("SELECT 2")},
				{Purpose: "judge", Replies: []llmtest.Reply{{Text: "A", Delay: time.Hour}}},
			}}
			root := trace.Tracer{Keep: keep}.New("ask")
			ctx := trace.NewContext(t.Context(), root)
			account := llm.Budget{Prices: map[string]llm.Price{"m": {Prompt: 2.5, Completion: 10}}}.Start()
			m := llm.Chain(llm.Named("m", script), account.Middleware(), llm.Retry{Rand: fixed(0)}.Middleware(),
				llm.Timeout(time.Minute), llm.Trace())

			temperature := 0.8
			for sample := range 3 {
				req := sampled("How many?", sample)
				req.Messages = append([]llm.Message{{Role: llm.System, Text: "One statement."}}, req.Messages...)
				req.Temperature, req.MaxTokens, req.Seed = &temperature, new(512), new(sample+1)
				testutil.Value(m.Complete(ctx, req))(t)
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			judge := ask("Which?")
			judge.Purpose, judge.TopP = "judge", new(0.9)
			if _, err := m.Complete(short, judge); err != context.DeadlineExceeded {
				t.Errorf("error = %v", err)
			}
			root.End()

			b := testutil.Value(root.JSON(0))(t)
			var out bytes.Buffer
			testutil.OK(t, json.Indent(&out, append(b, "\n\n"...), "", "  "))
			golden.Check(t, name, out.Bytes())
		})
	}
}

func TestTraceSlotOfTheSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := trace.Tracer{}.New("ask")
		m := llm.Chain(answering("x"), llm.Trace(), llmtest.Latency{BySample: []time.Duration{3, 2, 1}}.Middleware())
		ctx := trace.NewContext(t.Context(), root)
		done := make(chan error)
		for _, sample := range []int{2, 0, 1} {
			go func() {
				_, err := m.Complete(ctx, sampled("q", sample))
				done <- err
			}()
			synctest.Wait()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		for i, span := range root.Children() {
			if sample, _ := span.Attr("sample"); sample != int64(i) {
				t.Errorf("span %d is of sample %v", i, sample)
			}
		}
	})
}

// With and without a span to write to.
func TestTraceHoldsTheContract(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	defer cancel()
	fault := errors.New("refused, password=hunter2")
	own := &llm.Error{Class: llm.ClassRefused, Message: "no"}
	reply := func(resp llm.Response, err error) llm.Func {
		return func(context.Context, llm.Request) (llm.Response, error) { return resp, err }
	}
	tests := []struct {
		why   string
		ctx   context.Context
		model llm.Func
		want  error // by errors.Is
		class llm.Class
		text  string
	}{
		{"a reply", nil, reply(llm.Response{Text: "x"}, nil), nil, "", ""},
		{"an error of ours stays", nil, reply(llm.Response{}, own), own, llm.ClassRefused, "llm: refused: no"},
		{"any other gets a class and is scrubbed", nil, reply(llm.Response{}, fault), fault, llm.ClassUnknown,
			"llm: unknown: refused, password=***"},
		{"wrapped, it keeps its class", nil, reply(llm.Response{}, fmt.Errorf("mine: %w", own)), own, llm.ClassRefused,
			"llm: refused: mine: llm: refused: no"},
		{"a budget further in stays", nil, reply(llm.Response{}, &llm.BudgetError{Limit: "calls"}), llm.ErrBudget,
			llm.ClassPermanent,
			"llm: budget spent: calls: 0 of 0, 0 needed"},
		{"a reply beside an error does not come out", nil, reply(llm.Response{Text: "x"}, fault), fault, llm.ClassUnknown,
			"llm: unknown: refused, password=***"},
		{"an empty reply", nil, reply(llm.Response{}, nil), nil, llm.ClassUnknown, "llm: unknown: empty reply"},
		{"the model's own end is not the caller's", nil, reply(llm.Response{}, fmt.Errorf("client: %w", context.Canceled)),
			nil, llm.ClassCancelled,
			"llm: cancelled: client: context canceled"},
		{"nor is its own deadline", nil, reply(llm.Response{}, context.DeadlineExceeded), nil, llm.ClassTimeout,
			"llm: timeout: context deadline exceeded"},
		{"held back", nil, reply(llm.Response{StopReason: llm.StopFilter}, nil), nil, llm.ClassRefused,
			"llm: refused: the provider held the reply back"},
		{"all tokens used up", nil, reply(llm.Response{StopReason: llm.StopLength}, nil), nil, llm.ClassOutOfTokens,
			"llm: no room: empty reply: the limit on tokens was used up before it began"},
		{"cancelled, and called an error", ended, func(context.Context, llm.Request) (llm.Response, error) {
			cancel()
			return llm.Response{}, fault
		}, context.Canceled, llm.ClassCancelled, "context canceled"},
		{"cancelled, and called a success", ended, reply(llm.Response{Text: "x"}, nil), context.Canceled, llm.ClassCancelled,
			"context canceled"},
	}
	for _, tt := range tests {
		for _, traced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tt.why, traced), func(t *testing.T) {
				ctx := tt.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				root := trace.Tracer{}.New("ask")
				if traced {
					ctx = trace.NewContext(ctx, root)
				}
				resp, err := llm.Chain(tt.model, llm.Trace()).Complete(ctx, ask("q"))
				if tt.text == "" {
					if err != nil || resp.Text != "x" {
						t.Errorf("got %+v, %v", resp, err)
					}
					return
				}
				if err == nil || err.Error() != tt.text || llm.ClassOf(err) != tt.class {
					t.Fatalf("error = %v of class %v, want %s of class %v", err, llm.ClassOf(err), tt.text, tt.class)
				}
				if tt.want == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("%v passes for the end of the caller's context", err)
				}
				if tt.want != nil && !errors.Is(err, tt.want) || resp.Text != "" {
					t.Errorf("got %+v, %v, want %v", resp, err, tt.want)
				}
				if traced && len(root.Children()) > 0 && root.Children()[0].Failure() != tt.text {
					t.Errorf("the span says %q, want %q", root.Children()[0].Failure(), tt.text)
				}
			})
		}
	}
}

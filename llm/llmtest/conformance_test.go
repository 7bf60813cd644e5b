package llmtest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
)

// scripted is a Script that behaves as asked.
func scripted(b string) *Script {
	reply := Reply{Text: "SELECT 1"}
	switch b {
	case hangs:
		reply.Delay = time.Hour
	case empties:
		reply = Reply{}
	case fails:
		reply = Reply{Err: &llm.Error{Class: llm.ClassPermanent, Status: 401}}
	case "busy":
		reply = Reply{Err: llm.StatusError(429, time.Second, nil)}
	case "down":
		reply = Reply{Err: llm.StatusError(503, 0, nil)}
	}
	return &Script{Rules: []Rule{{Replies: []Reply{reply}, Repeat: true}}}
}

func TestConformanceOfScript(t *testing.T) {
	Conformance(t, func(t *testing.T, b string) llm.Model { return scripted(b) })
}

func TestConformanceOfEveryMiddleware(t *testing.T) {
	Conformance(t, func(t *testing.T, b string) llm.Model {
		return llm.Chain(llm.Named("m", scripted(b)),
			replay.NewRecorder(io.Discard).Record,
			llm.Budget{Calls: 100, Timeout: time.Hour}.Start().Middleware(),
			llm.Retry{Base: time.Millisecond, Max: time.Millisecond, GiveUp: time.Millisecond}.Middleware(),
			llm.Limit{Concurrency: 4, PerMinute: 100}.Middleware(),
			llm.Timeout(time.Minute),
			llm.Trace(),
			Latency{Fixed: time.Microsecond}.Middleware(),
		)
	})
}

func TestConformanceSkipsWhatCannotBe(t *testing.T) {
	Conformance(t, func(t *testing.T, b string) llm.Model {
		if b != answers {
			return nil
		}
		return scripted(b)
	})
}

// Each model breaks one rule. A suite that lets one of them pass shows nothing.
func TestConformanceFindsBrokenModels(t *testing.T) {
	answer := llm.Response{Text: "SELECT 1"}
	hang := func(ctx context.Context) { <-ctx.Done() }
	tests := []struct {
		why   string
		check func(llm.Model) error
		model llm.Func
	}{
		{"no answer", checkAnswer, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, errors.New("no")
		}},
		{"an empty answer", checkAnswer, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, nil
		}},
		{"negative usage", checkAnswer, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: "x", Usage: llm.Usage{PromptTokens: -1}}, nil
		}},
		{"a changed request", checkUnchanged, func(_ context.Context, req llm.Request) (llm.Response, error) {
			req.Messages[0].Text = "x"
			return answer, nil
		}},
		{"a context that is not looked at", checkCancelledBefore, func(context.Context, llm.Request) (llm.Response, error) {
			return answer, nil
		}},
		{"a deadline that is not looked at", checkDeadlineBefore, func(context.Context, llm.Request) (llm.Response, error) {
			return answer, nil
		}},
		{"a cancelled call that succeeds with nothing, as Ollama's", checkCancelledDuring,
			func(ctx context.Context, _ llm.Request) (llm.Response, error) {
				hang(ctx)
				return llm.Response{}, nil
			}},
		{"an error without the context's identity, as langchaingo's", checkCancelledDuring,
			func(ctx context.Context, _ llm.Request) (llm.Response, error) {
				hang(ctx)
				return llm.Response{}, errors.New("request cancelled")
			}},
		{"the cause in place of the context's error", checkCancelledDuring,
			func(ctx context.Context, _ llm.Request) (llm.Response, error) {
				hang(ctx)
				return llm.Response{}, context.Cause(ctx)
			}},
		{"a deadline that reads as cancelled", checkDeadlineDuring, func(ctx context.Context, _ llm.Request) (llm.Response,
			error) {
			hang(ctx)
			return llm.Response{}, context.Canceled
		}},
		{"text beside the error", checkDeadlineDuring, func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			hang(ctx)
			return answer, ctx.Err()
		}},
		{"an empty reply that succeeds", checkEmpty, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, nil
		}},
		{"a failure that succeeds", checkFailure, func(context.Context, llm.Request) (llm.Response, error) {
			return answer, nil
		}},
		{"a failure without a class", checkFailure, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, errors.New("401")
		}},
		{"a failure with text", checkFailure, func(context.Context, llm.Request) (llm.Response, error) {
			return answer, &llm.Error{}
		}},
		{"an outage that succeeds", checkBusy, func(context.Context, llm.Request) (llm.Response, error) {
			return answer, nil
		}},
		{"a 429 without the wait", checkBusy, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Class: llm.ClassRateLimit}
		}},
		{"a 429 that is permanent", checkBusy, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 429, RetryAfter: time.Second}
		}},
		{"a 503 that is permanent, as the guide once had it", checkDown, func(context.Context, llm.Request) (llm.Response,
			error) {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 503}
		}},
		{"a 503 in words", checkDown, func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, errors.New("503 Service Unavailable")
		}},
		{"one of many samples without an answer", checkParallel, func(_ context.Context, req llm.Request) (llm.Response,
			error) {
			if req.Sample == 11 {
				return llm.Response{}, nil
			}
			return answer, nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			err := tt.check(tt.model)
			if err == nil {
				t.Error("the check lets it pass")
			}
		})
	}
}

func TestGoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	stop := make(chan struct{})
	go func() { <-stop }()
	if err := goroutinesEnd(before, 0); err == nil {
		t.Error("a goroutine that goes on is not found")
	}
	close(stop)
	if err := goroutinesEnd(before, patience); err != nil {
		t.Error(err)
	}
}

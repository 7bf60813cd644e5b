package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/trace"
)

// sent is what a model was asked with.
func sent(reqs []llm.Request) (limits []int) {
	for _, r := range reqs {
		limits = append(limits, *r.MaxTokens)
	}
	return limits
}

// TestLearnerMakesRoom: what a reply that ended by length leads to.
func TestLearnerMakesRoom(t *testing.T) {
	const statement = "```sql\nSELECT 1\n```"
	long := func(tokens int) string { return strings.Repeat("SELECT 1 UNION ALL  ", tokens/5) }
	lacks := func(text string) (nothing, half bool) {
		return strings.HasPrefix(text, "Well"), strings.HasPrefix(text, "SELECT")
	}
	spent := llm.Usage{Calls: 1, PromptTokens: 1, CompletionTokens: 1024, ReasoningTokens: 1024, Known: true}
	for _, tt := range []struct {
		why    string
		answer func(limit int) (llm.Response, error)
		limits []int // of three calls, one after the other
		calls  int   // of the first
		event  int   // "more-room" in the trace
		fails  llm.Class
	}{
		{"a model that has room enough is left alone",
			func(int) (llm.Response, error) { return llm.Response{Text: statement, StopReason: llm.StopEnd}, nil },
			[]int{1024, 1024, 1024}, 1, 0, ""},
		{"thought that fills the room: twice, four times, and then the room there is, which later calls have at once",
			func(limit int) (llm.Response, error) {
				if limit < 32_768 {
					return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: spent}
				}
				return llm.Response{Text: statement}, nil
			}, []int{1024, 2048, 4096, 32_768, 32_768, 32_768}, 4, 3, ""},
		{"thought that fits twice the room: other questions may need more",
			func(limit int) (llm.Response, error) {
				if limit < 2048 {
					return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: spent}
				}
				return llm.Response{Text: statement}, nil
			}, []int{1024, 2048, 32_768, 32_768}, 2, 1, ""},
		{"reasoning that is reported, and fits: nothing is lost before the first call without room",
			func(int) (llm.Response, error) { return llm.Response{Text: statement, Usage: spent}, nil },
			[]int{1024, 32_768, 32_768}, 1, 0, ""},
		{"reasoning in the text that did not end is nothing said",
			func(limit int) (llm.Response, error) {
				if limit < 2048 {
					return llm.Response{Text: "<think>SELECT perhaps", StopReason: llm.StopLength}, nil
				}
				return llm.Response{Text: statement}, nil
			}, []int{1024, 2048, 32_768, 32_768}, 2, 1, ""},
		{"a few words that lead nowhere are nothing, where something else used the room",
			func(limit int) (llm.Response, error) {
				if limit < 2048 {
					return llm.Response{Text: "Well, let me see", StopReason: llm.StopLength}, nil
				}
				return llm.Response{Text: statement}, nil
			}, []int{1024, 2048, 32_768, 32_768}, 2, 1, ""},
		{"a statement that stops in the middle gets what is enough for it, which says nothing about other questions",
			func(limit int) (llm.Response, error) {
				return llm.Response{Text: long(min(limit, 1400)), StopReason: map[bool]string{true: llm.StopLength,
					false: llm.StopEnd}[limit < 2048]}, nil
			}, []int{1024, 2048, 1024, 2048, 1024, 2048}, 2, 1, ""},
		{"a statement without an end gets twice and four times the room, and no more",
			func(limit int) (llm.Response, error) {
				return llm.Response{Text: long(limit), StopReason: llm.StopLength}, nil
			}, []int{1024, 2048, 4096, 1024, 2048, 4096, 1024, 2048, 4096}, 3, 2, ""},
		{"prose without an end is what the limit is for",
			func(limit int) (llm.Response, error) {
				return llm.Response{Text: "Well " + long(limit), StopReason: llm.StopLength}, nil
			}, []int{1024, 1024, 1024}, 1, 0, ""},
		{"a whole statement with something behind it is enough",
			func(int) (llm.Response, error) {
				return llm.Response{Text: statement + " It", StopReason: llm.StopLength}, nil
			}, []int{1024, 1024, 1024}, 1, 0, ""},
		{"a limit that the model refuses is halved, and no call goes without one",
			func(limit int) (llm.Response, error) {
				switch {
				case limit > 8192:
					return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 400, Parameter: "max_tokens"}
				case limit < 8192:
					return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: spent}
				}
				return llm.Response{Text: statement, Usage: spent}, nil
			}, []int{1024, 2048, 4096, 32_768, 16_384, 8192, 8192, 8192}, 6, 3, ""},
		{"but not below the limit that was asked for",
			func(limit int) (llm.Response, error) {
				if limit > 1024 {
					return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 400, Parameter: "max_tokens"}
				}
				return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: spent}
			}, []int{1024, 2048, 1024, 1024, 1024}, 3, 1, llm.ClassOutOfTokens},
		{"no room is ever enough",
			func(int) (llm.Response, error) {
				return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: spent}
			},
			[]int{1024, 2048, 4096, 32_768, 32_768, 32_768}, 4, 3, llm.ClassOutOfTokens},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var reqs []llm.Request
			model := llm.Chain(llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				reqs = append(reqs, req)
				return tt.answer(*req.MaxTokens)
			}), (&llm.TokenLimitTuner{Lacks: lacks}).Middleware(), llm.Trace())
			for i := range 3 {
				account, root := llm.Budget{}.Start(), trace.Tracer{}.New("question")
				_, err := llm.Chain(model, account.Middleware()).Complete(trace.NewContext(t.Context(), root),
					llm.Request{MaxTokens: new(1024)})
				if llm.ClassOf(err) != tt.fails {
					t.Fatalf("error %v, want class %q", err, tt.fails)
				}
				if i > 0 {
					continue
				}
				events := 0
				for _, e := range root.Events() {
					if e.Name == "more-room" {
						events++
					}
				}
				if used := account.Usage(); used.Calls != tt.calls || events != tt.event || used != root.Usage() {
					t.Errorf("%d events, usage %+v, of the trace %+v; want %d calls", events, used, root.Usage(), tt.calls)
				}
			}
			golden.Equal(t, tt.limits, sent(reqs), "limits")
		})
	}
}

// TestLearnerBounds: the field bounds the room, and a budget the calls.
func TestLearnerBounds(t *testing.T) {
	empty := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens, Usage: llm.Usage{Calls: 1, PromptTokens: 10,
			CompletionTokens: 1000}}
	})
	for _, tt := range []struct {
		why    string
		learn  *llm.TokenLimitTuner
		budget llm.Budget
		limit  int
		calls  int
	}{
		{"a room below four times the limit", &llm.TokenLimitTuner{Room: 3000}, llm.Budget{}, 1024, 3},
		{"a limit as large as the room", &llm.TokenLimitTuner{}, llm.Budget{}, 40_000, 1},
		{"two calls in the budget", &llm.TokenLimitTuner{}, llm.Budget{Calls: 2}, 1024, 2},
		{"the tokens of one lost call and half another", &llm.TokenLimitTuner{}, llm.Budget{Tokens: 1500}, 1024, 2},
	} {
		account := tt.budget.Start()
		_, err := llm.Chain(empty, account.Middleware(), tt.learn.Middleware()).Complete(t.Context(),
			llm.Request{MaxTokens: &tt.limit})
		if u := account.Usage(); u.Calls != tt.calls || u.CompletionTokens != 1000*tt.calls {
			t.Errorf("%s: %+v, want %d calls and all of their tokens (%v)", tt.why, u, tt.calls, err)
		}
		if bounded := tt.budget.Calls+tt.budget.Tokens > 0; errors.Is(err, llm.ErrBudget) != bounded {
			t.Errorf("%s: error %v", tt.why, err)
		}
	}
}

// TestLearnerDropsParameters: what a model refuses is asked without it, from then on at once.
func TestLearnerDropsParameters(t *testing.T) {
	full := llm.Request{Temperature: new(0.7), TopP: new(0.9), MaxTokens: new(9), Seed: new(1), Stop: []string{";"},
		Effort: "low", Schema: []byte("{}")}
	has := map[string]func(llm.Request) bool{
		"temperature": func(r llm.Request) bool { return r.Temperature != nil }, "top_p": func(r llm.Request) bool {
			return r.TopP != nil
		},
		"max_tokens": func(r llm.Request) bool { return r.MaxTokens != nil }, "seed": func(r llm.Request) bool {
			return r.Seed != nil
		},
		"stop": func(r llm.Request) bool { return r.Stop != nil }, "effort": func(r llm.Request) bool {
			return r.Effort != ""
		},
		"schema": func(r llm.Request) bool { return r.Schema != nil },
	}
	for name, sent := range has {
		calls := 0
		model := llm.Chain(llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			if calls++; sent(req) {
				return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 400, Parameter: name, Message: "unsupported"}
			}
			return llm.Response{Text: "x"}, nil
		}), (&llm.TokenLimitTuner{}).Middleware())
		for range 2 {
			if _, err := model.Complete(t.Context(), full); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if calls != 3 || !sent(full) {
			t.Errorf("%s: %d calls, want one that fails and two that do; the request of the caller is unchanged: %v", name,
				calls, sent(full))
		}
	}
	for _, name := range []string{"temperature", "logit_bias"} { // not sent, and not known
		err := &llm.Error{Class: llm.ClassPermanent, Parameter: name}
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Errors(err), Repeat: true}}}
		if _, got := llm.Chain(script, (&llm.TokenLimitTuner{}).Middleware()).Complete(t.Context(),
			llm.Request{}); got != error(err) || len(script.Requests()) != 1 {
			t.Errorf("%s: %d calls, %v", name, len(script.Requests()), got)
		}
	}
}

// TestLearnerFirstCallGoesAlone: seven calls at once of a model that has not replied yet.
func TestLearnerFirstCallGoesAlone(t *testing.T) {
	status := func(n int, class llm.Class) error { return &llm.Error{Class: class, Status: n} }
	for _, tt := range []struct {
		why     string
		fail    error // of the first call
		all     bool  // and of the others
		account bool
		calls   int
		failed  int
		took    time.Duration // a call takes a second
	}{
		{"a reply: the others go together", nil, false, true, 7, 0, 2 * time.Second},
		{"a wrong key is asked once", status(401, llm.ClassPermanent), true, true, 1, 7, time.Second},
		{"so is a wrong model", status(404, llm.ClassPermanent), true, true, 1, 7, time.Second},
		{"a call by itself, without an account, is on its own", status(401, llm.ClassPermanent), true, false, 7, 7,
			2 * time.Second},
		{"a failure that is not of all calls", status(529, llm.ClassOverloaded), false, true, 7, 1, 2 * time.Second},
		{"a request that is wrong by itself", status(400, llm.ClassPermanent), false, true, 7, 1, 2 * time.Second},
		{"one that the caller gave up: the next goes alone", context.Canceled, false, true, 7, 1, 2 * time.Second},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls, failed atomic.Int32
				learner := &llm.TokenLimitTuner{}
				model := llm.Chain(llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
					n := calls.Add(1)
					if errors.Is(tt.fail, context.Canceled) && n == 1 {
						<-ctx.Done()
						return llm.Response{}, ctx.Err()
					}
					time.Sleep(time.Second)
					if tt.fail != nil && (n == 1 || tt.all) {
						return llm.Response{}, tt.fail
					}
					return llm.Response{Text: "x"}, nil
				}), learner.Middleware())
				account := llm.Budget{}.Start()
				if tt.account {
					model = llm.Chain(model, account.Middleware())
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				var wg sync.WaitGroup
				for i := range 7 {
					if i == 1 {
						synctest.Wait() // the first is on its way
						cancel()
					}
					within := t.Context()
					if i == 0 && errors.Is(tt.fail, context.Canceled) {
						within = ctx
					}
					wg.Go(func() {
						if _, err := model.Complete(within, llm.Request{}); err != nil {
							failed.Add(1)
						}
					})
				}
				wg.Wait()
				if took := time.Since(began); int(calls.Load()) != tt.calls || int(failed.Load()) != tt.failed || took != tt.took {
					t.Errorf("%d calls, %d failed, %v; want %d, %d, %v", calls.Load(), failed.Load(), took, tt.calls, tt.failed,
						tt.took)
				}
				if u := account.Usage(); tt.account && u.Calls != tt.calls {
					t.Errorf("the account counts %d calls of %d", u.Calls, tt.calls)
				}
				if learner.Answered() != !tt.all {
					t.Errorf("answered: %v", learner.Answered())
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // a call that never ends holds the others up for 30 s
		model := llm.Chain(llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Sample == 0 {
				<-ctx.Done()
				return llm.Response{}, ctx.Err()
			}
			return llm.Response{Text: "x"}, nil
		}), (&llm.TokenLimitTuner{}).Middleware())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go model.Complete(ctx, llm.Request{})
		synctest.Wait()
		began := time.Now()
		if _, err := model.Complete(t.Context(), llm.Request{Sample: 1}); err != nil || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		cancel()
	})
}

// TestLearnerWithdrawnKey: a refusal of the key or the account makes the next call go alone, as the first one did.
func TestLearnerWithdrawnKey(t *testing.T) {
	for _, tt := range []struct {
		why      string
		err      error
		answered bool
	}{
		{"the key was withdrawn", &llm.Error{Class: llm.ClassPermanent, Status: 401}, false},
		{"the account has no money", &llm.Error{Class: llm.ClassPermanent, Status: 429, Err: llmerr.ErrAccount}, false},
		{"the provider is busy", &llm.Error{Class: llm.ClassOverloaded, Status: 529}, true},
		{"one request is wrong", &llm.Error{Class: llm.ClassPermanent, Status: 400}, true},
	} {
		var fail error
		learner := &llm.TokenLimitTuner{}
		model := llm.Chain(llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: "x"}, fail
		}), learner.Middleware())
		for _, fail = range []error{nil, tt.err} {
			model.Complete(t.Context(), llm.Request{})
		}
		if learner.Answered() != tt.answered {
			t.Errorf("%s: answered %v", tt.why, learner.Answered())
		}
	}
}

func ExampleTokenLimitTuner() {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if *req.MaxTokens < 5000 { // this model thinks 5,000 tokens before it says anything
			return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens}
		}
		return llm.Response{Text: "SELECT 1"}, nil
	})
	asked := llm.Chain(model, (&llm.TokenLimitTuner{}).Middleware())
	for range 2 {
		resp, err := asked.Complete(context.Background(), llm.Request{MaxTokens: new(1024)})
		fmt.Println(resp.Text, resp.Usage.Calls, err)
	}
	// Output:
	// SELECT 1 4 <nil>
	// SELECT 1 1 <nil>
}

// TestLearnerFutileCalls: a prompt that is refused, or does not fit, is not sent again within its question.
func TestLearnerFutileCalls(t *testing.T) {
	refused, held := &llm.Error{Class: llm.ClassRefused, Status: 400}, &llm.Error{Class: llm.ClassRefused}
	long, key := &llm.Error{Class: llm.ClassContextTooLong, Status: 429},
		&llm.Error{Class: llm.ClassPermanent, Status: 401}
	type call struct {
		length int   // of the prompt, in characters
		err    error // of the model; nil: it replies
		sent   bool
	}
	for _, tt := range []struct {
		why      string
		answered bool // it has replied to an earlier question
		calls    []call
	}{
		{"a filter that refuses the prompt", false, []call{{400, refused, true}, {400, refused, false}, {100, nil, false}}},
		{"of a model that has answered other questions", true, []call{{400, refused, true}, {400, refused, false}}},
		{"but not of one that has answered this question: another prompt may pass", true,
			[]call{{400, nil, true}, {400, refused, true}, {400, nil, true}}},
		{"a filter that holds back a reply: another sample may pass", false, []call{{400, held, true}, {400, nil, true}}},
		{"a prompt that does not fit", false, []call{{400, long, true}, {400, long, false}, {1000, long, false},
			{200, nil, false}}},
		{"a prompt of less than half of its length may fit", false, []call{{400, long, true}, {196, nil, true},
			{196, nil, true}}},
		{"a longer prompt of a question that was answered may not, which costs a call", true,
			[]call{{200, nil, true}, {400, long, true}, {200, nil, true}}},
		{"a wrong key", false, []call{{400, key, true}, {400, key, false}}},
		{"the key of a model that has answered may be right", true, []call{{400, key, true}, {400, nil, true}}},
	} {
		sent, learner, now := false, &llm.TokenLimitTuner{}, call{}
		model := llm.Chain(llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			sent = true
			return llm.Response{Text: "x"}, now.err
		}), learner.Middleware(), llm.Retry{}.Middleware(), llm.Trace())
		ask := func(account *llm.BudgetTracker) error {
			sent = false
			req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat("x", now.length)}}}
			_, err := llm.Chain(model, account.Middleware()).Complete(t.Context(), req)
			return err
		}
		if tt.answered {
			if err := ask(llm.Budget{}.Start()); err != nil {
				t.Fatal(err)
			}
		}
		account, calls := llm.Budget{}.Start(), 0
		for i, c := range tt.calls {
			now = c
			err := ask(account)
			if sent != c.sent || (err == nil) != (c.sent && c.err == nil) {
				t.Errorf("%s: call %d was sent: %v, want %v: %v", tt.why, i, sent, c.sent, err)
			}
			if sent {
				calls++
			}
		}
		if u := account.Usage(); u.Calls != calls {
			t.Errorf("%s: the account counts %d calls of %d", tt.why, u.Calls, calls)
		}
		now = call{}
		if err := ask(llm.Budget{}.Start()); err != nil || !sent {
			t.Errorf("%s: the next question is not sent: %v", tt.why, err)
		}
	}
}

package llm_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/trace"
)

// costing is a reply with the given tokens.
func costing(prompt, completion int) llmtest.Reply {
	return llmtest.Reply{Text: "x", Usage: llm.Usage{Calls: 1, PromptTokens: prompt, CompletionTokens: completion,
		Known: true}}
}

func every(r llmtest.Reply) *llmtest.Script {
	return &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{r}, Repeat: true}}}
}

func TestBudgetLimits(t *testing.T) {
	const question = "how many? OK"                                     // 12 characters: 3 tokens
	prices := map[string]llm.Price{"m": {Prompt: 1e6, Completion: 2e6}} // 1 a prompt token, 2 a reply token
	tests := []struct {
		why    string
		budget llm.Budget
		reply  llmtest.Reply
		made   int // calls, one after the other, until an error; 10 at most
		want   llm.BudgetError
	}{
		{"no limit", llm.Budget{}, costing(3, 7), 10, llm.BudgetError{}},
		{"negative is none", llm.Budget{Calls: -1, Tokens: -1, Money: -1, Timeout: -1}, costing(3, 7), 10, llm.BudgetError{}},
		{"calls", llm.Budget{Calls: 4}, costing(3, 7), 4, llm.BudgetError{Limit: "calls", Max: 4, Spent: 4, Need: 1}},
		{"tokens spent to the last", llm.Budget{Tokens: 20}, costing(3, 7), 2, llm.BudgetError{Limit: "tokens", Max: 20,
			Spent: 20, Need: 3}},
		{"no room for the prompt", llm.Budget{Tokens: 22}, costing(3, 7), 2, llm.BudgetError{Limit: "tokens", Max: 22,
			Spent: 20, Need: 3}},
		{"room for the prompt: the reply may exceed", llm.Budget{Tokens: 23}, costing(3, 7), 3,
			llm.BudgetError{Limit: "tokens", Max: 23, Spent: 30, Need: 3}},
		{"tokens that nobody reported are estimated", llm.Budget{Tokens: 12}, llmtest.Reply{Text: "12345"}, 2,
			llm.BudgetError{Limit: "tokens", Max: 12, Spent: 10, Need: 3}},
		{"money", llm.Budget{Money: 35, Prices: prices}, costing(3, 7), 2, llm.BudgetError{Limit: "money", Max: 35, Spent: 34,
			Need: 3}},
		{"money for the prompt to the last", llm.Budget{Money: 37, Prices: prices}, costing(3, 7), 3,
			llm.BudgetError{Limit: "money", Max: 37, Spent: 51, Need: 3}},
		{"money counts what is free as nothing", llm.Budget{Money: 35, Prices: map[string]llm.Price{"m": {}}}, costing(3, 7),
			10, llm.BudgetError{}},
		{"the first limit that is met", llm.Budget{Calls: 3, Tokens: 1000}, costing(3, 7), 3,
			llm.BudgetError{Limit: "calls", Max: 3, Spent: 3, Need: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			script := every(tt.reply)
			account := tt.budget.Start()
			m := llm.Chain(llm.Named("m", script), account.Middleware())
			var err error
			for i := range 10 {
				if _, err = m.Complete(t.Context(), sampled(question, i)); err != nil {
					break
				}
			}
			if n := len(script.Requests()); n != tt.made {
				t.Errorf("%d calls were made, want %d", n, tt.made)
			}
			if (err != nil) != (tt.want.Limit != "") {
				t.Fatalf("error = %v", err)
			}
			if err == nil {
				return
			}
			var got *llm.BudgetError
			if !errors.Is(err, llm.ErrBudget) || !errors.As(err, &got) {
				t.Fatalf("error = %v, want a BudgetError", err)
			}
			golden.Equal(t, tt.want, *got)
		})
	}
}

func TestBudgetErrorText(t *testing.T) {
	tests := []struct {
		err  llm.BudgetError
		want string
	}{
		{llm.BudgetError{Limit: "calls", Max: 12, Spent: 12, Need: 1}, "llm: budget spent: calls: 12 of 12, 1 needed"},
		{llm.BudgetError{Limit: "money", Max: .05, Spent: .049, Need: .002},
			"llm: budget spent: money: 0.049 of 0.05, 0.002 needed"},
		{llm.BudgetError{Limit: "time", Max: 90, Spent: 90}, "llm: budget spent: time: 90 of 90 s"},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("Error() = %q, want %q", got, tt.want)
		}
	}
}

func TestBudgetCallsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		account := llm.Budget{Calls: 5}.Start()
		m := llm.Chain(answering("x"), account.Middleware(), g.middleware(), llmtest.Latency{Fixed: time.Second}.Middleware())
		var wg sync.WaitGroup
		var mu sync.Mutex
		refused := 0
		for i := range 40 {
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), sampled("q", i)); errors.Is(err, llm.ErrBudget) {
					mu.Lock()
					refused++
					mu.Unlock()
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if u := account.Usage(); u.Calls != 5 || !u.Partial {
			t.Errorf("usage in flight = %+v, want 5 calls of unknown cost", u)
		}
		wg.Wait()
		if len(g.starts) != 5 || refused != 35 {
			t.Errorf("%d calls made and %d refused, want 5 and 35", len(g.starts), refused)
		}
		if u := account.Usage(); u.Calls != 5 || u.Partial {
			t.Errorf("usage = %+v, want 5 whole calls", u)
		}
		if n, limited := account.CallsLeft(); n != 0 || !limited {
			t.Errorf("CallsLeft = %d, %v", n, limited)
		}
	})
}

// Prompts in flight hold their room: without that, all forty would start.
func TestBudgetTokensInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := every(costing(100, 0))
		account := llm.Budget{Tokens: 450}.Start()
		m := llm.Chain(script, account.Middleware(), llmtest.Latency{Fixed: time.Second}.Middleware())
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() { m.Complete(t.Context(), sampled(strings.Repeat("x", 400), i)) })
		}
		wg.Wait()
		if u := account.Usage(); u.Calls != 4 || u.PromptTokens != 400 {
			t.Errorf("usage = %+v, want 4 calls", u)
		}
	})
}

func TestBudgetCountsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := failed(llm.ClassRateLimit, 0)
		script := attempts(limited, limited, limited, llmtest.Reply{Text: "x"})
		account := llm.Budget{Calls: 3}.Start()
		m := llm.Chain(script, account.Middleware(), llm.Retry{}.Middleware())
		_, err := m.Complete(t.Context(), ask("q"))
		var last *llm.Error
		if !errors.Is(err, llm.ErrBudget) || !errors.As(err, &last) || last.Class != llm.ClassRateLimit {
			t.Errorf("error = %v, want a spent budget that tells the last failure", err)
		}
		if n := len(script.Requests()); n != 3 {
			t.Errorf("%d attempts, want 3", n)
		}
		if want := (llm.Usage{Calls: 3, Known: true}); account.Usage() != want {
			t.Errorf("usage = %+v, want %+v", account.Usage(), want)
		}
	})
}

// TestBudgetCountsRequestsOfAnAttempt: an attempt that cost two requests is counted as two, whatever comes behind it.
func TestBudgetCountsRequestsOfAnAttempt(t *testing.T) {
	failing := func(calls, tokens int, class llm.Class) llmtest.Reply {
		return llmtest.Reply{Err: &llm.Error{Class: class, Usage: llm.Usage{Calls: calls, PromptTokens: tokens, Known: true}}}
	}
	twice := failing(2, 20, llm.ClassOverloaded)
	for _, tt := range []struct {
		why      string
		replies  []llmtest.Reply
		budget   llm.Budget
		attempts int
		want     llm.Usage
	}{
		{"and the last attempt fails", []llmtest.Reply{twice, failing(1, 10, llm.ClassPermanent)}, llm.Budget{}, 2,
			llm.Usage{Calls: 3, PromptTokens: 30, Known: true}},
		{"and so does it, with two requests", []llmtest.Reply{twice, failing(2, 20, llm.ClassPermanent)}, llm.Budget{}, 2,
			llm.Usage{Calls: 4, PromptTokens: 40, Known: true}},
		{"and the last attempt replies", []llmtest.Reply{twice, costing(10, 0)}, llm.Budget{}, 2,
			llm.Usage{Calls: 3, PromptTokens: 30, Known: true}},
		{"and the budget has no call for another", []llmtest.Reply{twice, twice, costing(10, 0)}, llm.Budget{Calls: 4}, 2,
			llm.Usage{Calls: 4, PromptTokens: 40, Known: true}},
		{"and the last attempt is cut off", []llmtest.Reply{twice, {Text: "x", Delay: time.Hour}}, llm.Budget{}, 2,
			llm.Usage{Calls: 3, PromptTokens: 20, Partial: true}},
		{"one request an attempt", []llmtest.Reply{failing(1, 10, llm.ClassOverloaded), failing(1, 10, llm.ClassPermanent)},
			llm.Budget{}, 2, llm.Usage{Calls: 2, PromptTokens: 20, Known: true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			script, account := attempts(tt.replies...), tt.budget.Start()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m := llm.Chain(script, account.Middleware(), llm.Retry{}.Middleware())
			_, err := m.Complete(ctx, ask("q"))
			if n := len(script.Requests()); n != tt.attempts {
				t.Errorf("%s: %d attempts, %v", tt.why, n, err)
			}
			golden.Equal(t, tt.want, account.Usage(), tt.why)
		})
	}
}

// TestBudgetMoneyOfARepeat: a failed attempt is paid for once, and its money does not come back.
func TestBudgetMoneyOfARepeat(t *testing.T) {
	paid := func(class llm.Class) llmtest.Reply {
		return llmtest.Reply{Err: &llm.Error{Class: class, Usage: llm.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 5,
			Known: true}}}
	}
	retry, tuner := llm.Retry{}.Middleware(), (&llm.TokenLimitTuner{}).Middleware()
	for _, tt := range []struct {
		why    string
		first  llmtest.Reply
		repeat llm.Middleware
		calls  int // that reply, of 10 each
	}{
		{"an attempt that cost 15", paid(llm.ClassUnknown), retry, 1},
		{"an attempt that cost nothing", failed(llm.ClassRateLimit, 0), retry, 3},
		{"15 for a reply without room", paid(llm.ClassOutOfTokens), tuner, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			account := llm.Budget{Money: 25, Prices: map[string]llm.Price{"": {Prompt: 1e6, Completion: 1e6}}}.Start()
			m := llm.Chain(attempts(append([]llmtest.Reply{tt.first}, many(costing(3, 7), 9)...)...), account.Middleware(),
				tt.repeat)
			calls, err := -1, error(nil)
			for ; err == nil; calls++ {
				_, err = m.Complete(t.Context(), llm.Request{Messages: ask("q").Messages, MaxTokens: new(100)})
			}
			if calls != tt.calls || !errors.Is(err, llm.ErrBudget) {
				t.Errorf("%s: %d calls, want %d: %v", tt.why, calls, tt.calls, err)
			}
		})
	}
}

// TestBudgetTimeOfEmbeddings: Timeout ends a call of an embedding model, and is its error.
func TestBudgetTimeOfEmbeddings(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		why     string
		budget  time.Duration
		caller  time.Duration
		call    func(context.Context) error
		want    error
		took    time.Duration
		partial bool
	}{
		{"the budget's time", 2 * time.Second, time.Minute, hangs, llm.ErrBudget, 2 * time.Second, true},
		{"the caller's", time.Minute, 2 * time.Second, hangs, context.DeadlineExceeded, 2 * time.Second, true},
		{"no limit", 0, 2 * time.Second, hangs, context.DeadlineExceeded, 2 * time.Second, true},
		{"an error of its own", 2 * time.Second, time.Minute, func(context.Context) error { return broken }, broken, 0, true},
		{"vectors", 2 * time.Second, time.Minute, func(context.Context) error { return nil }, nil, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			account, start := llm.Budget{Timeout: tt.budget}.Start(), time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), tt.caller)
			defer cancel()
			err := account.Embed(ctx, []string{"x"}, tt.call)
			if took := time.Since(start); !errors.Is(err, tt.want) || took != tt.took {
				t.Errorf("%s: %v after %v", tt.why, err, took)
			}
			if u := account.Usage(); u.Calls != 1 || u.Partial != tt.partial {
				t.Errorf("%s: usage %+v", tt.why, u)
			}
		})
	}
}

// hangs is a call that ends with its context.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// What a model further in did not call, or called by itself, is known when it
// ends.
func TestBudgetCountsWhatWasMade(t *testing.T) {
	account := llm.Budget{Calls: 10}.Start()
	var kept *llm.Response
	cached := llm.Chain(every(costing(3, 7)), account.Middleware(), func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if kept != nil {
				return llm.Response{Text: kept.Text, Usage: llm.Usage{Known: true}}, nil
			}
			resp, err := next.Complete(ctx, req)
			kept = &resp
			return resp, err
		})
	})
	thrice := llm.Chain(every(llmtest.Reply{Text: "x", Usage: llm.Usage{Calls: 3, PromptTokens: 9, CompletionTokens: 1,
		Known: true}}), account.Middleware())
	for i, m := range []llm.Model{cached, cached, thrice} {
		testutil.Value(m.Complete(t.Context(), ask("q")))(t)
		if got, want := account.Usage().Calls, []int{1, 1, 4}[i]; got != want {
			t.Errorf("%d calls, want %d", got, want)
		}
	}
	if n, _ := account.CallsLeft(); n != 6 {
		t.Errorf("%d calls left, want 6", n)
	}
}

// The prompt of a call has its room from the start; a second attempt needs none
// beside it.
func TestBudgetRetryNeedsNoSecondRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := attempts(failed(llm.ClassRateLimit, 0), llmtest.Reply{Text: "x"})
		account := llm.Budget{Tokens: 100}.Start()
		m := llm.Chain(script, account.Middleware(), llm.Retry{}.Middleware())
		if _, err := m.Complete(t.Context(), ask(strings.Repeat("x", 400))); err != nil {
			t.Error(err)
		}
	})
}

func TestBudgetTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := llm.Budget{Timeout: 10 * time.Second}.Start()
		m := llm.Chain(answering("x"), account.Middleware(), llm.Retry{}.Middleware(), llm.Timeout(time.Minute),
			llmtest.Latency{Fixed: 4 * time.Second}.Middleware())
		start := time.Now()
		var err error
		for err == nil {
			_, err = m.Complete(t.Context(), ask("q"))
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("ended after %v, want 10s: the call in flight is ended", d)
		}
		var b *llm.BudgetError
		if !errors.As(err, &b) || b.Limit != "time" || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the budget's and not the caller's deadline", err)
		}
		if _, err = m.Complete(t.Context(), ask("q")); !errors.As(err, &b) {
			t.Errorf("error = %v after the time", err)
		}
		if u := account.Usage(); u.Calls != 3 || !u.Partial {
			t.Errorf("usage = %+v, want 3 calls, one of unknown cost", u)
		}
	})
}

func TestBudgetCallerGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := llm.Budget{Timeout: 10 * time.Second}.Start()
		m := llm.Chain(answering("x"), account.Middleware(), llmtest.Latency{Fixed: time.Hour}.Middleware())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Complete(ctx, ask("q")); err != context.DeadlineExceeded {
			t.Errorf("error = %v, want the caller's deadline", err)
		}
		if _, err := m.Complete(ctx, ask("q")); err != context.DeadlineExceeded {
			t.Errorf("error = %v, want the caller's deadline before any call", err)
		}
		if u := account.Usage(); u.Calls != 1 {
			t.Errorf("usage = %+v, want one call", u)
		}
	})
}

// What waited in a queue and was given up was not sent: a wave that is cancelled
// must not take the calls of the judge.
func TestBudgetQueuedCallIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := llm.Budget{Calls: 12}.Start()
		m := llm.Chain(answering("x"), account.Middleware(), llm.Retry{}.Middleware(), llm.Limit{Concurrency: 3}.Middleware(),
			llmtest.Latency{Fixed: time.Minute}.Middleware())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		ofSamples(ctx, m, 12)
		if u := account.Usage(); u.Calls != 3 || !u.Partial {
			t.Errorf("usage = %+v, want the 3 calls that were sent", u)
		}
		if n, _ := account.CallsLeft(); n != 9 {
			t.Errorf("%d calls left, want 9", n)
		}
	})
}

// TestBudgetRepeatIsGivenBack: a repeat that the caller did not wait for was not
// made.
func TestBudgetRepeatIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := llm.Budget{Calls: 4}.Start()
		m := llm.Chain(every(failed(llm.ClassOverloaded, time.Minute)), account.Middleware(), llm.Retry{}.Middleware())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := m.Complete(ctx, ask("q")); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		if n, _ := account.CallsLeft(); n != 3 || account.Usage().Calls != 1 {
			t.Errorf("%d calls left, usage %+v", n, account.Usage())
		}
	})
}

func TestBudgetPrices(t *testing.T) {
	prices := map[string]llm.Price{
		"mine":     {Prompt: 1e6},
		"provider": {Prompt: 2e6},
		"":         {Prompt: 3e6},
	}
	without := map[string]llm.Price{"provider": {Prompt: 2e6}}
	tests := []struct {
		why            string
		name, reported string
		budget         llm.Budget
		money          float64
		class          llm.Class // of the error
	}{
		{"by the name that we gave", "mine", "provider", llm.Budget{Prices: prices}, 10, ""},
		{"by the name in the reply", "other", "provider", llm.Budget{Prices: prices}, 20, ""},
		{"without a name of ours", "", "provider", llm.Budget{Prices: prices}, 20, ""},
		{"by the entry for all others", "other", "unheard", llm.Budget{Prices: prices}, 30, ""},
		{"a price that is none, no money", "mine", "provider",
			llm.Budget{Prices: map[string]llm.Price{"mine": {Prompt: math.NaN()}, "": {Prompt: 1}}}, 0, ""},
		{"a negative price would give money back", "mine", "provider",
			llm.Budget{Money: 1, Prices: map[string]llm.Price{"mine": {Completion: -1}, "": {Prompt: 1}}}, 0,
			llm.ClassPermanent},
		{"without a price, no money", "other", "unheard", llm.Budget{Prices: without}, 0, ""},
		{"without a table, no money", "mine", "provider", llm.Budget{}, 0, ""},
		{"a limit needs a price before the first call", "other", "provider", llm.Budget{Money: 1, Prices: without}, 0,
			llm.ClassPermanent},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			reply := costing(10, 0)
			reply.Model = tt.reported
			account := tt.budget.Start()
			m := llm.Chain(llm.Named(tt.name, every(reply)), account.Middleware())
			resp, err := m.Complete(t.Context(), ask("q"))
			if llm.ClassOf(err) != tt.class {
				t.Fatalf("error = %v", err)
			}
			if resp.Usage.Money != tt.money || account.Usage().Money != tt.money {
				t.Errorf("money = %g in the reply, %g in the account, want %g", resp.Usage.Money, account.Usage().Money, tt.money)
			}
		})
	}
}

// There is one sum, and two ways to it, also around a model that brings
// middlewares of its own.
func TestAccountAgreesWithTrace(t *testing.T) {
	var names [][2]string
	outcomes := map[string][]llmtest.Reply{
		"success":        {costing(10, 2)},
		"without usage":  {{Text: "SELECT 1"}},
		"after failures": {failed(llm.ClassRateLimit, 0), failed(llm.ClassTimeout, 0), costing(10, 2)},
		"failures only": {failed(llm.ClassOverloaded, 0), failed(llm.ClassOverloaded, 0), failed(llm.ClassOverloaded, 0),
			failed(llm.ClassOverloaded, 0)},
		"permanent failure": {failed(llm.ClassPermanent, 0)},
		"unknown, twice":    {{Err: io.EOF}, {Err: io.EOF}},
		"attempt too slow":  {{Text: "late", Delay: time.Hour}, costing(10, 2)},
		"hangs":             many(llmtest.Reply{Text: "late", Delay: time.Hour}, 4, llmtest.Reply{}),
	}
	brings := map[string][]llm.Middleware{
		"nothing":         nil,
		"retry":           {llm.Retry{Attempts: 3}.Middleware()},
		"trace":           {llm.Trace()},
		"retry and trace": {llm.Retry{Attempts: 2}.Middleware(), llm.Trace()},
	}
	for name := range outcomes {
		for own := range brings {
			names = append(names, [2]string{name, own})
		}
	}
	for _, n := range names {
		replies, own := outcomes[n[0]], brings[n[1]]
		t.Run(n[0]+", the model brings "+n[1], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := attempts(replies...)
				account := llm.Budget{Prices: map[string]llm.Price{"": {Prompt: 2.5, Completion: 10}}}.Start()
				m := llm.Chain(llm.Chain(script, own...), account.Middleware(), llm.Retry{}.Middleware(),
					llm.Limit{Concurrency: 2, PerMinute: 10}.Middleware(), llm.Timeout(time.Minute), llm.Trace())
				root := trace.Tracer{}.New("ask")
				ctx, cancel := context.WithTimeout(trace.NewContext(t.Context(), root), 3*time.Minute)
				defer cancel()
				resp, err := m.Complete(ctx, ask("q"))
				if diff := cmp.Diff(root.Usage(), account.Usage()); diff != "" {
					t.Errorf("(-trace +account):\n%s", diff)
				}
				if err == nil && resp.Usage != account.Usage() {
					t.Errorf("reply has %+v, account %+v", resp.Usage, account.Usage())
				}
				if made := len(script.Requests()); account.Usage().Calls != made {
					t.Errorf("%d calls in the account, %d were made", account.Usage().Calls, made)
				}
			})
		})
	}
}

// Resilience puts policies of failsafe-go around a model: a cache of replies, and a second request for a slow one.
//
//	go run ./examples/resilience                       # a scripted model, whose first call hangs
//	go run ./examples/resilience -model openai:NAME    # one of yours
//
// Any policy of failsafe-go fits in the same way: a circuit breaker, a fallback to another model. What the library has
// itself are llm.Retry, llm.Limit and llm.Timeout, which know budgets and traces.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/cachepolicy"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"

	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/llm"
)

func main() {
	log.SetFlags(0)
	spec := flag.String("model", "", "a model as provider:name; none: a scripted one")
	flag.Parse()
	model := hanging()
	if *spec != "" {
		var err error
		if model, err = shop.Model(*spec, os.Getenv); err != nil {
			log.Fatal(err)
		}
	}
	if err := run(context.Background(), os.Stdout, model); err != nil {
		log.Fatal(err)
	}
}

// run asks the same twice. The cache stands outside of the hedge, and both outside of what llm has: every request of a
// hedge waits its turn in llm.Limit.
func run(ctx context.Context, out io.Writer, model llm.Model) error {
	model = llm.Chain(model, cached(new(kept)), hedged(2*time.Second), llm.Retry{}.Middleware(), llm.Timeout(time.Minute))
	req := llm.Request{Messages: []llm.Message{{Role: llm.User,
		Text: "Answer with one SELECT that counts the tables of a SQLite database."}}}
	for range 2 {
		begin := time.Now()
		resp, err := model.Complete(ctx, req)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%.0f s, %d calls: %s\n", time.Since(begin).Seconds(), resp.Usage.Calls, resp.Text)
	}
	return nil
}

// hedged sends a request again when its reply takes longer than after, and takes the first reply of the two. The second
// one is the same, sample and seed included. What was given up may have been charged, so it is counted by an estimate.
func hedged(after time.Duration) llm.Middleware {
	policy := hedgepolicy.NewWithDelay[llm.Response](after)
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			var sent atomic.Int32
			resp, err := failsafe.With[llm.Response](policy).WithContext(ctx).
				GetWithExecution(func(e failsafe.Execution[llm.Response]) (llm.Response, error) {
					sent.Add(1)
					return next.Complete(e.Context(), req)
				})
			if ctx.Err() != nil {
				return llm.Response{}, ctx.Err()
			}
			for range sent.Load() - 1 {
				lost := llm.Estimate(req, "")
				lost.Partial = true
				resp.Usage = resp.Usage.Add(lost)
			}
			return resp, err
		})
	}
}

// cached answers equal requests for the same sample with the first reply, which costs nothing then. A sample is part of
// the key: samples that were one reply would be no vote.
func cached(replies cachepolicy.Cache[llm.Response]) llm.Middleware {
	policy := cachepolicy.New(replies)
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			hit := true
			ctx = cachepolicy.ContextWithCacheKey(ctx, llm.NameOf(next)+" "+req.Hash()+" "+strconv.Itoa(req.Sample))
			resp, err := failsafe.With[llm.Response](policy).WithContext(ctx).Get(func() (llm.Response, error) {
				hit = false
				return next.Complete(ctx, req)
			})
			if hit {
				resp.Usage = llm.Usage{Known: true}
			}
			return resp, err
		})
	}
}

// kept is a cachepolicy.Cache without a bound. A service takes one that has a bound, as otter or ristretto.
type kept struct{ replies sync.Map }

// Get returns what was stored.
func (k *kept) Get(key string) (llm.Response, bool) {
	resp, ok := k.replies.Load(key)
	if !ok {
		return llm.Response{}, false
	}
	return resp.(llm.Response), true
}

// Set stores a reply.
func (k *kept) Set(key string, resp llm.Response) { k.replies.Store(key, resp) }

// hanging answers, but for the first call, which hangs.
func hanging() llm.Model {
	var calls atomic.Int32
	return llm.Named("scripted", llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		if calls.Add(1) == 1 {
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		}
		return llm.Response{Text: "SELECT count(*) FROM sqlite_schema WHERE type = 'table'",
			Usage: llm.Usage{Calls: 1, Known: true}}, nil
	}))
}

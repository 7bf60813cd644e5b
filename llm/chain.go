package llm

import (
	"context"
	"slices"
)

// Middleware wraps a Model in another one. What it returns has the name of what
// it is given ([NameOf]); [Wrap] sees to that.
type Middleware func(Model) Model

// Chain wraps m in middlewares, the first of them outermost. A nil one is
// skipped, and a nil Model stays nil, as in [Named].
func Chain(m Model, outermostFirst ...Middleware) Model {
	if m == nil {
		return nil
	}
	for _, mw := range slices.Backward(outermostFirst) {
		if mw != nil {
			m = mw(m)
		}
	}
	return m
}

// Wrap returns a Model that completes by f and has the name of next. It is how
// a middleware is written.
func Wrap(next Model, f Func) Model { return wrapped{f, next} }

type wrapped struct {
	Func
	next Model
}

func (w wrapped) Name() string { return NameOf(w.next) }

// Named gives m a name: its identity where several models answer, in cache and
// replay keys, in price tables and in traces. Names are compared as they are. A
// nil Model stays nil, so that whoever asks for one finds out.
func Named(name string, m Model) Model {
	if m == nil {
		return nil
	}
	return named{m, name}
}

type named struct {
	Model
	name string
}

func (n named) Name() string { return n.name }

// NameOf returns the name that [Named] gave m, or what m.Name() says if m has
// such a method; "" if it has none.
func NameOf(m Model) string {
	if n, ok := m.(interface{ Name() string }); ok {
		return n.Name()
	}
	return ""
}

// Exchange is one finished call, as [Record] hands it on.
type Exchange struct {
	Model    string   // NameOf the model
	Request  Request  // what was asked
	Response Response // the zero Response with an Err that came alone
	Err      error    // how it failed; nil for a reply
}

// Record tells f of every call that ends. It is the outermost middleware and so
// sees what the caller sees: hits of a cache, and one call however many attempts
// it took. Around the adapter alone it sees the attempts.
//
// A call that ctx ended is not told: how it would have ended is unknown. If f
// fails, the call fails with its error beside the response: a recording with
// holes would be found out too late. f runs in the goroutine of the call, also
// of several calls at once.
func Record(f func(Exchange) error) Middleware {
	return func(next Model) Model {
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			resp, err := next.Complete(ctx, req)
			if err != nil && ctx.Err() != nil {
				return resp, err
			}
			if failed := f(Exchange{Model: NameOf(next), Request: req, Response: resp, Err: err}); failed != nil {
				return resp, &Error{Class: ClassPermanent, Message: "recording the call: " + failed.Error(), Err: failed}
			}
			return resp, err
		})
	}
}

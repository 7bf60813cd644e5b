package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/trace"
)

// Learner asks a model as it wants to be asked, and remembers that: which parameters it refuses, and how much room it
// needs to think.
//
//   - Until the model has replied once, its first call goes alone, and calls that come meanwhile wait, up to 30 s. If a
//     wrong key, model or address ends it (status 401 to 404, 407), or its account has no money ([ErrAccount]), the other calls
//     on its [Account] end with the same error and are not made.
//   - A call that fails because of a parameter ([Error.Parameter]) is made again without it, as all later calls are.
//   - MaxTokens is a limit on what is said. A reply that ends by length is asked for again where reasoning used the room
//     (ClassNoRoom, or a text that holds nothing of what was asked for) and where the text stops in the middle of it:
//     with twice MaxTokens, four times, and then Room. Later calls have the room that was enough, and Room if the model
//     reasons. A text that itself fills its limit never gets Room, since nothing might end it.
//
// Every repetition asks the account, which is charged for the calls before it, and is an event of the trace: "more-room" or
// "parameter-refused". A Learner is for one model. It stands outside [Retry], inside the account. The zero Learner is the
// default. Safe for concurrent use.
type Learner struct {
	Room int // the most tokens of a reply, reasoning included, where MaxTokens is too little; 0 means 32,768

	// Lacks says of a text that ended by length whether it holds nothing of what was asked for, or stops in the middle of
	// it. nil: a text holds nothing if it is blank or reasoning only.
	Lacks func(text string) (nothing, half bool)

	mu       sync.Mutex
	answered bool
	first    *firstCall // on its way; nil: none
	refused  []string   // parameters
	thinks   bool       // before it speaks
	room     int        // the least MaxTokens to send; 0: as asked
}

// patience is how long calls wait for the one that goes alone.
const patience = 30 * time.Second

// firstCall is the call that goes alone.
type firstCall struct {
	over   chan struct{} // closed at its end
	failed bool          // for a reason that other calls may not have
}

// Answered reports whether the model has replied.
func (l *Learner) Answered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered
}

// Learned returns the least MaxTokens that the model is sent; 0: as asked.
func (l *Learner) Learned() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.room
}

// Middleware returns a middleware for the one model.
func (l *Learner) Middleware() Middleware {
	return func(next Model) Model { return learning{inner{next}, l} }
}

type learning struct {
	inner
	learner *Learner
}

// enter returns when a call may go. It returns the call if it goes alone, and the error of a hopeless one before it.
func (l *Learner) enter(ctx context.Context) (*firstCall, error) {
	for {
		l.mu.Lock()
		before := l.first
		switch {
		case l.answered:
			l.mu.Unlock()
			return nil, nil
		case ticketOf(ctx).hopeless(l) != nil:
			l.mu.Unlock()
			return nil, ticketOf(ctx).hopeless(l)
		case before == nil:
			l.first = &firstCall{over: make(chan struct{})}
			defer l.mu.Unlock()
			return l.first, nil
		}
		l.mu.Unlock()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-before.over:
			if before.failed {
				return nil, nil
			}
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// leave ends a call, which is not nil if it went alone.
func (l *Learner) leave(ctx context.Context, call *firstCall, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered = l.answered || err == nil
	if call == nil {
		return
	}
	var e *Error
	switch {
	case err == nil:
	case ctx.Err() != nil: // says nothing about the model
	case errors.As(err, &e) && e.Class == ClassPermanent && ticketOf(ctx) != nil &&
		(errors.Is(err, ErrAccount) || slices.Contains([]int{401, 402, 403, 404, 407}, e.Status)):
		ticketOf(ctx).giveUp(l, err)
	default:
		call.failed = true
	}
	l.first = nil
	close(call.over)
}

func (m learning) Complete(ctx context.Context, req Request) (_ Response, ended error) {
	l := m.learner
	call, err := l.enter(ctx)
	if err != nil {
		ticketOf(ctx).returnCall()
		return Response{}, err
	}
	ended = errors.New("llm: the model panicked")
	defer func() { l.leave(ctx, call, ended) }()

	var (
		lost  Usage // of the calls before this one
		wider int   // how often there was more room
		room  int   // for this call; 0: as remembered
	)
	for {
		send := l.fit(req, room)
		resp, err := m.next.Complete(ctx, send)
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		t := ticketOf(ctx)
		spent := t.priced(costOf(err), "")
		if err == nil {
			spent = measure(send, resp)
			resp.Usage = lost.Add(spent)
		}
		event, more := "more-room", false
		var e *Error
		if errors.As(err, &e) && e.Parameter != "" {
			event, more = "parameter-refused", l.drop(send, e.Parameter)
			trace.From(ctx).Event(event, trace.Attr{Key: "parameter", Value: e.Parameter})
		} else if room = l.widen(send, resp, err, wider); room > 0 {
			more = true
			wider++
			trace.From(ctx).Event(event, trace.Attr{Key: "after", Value: *send.MaxTokens})
		}
		if more {
			t.lose(lost.Add(spent))
			if refused := t.takeCall(); refused == nil {
				lost = lost.Add(spent)
				continue
			} else if err != nil {
				err = fmt.Errorf("%w: not asked again after: %w", refused, err)
			}
		}
		if err != nil && lost.Calls > 0 {
			err = &attemptsError{err, lost.Add(spent)}
		}
		return resp, err
	}
}

// fit returns req as the model takes it.
func (l *Learner) fit(req Request, room int) Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room = max(room, l.room); req.MaxTokens != nil && *req.MaxTokens < room {
		req.MaxTokens = &room
	}
	for _, name := range l.refused {
		without(&req, name)
	}
	return req
}

// without takes a parameter out of req; false if it is not in it.
func without(req *Request, name string) (had bool) {
	switch name {
	case "temperature":
		had, req.Temperature = req.Temperature != nil, nil
	case "top_p":
		had, req.TopP = req.TopP != nil, nil
	case "max_tokens":
		had, req.MaxTokens = req.MaxTokens != nil, nil
	case "seed":
		had, req.Seed = req.Seed != nil, nil
	case "stop":
		had, req.Stop = req.Stop != nil, nil
	case "effort":
		had, req.Effort = req.Effort != "", ""
	case "schema":
		had, req.Schema = req.Schema != nil, nil
	}
	return had
}

// drop remembers a parameter that the model refuses; false if it was not sent.
func (l *Learner) drop(sent Request, name string) bool {
	if !without(&sent, name) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.refused, name) {
		l.refused = append(l.refused, name)
	}
	return true
}

// widen looks at how much room the outcome of a call needed. It returns the room with which to ask again; 0: not again.
func (l *Learner) widen(sent Request, resp Response, err error, wider int) int {
	if sent.MaxTokens == nil || err != nil && ClassOf(err) != ClassNoRoom {
		return 0
	}
	limit, most := *sent.MaxTokens, cmp.Or(l.Room, 32_768)
	text, cut := words.AfterReasoning(resp.Text)
	if cut {
		text = ""
	}
	thought := err != nil || resp.Usage.ReasoningTokens > 0
	again := err != nil
	if err == nil && resp.StopReason == StopLength {
		nothing, half := strings.TrimSpace(text) == "", false
		if l.Lacks != nil && !nothing {
			nothing, half = l.Lacks(text)
		}
		thought = thought || (half || nothing) && 2*Estimate(Request{}, text).CompletionTokens < limit
		again = half || nothing && thought
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.thinks = l.thinks || thought
	switch {
	case again && limit < most && (wider < 2 || thought):
		room := min(2*limit, most)
		if wider > 1 {
			room = most
		}
		if thought { // so that calls in flight need not find out each by itself
			l.room = max(l.room, room)
		}
		return room
	case !again && l.thinks:
		l.room = most
	case !again && wider > 0:
		l.room = max(l.room, limit)
	}
	return 0
}

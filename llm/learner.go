package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/trace"
)

// TokenLimitTuner learns which parameters a model rejects and how many tokens it needs to reason.
//
//   - The first call goes alone; concurrent calls wait for its reply, up to 30 s. If it fails because of a wrong key,
//     model or address (status 401 to 404, 407), or an account without money, the other calls on its [BudgetTracker]
//     fail too, without being sent.
//   - If a filter rejects a prompt before the model's first reply on a BudgetTracker, further calls on it fail too.
//     So do calls with a prompt at least half as long as a prompt that did not fit (ClassContextTooLong).
//   - If the model rejects a parameter ([Error.Parameter]), the call is repeated without it, and later calls omit it.
//   - A reply may reach the token limit because reasoning used it up, or stop in the middle of the text. Then the
//     call is repeated with twice MaxTokens, four times MaxTokens, and then Room. A text that itself fills its limit
//     never gets Room, and later calls keep their MaxTokens. If the model rejects a raised MaxTokens, half of it is
//     sent, but not less than the caller's.
//
// Each repetition is charged and is an event of the trace: "more-room", or "parameter-refused", which is a warning too.
// Use one for each model, outside [Retry] and inside the BudgetTracker's middleware. Safe for concurrent use.
type TokenLimitTuner struct {
	Room int // most tokens of a repeated call, reasoning included; 0 means 32,768

	// Lacks reports about a text that reached the token limit whether it has nothing of the answer, or only half of
	// it. nil: a text has nothing if it is blank or only reasoning.
	Lacks func(text string) (nothing, half bool)

	mu       sync.Mutex
	answered bool
	first    *firstCall // on its way; nil: none
	refused  []string   // parameters
	thinks   bool       // before it speaks
	room     int        // the least MaxTokens to send; 0: as asked
	most     int        // of a repeated call, since the model refused more; 0: Room
}

// patience is how long calls wait for the one that goes alone.
const patience = 30 * time.Second

// firstCall is the call that goes alone.
type firstCall struct {
	over   chan struct{} // closed at its end
	failed bool          // for a reason that other calls may not have
}

// Answered reports whether the model has replied, and has not refused the key or the account since.
func (l *TokenLimitTuner) Answered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered
}

// Learned returns the least MaxTokens that the model is sent; 0: as asked.
func (l *TokenLimitTuner) Learned() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.room
}

// Middleware returns a middleware for the one model.
func (l *TokenLimitTuner) Middleware() Middleware {
	return func(next Model) Model { return learning{inner{next}, l} }
}

type learning struct {
	inner
	learner *TokenLimitTuner
}

// enter returns when a call with a prompt of so many tokens may go. It returns the call if it goes alone, and the error
// of a hopeless one before it.
func (l *TokenLimitTuner) enter(ctx context.Context, prompt int) (*firstCall, error) {
	for {
		l.mu.Lock()
		before := l.first
		hopeless := ticketOf(ctx).hopeless(l, prompt)
		switch {
		case hopeless != nil:
			l.mu.Unlock()
			return nil, hopeless
		case l.answered:
			l.mu.Unlock()
			return nil, nil
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

// leave ends a call with a prompt of so many tokens, which is not nil if it went alone.
func (l *TokenLimitTuner) leave(ctx context.Context, call *firstCall, prompt int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered = err == nil || l.answered && !withdrawn(err)
	futile := false
	switch t := ticketOf(ctx); {
	case err == nil:
		t.answered(l)
	case ctx.Err() != nil: // says nothing about the model
	case t != nil:
		var least int
		if least, futile = repeats(err, call != nil, prompt); futile {
			t.giveUp(l, err, least)
		}
	}
	if call == nil {
		return
	}
	call.failed = err != nil && ctx.Err() == nil && !futile
	l.first = nil
	close(call.over)
}

// repeats reports whether further calls would fail with err as well, and how many tokens their prompts have at least:
// after a prompt that does not fit, half of its tokens. A filter with a status refuses the prompt, and without one a
// single reply. A wrong key, model or address (status 401 to 404, 407) and an account without money count in the first
// call of a model alone.
func repeats(err error, first bool, prompt int) (least int, ok bool) {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return 0, false
	case e.Class == ClassContextTooLong:
		return prompt / 2, true
	case e.Class == ClassRefused:
		return 0, e.Status >= 400 // else a filter held back one reply
	case e.Class == ClassPermanent && first:
		return 0, errors.Is(err, llmerr.ErrAccount) || slices.Contains([]int{401, 402, 403, 404, 407}, e.Status)
	}
	return 0, false
}

// withdrawn reports whether a provider refuses a key or an account that it may have accepted before.
func withdrawn(err error) bool {
	return errors.Is(err, llmerr.ErrAccount) || AsError(err).Status == http.StatusUnauthorized
}

func (m learning) Complete(ctx context.Context, req Request) (_ Response, ended error) {
	l := m.learner
	prompt := Estimate(req, "").PromptTokens
	call, err := l.enter(ctx, prompt)
	if err != nil {
		ticketOf(ctx).returnCall()
		return Response{}, err
	}
	ended = errors.New("llm: the model panicked")
	defer func() { l.leave(ctx, call, prompt, ended) }()

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
			spent = t.priced(measure(send, resp), resp.Model)
			resp.Usage = lost.Add(spent)
		}
		event, more := "more-room", false
		var e *Error
		if errors.As(err, &e) && e.Parameter != "" {
			event = "parameter-refused"
			trace.FromContext(ctx).Event(event, trace.Attr{Key: "parameter", Value: e.Parameter})
			if more = e.Parameter == "max_tokens" && l.lower(req, send); !more {
				more = l.drop(send, e.Parameter)
				trace.FromContext(ctx).Warn(event, fmt.Sprintf("the model %q does not accept %s; later calls omit it",
					NameOf(m), e.Parameter))
			}
		} else if room = l.widen(send, resp, err, wider); room > 0 {
			more = true
			wider++
			trace.FromContext(ctx).Event(event, trace.Attr{Key: "after", Value: *send.MaxTokens})
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
func (l *TokenLimitTuner) fit(req Request, room int) Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room = min(max(room, l.room), l.top()); req.MaxTokens != nil && *req.MaxTokens < room {
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

// top is the most tokens of a repeated call. l.mu is held.
func (l *TokenLimitTuner) top() int { return cmp.Or(l.most, l.Room, 32_768) }

// lower halves the most tokens of a repeated call where the model refused more than asked for; false: it refused what
// was asked for.
func (l *TokenLimitTuner) lower(asked, sent Request) bool {
	if asked.MaxTokens == nil || sent.MaxTokens == nil || *sent.MaxTokens <= *asked.MaxTokens {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = min(l.top(), *sent.MaxTokens/2)
	return true
}

// drop remembers a parameter that the model refuses; false if it was not sent.
func (l *TokenLimitTuner) drop(sent Request, name string) bool {
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
func (l *TokenLimitTuner) widen(sent Request, resp Response, err error, wider int) int {
	if sent.MaxTokens == nil || err != nil && ClassOf(err) != ClassOutOfTokens {
		return 0
	}
	limit := *sent.MaxTokens
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
	most := l.top()
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
	}
	return 0
}

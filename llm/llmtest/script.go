package llmtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// Script is a model that answers by rules. The first rule that matches a request
// and has a reply for its draw gives the reply; what was asked before, and in
// which order, plays no part, but for [Rule.Times]. The zero Script answers
// nothing. Rules must not change once calls are made. Safe for concurrent use.
type Script struct {
	Rules []Rule // asked in this order; not to be changed once the model is in use

	mu   sync.Mutex
	seen []llm.Request
	used map[use]int
}

// Rule answers some requests. All of its conditions must hold; those that are
// not set do.
type Rule struct {
	Purpose  string                 // of the request, exactly
	Contains string                 // a text in one of its messages
	Match    func(llm.Request) bool // must be safe for concurrent use

	// Replies has the reply to draw i at i. A draw beyond them is not answered by
	// this rule, unless Repeat gives it the last one.
	Replies []Reply
	Repeat  bool // draws beyond Replies get the last of them

	// Times is how often the rule answers one draw of one purpose; 0 is any
	// number of times. With Times: 1, a rule of errors before a rule of replies
	// is a call that fails and then succeeds.
	Times int
}

// Reply is one scripted outcome.
type Reply struct {
	Text  string         // must not be empty, unless Err is set
	Err   error          // ends the call in place of Text
	Stop  llm.StopReason // "" means llm.StopEnd
	Model string         // the name that the provider gives itself
	Usage llm.Usage      // the zero Usage means llm.Estimate
	Delay time.Duration  // passes before the call ends, unless its context does
}

// Texts returns replies of the given texts.
func Texts(texts ...string) []Reply {
	replies := make([]Reply, len(texts))
	for i, text := range texts {
		replies[i].Text = text
	}
	return replies
}

// Errors returns replies that are the given errors.
func Errors(errs ...error) []Reply {
	replies := make([]Reply, len(errs))
	for i, err := range errs {
		replies[i].Err = err
	}
	return replies
}

// UnmatchedError says that no rule of a [Script] answers a request. It comes in
// an [*llm.Error] of ClassPermanent.
type UnmatchedError struct {
	Request llm.Request // the request that nothing answers
	// Rules are the indexes of the rules that match the request but have no reply
	// left for its draw.
	Rules []int
}

// Error names the purpose, the draw and the first line of the last message.
func (e *UnmatchedError) Error() string {
	line := ""
	if n := len(e.Request.Messages); n > 0 {
		line, _, _ = strings.Cut(strings.TrimSpace(e.Request.Messages[n-1].Text), "\n")
	}
	why := "no rule matches it"
	if len(e.Rules) > 0 {
		why = fmt.Sprintf("rules %v match, but have no reply left for this draw", e.Rules)
	}
	return fmt.Sprintf("llmtest: no scripted reply to %q, draw %d: %s: %.80q", e.Request.Purpose, e.Request.Draw, why, line)
}

// use is a rule used by a draw.
type use struct {
	rule    int
	purpose string
	draw    int
}

// Complete answers req.
func (s *Script) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	reply, err := s.reply(req)
	if err != nil {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Err: err}
	}
	if err := sleep(ctx, reply.Delay); err != nil {
		return llm.Response{}, err
	}
	if reply.Err != nil {
		return llm.Response{}, reply.Err
	}
	resp := llm.Response{Text: reply.Text, StopReason: reply.Stop, Model: reply.Model, Usage: reply.Usage}
	if resp.Text == "" {
		return llm.Response{}, &llm.Error{Class: llm.ClassUnknown, Message: "empty reply"}
	}
	if resp.StopReason == llm.StopUnknown {
		resp.StopReason = llm.StopEnd
	}
	if resp.Usage == (llm.Usage{}) {
		resp.Usage = llm.Estimate(req, resp.Text)
	}
	return resp, nil
}

// reply notes req and finds its reply.
func (s *Script) reply(req llm.Request) (Reply, error) {
	matching := make([]int, 0, len(s.Rules))
	for i, rule := range s.Rules { // outside the lock: Match is not our code
		if rule.matches(req) {
			matching = append(matching, i)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, clone(req))
	for _, i := range matching {
		rule := s.Rules[i]
		n := len(rule.Replies)
		draw := req.Draw
		if rule.Repeat {
			draw = min(draw, n-1)
		}
		if draw < 0 || draw >= n {
			continue
		}
		if rule.Times > 0 {
			u := use{i, req.Purpose, req.Draw}
			if s.used[u] >= rule.Times {
				continue
			}
			if s.used == nil {
				s.used = make(map[use]int)
			}
			s.used[u]++
		}
		return rule.Replies[draw], nil
	}
	return Reply{}, &UnmatchedError{Request: clone(req), Rules: matching}
}

func (r Rule) matches(req llm.Request) bool {
	return (r.Purpose == "" || r.Purpose == req.Purpose) &&
		(r.Contains == "" || slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return strings.Contains(m.Text, r.Contains) })) &&
		(r.Match == nil || r.Match(req))
}

// Requests returns the requests that came, answered or not, in the order in
// which they came. Those of parallel calls have no order: sort them by Draw.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// RequestsFor returns the requests of one purpose by draw, those of one draw in
// the order in which they came.
func (s *Script) RequestsFor(purpose string) []llm.Request {
	reqs := slices.DeleteFunc(s.Requests(), func(r llm.Request) bool { return r.Purpose != purpose })
	slices.SortStableFunc(reqs, func(a, b llm.Request) int { return a.Draw - b.Draw })
	return reqs
}

// clone keeps a request from changing with the caller's slices.
func clone(req llm.Request) llm.Request {
	req.Messages = slices.Clone(req.Messages)
	req.Stop = slices.Clone(req.Stop)
	return req
}

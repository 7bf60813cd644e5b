package llmtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/llm"
)

// Script is a model that answers by rules. The first rule that matches a request and has a reply for its sample answers
// it. Earlier requests have no influence, except through [Rule.Times]. The zero Script answers nothing. Safe for
// concurrent use.
type Script struct {
	Rules []Rule // tried in this order; must not change after the first call

	mu   sync.Mutex
	seen []llm.Request
	used map[use]int
}

// Rule answers some requests. All conditions that are set must hold.
type Rule struct {
	Purpose  string                 // equals Request.Purpose
	Contains string                 // occurs in one of the messages
	Match    func(llm.Request) bool // returns true; must be safe for concurrent use

	// Replies holds the replies by the index of the sample. The rule does not answer later samples, unless Repeat is set.
	Replies []Reply
	Repeat  bool // the last reply also answers all later samples

	// Times limits how often the rule answers the same sample and purpose; 0 means no limit. A rule with errors and
	// Times: 1, placed before a rule with replies, makes a call fail once and then succeed.
	Times int
}

// Reply is one scripted outcome.
type Reply struct {
	Text  string        // must not be empty, unless Err is set
	Err   error         // the call ends with it instead of Text
	Stop  string        // "" means llm.StopEnd
	Model string        // the model's name for itself
	Usage llm.Usage     // the zero Usage means llm.Estimate
	Delay time.Duration // the call takes this long, unless its context ends
}

// Texts returns one reply for each text.
func Texts(texts ...string) []Reply {
	replies := make([]Reply, len(texts))
	for i, text := range texts {
		replies[i].Text = text
	}
	return replies
}

// Errors returns one reply for each error.
func Errors(errs ...error) []Reply {
	replies := make([]Reply, len(errs))
	for i, err := range errs {
		replies[i].Err = err
	}
	return replies
}

// unmatchedError reports that no rule of a [Script] answers a request. An [*llm.Error] of ClassPermanent wraps it.
type unmatchedError struct {
	Request llm.Request // the request without an answer
	Rules   []int       // indexes of the rules that match but have no reply left for this sample
}

// Error names the purpose, the sample and the first line of the last message.
func (e *unmatchedError) Error() string {
	line := ""
	if n := len(e.Request.Messages); n > 0 {
		line, _, _ = strings.Cut(strings.TrimSpace(e.Request.Messages[n-1].Text), "\n")
	}
	why := "no rule matches it"
	if len(e.Rules) > 0 {
		why = fmt.Sprintf("rules %v match, but have no reply left for this sample", e.Rules)
	}
	return fmt.Sprintf("llmtest: no scripted reply to %q, sample %d: %s: %.80q", e.Request.Purpose, e.Request.Sample, why,
		line)
}

// use identifies a rule and a sample that used it.
type use struct {
	rule    int
	purpose string
	sample  int
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
	if err := background.For(ctx, reply.Delay); err != nil {
		return llm.Response{}, err
	}
	if reply.Err != nil {
		return llm.Response{}, reply.Err
	}
	resp := llm.Response{Text: reply.Text, StopReason: reply.Stop, Model: reply.Model, Usage: reply.Usage}
	if resp.Text == "" {
		return llm.Response{}, &llm.Error{Class: llm.ClassUnknown, Message: "empty reply"}
	}
	if resp.StopReason == "" {
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
	for i, rule := range s.Rules { // outside the lock, because Match is foreign code
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
		sample := req.Sample
		if rule.Repeat {
			sample = min(sample, n-1)
		}
		if sample < 0 || sample >= n {
			continue
		}
		if rule.Times > 0 {
			u := use{i, req.Purpose, req.Sample}
			if s.used[u] >= rule.Times {
				continue
			}
			if s.used == nil {
				s.used = make(map[use]int)
			}
			s.used[u]++
		}
		return rule.Replies[sample], nil
	}
	return Reply{}, &unmatchedError{Request: clone(req), Rules: matching}
}

func (r Rule) matches(req llm.Request) bool {
	return (r.Purpose == "" || r.Purpose == req.Purpose) &&
		(r.Contains == "" || slices.ContainsFunc(req.Messages, func(m llm.Message) bool {
			return strings.Contains(m.Text, r.Contains)
		})) &&
		(r.Match == nil || r.Match(req))
}

// Requests returns all requests in the order in which they came, answered or not. The order of parallel calls is not
// defined.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// RequestsFor returns the requests of one purpose, sorted by sample. Requests of one sample keep the order in which
// they came.
func (s *Script) RequestsFor(purpose string) []llm.Request {
	reqs := slices.DeleteFunc(s.Requests(), func(r llm.Request) bool { return r.Purpose != purpose })
	slices.SortStableFunc(reqs, func(a, b llm.Request) int { return a.Sample - b.Sample })
	return reqs
}

// clone copies the slices of a request, so that it does not change with the caller's.
func clone(req llm.Request) llm.Request {
	req.Messages = slices.Clone(req.Messages)
	req.Stop = slices.Clone(req.Stop)
	return req
}

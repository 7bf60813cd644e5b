package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/llm"
)

// ErrNotRecorded matches the error of a call that no stored reply answers: for
// another purpose, about an unknown question, or for a sample that was never made.
// The error is an *llm.Error of llm.ClassPermanent.
var ErrNotRecorded = errors.New("models: not recorded")

// Question is one question with the replies that models gave to it.
type Question struct {
	ID      string  // for error texts and Delayed
	Text    string  // as it stands in a prompt
	Replies []Reply // by sample
}

// Reply is one stored reply.
type Reply struct {
	Text string // as the model wrote it; an empty one is a failed sample

	// Model is who wrote it; may be empty.
	Model string
	// Usage is what it cost. The zero Usage is estimated from the length of
	// request and reply, with Known false.
	Usage llm.Usage
	// Latency is how long the call takes. 0: no time.
	Latency time.Duration
}

// Recorded is an [llm.Model] that replies what is stored.
//
// It recognises the question in the request, case and white space aside: the last
// known question that has a line of a user message to itself, as prompts of this
// module write it, if only after "Question:"; in a message without such a line the
// longest known question that stands whole in it. (Some questions contain one
// another, and short ones may stand in a schema. The last message that holds any
// counts, since solved examples come before the question.) It answers only calls
// for the purpose "generate", and "link" where the link is a first SQL, as
// PET-SQL's; a repair or a judgement is nothing that was stored.
//
// Sample i gets reply i, never one twice. Greedy replies to different prompts are
// samples of one pool all the same; a report should say so.
//
// Safe for concurrent use.
type Recorded struct {
	name  string
	turns int
	known []known              // the longest first
	lines map[string]*Question // by text as a line is searched for

}

// known is a question with its text as requests are searched for it.
type known struct {
	*Question
	folded string
}

// NewRecorded returns a model of the name of a pool. Two questions of equal text,
// case and white space aside, and one without text are errors. [FromPool] makes
// one of a pool that package eval read.
func NewRecorded(name string, questions []Question) (*Recorded, error) {
	r := &Recorded{name: name, turns: 1, known: make([]known, 0, len(questions)),
		lines: make(map[string]*Question, len(questions))}
	for _, q := range questions {
		folded := fold(q.Text)
		if folded == "" {
			return nil, fmt.Errorf("models: pool %s: question %s has no text", name, q.ID)
		}
		if other := r.lines[folded]; other != nil {
			return nil, fmt.Errorf("models: pool %s: questions %s and %s have the same text, so no request can tell them apart",
				name, other.ID, q.ID)
		}
		r.lines[folded] = &q
		r.known = append(r.known, known{&q, folded})
	}
	slices.SortStableFunc(r.known, func(a, b known) int { return len(b.folded) - len(a.folded) })
	return r, nil
}

// InTurn returns a copy for an election in which n models take turns, as with
// texttosql.WithModels: sample i asks for reply i ÷ n, so that each model gives its
// replies one after the other. n below 1 is 1.
func (r *Recorded) InTurn(n int) *Recorded {
	turned := *r
	turned.turns = max(n, 1)
	return &turned
}

// Name returns the name of the pool, for llm.NameOf.
func (r *Recorded) Name() string { return r.name }

// Complete replies what is stored. Its errors are ctx.Err(), one that matches
// ErrNotRecorded, and one of llm.ClassUnknown for a stored reply that is empty.
func (r *Recorded) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if req.Purpose != "generate" && req.Purpose != "link" {
		return llm.Response{}, r.missing(": no stored sample answers a call for %q, only SQL for a question was recorded",
			req.Purpose)
	}
	q := r.find(req)
	if q == nil {
		return llm.Response{}, r.missing(": no known question stands in the request %q", firstLine(req))
	}
	at := req.Sample / r.turns
	if at < 0 || at >= len(q.Replies) {
		return llm.Response{}, r.missing(" has %d samples of question %s", len(q.Replies), q.ID)
	}
	return r.deliver(ctx, req, q, at, q.Replies[at])
}

// deliver replies after the time that the stored reply at took.
func (r *Recorded) deliver(ctx context.Context, req llm.Request, q *Question, at int, reply Reply) (llm.Response,
	error) {
	if reply.Latency > 0 {
		select {
		case <-time.After(reply.Latency):
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		}
	}
	if reply.Text == "" {
		return llm.Response{}, &llm.Error{Message: fmt.Sprintf("pool %s: the stored sample %d of question %s is empty",
			r.name, at, q.ID)}
	}
	resp := llm.Response{Text: reply.Text, StopReason: llm.StopEnd, Usage: reply.Usage, Model: reply.Model}
	if resp.Usage == (llm.Usage{}) {
		resp.Usage = llm.Estimate(req, reply.Text)
	}
	return resp, nil
}

func (r *Recorded) missing(format string, args ...any) error {
	return &llm.Error{
		Class:   llm.ClassPermanent,
		Message: "pool " + r.name + fmt.Sprintf(format, args...),
		Err:     ErrNotRecorded,
	}
}

// find returns the question that a request is about, nil if none is known.
func (r *Recorded) find(req llm.Request) *Question {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role != llm.User {
			continue
		}
		if q := r.onLine(m.Text); q != nil {
			return q
		}
		text := fold(m.Text)
		for _, k := range r.known {
			if standsIn(text, k.folded) {
				return k.Question
			}
		}
	}
	return nil
}

// onLine returns the last known question that has a line of text to itself, nil
// if none has.
func (r *Recorded) onLine(text string) *Question {
	for text != "" {
		at := strings.LastIndexByte(text, '\n')
		line := fold(text[at+1:])
		if q := r.lines[line]; q != nil {
			return q
		}
		if question, ok := strings.CutPrefix(strings.TrimLeft(line, "# "), "question: "); ok && r.lines[question] != nil {
			return r.lines[question]
		}
		text = text[:max(at, 0)]
	}
	return nil
}

// standsIn reports whether phrase stands in text and does not end or begin in
// the middle of a word.
func standsIn(text, phrase string) bool {
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	for from := 0; ; {
		at := strings.Index(text[from:], phrase)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(phrase):])
		if !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after)) {
			return true
		}
		from = at + 1
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// fold makes texts comparable: what a prompt never holds taken out, white space
// collapsed, in lower case.
func fold(text string) string {
	seen := func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}
	return strings.ToLower(strings.Join(strings.Fields(strings.Map(seen, text)), " "))
}

// firstLine is the first line of a request's last user message.
func firstLine(req llm.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == llm.User {
			line, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
			return line[:min(len(line), 80)]
		}
	}
	return ""
}

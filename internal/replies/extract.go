package replies

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// Extractor finds the one statement in the reply of a model.
//
// It never repairs: quotes and brackets stay as the model wrote them, and what does not hold exactly one statement
// gives an *Error. Outside of strings and quoted names, invisible characters are left out, odd spaces are blanks, and
// HTML entities are what they stand for. Marks of East Asian keyboards are those of SQL where the text is no statement
// otherwise.
//
// The zero Extractor works for SQLite without an engine.
//
// Safe for concurrent use if Valid is.
type Extractor struct {
	Dialect sqltext.Dialect // the dialect of the SQL

	// Ended says that the model came to its end, by the word of the provider. A statement that looks cut off is then
	// one that the engine has to judge: it may end with a name that is a keyword, as in SELECT id FROM order.
	Ended bool

	// Valid asks the engine whether it can prepare the statement, which has passed Dialect.Check. It is called at most
	// 32 times a reply, mostly once. Nil: the shape of the text decides, which tells most prose from SQL.
	Valid func(s *sqltext.Statement) bool
}

// The bounds of one reply, which may be full of places to start at: calls of Valid, bytes read, and bytes of texts
// whose tokens are kept.
const (
	maxTries = 32
	maxRead  = 32 * maxBytes
	maxKept  = 4 * maxBytes
)

// Extract returns the statement in reply, or an *Error.
//
// It walks down a ladder; each step works on what the one before left, and the first text wins that passes
// Dialect.Check and Valid:
//
//  1. not UTF-8, or over 32 KiB behind the reasoning: no candidate. (A reply that the
//     provider cut is the caller's to flag, with ReasonTruncated.)
//  2. Reasoning between the marks of any family of models is dropped; where it does not end
//     the reply was cut. The content of <answer>…</answer> and the like is taken alone, and
//     the marks of quotations and shells are taken off.
//  3. A text that starts with a query is tried as it stands.
//  4. A text that starts with a brace is a JSON object, whatever fences stand in it:
//     its field "sql", the least deep one; without one, any text in it that starts
//     with a query. JSON nearly right counts where it has such a field.
//  5. The last fenced block that holds a query, of any language word, unless what stands before
//     it says that it answers another question.
//  6. One pair of quotes or backticks around the whole. Then every place where a line, or the
//     text behind a colon, starts with a query; behind the full stop of a sentence if the query
//     word is in capitals.
//  7. Where nothing was found: JSON anywhere, then a text in quotation marks that is a statement, as an argument of a
//     call.
//
// At each place the text is cut at its first live semicolon, else tried whole, then up to a line that starts with
// SQLResult:, Answer:, Explanation: or Note:, then up to a line of words, then up to each blank line. What follows
// the cut is prose and dropped; if it is a statement the whole reply is refused, and so is a reply that lists different
// queries to choose from.
//
// Where Valid accepts nothing, the likeliest whole statement is returned with the note "not-valid", so that the
// engine's own error can be reported and repaired. What stops in the middle (a statement, JSON, a block without an end
// in which Valid accepts nothing) is ReasonTruncated, unless the reply is known to have Ended.
//
// The time is linear in len(reply) but for replies with many places to start at, which are bounded.
func (x Extractor) Extract(reply string) (Extraction, error) {
	if len(reply) > maxReply {
		return Extraction{}, &Error{Reason: "too-long", Detail: "the reply is longer than 1 MiB"}
	}
	if !utf8.ValidString(reply) {
		return Extraction{}, &Error{Reason: "not-utf8", Detail: "the reply is not valid UTF-8"}
	}
	text := trimReply(reply)
	if text == "" {
		return Extraction{}, &Error{Reason: "empty", Detail: "the reply is blank"}
	}
	e := extraction{x: x, d: x.Dialect, closed: x.Ended}
	body, cut := words.AfterReasoning(text)
	if cut {
		return Extraction{}, &Error{Reason: ReasonTruncated, Detail: "the reasoning has no end"}
	}
	if len(body) < len(text) {
		e.note("reasoning")
	}
	if body = trimReply(body); body == "" {
		body = trimReply(beforeReasoning(text))
	}
	if body == "" {
		return Extraction{}, &Error{Reason: ReasonNoSQL, Detail: "nothing follows the reasoning"}
	}
	if len(body) > maxBytes {
		return Extraction{}, &Error{Reason: "too-long", Detail: "the answer is longer than 32 KiB"}
	}
	if plain := unescapedFence(body); plain != body {
		e.note("unwrapped")
		body = plain
	}
	e.ladder(body, "bare", 0)
	if !e.done() && e.likely == nil && e.possible == nil && !e.truncated {
		e.embedded(body)
	}
	return e.result(body)
}

// extraction is one run of Extract.
type extraction struct {
	x     Extractor
	d     sqltext.Dialect
	texts map[string]*reading // texts that were checked
	tries int                 // calls of Valid
	read  int                 // bytes that accept was given
	kept  int                 // bytes of the keys of texts
	notes []string

	found *Extraction
	fatal *Error // the reply as a whole is refused

	likely, possible *Extraction // statements that Valid did not accept
	truncated        bool
	openFence        bool                  // the block that counts has no end, though the model may not have been done
	closed           bool                  // the provider, a fence or JSON says that the model was done
	refused          *sqltext.RefusedError // the refusal of the first text that reads like a query
	refusedSQL       string                // the text that was refused
}

// reading is what is known of one text: its statement or why there is none.
type reading struct {
	*sqltext.Statement
	refused *sqltext.RefusedError
	asked   bool // Valid was asked
	valid   bool // the answer of Valid
}

// check is the text check, once for each text.
func (e *extraction) check(text string) *reading {
	r := e.texts[text]
	if r == nil {
		r = &reading{}
		var err error
		if r.Statement, err = e.d.Check(text); err != nil {
			r.refused = err.(*sqltext.RefusedError)
		} else if known := e.texts[r.SQL()]; known != nil {
			r = known
		} else {
			e.keep(r.SQL(), r)
		}
		e.keep(text, r)
	}
	return r
}

func (e *extraction) keep(text string, r *reading) {
	if e.texts == nil {
		e.texts = map[string]*reading{}
	}
	if e.kept += len(text); e.kept <= maxKept {
		e.texts[text] = r
	}
}

// isCut reports whether text stops in the middle of a statement.
func (e *extraction) isCut(text string) bool {
	if r := e.check(text); r.refused == nil && r.SQL() == text {
		return r.IsCut()
	}
	return e.d.Parse(text).IsCut()
}

func (e *extraction) note(n string) {
	if !slices.Contains(e.notes, n) {
		e.notes = append(e.notes, n)
	}
}

func (e *extraction) done() bool { return e.found != nil || e.fatal != nil }

// isEmpty reports whether nothing in the reply looked like a statement.
func (e *extraction) isEmpty() bool {
	return !e.done() && e.likely == nil && e.possible == nil && e.refused == nil && !e.truncated
}

func (e *extraction) result(text string) (Extraction, error) {
	if e.fatal != nil {
		return Extraction{}, e.fatal
	}
	best := e.found
	cut := e.openFence && e.refused == nil && (e.isEmpty() || e.x.Valid != nil)
	if best == nil && !cut {
		best = e.likely
	}
	if best == nil && (cut || e.truncated) {
		return Extraction{}, &Error{Reason: ReasonTruncated, Detail: "the statement stops in the middle"}
	}
	if best == nil {
		best = e.possible
	}
	switch {
	case best != nil:
		if best != e.found {
			e.note("not-valid")
		}
		best.Notes = e.notes
		return *best, nil
	case e.refused != nil:
		return Extraction{}, &Error{Reason: reasonRefused, Detail: e.refused.Detail, SQL: e.refusedSQL, Err: e.refused}
	case isRefusal(text):
		return Extraction{}, &Error{Reason: ReasonRefusal, Detail: "the model declined to answer"}
	}
	return Extraction{}, &Error{Reason: ReasonNoSQL, Detail: "the reply holds no query"}
}

// ladder runs steps 3 to 7 over text. depth counts what was unwrapped, so that quotes in fences in JSON end somewhere.
func (e *extraction) ladder(text, step string, depth int) {
	text = trimReply(text)
	if depth > 3 || text == "" {
		return
	}
	if plain := e.d.Visible(text); plain != text && e.d.Head(plain) != "" {
		e.note("invisible")
		text = plain
	}
	if plain := unprompted(text); plain != text {
		e.note("unwrapped")
		text = trimReply(plain)
	}
	head := e.d.Head(text)
	if head == "other" {
		e.notRead(text)
		return
	}
	if head == "query" {
		e.statement(text, step, true)
		if e.done() || e.likely != nil {
			return
		}
	}
	if inner, ok := answerTag(e.d, text); ok {
		e.note("answer-tag")
		e.ladder(inner, step, depth+1)
		return
	}
	if e.json(text, depth) || e.fences(text, depth) {
		return
	}
	if inner, ok := e.quotes(text); ok {
		if step == "bare" {
			step = "quotes"
		}
		e.ladder(inner, step, depth+1)
		return
	}
	if step == "bare" {
		step = "prose"
	}
	e.prose(text, step)
}

// notRead refuses a text that starts with a statement that is no query.
func (e *extraction) notRead(text string) {
	parts := e.d.Split(text)
	statements := 0
	for _, part := range parts {
		if e.d.Head(part) != "" {
			statements++
		}
	}
	if statements > 1 {
		e.several()
		return
	}
	refused := &Error{Reason: "not-read-only", Detail: "the statement is no query", SQL: strings.TrimSpace(parts[0])}
	if r := e.check(parts[0]); r.refused != nil {
		refused.Err = r.refused
	}
	e.fatal = refused
}

func (e *extraction) several() {
	e.fatal = &Error{Reason: "several-statements", Detail: "the reply holds more than one statement"}
}

// verdict is what accept says of a text.
type verdict uint8

const (
	rejected  verdict = iota
	plausible         // reads like a whole query, but Valid says no
	accepted
)

// accept checks a text that starts like a query. sure says that it stands where only a statement can, so that it is
// kept for the engine to judge even if its shape is odd.
func (e *extraction) accept(text, step string, sure bool) verdict {
	if e.read += len(text); e.read > maxRead {
		return rejected
	}
	stmt := e.check(text)
	if refused := stmt.refused; refused != nil {
		if refused.Reason == "not-read-only" && e.d.Head(text) == "query" {
			e.fatal = &Error{Reason: "not-read-only", Detail: refused.Detail, SQL: strings.TrimSpace(text), Err: refused}
		} else if e.refused == nil && sure {
			e.refused, e.refusedSQL = refused, strings.TrimSpace(text)
		}
		return rejected
	}
	found := &Extraction{Statement: stmt.Statement, Step: step}
	shape := stmt.IsPlausible()
	switch {
	case e.valid(stmt):
		e.found = found
		return accepted
	case shape:
		if e.likely == nil {
			e.likely = found
		}
		return plausible
	}
	if e.possible == nil && sure && !isSentence(stmt.SQL()) {
		e.possible = found
	}
	return rejected
}

// valid asks the engine, where there is one to ask.
func (e *extraction) valid(r *reading) bool {
	if e.x.Valid == nil {
		return r.IsPlausible()
	}
	if !r.asked && e.tries < maxTries {
		e.tries++
		r.asked, r.valid = true, e.x.Valid(r.Statement)
	}
	return r.valid
}

// isSentence reports whether a statement starts as a sentence does: Select.
func isSentence(stmt string) bool {
	return len(stmt) > 1 && 'A' <= stmt[0] && stmt[0] <= 'Z' && 'a' <= stmt[1] && stmt[1] <= 'z'
}

// statement tries the text, which starts with a query, and its cuts.
func (e *extraction) statement(text, step string, sure bool) verdict {
	if e.read > maxRead {
		return rejected
	}
	if plain := e.d.Visible(text); plain != text {
		e.note("invisible")
		text = plain
	}
	if plain := e.d.Visible(narrowEnd(e.d, unescaped(e.d, text))); plain != text {
		e.note("unwrapped")
		text = plain
	}
	best := e.cutAt(text, step, sure)
	if best != accepted && e.fatal == nil {
		if plain := narrowed(e.d, text); plain != text {
			e.note("unwrapped")
			return e.cutAt(plain, step, sure)
		}
	}
	return best
}

// cutAt tries the text at each place where its statement may end.
func (e *extraction) cutAt(text, step string, sure bool) verdict {
	cuts := cuts(e.d, text)
	cutOff := !e.closed && !cuts[0].live && e.isCut(text)
	best := rejected
	for _, c := range cuts {
		head, rest := text[:c.at], text[c.at:]
		if c.live && (e.d.Head(rest) != "" || continuesBehind(e.d, rest)) {
			if e.looksWhole(head) {
				e.several()
				return rejected
			}
			continue
		}
		if c.text && len(places(e.d, rest)) > 0 { // a draft in a sentence
			continue
		}
		before := e.likely
		v := e.accept(head, step, sure && c.whole() && !cutOff)
		if e.fatal != nil {
			return rejected
		}
		if v == accepted {
			e.likely = before
			return e.acceptBefore(rest, c)
		}
		best = max(best, v)
	}
	if best == rejected && sure && cutOff && !isSentence(strings.TrimLeft(text, "( \t\r\n")) {
		e.truncated = true
	}
	return best
}

// acceptBefore looks at the text behind the statement that was accepted: another query there makes it one of several.
func (e *extraction) acceptBefore(rest string, c cut) verdict {
	if !c.whole() && e.otherQuery(rest, e.found.Statement) {
		e.found = nil
		e.several()
		return rejected
	}
	if len(e.d.Split(rest)) > 0 {
		e.note("text-behind")
	}
	return accepted
}

// looksWhole reports whether text passes for a statement, asking no engine.
func (e *extraction) looksWhole(text string) bool {
	r := e.check(text)
	return r.refused == nil && (r.IsPlausible() || !isSentence(r.SQL()))
}

// otherQuery reports whether one of the places in text starts a query that differs from found.
func (e *extraction) otherQuery(text string, found *sqltext.Statement) bool {
	for _, at := range places(e.d, text) {
		for _, c := range cuts(e.d, text[at:]) {
			if e.read += c.at; e.read > maxRead {
				return true // too much to be sure
			}
			if other := text[at : at+c.at]; e.isWhole(other) {
				if e.check(other).Normalize() != found.Normalize() {
					return true
				}
				break
			}
		}
	}
	return false
}

package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// Failure makes the error of a call from err, which the client returned, and from what RoundTrip saw. That comes first: it
// has the status where a client reports a JSON error for an error page, and the cause where a client says "network error".
// Its text holds no key that was sent.
func (c *Call) Failure(err error) *llm.Error {
	e := &llm.Error{}
	switch o := c.outcome(); {
	case o.status != 0:
		p := parseProblem(o.body)
		e.Status, e.RetryAfter = o.status, cmp.Or(o.retryAfter, p.retryAfter)
		e.Class = Class(o.status, p.codes...)
		if strings.HasPrefix(p.message, "prompt is too long: ") || strings.HasPrefix(p.message, "The input token count ") {
			e.Class = llm.ClassContextTooLong // Anthropic and Google have no code for it; a repeated prompt does not stand first
		}
		e.Message = cmp.Or(p.message, http.StatusText(o.status), "no message")
	case o.err != nil:
		e.Class = brokenClass(o.err, llm.ClassOverloaded)
		e.Message, e.Err = cmp.Or(disconnected(o.err), o.err.Error()), withoutContext(o.err)
	default:
		e.Class, e.Err = brokenClass(err, llm.ClassUnknown), withoutContext(err)
		e.Message = cmp.Or(unreadable(err, c.Sent(), c.Raw()), disconnected(err), err.Error())
	}
	e.Message = c.withoutKeys(e.Message)
	return e
}

// withoutContext drops an error that looks like the end of the caller's context and is not, such as the time-out of an
// http.Client. For errors.Is it would be a cancellation by the caller.
func withoutContext(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Class classifies by the provider's documented codes, then by status. Words of messages decide nothing, because they may
// repeat the prompt.
func Class(status int, codes ...string) llm.Class {
	for _, code := range codes {
		switch code {
		case "context_length_exceeded", "string_above_max_length", // OpenAI
			"exceed_context_size_error": // llama.cpp
			return llm.ClassContextTooLong
		case "content_filter", "content_policy_violation": // Azure, OpenAI
			return llm.ClassRefused
		case "insufficient_quota": // OpenAI: a 429 for which waiting is of no use
			return llm.ClassPermanent
		}
	}
	switch {
	case status == http.StatusTooManyRequests:
		return llm.ClassRateLimit
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return llm.ClassTimeout
	case status == http.StatusRequestEntityTooLarge:
		return llm.ClassContextTooLong
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return llm.ClassPermanent
	case status == http.StatusConflict, status >= 500: // a conflict of the server's own; 529 is Anthropic's "overloaded"
		return llm.ClassOverloaded
	}
	return llm.ClassPermanent
}

// brokenClass classifies the error of a connection, and returns other for any other error.
func brokenClass(err error, other llm.Class) llm.Class {
	var network net.Error
	var unknownHost *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, errNoKey), errors.Is(err, errNoURL), errors.As(err, &certificate):
		return llm.ClassPermanent
	case errors.As(err, &unknownHost) && unknownHost.IsNotFound:
		return llm.ClassUnknown // a typing error, or no network for the moment
	case errors.As(err, &network) && network.Timeout():
		return llm.ClassTimeout
	case network != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return llm.ClassOverloaded
	}
	return other
}

// problem is the content of the body of a failed response.
type problem struct {
	message    string
	codes      []string      // code, type, and what Google has in their place
	param      string        // the refused parameter
	retryAfter time.Duration // Google's
}

// parseProblem reads the forms of OpenAI, Anthropic and Google ({"error": {…}}, also in a list), Ollama ({"error":
// "…"}), vLLM ({…}) and FastAPI ({"detail": "…"}). Without a message the code is one, or the type. Of a page the title is
// the message, any other text is one itself; JSON of another form has none.
func parseProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(body, &outer); {
	case err != nil && isPage(body):
		return problem{message: "the server sent " + page(body)}
	case err != nil && !json.Valid(body):
		return problem{message: string(body)}
	}
	inner := body
	if len(outer.Error) > 0 {
		inner = outer.Error
	}
	var text string
	if json.Unmarshal(inner, &text) == nil {
		return problem{message: text}
	}
	var p struct {
		Message any `json:"message"`
		Detail  any `json:"detail"`
		Code    any `json:"code"` // a number at Google and vLLM
		Type    any `json:"type"`
		Param   any `json:"param"`
		Status  any `json:"status"` // Google
		Details []struct{ Reason, RetryDelay string }
	}
	if json.Unmarshal(inner, &p) != nil {
		return problem{}
	}
	str := func(v any) string { s, _ := v.(string); return s }
	found := problem{
		message: cmp.Or(str(p.Message), str(p.Detail), str(p.Code), str(p.Type)),
		codes:   []string{str(p.Code), str(p.Type), str(p.Status)},
		param:   str(p.Param),
	}
	for _, d := range p.Details {
		found.codes = append(found.codes, d.Reason)
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			found.retryAfter = min(max(wait, 0), maxRetryAfter)
		}
	}
	return found
}

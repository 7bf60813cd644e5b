package langchain

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
	"regexp"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/llm"
)

// failure makes the error of a call of err, which the client returned, and of
// what our transport saw. The transport is believed first: it knows the status
// where a client makes a JSON error of an error page, and the cause where one
// says "network error".
func failure(err error, n *notes) *llm.Error {
	e := &llm.Error{Err: withoutContext(err)}
	switch o := n.outcome(); {
	case o.status != 0:
		p := parseProblem(o.body)
		e.Status, e.RetryAfter = o.status, o.retryAfter
		e.Class = classOf(o.status, p.codes)
		e.Message = cmp.Or(p.message, http.StatusText(o.status), "no message")
	case o.err != nil:
		e.Class = brokenClass(o.err, llm.ClassOverloaded)
		e.Message, e.Err = o.err.Error(), withoutContext(o.err)
	default:
		status, message, ok := splitStatus(err.Error())
		if ok {
			e.Status, e.Class = status, classOf(status, nil)
			e.Message = cmp.Or(message, http.StatusText(status), "no message")
			break
		}
		e.Class = brokenClass(err, llm.ClassUnknown)
		e.Message = err.Error()
	}
	return e
}

// withoutContext drops an error that only looks like the end of the caller's
// context, as that of an http.Client with a time-out: who asks errors.Is must
// not take it for a cancellation.
func withoutContext(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// classOf classifies by status, and by the provider's documented codes where
// one status means several things. Words of messages decide nothing: they may
// repeat the prompt.
func classOf(status int, codes []string) llm.Class {
	for _, code := range codes {
		switch code {
		case "context_length_exceeded", "string_above_max_length", // OpenAI
			"exceed_context_size_error": // llama.cpp
			return llm.ClassContextTooLong
		case "content_filter", "content_policy_violation": // Azure, OpenAI
			return llm.ClassRefused
		case "insufficient_quota": // OpenAI: a 429 that no waiting helps
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
	case status >= 500: // 529 is Anthropic's "overloaded"
		return llm.ClassOverloaded
	}
	return llm.ClassPermanent
}

// brokenClass classifies the error of a connection; other if it is none.
func brokenClass(err error, other llm.Class) llm.Class {
	var network net.Error
	var unknownHost *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch text := err.Error(); {
	case errors.Is(err, errTooLarge), errors.As(err, &certificate):
		return llm.ClassPermanent
	case errors.As(err, &unknownHost) && unknownHost.IsNotFound:
		return llm.ClassUnknown // a typing error, or no network for the moment
	case errors.As(err, &network) && network.Timeout(),
		text == "request timeout: network operation exceeded timeout", // langchaingo's OpenAI client
		text == "request timeout: API call exceeded deadline":
		return llm.ClassTimeout
	case network != nil, errors.Is(err, io.ErrUnexpectedEOF),
		text == "network error: failed to reach API server": // langchaingo's OpenAI client
		return llm.ClassOverloaded
	}
	return other
}

// namesTemperature reports whether err is a request refused because of its
// temperature. This one looks at words, for want of a code that all providers
// have; what follows from a wrong guess is one more call.
func namesTemperature(err error, n *notes) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	p := parseProblem(n.outcome().body)
	return p.param == "temperature" || strings.Contains(strings.ToLower(e.Message), "temperature")
}

// statusPrefix is how the clients of langchaingo begin the error of a failed
// response. It is anchored: what follows may be anybody's words.
var statusPrefix = regexp.MustCompile(
	`^(?:anthropic: failed to create (?:message|completion): )?` + // its only wrapping
		`(?:API returned )?unexpected status code: ([1-5]\d\d)(?:$|: |, body: )`)

// splitStatus reads the status that begins a client's error text, and returns
// it with the rest.
func splitStatus(text string) (status int, message string, ok bool) {
	if m := statusPrefix.FindStringSubmatch(text); m != nil {
		status, _ = strconv.Atoi(m[1])
		return status, text[len(m[0]):], true
	}
	// Ollama's: "503 Service Unavailable", and nothing else.
	number, rest, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	if err != nil || status < 300 || rest == "" || http.StatusText(status) != rest {
		return 0, "", false
	}
	return status, "", true
}

// problem is what the body of a failed response says.
type problem struct {
	message string
	codes   []string // code and type
	param   string   // the parameter that is refused
}

// parseProblem reads the forms of OpenAI and its imitators, Anthropic, Google
// ({"error": {…}}, also in a list), Ollama ({"error": "…"}) and vLLM ({…}).
// The text of any other body is the message.
func parseProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil {
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
		Code    any `json:"code"` // a number at Google and vLLM
		Type    any `json:"type"`
		Param   any `json:"param"`
	}
	if json.Unmarshal(inner, &p) != nil {
		return problem{message: string(body)}
	}
	str := func(v any) string { s, _ := v.(string); return s }
	return problem{
		message: cmp.Or(str(p.Message), string(body)),
		codes:   []string{str(p.Code), str(p.Type)},
		param:   str(p.Param),
	}
}

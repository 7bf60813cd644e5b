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

// failure makes the error of a call from err, which the client returned, and from the notes of our transport. The notes
// come first: they have the status where a client reports a JSON error for an error page, and the cause where a client
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
		e.Message, e.Err = cmp.Or(disconnected(o.err), o.err.Error()), withoutContext(o.err)
	default:
		if status, message := splitStatus(err.Error()); status != 0 {
			e.Status, e.Class = status, classOf(status, nil)
			e.Message = cmp.Or(message, http.StatusText(status), "no message")
			break
		}
		e.Class = brokenClass(err, llm.ClassUnknown)
		e.Message = cmp.Or(unreadable(err, n.seen(), n.raw()), disconnected(err), err.Error())
	}
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

// classOf classifies by the provider's documented codes, then by status. Words of messages decide nothing, because they
// may repeat the prompt.
func classOf(status int, codes []string) llm.Class {
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
	case status >= 500: // 529 is Anthropic's "overloaded"
		return llm.ClassOverloaded
	}
	return llm.ClassPermanent
}

// brokenClass classifies the error of a connection, and returns other for any other error.
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

// namesTemperature reports whether err is a request refused because of its temperature. It looks at words, because the
// providers have no common code for it. A wrong guess costs one more call.
func namesTemperature(err error, n *notes) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	body := n.outcome().body
	p := parseProblem(body)
	words := e.Message
	if len(body) > 0 && p.message == "" {
		words = string(body)
	}
	return p.param == "temperature" || strings.Contains(strings.ToLower(words), "temperature")
}

// statusPrefix is the beginning of the clients' errors of failed responses. It is anchored, because anybody's words may
// follow.
var statusPrefix = regexp.MustCompile(
	`^(?:anthropic: failed to create (?:message|completion): )?` + // its only wrapping
		`(?:API returned )?unexpected status code: ([1-5]\d\d)(?:$|: |, body: )`)

// splitStatus splits a client's error text into the status at its beginning and the rest; 0 without a status.
func splitStatus(text string) (status int, message string) {
	if m := statusPrefix.FindStringSubmatch(text); m != nil {
		status, _ = strconv.Atoi(m[1])
		return status, text[len(m[0]):]
	}
	// Ollama's client says "503 Service Unavailable" and nothing else.
	number, rest, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	if err != nil || status < 300 || rest == "" || http.StatusText(status) != rest {
		return 0, ""
	}
	return status, ""
}

// problem is the content of the body of a failed response.
type problem struct {
	message string
	codes   []string // code and type
	param   string   // the refused parameter
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
	}
	if json.Unmarshal(inner, &p) != nil {
		return problem{}
	}
	str := func(v any) string { s, _ := v.(string); return s }
	return problem{
		message: cmp.Or(str(p.Message), str(p.Detail), str(p.Code), str(p.Type)),
		codes:   []string{str(p.Code), str(p.Type)},
		param:   str(p.Param),
	}
}

package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/llm"
)

// Failure makes the error of a call from err, which the client returned, and from what RoundTrip saw. That comes first:
// it has the status where a client reports a JSON error for an error page, and the cause where a client says "network
// error". An error in a reply whose status is a success counts as if it had the status that it names. Its text holds no
// key that was sent.
func (c *Call) Failure(err error) *llm.Error {
	e := &llm.Error{}
	o := c.outcome()
	status, p, reported := c.report()
	account := false
	switch {
	case reported:
		e.Status, e.RetryAfter = status, cmp.Or(o.retryAfter, p.retryAfter)
		e.Class, account = classify(status, p)
		e.Message = cmp.Or(p.message, http.StatusText(status), "no message")
	case o.err != nil:
		e.Class = brokenClass(o.err, llm.ClassOverloaded)
		e.Message, e.Err = cmp.Or(c.disconnected(o.err), o.err.Error()), withoutContext(o.err)
	default:
		e.Class, e.Err = brokenClass(err, llm.ClassUnknown), withoutContext(err)
		e.Message = cmp.Or(unreadable(err, c.Sent(), c.Raw()), c.disconnected(err), err.Error())
		if errors.Is(err, ErrForm) || strings.HasPrefix(e.Message, noJSON) && strings.HasSuffix(e.Message, addressed) {
			e.Class = llm.ClassPermanent
		}
	}
	if account {
		e.Err = llmerr.ErrAccount
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

// Class classifies by the provider's documented codes, then by status.
func Class(status int, codes ...string) llm.Class {
	for _, code := range codes {
		switch code {
		case "context_length_exceeded", "string_above_max_length", // OpenAI
			"exceed_context_size_error", "tokens_limit_reached": // llama.cpp, GitHub
			return llm.ClassContextTooLong
		case "content_filter", "content_policy_violation", "data_inspection_failed": // Azure, OpenAI, DashScope
			return llm.ClassRefused
		case "insufficient_quota": // OpenAI: a 429 for which waiting is of no use
			return llm.ClassPermanent
		}
	}
	return llm.ClassOf(llm.StatusError(status, 0, nil))
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

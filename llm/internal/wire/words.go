package wire

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// This file says in words for people what went wrong. What the server sent stands in the trace, as far as that shows
// replies.

// disconnected says why there is no whole reply; "" for an error that is not about a connection.
func (c *Call) disconnected(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "there is no server " + name.Name
	case errors.As(err, &certificate):
		return "the certificate of the server is not valid: " + certificate.Err.Error()
	case errors.As(err, &network) && network.Timeout():
		return "the server did not answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		at, _ := url.Parse(c.url)
		return "cannot reach " + at.Scheme + "://" + at.Host + ": " + strings.TrimPrefix(op.Err.Error(), "connect: ") +
			". Is the server running?"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection broke off before the reply was whole"
	}
	return ""
}

const (
	noJSON = "the server's reply is no JSON"

	// addressed ends what is said of a reply that no model gives.
	addressed = ": is its address right?"
)

// unreadable says why a client could not read the reply of a server that reported a success, whose first bytes are head
// where our transport saw it; "" where neither tells.
func unreadable(err error, seen bool, head []byte) string {
	head = bytes.TrimSpace(head)
	broken := isJSONError(err)
	switch {
	case seen && len(head) == 0 && broken:
		return "the server's reply is empty"
	case broken && isPage(head):
		return noJSON + " but " + page(head) + addressed
	case broken && len(head) > 0 && json.Valid(head), errors.Is(err, ErrForm):
		return ErrForm.Error()
	case broken && len(head) > 0 && !bytes.ContainsRune([]byte("{["), rune(head[0])):
		return noJSON + " but text" + addressed
	case broken:
		return noJSON
	}
	return ""
}

// nothingBut says what a reply without text holds, in words that continue "the reply is empty"; "" for nothing known.
func nothingBut(raw []byte) string {
	var reply any
	if json.Unmarshal(raw, &reply) != nil {
		return ""
	}
	reasoning, call := false, false
	var walk func(key string, v any)
	walk = func(key string, v any) {
		kind, _ := v.(string)
		if key != "type" {
			kind = key
		}
		empty := v == nil || v == "" || v == false
		switch v := v.(type) {
		case []any:
			empty = len(v) == 0
			for _, e := range v {
				walk("", e)
			}
		case map[string]any:
			for key, value := range v {
				walk(key, value)
			}
		}
		reasoning = reasoning || !empty && reasons[kind]
		call = call || !empty && calls[kind]
	}
	walk("", reply)
	switch {
	case call:
		return ": it holds nothing but the call of a tool that nobody offered"
	case reasoning:
		return ": it holds nothing but reasoning"
	}
	return ""
}

// reasons and calls are the fields and types of what a reply holds beside its text.
var (
	reasons = map[string]bool{"reasoning_content": true, "reasoning": true, "reasoning_details": true, "thinking": true,
		"redacted_thinking": true,
		"thought":           true, "reasoning_text": true}
	calls = map[string]bool{"tool_calls": true, "function_call": true, "functionCall": true, "tool_use": true,
		"tool_call": true}
)

// isJSONError reports whether a client could not decode a reply. Some of them hide the type of the error.
func isJSONError(err error) bool {
	if errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError)) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	text := err.Error()
	for _, words := range []string{"invalid character ", "unexpected end of JSON input", "cannot unmarshal ",
		"the client cannot read the reply"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// isPage reports whether a body starts like a page or another document in tags.
func isPage(body []byte) bool { return bytes.HasPrefix(body, []byte("<")) }

// page names a page by its title.
func page(body []byte) string {
	if m := title.FindSubmatch(body); m != nil {
		return "a web page (" + strings.TrimSpace(html.UnescapeString(string(m[1]))) + ")"
	}
	return "a web page"
}

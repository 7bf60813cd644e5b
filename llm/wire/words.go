package wire

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net"
	"regexp"
	"strings"
)

// This file says in words for people what went wrong. What the server sent stands in the trace, as far as that shows
// replies.

// disconnected says why there is no whole reply; "" for an error that is not about a connection.
func disconnected(err error) string {
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
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil:
		return "no server answers at " + op.Addr.String() + ": " + strings.TrimPrefix(op.Err.Error(), "connect: ")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection broke off before the reply was whole"
	}
	return ""
}

// unreadable says why a client could not read the reply of a server that reported a success, whose first bytes are head
// where our transport saw it; "" where neither tells.
func unreadable(err error, seen bool, head []byte) string {
	head = bytes.TrimSpace(head)
	broken := isJSONError(err)
	switch reported := problemIn(head); {
	case seen && len(head) == 0 && broken:
		return "the server's reply is empty"
	case reported != "":
		return reported
	case broken && isPage(head):
		return "the server's reply is no JSON but " + page(head) + ": is its address right?"
	case broken && len(head) > 0 && json.Valid(head):
		return "the server's reply is JSON of another form than the client reads: is its address right?"
	case broken:
		return "the server's reply is no JSON"
	}
	return ""
}

// problemIn returns the words of the field "error" of a reply; "" without one.
func problemIn(head []byte) string {
	var reply struct {
		Error any `json:"error"`
	}
	if json.Unmarshal(head, &reply) != nil || reply.Error == nil {
		return ""
	}
	return cmp.Or(parseProblem(head).message, "the server reports an error without words")
}

// isJSONError reports whether a client could not decode a reply. Some of them hide the type of the error.
func isJSONError(err error) bool {
	if errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError)) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	text := err.Error()
	for _, words := range []string{"invalid character ", "unexpected end of JSON input", "cannot unmarshal ", "the client cannot read the reply"} {
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

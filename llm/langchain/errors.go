package langchain

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
)

// failure makes the error of a call from err, which the client returned, and from the notes of our transport. Without
// that it reads the texts of the clients.
func failure(err error, n *notes) *llm.Error {
	e := n.Failure(err)
	if n.Failed() {
		return e
	}
	switch err.Error() { // those of langchaingo's OpenAI client
	case "request timeout: network operation exceeded timeout", "request timeout: API call exceeded deadline":
		e.Class = llm.ClassTimeout
	case "network error: failed to reach API server":
		e.Class = llm.ClassOverloaded
	}
	if status, message := splitStatus(err.Error()); status != 0 {
		e.Status, e.Class = status, wire.Class(status)
		e.Message = cmp.Or(message, http.StatusText(status), "no message")
	}
	return e
}

// namesTemperature reports whether err is a request refused because of its temperature. Without our transport it looks
// for the word, and a wrong guess costs one more call.
func namesTemperature(err error, n *notes) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	if n.Sent() {
		return n.Names("temperature")
	}
	return strings.Contains(strings.ToLower(e.Message), "temperature")
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

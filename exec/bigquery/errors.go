package bigquery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/googleapi"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// suggestion is what the service adds to a name that it does not know: another one, which a policy may hide.
var suggestion = regexp.MustCompile(`;? ?[Dd]id you mean [^?]*\??`)

// unknown finds the name in the words of the service for one that it does not know.
var unknown = []*regexp.Regexp{
	regexp.MustCompile(`^Unrecognized name: ([^;\s]+)`),
	regexp.MustCompile(`^Column (\S+) in USING clause not found`),
	regexp.MustCompile(`^Name (\S+) not found inside`),
	regexp.MustCompile(`^Field name (\S+) does not exist`),
	regexp.MustCompile(`^Function not found: ([^;\s]+)`),
	regexp.MustCompile(`^Column name (\S+) is ambiguous`),
	regexp.MustCompile(`^Not found: (?:Table|Dataset) (?:\S+[.:])?(\S+)`),
	regexp.MustCompile(`^Table (?:name )?"([^"]+)" (?:missing|must be)`),
}

// apiError is an error of the client whose text holds no credential. busy: it goes away with time.
type apiError struct {
	text  string
	cause error
	busy  bool
}

func (e *apiError) Error() string        { return e.text }
func (e *apiError) Unwrap() error        { return e.cause }
func (e *apiError) Is(target error) bool { return e.busy && target == exec.ErrBusy }

// reasonOf is the reason of an answer in the API's own word: "accessDenied".
func reasonOf(e *googleapi.Error) string {
	if len(e.Errors) > 0 {
		return e.Errors[0].Reason
	}
	return ""
}

// classify gives an error of the client its type. fault is what is wrong with a statement that the service rejects for
// no reason that its words tell.
func classify(err error, fault string) error {
	if err == nil || exec.IsClassified(err) || errors.As(err, new(*apiError)) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		var answer *googleapi.Error // one that says "busy" was tried again until the end
		if !errors.As(err, &answer) || !isBusy(reasonOf(answer), answer.Code) {
			return fmt.Errorf("bigquery: %w", err)
		}
	}
	reason, message, code := said(err)
	switch reason {
	case "invalidQuery", "invalid", "badRequest", "duplicate":
		return invalidOf(message, fault)
	case "notFound":
		if absent.MatchString(message) { // and no job or project
			return invalidOf(message, fault)
		}
	case "accessDenied":
		if name, ok := strings.CutPrefix(message, "Access Denied: Table "); ok {
			name, _, _ = strings.Cut(name, ": ")
			return &exec.RefusedError{Reason: "table", Detail: "the account of the client may not read " + name}
		}
	}
	if limit := limits[reason]; limit != "" {
		return &exec.LimitError{Limit: limit, Max: message}
	}
	return &apiError{"bigquery: " + trace.RedactCredentials(err.Error()), err, isBusy(reason, code)}
}

var (
	// absent begins the message of the service about a table or dataset that is not there.
	absent = regexp.MustCompile(`^Not found: (?:Table|Dataset)`)
	// limits are the limits that errors are about, by their reason.
	limits = map[string]string{
		"bytesBilledLimitExceeded": "scanned bytes", "resourcesExceeded": "memory", "responseTooLarge": "memory",
		"timeout": "time",
	}
)

// said is what the service says in an error.
func said(err error) (reason, message string, code int) {
	var failed *bigquery.Error
	var answer *googleapi.Error
	switch {
	case errors.As(err, &failed):
		return failed.Reason, failed.Message, 0
	case errors.As(err, &answer):
		return reasonOf(answer), answer.Message, answer.Code
	}
	return "", "", 0
}

func isBusy(reason string, code int) bool {
	switch reason {
	case "rateLimitExceeded", "jobRateLimitExceeded", "backendError", "internalError", "tableUnavailable":
		return true
	}
	return code == http.StatusTooManyRequests || code >= 500
}

// invalidOf reads what the service says of a statement. Where in the text it is stands in the words: "at [1:8]".
func invalidOf(message string, fault string) error {
	e := &exec.InvalidError{Fault: fault, Message: message}
	if strings.HasPrefix(message, "Syntax error") {
		e.Fault = "syntax"
	}
	for _, r := range unknown {
		if m := r.FindStringSubmatch(message); m != nil {
			e.Fault, e.Name = "schema", strings.Trim(m[1], "`\"")
		}
	}
	return e
}

// unblamed gives an error of our own look at a table a type that blames no statement.
func unblamed(err error) error {
	if typed := classify(err, "run"); !exec.IsRejection(typed) {
		return typed
	}
	return &apiError{"bigquery: looking at the datasets: " + trace.RedactCredentials(err.Error()), err, false}
}

func tooManyBytes(most int64) error {
	return &exec.LimitError{Limit: "scanned bytes", Max: fmt.Sprintf("%d; Config.MaxBytesBilled allows more", most)}
}

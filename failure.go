package texttosql

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// level is Error where nothing can be answered until somebody changes something, and Warn where that helps.
func level(c failure.Class) slog.Level {
	switch c {
	case failure.Key, failure.Config, failure.Unguarded, failure.Empty, failure.Database, failure.Internal, failure.Other:
		return slog.LevelError
	case failure.Time, failure.Budget, failure.Limit, failure.Rate, failure.Provider, failure.TooLong, failure.Busy:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// failureText is a row of the table: what every error of a class has in common.
type failureText struct {
	message, advice string
	exit, status    int
}

// failureTexts is the table. A message that is "" is made of the error.
var failureTexts = map[failure.Class]failureText{
	failure.None:         {"", "", 0, http.StatusOK},
	failure.Cancelled:    {"The question was cancelled.", "", 130, 499},
	failure.Time:         {"The time for the question is over.", "Allow more time, or ask with fewer samples.", 5, http.StatusGatewayTimeout},
	failure.Budget:       {"The budget of the question is spent.", "Ask with fewer samples, or allow a larger budget.", 5, http.StatusTooManyRequests},
	failure.Limit:        {"", "Ask for less: a shorter time, fewer rows.", 5, http.StatusUnprocessableEntity},
	failure.Input:        {"", "", 2, http.StatusUnprocessableEntity},
	failure.Unclear:      {"", "Choose one of the options.", 3, http.StatusConflict},
	failure.Unsure:       {"There is an answer, but it is too doubtful to give.", "Say more exactly what is asked for: the answers disagree.", 3, http.StatusUnprocessableEntity},
	failure.Unanswerable: {"", "Ask for something that the data has.", 3, http.StatusUnprocessableEntity},
	failure.Writes:       {"This only reads.", "Ask for what is stored; change it elsewhere.", 4, http.StatusForbidden},
	failure.Denied:       {"", "Ask about other tables and columns, or have the policy changed.", 4, http.StatusForbidden},
	failure.Refused:      {"", "Ask in other words: what was written may not run here.", 4, http.StatusForbidden},
	failure.UnknownName:  {"", "Check the names in the question.", 1, http.StatusUnprocessableEntity},
	failure.Invalid:      {"", "Ask in other words.", 1, http.StatusUnprocessableEntity},
	failure.NoStatement:  {"The model wrote no statement.", "Ask for something that the database can tell, or use a larger model.", 1, http.StatusUnprocessableEntity},
	failure.NoAnswer:     {"No statement passed the checks.", "Check the names in the question, or correct what was misunderstood.", 1, http.StatusUnprocessableEntity},
	failure.Key:          {"The provider of the model refuses the key or the account.", "Check the key.", 1, http.StatusBadGateway},
	failure.Rate:         {"The provider of the model takes no more requests now.", "Ask again in a while.", 1, http.StatusServiceUnavailable},
	failure.Provider:     {"The model cannot be asked.", "Ask again in a while, or check the name of the model.", 1, http.StatusBadGateway},
	failure.Declined:     {"The model declined to answer.", "Ask in other words.", 1, http.StatusUnprocessableEntity},
	failure.TooLong:      {"The prompt does not fit the model.", "Use a model with a larger context, or show it fewer tables.", 1, http.StatusBadGateway},
	failure.Busy:         {"The database is busy: somebody holds a lock, or all connections.", "Ask again in a while.", 1, http.StatusServiceUnavailable},
	failure.Database:     {"The database cannot be asked now.", "See the log of the program.", 1, http.StatusServiceUnavailable},
	failure.Empty:        {"The database has no table that may be read.", "Look at its path and at the policy.", 1, http.StatusUnprocessableEntity},
	failure.Unguarded:    {"", "", 1, http.StatusInternalServerError},
	failure.Config:       {"", "Change the configuration.", 2, http.StatusInternalServerError},
	failure.NoModel:      {"There is no model to ask.", "Name a model, or run a statement.", 2, http.StatusNotImplemented},
	failure.Interrupted:  {"", "Resume: it goes on where it stopped.", 1, http.StatusServiceUnavailable},
	failure.Missing:      {"There is no such conversation.", "Begin another one.", 1, http.StatusNotFound},
	failure.Conflict:     {"Another program has changed this conversation.", "Look at it again.", 1, http.StatusConflict},
	failure.Stale:        {"The database or the settings have changed since the question was asked.", "Ask it again.", 1, http.StatusConflict},
	failure.State:        {"This cannot be done now.", "", 1, http.StatusConflict},
	failure.Correction:   {"", "", 1, http.StatusUnprocessableEntity},
	failure.Internal:     {"A part of the program failed.", "See the log of the program.", 1, http.StatusInternalServerError},
	failure.Other:        {"", "", 1, http.StatusInternalServerError},
}

// Failure says what an error of this package means to a person, a command and a service. It knows every error of questions
// and conversations, wrapped or joined; nil is failure.None. Message repeats an engine's words about a statement, which
// may name what the statement names, and of failure.Other the error itself, without credentials: a service that must not
// tell strangers where its database is shows Message of all classes but that one. Safe for concurrent use.
func Failure(err error) failure.Report {
	rule := failureOf(err)
	text := failureTexts[rule.class]
	f := failure.Report{Class: rule.class, Message: text.message, Advice: text.advice, ExitCode: text.exit, HTTPStatus: text.status}
	if message := strings.TrimSuffix(rule.message, ": "); message != "" {
		f.Message = sentence(message)
	}
	if rule.advice != "" {
		f.Advice = sentence(rule.advice)
	}
	if stopped := (*session.InterruptedError)(nil); errors.As(err, &stopped) {
		inner := Failure(stopped.Err)
		f.ExitCode, f.HTTPStatus = inner.ExitCode, inner.HTTPStatus
	}
	return f
}

// tail is the text of an error that no row of the table has, as a person may read it.
func tail(err error) string {
	return withoutPackage(trace.Scrub(strategy.ErrorLine(llm.Scrub(err.Error()), false)))
}

// packageName is the name of a package in front of an error, or what exec says of every rejection.
var packageName = regexp.MustCompile(`^(?:[a-z]{2,12}|refused \([a-z-]+\)|invalid statement \([a-z]+\)): `)

// withoutPackage takes the names of packages off the front of a text.
func withoutPackage(text string) string {
	for {
		name := packageName.FindString(text)
		if name == "" {
			return text
		}
		if strings.HasSuffix(name, "): ") { // behind what exec says of a rejection may stand the name of a table
			return text[len(name):]
		}
		text = text[len(name):]
	}
}

// sentence makes one of a text: one line, a capital in front, a full stop behind.
func sentence(text string) string {
	text = strings.TrimSpace(strategy.ErrorLine(text, false))
	if text == "" {
		return ""
	}
	// A name keeps its spelling.
	if word, _, _ := strings.Cut(text, " "); slices.Contains([]string{"no", "the", "there", "a", "an", "it", "near", "this"}, word) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		text += "."
	}
	return text
}

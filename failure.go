package texttosql

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// FailureClass is what kind of error a question or a call of a conversation ended with. The strings never change.
type FailureClass string

// The classes.
const (
	FailureNone         FailureClass = ""             // no error
	FailureCancelled    FailureClass = "cancelled"    // the caller gave up
	FailureTime         FailureClass = "time"         // the deadline of the question is over
	FailureBudget       FailureClass = "budget"       // the budget of model calls is spent
	FailureLimit        FailureClass = "limit"        // a statement takes more time, memory or the like than it may
	FailureInput        FailureClass = "input"        // the question cannot be asked as it is: empty, too long
	FailureUnclear      FailureClass = "unclear"      // the user is asked something (*session.QuestionError)
	FailureUnsure       FailureClass = "unsure"       // the best answer is below the confidence asked for
	FailureUnanswerable FailureClass = "unanswerable" // the data has nothing for the question (WithRefuseBelow)
	FailureWrites       FailureClass = "writes"       // what was asked for would change something
	FailureDenied       FailureClass = "denied"       // the policy denies a table or column, or the schema does not have it
	FailureRefused      FailureClass = "refused"      // the guard refuses the statement, or those of all samples
	FailureUnknownName  FailureClass = "unknown-name" // a table or column that the database does not have
	FailureInvalid      FailureClass = "invalid"      // the database does not take the statement
	FailureNoStatement  FailureClass = "no-statement" // nothing readable in the replies
	FailureNoAnswer     FailureClass = "no-answer"    // no statement passed the checks, for several reasons
	FailureKey          FailureClass = "key"          // the provider refuses the key or the account
	FailureRate         FailureClass = "rate"         // the provider takes no more requests now
	FailureProvider     FailureClass = "provider"     // the provider does not answer, or not this request
	FailureDeclined     FailureClass = "declined"     // the provider or the model declined the content
	FailureTooLong      FailureClass = "too-long"     // the prompt does not fit the model
	FailureBusy         FailureClass = "busy"         // locks or connections of the database are taken
	FailureDatabase     FailureClass = "database"     // the database cannot be asked
	FailureEmpty        FailureClass = "empty"        // nothing of the database may be read
	FailureUnguarded    FailureClass = "unguarded"    // the database cannot be guarded as it was opened
	FailureConfig       FailureClass = "config"       // an option or the policy is wrong
	FailureNoModel      FailureClass = "no-model"     // the engine only runs statements (NoModel)
	FailureInterrupted  FailureClass = "interrupted"  // a conversation stopped before its answer; Resume goes on
	FailureMissing      FailureClass = "missing"      // there is no such conversation
	FailureConflict     FailureClass = "conflict"     // another process has the conversation
	FailureStale        FailureClass = "stale"        // the schema or the configuration changed since
	FailureState        FailureClass = "state"        // the call makes no sense now
	FailureCorrection   FailureClass = "correction"   // the correction cannot be used
	FailureInternal     FailureClass = "internal"     // a part of the program panicked, or a record is broken
	FailureOther        FailureClass = "other"        // an error that this package does not know
)

// level is Error where nothing can be answered until somebody changes something, and Warn where that helps.
func (c FailureClass) level() slog.Level {
	switch c {
	case FailureKey, FailureConfig, FailureUnguarded, FailureEmpty, FailureDatabase, FailureInternal, FailureOther:
		return slog.LevelError
	case FailureTime, FailureBudget, FailureLimit, FailureRate, FailureProvider, FailureTooLong, FailureBusy:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// FailureReport is what a program does about an error.
type FailureReport struct {
	Class      FailureClass
	Message    string // what a person reads: one sentence without names of packages, keys or a provider's own words
	Advice     string // what to do next, one sentence; "" where nothing is known
	ExitCode   int    // the exit code of a command, as cmd/texttosql has it
	HTTPStatus int    // the HTTP status of a service
}

// failureText is a row of the table: what every error of a class has in common.
type failureText struct {
	message, advice string
	exit, status    int
}

// failureTexts is the table. A message that is "" is made of the error.
var failureTexts = map[FailureClass]failureText{
	FailureNone:         {"", "", 0, http.StatusOK},
	FailureCancelled:    {"The question was cancelled.", "", 130, 499},
	FailureTime:         {"The time for the question is over.", "Allow more time, or ask with fewer samples.", 5, http.StatusGatewayTimeout},
	FailureBudget:       {"The budget of the question is spent.", "Ask with fewer samples, or allow a larger budget.", 5, http.StatusTooManyRequests},
	FailureLimit:        {"", "Ask for less: a shorter time, fewer rows.", 5, http.StatusUnprocessableEntity},
	FailureInput:        {"", "", 2, http.StatusUnprocessableEntity},
	FailureUnclear:      {"", "Choose one of the options.", 3, http.StatusConflict},
	FailureUnsure:       {"There is an answer, but it is too doubtful to give.", "Say more exactly what is asked for: the answers disagree.", 3, http.StatusUnprocessableEntity},
	FailureUnanswerable: {"", "Ask for something that the data has.", 3, http.StatusUnprocessableEntity},
	FailureWrites:       {"This only reads.", "Ask for what is stored; change it elsewhere.", 4, http.StatusForbidden},
	FailureDenied:       {"", "Ask about other tables and columns, or have the policy changed.", 4, http.StatusForbidden},
	FailureRefused:      {"", "Ask in other words: what was written may not run here.", 4, http.StatusForbidden},
	FailureUnknownName:  {"", "Check the names in the question.", 1, http.StatusUnprocessableEntity},
	FailureInvalid:      {"", "Ask in other words.", 1, http.StatusUnprocessableEntity},
	FailureNoStatement:  {"The model wrote no statement.", "Ask for something that the database can tell, or use a larger model.", 1, http.StatusUnprocessableEntity},
	FailureNoAnswer:     {"No statement passed the checks.", "Check the names in the question, or correct what was misunderstood.", 1, http.StatusUnprocessableEntity},
	FailureKey:          {"The provider of the model refuses the key or the account.", "Check the key.", 1, http.StatusBadGateway},
	FailureRate:         {"The provider of the model takes no more requests now.", "Ask again in a while.", 1, http.StatusServiceUnavailable},
	FailureProvider:     {"The model cannot be asked.", "Ask again in a while, or check the name of the model.", 1, http.StatusBadGateway},
	FailureDeclined:     {"The model declined to answer.", "Ask in other words.", 1, http.StatusUnprocessableEntity},
	FailureTooLong:      {"The prompt does not fit the model.", "Use a model with a larger context, or show it fewer tables.", 1, http.StatusBadGateway},
	FailureBusy:         {"The database is busy: somebody holds a lock, or all connections.", "Ask again in a while.", 1, http.StatusServiceUnavailable},
	FailureDatabase:     {"The database cannot be asked now.", "See the log of the program.", 1, http.StatusServiceUnavailable},
	FailureEmpty:        {"The database has no table that may be read.", "Look at its path and at the policy.", 1, http.StatusUnprocessableEntity},
	FailureUnguarded:    {"", "", 1, http.StatusInternalServerError},
	FailureConfig:       {"", "Change the configuration.", 2, http.StatusInternalServerError},
	FailureNoModel:      {"There is no model to ask.", "Name a model, or run a statement.", 2, http.StatusNotImplemented},
	FailureInterrupted:  {"", "Resume: it goes on where it stopped.", 1, http.StatusServiceUnavailable},
	FailureMissing:      {"There is no such conversation.", "Begin another one.", 1, http.StatusNotFound},
	FailureConflict:     {"Another program has changed this conversation.", "Look at it again.", 1, http.StatusConflict},
	FailureStale:        {"The database or the settings have changed since the question was asked.", "Ask it again.", 1, http.StatusConflict},
	FailureState:        {"This cannot be done now.", "", 1, http.StatusConflict},
	FailureCorrection:   {"", "", 1, http.StatusUnprocessableEntity},
	FailureInternal:     {"A part of the program failed.", "See the log of the program.", 1, http.StatusInternalServerError},
	FailureOther:        {"", "", 1, http.StatusInternalServerError},
}

// Failure says what an error of this package means to a person, a command and a service. It knows every error of questions
// and conversations, wrapped or joined; nil is FailureNone. Message repeats an engine's words about a statement, which
// may name what the statement names, and of FailureOther the error itself, without credentials: a service that must not
// tell strangers where its database is shows Message of all classes but that one. Safe for concurrent use.
func Failure(err error) FailureReport {
	own := failureOf(err)
	text := failureTexts[own.class]
	f := FailureReport{Class: own.class, Message: text.message, Advice: text.advice, ExitCode: text.exit, HTTPStatus: text.status}
	if message := strings.TrimSuffix(own.message, ": "); message != "" {
		f.Message = sentence(message)
	}
	if own.advice != "" {
		f.Advice = sentence(own.advice)
	}
	if stopped := (*InterruptedError)(nil); errors.As(err, &stopped) {
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

package failure

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/session"
)

// classText is a row of the table: what every error of a class has in common.
type classText struct {
	message, advice string
	exit, status    int
}

// Finer classes of the table. Their texts, exit codes and statuses differ, and a program treats each like its public
// class.
const (
	none        Class = ""
	noModel     Class = "no-model"     // the question needs a model, and the engine has none (texttosql.NoModel)
	correction  Class = "correction"   // the correction cannot be used
	writes      Class = "writes"       // the question or the statement would change something
	denied      Class = "denied"       // the policy denies a table or column, or the schema does not have it
	unknownName Class = "unknown-name" // a table or column that the database does not have
	noStatement Class = "no-statement" // no reply has a statement
	declined    Class = "declined"     // the provider or the model declined the content
	tooLong     Class = "too-long"     // the prompt does not fit the model
	empty       Class = "empty"        // the database has no table that may be read
	unguarded   Class = "unguarded"    // the database cannot be guarded as it was opened
	state       Class = "state"        // the state of the conversation does not allow the call
)

// publicClass maps the finer classes to the public ones.
var publicClass = map[Class]Class{
	noModel: Input, correction: Input,
	writes: Refused, denied: Refused,
	unknownName: Invalid,
	noStatement: NoAnswer, declined: NoAnswer,
	tooLong: Provider,
	empty:   Config, unguarded: Config,
	state: Conflict,
}

// classTexts is the table. A message that is "" is made of the error.
var classTexts = map[Class]classText{
	none:      {"", "", 0, http.StatusOK},
	Cancelled: {"The question was cancelled.", "", 130, 499},
	Time: {"The time for the question is over.", "Allow more time, or ask with fewer samples.", 5,
		http.StatusGatewayTimeout},
	Budget: {"The budget of the question is spent.", "Ask with fewer samples, or allow a larger budget.", 5,
		http.StatusTooManyRequests},
	Limit:        {"", "Ask for less: a shorter time, fewer rows.", 5, http.StatusUnprocessableEntity},
	Input:        {"", "", 2, http.StatusUnprocessableEntity},
	Unclear:      {"", "Choose one of the options.", 3, http.StatusConflict},
	Unsure:       {"", "Say more exactly what is asked for: the answers disagree.", 3, http.StatusUnprocessableEntity},
	Unanswerable: {"", "Ask for something that the data has.", 3, http.StatusUnprocessableEntity},
	writes:       {"This only reads.", "Ask for what is stored; change it elsewhere.", 4, http.StatusForbidden},
	denied:       {"", "Ask about other tables and columns, or have the policy changed.", 4, http.StatusForbidden},
	Refused:      {"", "Ask in other words: what was written may not run here.", 4, http.StatusForbidden},
	unknownName:  {"", "Check the names in the question.", 1, http.StatusUnprocessableEntity},
	Invalid:      {"", "Ask in other words.", 1, http.StatusUnprocessableEntity},
	noStatement: {"The model wrote no statement.", "Ask for something that the database can tell, or use a larger model.",
		1, http.StatusUnprocessableEntity},
	NoAnswer: {"No statement passed the checks.",
		"Check the names in the question, or correct what was misunderstood.", 1, http.StatusUnprocessableEntity},
	Key: {"The provider of the model refuses the key or the account.", "Check the key.", 1,
		http.StatusBadGateway},
	Rate: {"The provider of the model takes no more requests now.", "Ask again in a while.", 1,
		http.StatusServiceUnavailable},
	Provider: {"The model cannot be asked.", "Ask again in a while, or check the name of the model.", 1,
		http.StatusBadGateway},
	declined: {"The model declined to answer.", "Ask in other words.", 1, http.StatusUnprocessableEntity},
	tooLong: {"The prompt does not fit the model.", "Use a model with a larger context, or show it fewer tables.", 1,
		http.StatusBadGateway},
	Busy: {"The database is busy: somebody holds a lock, or all connections.", "Ask again in a while.", 1,
		http.StatusServiceUnavailable},
	Database: {"The database cannot be asked now.", "See the log of the program.", 1, http.StatusServiceUnavailable},
	empty: {"The database has no table that may be read.", "Look at its path and at the policy.", 1,
		http.StatusUnprocessableEntity},
	unguarded:   {"", "", 1, http.StatusInternalServerError},
	Config:      {"", "Change the configuration.", 2, http.StatusInternalServerError},
	noModel:     {"There is no model to ask.", "Name a model, or run a statement.", 2, http.StatusNotImplemented},
	Interrupted: {"", "Resume: it goes on where it stopped.", 1, http.StatusServiceUnavailable},
	Missing:     {"There is no such conversation.", "Begin another one.", 1, http.StatusNotFound},
	Conflict:    {"Another program has changed this conversation.", "Look at it again.", 1, http.StatusConflict},
	Stale: {"The database or the settings have changed since the question was asked.", "Ask it again.", 1,
		http.StatusConflict},
	state:      {"This cannot be done now.", "", 1, http.StatusConflict},
	correction: {"", "", 1, http.StatusUnprocessableEntity},
	Internal:   {"A part of the program failed.", "See the log of the program.", 1, http.StatusInternalServerError},
	Other:      {"", "", 1, http.StatusInternalServerError},
}

// Of describes an error of texttosql for a person, a command and a service. It knows every error of questions and
// conversations, wrapped or joined; the class of nil is "". Message may repeat an engine's words about a statement,
// with names from that statement. For the class Other, Message is the text of the error without credentials. That
// text may show where the database is, so a public service should not show it. Safe for concurrent use.
func Of(err error) Report {
	rule := failureOf(err)
	text := classTexts[rule.class]
	class := rule.class
	if public, finer := publicClass[class]; finer {
		class = public
	}
	f := Report{Class: class, Message: text.message, Advice: text.advice, ExitCode: text.exit, HTTPStatus: text.status}
	if message := strings.TrimSuffix(rule.message, ": "); message != "" {
		f.Message = sentence(message)
	}
	if rule.advice != "" {
		f.Advice = sentence(rule.advice)
	}
	if stopped := (*session.InterruptedError)(nil); errors.As(err, &stopped) {
		inner := Of(stopped.Err)
		f.ExitCode, f.HTTPStatus = inner.ExitCode, inner.HTTPStatus
	}
	return f
}

// tail is the text of an error that no row of the table has, as a person may read it.
func tail(err error) string {
	return withoutPackage(redact.Credentials(prompttext.ErrorLine(redact.Line(err.Error()), false)))
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
	text = strings.TrimSpace(prompttext.ErrorLine(text, false))
	if text == "" {
		return ""
	}
	// A name keeps its spelling.
	if word, _, _ := strings.Cut(text, " "); slices.Contains([]string{"no", "the", "there", "a", "an", "it", "near",
		"this", "look", "set"}, word) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		text += "."
	}
	return text
}

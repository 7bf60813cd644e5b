package texttosql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/replies"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
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
	class, message, advice := failureOf(err)
	text := failureTexts[class]
	f := FailureReport{Class: class, Message: text.message, Advice: text.advice, ExitCode: text.exit, HTTPStatus: text.status}
	if message = strings.TrimSuffix(message, ": "); message != "" {
		f.Message = sentence(message)
	}
	if advice != "" {
		f.Advice = sentence(advice)
	}
	if stopped := (*InterruptedError)(nil); errors.As(err, &stopped) {
		inner := Failure(stopped.Err)
		f.ExitCode, f.HTTPStatus = inner.ExitCode, inner.HTTPStatus
	}
	return f
}

// failureOf returns the class of an error, and what it says itself, "" where its class says all.
func failureOf(err error) (class FailureClass, message, advice string) {
	var (
		stopped  *InterruptedError
		asked    *session.QuestionError
		none     *strategy.NoCandidateError
		refused  *exec.RefusedError
		invalid  *exec.InvalidError
		limit    *exec.LimitError
		policy   *exec.PolicyError
		config   *strategy.ConfigError
		input    *InputError
		state    *StateError
		unusable *session.CorrectionError
		broken   *session.RecordError
		panicked *strategy.PanicError
		database *strategy.DatabaseError
		failed   *llm.Error
		told     interface{ Summary() session.Failure }
		open     *exec.UnguardedError
		nothing  *UnanswerableError
	)
	switch {
	case err == nil:
		return FailureNone, "", ""
	case errors.As(err, &stopped):
		inner := Failure(stopped.Err)
		if advice = inner.Advice; advice != "" && !strings.HasPrefix(advice, "Begin ") { // what is recorded would be read again
			advice += " Then resume: it goes on where it stopped."
		}
		return FailureInterrupted, inner.Message, advice
	case errors.Is(err, syscall.ENOSPC):
		return FailureInternal, "There is no space left on the disk where conversations and answers are kept", "Free some, then go on"
	case errors.Is(err, context.Canceled):
		return FailureCancelled, "", ""
	case errors.Is(err, llm.ErrBudget):
		return failureOfBudget(err)
	case errors.As(err, &asked):
		return FailureUnclear, asked.Message, ""
	case errors.As(err, &nothing):
		if len(nothing.Nearest) > 0 {
			advice = "There is " + strings.Join(nothing.Nearest, ", ")
		}
		return FailureUnanswerable, nothing.says(), advice
	case errors.Is(err, ErrAbstained):
		return FailureUnsure, "", ""
	case errors.As(err, &panicked), errors.Is(err, llm.ErrPanic):
		return FailureInternal, "", ""
	case errors.As(err, &told):
		return FailureNoAnswer, "", strings.Join(told.Summary().Recommendations, " ")
	case errors.As(err, &none):
		return failureOfSamples(none)
	case errors.As(err, new(*llm.ReplyError)):
		return FailureProvider, "The model does not reply in the form that the method needs", "Begin again with a larger model, or another strategy"
	case errors.Is(err, context.DeadlineExceeded):
		return FailureTime, "", ""

	case errors.Is(err, session.ErrNotFound), errors.Is(err, session.ErrInvalidID):
		return FailureMissing, "", ""
	case errors.Is(err, session.ErrConflict):
		return FailureConflict, "", ""
	case errors.Is(err, session.ErrStale):
		return FailureStale, "", ""
	case errors.As(err, new(busyError)):
		return FailureBusy, "The conversation is answering another question", "Wait for it, and ask again"
	case errors.As(err, &state):
		return FailureState, "", state.Hint
	case errors.Is(err, session.ErrMaxCorrections):
		return FailureState, "All corrections of this question are used", "Ask it in other words, or write the SQL by hand"
	case errors.Is(err, ErrForgotten):
		return FailureNone, "The answer is kept until the program ends, and forgotten then", ""
	case errors.Is(err, ErrNotStandalone):
		return FailureCorrection, "A follow-up means nothing alone", "Say the question so that it can be understood alone"
	case errors.As(err, &unusable):
		if len(unusable.Like) > 0 {
			advice = "Did you mean " + strings.Join(unusable.Like, ", ") + "?"
		}
		if unusable.Held != nil {
			advice = strings.TrimSpace(advice + " What holds all the same: " + unusable.Held.String())
		}
		return FailureCorrection, unusable.Reason, advice
	case errors.Is(err, session.ErrInvalidCorrection):
		return FailureCorrection, tail(err), ""
	case errors.As(err, &broken), errors.As(err, new(*replay.LineError)):
		return FailureInternal, "The record of this conversation cannot be read", "Begin another one"

	case errors.Is(err, ErrEmptyQuestion):
		return FailureInput, "The question is empty", ""
	case errors.As(err, &input):
		return FailureInput, fmt.Sprintf("The %s has %d bytes; the limit is %d", input.Field, input.Bytes, input.Limit), "Shorten it"
	case errors.Is(err, ErrNoModel):
		return FailureNoModel, "", ""
	case errors.Is(err, ErrNoScope):
		message = "It is not known on whose behalf this is asked, which the rules about rows need"
		if errors.As(err, &refused) {
			message = "It is not known on whose behalf this is asked: " + refused.Detail
		}
		return FailureRefused, message, "Ask on behalf of a tenant or a user"
	case errors.Is(err, exec.ErrNoRules):
		return FailureConfig, tail(exec.ErrNoRules), "Give the policy what the scopes are for, or ask without one"
	case errors.As(err, &refused):
		class = failureOfReason(string(refused.Reason), refused.Writes)
		if class == FailureNoStatement { // nobody but the caller wrote it
			return FailureRefused, refused.Detail, "Write one SELECT"
		}
		if !refused.Writes {
			message = refused.Detail
		}
		return class, message, statementAdvice[class]
	case errors.As(err, &invalid):
		class = failureOfReason(string(invalid.Fault), false)
		return class, invalid.Message, statementAdvice[class]
	case errors.Is(err, exec.ErrNoExecution):
		return FailureConfig, "Statements are not executed here", ""
	case errors.As(err, &limit):
		if limit.Limit == "columns" {
			columns, advice, _ := strings.Cut(tail(err), ". ")
			return FailureLimit, columns, advice
		}
		text := "The statement is over its limit on " + limit.Limit
		if limit.Max != "" {
			text += " (" + limit.Max + ")"
		}
		return FailureLimit, text, ""
	case is(err, ErrNoTables):
		return FailureEmpty, "", ""
	case errors.Is(err, linker.ErrNoTables):
		return FailureNoAnswer, "No table is relevant to the question", "Name what it is about as the tables do"
	case errors.Is(err, ErrBusy):
		return FailureBusy, "", ""
	case errors.As(err, &open):
		return FailureUnguarded, "The database cannot be guarded as it was opened: " + open.Reason, open.Remedy
	case errors.As(err, &policy):
		return FailureConfig, "The policy does not fit the database: " + strings.Join(policy.Unknown, ", "), "Change the policy"
	case errors.As(err, &config):
		return FailureConfig, strings.TrimPrefix(config.Field, "texttosql: ") + ": " + config.Problem, ""
	case errors.As(err, &failed):
		return failureOfModel(failed)
	case errors.As(err, &database), errors.Is(err, exec.ErrUnavailable), errors.Is(err, exec.ErrBroken):
		return FailureDatabase, "", ""
	}
	return FailureOther, tail(err), ""
}

// failureOfBudget is the class of a question whose budget is spent: that of the provider where none of its samples was answered,
// since each repeats its calls, and that of time where it never answered.
func failureOfBudget(err error) (class FailureClass, message, advice string) {
	var (
		none   *strategy.NoCandidateError
		failed *llm.Error
		spent  *llm.BudgetError
	)
	if errors.As(err, &none) && len(none.Rejected)+none.Votes > 0 {
		return FailureBudget, "", ""
	}
	switch {
	case errors.As(err, &failed):
		return failureOfModel(failed)
	case none != nil && errors.As(err, &spent) && spent.Limit == "time":
		return FailureTime, "The model did not answer within the time of the budget", ""
	}
	return FailureBudget, "", ""
}

// statementAdvice is the advice about one statement, whose writer can change it.
var statementAdvice = map[FailureClass]string{
	FailureWrites:      "Write one SELECT; change what is stored elsewhere",
	FailureDenied:      "Read other tables and columns, or have the policy changed; the schema tells which there are",
	FailureRefused:     "Write the statement without what was refused",
	FailureUnknownName: "Look at the schema for the names",
	FailureInvalid:     "Correct the statement",
}

// failureOfSamples goes by what most samples ended with: without a reply, or with a statement that was rejected.
func failureOfSamples(e *strategy.NoCandidateError) (class FailureClass, message, advice string) {
	if len(e.Failed) > len(e.Rejected) {
		return failureOf(e.Failed[0])
	}
	var (
		classes []FailureClass
		reasons []string
	)
	for _, c := range e.Rejected {
		if class := failureOfReason(c.Reason, c.Writes); !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
		if why := withoutPackage(strategy.ErrorLine(c.Rejected, false)); !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	message = "No statement passed the checks: " + strings.Join(reasons[:min(len(reasons), 3)], "; ")
	switch {
	case len(classes) != 1:
		return FailureNoAnswer, message, ""
	case classes[0] == FailureNoStatement:
		return classes[0], declinedWith(e.Rejected), ""
	case classes[0] == FailureWrites:
		return classes[0], "", ""
	}
	return classes[0], message, ""
}

// declinedWith is what the first model that declined said; "" where none did.
func declinedWith(rejected []vote.Candidate) string {
	i := slices.IndexFunc(rejected, func(c vote.Candidate) bool { return c.Reason == string(replies.ReasonRefusal) })
	if i < 0 {
		return ""
	}
	_, said, _ := strings.Cut(rejected[i].Rejected, string(replies.ReasonRefusal)+": ")
	return strings.Replace(said, "the model", "The model", 1)
}

// failureOfReason is the class of a rejected statement, by the stable word of its reason.
func failureOfReason(reason string, writes bool) FailureClass {
	switch {
	case writes:
		return FailureWrites
	case reason == "limit":
		return FailureLimit
	case reason == string(exec.FaultSchema):
		return FailureUnknownName
	case slices.Contains([]string{string(exec.FaultSyntax), string(exec.FaultCompile), string(exec.FaultRun), string(exec.FaultConstraint)}, reason):
		return FailureInvalid
	case reason == string(exec.ReasonTable), reason == string(exec.ReasonColumn):
		return FailureDenied
	case slices.Contains(unreadable, reason):
		return FailureNoStatement
	case reason == "":
		return FailureNoAnswer
	}
	return FailureRefused
}

// unreadable are the reasons of a reply that has no statement.
var unreadable = []string{
	"truncated", "refusal", "no-sql", "broken-json", "empty", "too-long",
	"not-utf8",
}

// failureOfModel is the class of a failed call. What the provider says itself may name an account, so it is left out.
func failureOfModel(e *llm.Error) (class FailureClass, message, advice string) {
	switch {
	case errors.Is(e, llm.ErrAccount):
		return FailureKey, "The account at the provider of the model has no money left, or its quota or limit is used up", e.Advice
	case e.Class == llm.ClassRefused:
		return FailureDeclined, "", ""
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return FailureKey, "", e.Advice
	case e.Class == llm.ClassRateLimit:
		if e.RetryAfter > 0 {
			advice = fmt.Sprintf("Ask again in %v", e.RetryAfter)
		}
		return FailureRate, "", advice
	case e.Class == llm.ClassContextTooLong:
		return FailureTooLong, "", ""
	case e.Class == llm.ClassNoRoom:
		return FailureProvider, "The model thought for longer than it may", "Ask it for less effort, or allow more (llm.Budget.Room)"
	case e.Class == llm.ClassCancelled:
		return FailureCancelled, "", ""
	}
	message = "The model cannot be asked: " + strings.ReplaceAll(e.Class.String(), "-", " ")
	if e.Class == llm.ClassPermanent || e.Class == llm.ClassUnknown {
		message = "The provider does not take the request"
	}
	if e.Status != 0 {
		message += fmt.Sprintf(" (status %d)", e.Status)
	}
	return FailureProvider, message, e.Advice
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

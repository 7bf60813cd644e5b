package texttosql

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/replies"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// failureRule says of an error what it means, where it knows it: its class, and what it says itself, "" where its class says all.
type failureRule func(err error) (f failure, known bool)

type failure struct {
	class           FailureClass
	message, advice string
}

// oneOf is a rule about errors that have no words of their own.
func oneOf(f failure, errs ...error) failureRule {
	return func(err error) (failure, bool) {
		return f, slices.ContainsFunc(errs, func(target error) bool { return errors.Is(err, target) })
	}
}

// when is a rule about errors of a kind whose words are in what wraps it.
func when(target error, say func(error) failure) failureRule {
	return func(err error) (f failure, known bool) {
		if known = errors.Is(err, target); known {
			f = say(err)
		}
		return f, known
	}
}

// typed is a rule about errors of a type.
func typed[E any](say func(E) failure) failureRule {
	return func(err error) (f failure, known bool) {
		var e E
		if known = errors.As(err, &e); known {
			f = say(e)
		}
		return f, known
	}
}

// always says the same of every error of a type.
func always[E any](f failure) failureRule { return typed(func(E) failure { return f }) }

// failureOf returns what the first rule says that knows the error.
func failureOf(err error) failure {
	for _, rule := range failureRules() {
		if f, known := rule(err); known {
			return f
		}
	}
	return failure{FailureOther, tail(err), ""}
}

// failureRules are the rules in the order in which they are asked: an error that wraps several is what the first of them says.
func failureRules() []failureRule {
	return []failureRule{
		func(err error) (failure, bool) { return failure{}, err == nil },
		typed(failureOfInterruption),
		oneOf(failure{FailureInternal, "There is no space left on the disk where conversations and answers are kept", "Free some, then go on"},
			syscall.ENOSPC),
		oneOf(failure{class: FailureCancelled}, context.Canceled),
		when(llm.ErrBudget, failureOfBudget),
		typed(func(e *session.QuestionError) failure { return failure{FailureUnclear, e.Message, ""} }),
		typed(failureOfNothing),
		typed(func(e *knowledge.RequestError) failure {
			return failure{FailureInvalid, "The metric request is refused, " + strings.TrimPrefix(e.Error(), "knowledge: "), ""}
		}),
		oneOf(failure{class: FailureUnsure}, ErrAbstained),
		always[*strategy.PanicError](failure{class: FailureInternal}),
		oneOf(failure{class: FailureInternal}, llm.ErrPanic),
		typed(func(e interface{ Summary() session.Failure }) failure {
			return failure{FailureNoAnswer, "", strings.Join(e.Summary().Recommendations, " ")}
		}),
		typed(failureOfSamples),
		always[*llm.ReplyError](failure{FailureProvider,
			"The model does not reply in the form that the method needs", "Begin again with a larger model, or another strategy"}),
		oneOf(failure{class: FailureTime}, context.DeadlineExceeded),

		oneOf(failure{class: FailureMissing}, session.ErrNotFound, session.ErrInvalidID),
		oneOf(failure{class: FailureConflict}, session.ErrConflict),
		oneOf(failure{class: FailureStale}, session.ErrStale),
		always[busyError](failure{FailureBusy, "The conversation is answering another question", "Wait for it, and ask again"}),
		typed(func(e *StateError) failure { return failure{FailureState, "", e.Hint} }),
		oneOf(failure{FailureState, "All corrections of this question are used", "Ask it in other words, or write the SQL by hand"},
			session.ErrMaxCorrections),
		oneOf(failure{FailureNone, "The answer is kept until the program ends, and forgotten then", ""}, ErrForgotten),
		oneOf(failure{FailureCorrection, "A follow-up means nothing alone", "Say the question so that it can be understood alone"}, ErrNotStandalone),
		typed(failureOfCorrection),
		when(session.ErrInvalidCorrection, func(err error) failure { return failure{FailureCorrection, tail(err), ""} }),
		always[*session.RecordError](failure{FailureInternal, "The record of this conversation cannot be read", "Begin another one"}),
		always[*replay.LineError](failure{FailureInternal, "The record of this conversation cannot be read", "Begin another one"}),

		oneOf(failure{FailureInput, "The question is empty", ""}, ErrEmptyQuestion),
		typed(func(e *InputError) failure {
			return failure{FailureInput, fmt.Sprintf("The %s has %d bytes; the limit is %d", e.Field, e.Bytes, e.Limit), "Shorten it"}
		}),
		oneOf(failure{class: FailureNoModel}, ErrNoModel),
		when(ErrNoScope, failureOfScope),
		oneOf(failure{FailureConfig, tail(exec.ErrNoRules), "Give the policy what the scopes are for, or ask without one"}, exec.ErrNoRules),
		typed(failureOfRefusal),
		typed(func(e *exec.InvalidError) failure {
			class := failureOfReason(string(e.Fault), false)
			return failure{class, e.Message, statementAdvice[class]}
		}),
		oneOf(failure{FailureConfig, "Statements are not executed here", ""}, exec.ErrNoExecution),
		typed(failureOfLimit),
		func(err error) (failure, bool) { return failure{class: FailureEmpty}, is(err, ErrNoTables) },
		oneOf(failure{FailureNoAnswer, "No table is relevant to the question", "Name what it is about as the tables do"}, linker.ErrNoTables),
		oneOf(failure{class: FailureBusy}, ErrBusy),
		typed(func(e *exec.UnguardedError) failure {
			return failure{FailureUnguarded, "The database cannot be guarded as it was opened: " + e.Reason, e.Remedy}
		}),
		typed(func(e *exec.PolicyError) failure {
			return failure{FailureConfig, "The policy does not fit the database: " + strings.Join(e.Unknown, ", "), "Change the policy"}
		}),
		typed(func(e *strategy.ConfigError) failure {
			return failure{FailureConfig, strings.TrimPrefix(e.Field, "texttosql: ") + ": " + e.Problem, ""}
		}),
		typed(failureOfModel),
		always[*strategy.DatabaseError](failure{class: FailureDatabase}),
		oneOf(failure{class: FailureDatabase}, exec.ErrUnavailable, exec.ErrBroken),
	}
}

// failureOfInterruption is what stopped a conversation, which goes on after it.
func failureOfInterruption(e *InterruptedError) failure {
	inner := Failure(e.Err)
	advice := inner.Advice
	if advice != "" && !strings.HasPrefix(advice, "Begin ") { // what is recorded would be read again
		advice += " Then resume: it goes on where it stopped."
	}
	return failure{FailureInterrupted, inner.Message, advice}
}

// failureOfNothing names what is nearest to a question that the data has nothing for.
func failureOfNothing(e *UnanswerableError) failure {
	f := failure{FailureUnanswerable, e.says(), ""}
	if len(e.Nearest) > 0 {
		f.advice = "There is " + strings.Join(e.Nearest, ", ")
	}
	return f
}

func failureOfCorrection(e *session.CorrectionError) failure {
	f := failure{FailureCorrection, e.Reason, ""}
	if len(e.Like) > 0 {
		f.advice = "Did you mean " + strings.Join(e.Like, ", ") + "?"
	}
	if e.Held != nil {
		f.advice = strings.TrimSpace(f.advice + " What holds all the same: " + e.Held.String())
	}
	return f
}

// failureOfScope is about rules whose scope is not given, or lacks a parameter.
func failureOfScope(err error) failure {
	message := "It is not known on whose behalf this is asked, which the rules about rows need"
	var refused *exec.RefusedError
	if errors.As(err, &refused) {
		message = "It is not known on whose behalf this is asked: " + refused.Detail
	}
	return failure{FailureRefused, message, "Ask on behalf of a tenant or a user"}
}

// failureOfRefusal is about a statement of the caller.
func failureOfRefusal(e *exec.RefusedError) failure {
	class := failureOfReason(string(e.Reason), e.Writes)
	switch {
	case class == FailureNoStatement: // nobody but the caller wrote it
		return failure{FailureRefused, e.Detail, "Write one SELECT"}
	case e.Writes:
		return failure{class, "", statementAdvice[class]}
	}
	return failure{class, e.Detail, statementAdvice[class]}
}

func failureOfLimit(e *exec.LimitError) failure {
	if e.Limit == "columns" {
		columns, advice, _ := strings.Cut(tail(e), ". ")
		return failure{FailureLimit, columns, advice}
	}
	text := "The statement is over its limit on " + e.Limit
	if e.Max != "" {
		text += " (" + e.Max + ")"
	}
	return failure{FailureLimit, text, ""}
}

// failureOfBudget is the class of a question whose budget is spent: that of the provider where none of its samples was answered,
// since each repeats its calls, and that of time where it never answered.
func failureOfBudget(err error) failure {
	var (
		none   *strategy.NoCandidateError
		failed *llm.Error
		spent  *llm.BudgetError
	)
	if errors.As(err, &none) && len(none.Rejected)+none.Votes > 0 {
		return failure{class: FailureBudget}
	}
	switch {
	case errors.As(err, &failed):
		return failureOfModel(failed)
	case none != nil && errors.As(err, &spent) && spent.Limit == "time":
		return failure{FailureTime, "The model did not answer within the time of the budget", ""}
	}
	return failure{class: FailureBudget}
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
func failureOfSamples(e *strategy.NoCandidateError) failure {
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
	message := "No statement passed the checks: " + strings.Join(reasons[:min(len(reasons), 3)], "; ")
	switch {
	case len(classes) != 1:
		return failure{FailureNoAnswer, message, ""}
	case classes[0] == FailureNoStatement:
		return failure{classes[0], declinedWith(e.Rejected), ""}
	case classes[0] == FailureWrites:
		return failure{class: classes[0]}
	}
	return failure{classes[0], message, ""}
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
func failureOfModel(e *llm.Error) failure {
	switch {
	case errors.Is(e, llm.ErrAccount):
		return failure{FailureKey, "The account at the provider of the model has no money left, or its quota or limit is used up", e.Advice}
	case e.Class == llm.ClassRefused:
		return failure{FailureDeclined, "", ""}
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return failure{FailureKey, "", e.Advice}
	case e.Class == llm.ClassRateLimit:
		advice := ""
		if e.RetryAfter > 0 {
			advice = fmt.Sprintf("Ask again in %v", e.RetryAfter)
		}
		return failure{FailureRate, "", advice}
	case e.Class == llm.ClassContextTooLong:
		return failure{FailureTooLong, "", ""}
	case e.Class == llm.ClassNoRoom:
		return failure{FailureProvider, "The model thought for longer than it may", "Ask it for less effort, or allow more (llm.Budget.Room)"}
	case e.Class == llm.ClassCancelled:
		return failure{FailureCancelled, "", ""}
	}
	message := "The model cannot be asked: " + strings.ReplaceAll(e.Class.String(), "-", " ")
	if e.Class == llm.ClassPermanent || e.Class == llm.ClassUnknown {
		message = "The provider does not take the request"
	}
	if e.Status != 0 {
		message += fmt.Sprintf(" (status %d)", e.Status)
	}
	return failure{FailureProvider, message, e.Advice}
}

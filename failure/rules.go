package failure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// failureRule says of an error what it means, where it knows it: its class, and what it says itself, "" where its class
// says all.
type failureRule func(err error) (f explained, known bool)

type explained struct {
	class           Class
	message, advice string
}

// explainer is an error that explains itself. The errors of the root package do: this package does not import it.
type explainer interface {
	error
	Explain() Report
}

// oneOf is a rule about errors that have no words of their own.
func oneOf(f explained, errs ...error) failureRule {
	return func(err error) (explained, bool) {
		return f, slices.ContainsFunc(errs, func(target error) bool { return errors.Is(err, target) })
	}
}

// when is a rule about errors of a kind whose words are in what wraps it.
func when(target error, say func(error) explained) failureRule {
	return func(err error) (f explained, known bool) {
		if known = errors.Is(err, target); known {
			f = say(err)
		}
		return f, known
	}
}

// typed is a rule about errors of a type.
func typed[E any](say func(E) explained) failureRule {
	return func(err error) (f explained, known bool) {
		var e E
		if known = errors.As(err, &e); known {
			f = say(e)
		}
		return f, known
	}
}

// always says the same of every error of a type.
func always[E any](f explained) failureRule { return typed(func(E) explained { return f }) }

// failureOf returns what the first rule says that knows the error.
func failureOf(err error) explained {
	for _, rule := range failureRules() {
		if f, known := rule(err); known {
			return f
		}
	}
	return explained{Other, tail(err), ""}
}

// failureRules are the rules in the order in which they are asked: an error that wraps several is what the first of
// them says.
func failureRules() []failureRule {
	return []failureRule{
		func(err error) (explained, bool) { return explained{}, err == nil },
		typed(failureOfInterruption),
		oneOf(explained{Internal, "There is no space left on the disk where conversations and answers are kept",
			"Free some, then go on"}, syscall.ENOSPC),
		oneOf(explained{class: Cancelled}, context.Canceled),
		when(llm.ErrBudget, failureOfBudget),
		typed(func(e *session.QuestionError) explained { return explained{Unclear, e.Message, ""} }),
		typed(func(e explainer) explained { r := e.Explain(); return explained{r.Class, r.Message, r.Advice} }),
		typed(func(e *knowledge.RequestError) explained {
			return explained{Invalid, "The metric request is refused, " + strings.TrimPrefix(e.Error(), "knowledge: "), ""}
		}),
		typed(func(e *strategy.AbstainedError) explained {
			return explained{Unsure, fmt.Sprintf("The confidence of the answer is %.2f, and at least %.2f is required. %s",
				e.Confidence, e.Min, e.Closing), "Ask in other words, or ask for less confidence"}
		}),
		always[*strategy.PanicError](explained{class: Internal}),
		oneOf(explained{class: Internal}, llmerr.ErrPanic),
		typed(func(e interface{ Summary() session.Failure }) explained {
			return explained{NoAnswer, "", strings.Join(e.Summary().Recommendations, " ")}
		}),
		typed(failureOfSamples),
		always[*llm.ReplyError](explained{Provider,
			"The model does not reply in the form that the method needs",
			"Begin again with a larger model, or another strategy"}),
		oneOf(explained{class: Time}, context.DeadlineExceeded),

		oneOf(explained{class: Missing}, session.ErrNotFound, session.ErrInvalidID),
		oneOf(explained{class: Conflict}, session.ErrConflict),
		oneOf(explained{class: Stale}, session.ErrStale),
		typed(func(e *session.StateError) explained { return explained{state, "", e.Hint} }),
		oneOf(explained{state, "All corrections of this question are used",
			"Ask it in other words, or write the SQL by hand"}, session.ErrMaxCorrections),
		oneOf(explained{none, "The answer is kept until the program ends, and forgotten then", ""}, memory.ErrNotPersisted),
		oneOf(explained{
			correction, "A follow-up cannot be understood alone",
			"Confirm it with the question in full: ok: THE QUESTION IN FULL in talk, the wording in MCP",
		}, session.ErrNotStandalone),
		typed(failureOfCorrection),
		when(session.ErrInvalidCorrection, func(err error) explained { return explained{correction, tail(err), ""} }),
		always[*session.RecordError](explained{Internal, "The record of this conversation cannot be read",
			"Begin another one"}),
		always[*fileerr.Recording](explained{Internal, "The record of this conversation cannot be read",
			"Begin another one"}),

		oneOf(explained{Input, "The question is empty", ""}, strategy.ErrEmptyQuestion),
		when(exec.ErrNoScope, failureOfScope),
		oneOf(explained{Config, tail(exec.ErrNoRules), "Give the policy what the scopes are for, or ask without one"},
			exec.ErrNoRules),
		typed(failureOfRefusal),
		typed(func(e *exec.InvalidError) explained {
			class := failureOfReason(e.Fault, false)
			if class == unknownName && functionName.MatchString(e.Message) {
				class = Invalid // the schema lists no functions
			}
			return explained{class, e.Message, statementAdvice[class]}
		}),
		oneOf(explained{Config, "Statements are not executed here", ""}, exec.ErrNoExecution),
		typed(failureOfLimit),
		oneOf(explained{NoAnswer, "No table is relevant to the question", "Name what it is about as the tables do"},
			linker.ErrNoTables),
		oneOf(explained{class: Busy}, exec.ErrBusy),
		typed(func(e *exec.UnguardedError) explained {
			return explained{unguarded, "The database cannot be guarded as it was opened: " + e.Reason, e.Remedy}
		}),
		typed(func(e *exec.PolicyError) explained {
			return explained{Config, "The policy does not fit the database: " + strings.Join(e.Unknown, ", "),
				"Change the policy"}
		}),
		typed(func(e *strategy.ConfigError) explained {
			return explained{Config, strings.TrimPrefix(e.Field, "texttosql: ") + ": " + e.Problem, ""}
		}),
		typed(failureOfModel),
		always[*strategy.DatabaseError](explained{class: Database}),
		oneOf(explained{class: Database}, exec.ErrUnavailable, exec.ErrBroken),
	}
}

// failureOfInterruption is what stopped a conversation, which goes on after it.
func failureOfInterruption(e *session.InterruptedError) explained {
	inner := Of(e.Err)
	advice := inner.Advice
	if advice != "" && !strings.HasPrefix(advice, "Begin ") { // what is recorded would be read again
		advice += " Then resume: it goes on where it stopped."
	}
	return explained{Interrupted, inner.Message, advice}
}

func failureOfCorrection(e *session.CorrectionError) explained {
	f := explained{correction, e.Reason, ""}
	if len(e.Like) > 0 {
		f.advice = "Did you mean " + strings.Join(e.Like, ", ") + "?"
	}
	if e.Held != nil {
		f.advice = strings.TrimSpace(f.advice + " The rest of the correction applies: " + e.Held.String())
	}
	return f
}

// failureOfScope is about rules whose scope is not given, or lacks a parameter.
func failureOfScope(err error) explained {
	message := "It is not known on whose behalf this is asked, which the rules about rows need"
	var refused *exec.RefusedError
	if errors.As(err, &refused) {
		message = "It is not known on whose behalf this is asked: " + refused.Detail
	}
	return explained{Refused, message, "Ask on behalf of a tenant or a user"}
}

// failureOfRefusal is about a statement of the caller.
func failureOfRefusal(e *exec.RefusedError) explained {
	class := failureOfReason(e.Reason, e.Writes)
	switch {
	case class == noStatement: // nobody but the caller wrote it
		return explained{Refused, e.Detail, "Write one SELECT"}
	case e.Writes:
		return explained{class, "", statementAdvice[class]}
	}
	return explained{class, e.Detail + e.Hidden, statementAdvice[class]}
}

func failureOfLimit(e *exec.LimitError) explained {
	if e.Limit == "columns" {
		columns, advice, _ := strings.Cut(tail(e), ". ")
		return explained{Limit, columns, advice}
	}
	text := "The statement is over its limit on " + e.Limit
	if e.Max != "" {
		text += " (" + e.Max + ")"
	}
	return explained{Limit, text, ""}
}

// failureOfBudget is the class of a question whose budget is spent: that of the provider where none of its samples was
// answered, since each repeats its calls, and that of time where it never answered.
func failureOfBudget(err error) explained {
	var (
		none   *strategy.NoCandidateError
		failed *llm.Error
		spent  *llm.BudgetError
	)
	if errors.As(err, &none) && len(none.Rejected)+none.Votes > 0 {
		return explained{class: Budget}
	}
	switch {
	case errors.As(err, &failed):
		return failureOfModel(failed)
	case none != nil && errors.As(err, &spent) && spent.Limit == "time":
		return explained{Time, "The model did not answer within the time of the budget", ""}
	}
	return explained{class: Budget}
}

// functionName finds the message of an engine that it lacks a function.
var functionName = regexp.MustCompile(`(?i)\bfunction\b`)

// statementAdvice is the advice about one statement, whose writer can change it.
var statementAdvice = map[Class]string{
	writes:      "Write one SELECT; change what is stored elsewhere",
	denied:      "Read other tables and columns, or have the policy changed; the schema tells which there are",
	Refused:     "Write the statement without what was refused",
	unknownName: "Look at the schema for the names",
	Invalid:     "Correct the statement",
}

// failureOfSamples goes by what most samples ended with: without a reply, or with a statement that was rejected.
func failureOfSamples(e *strategy.NoCandidateError) explained {
	if len(e.Failed) > len(e.Rejected) {
		return failureOf(e.Failed[0])
	}
	var (
		classes []Class
		reasons []string
	)
	for _, c := range e.Rejected {
		if class := failureOfReason(c.Reason, c.Writes); !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
		if why := withoutPackage(prompttext.ErrorLine(c.Rejected, false)); !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	message := "No statement passed the checks: " + strings.Join(reasons[:min(len(reasons), 3)], "; ")
	switch {
	case len(classes) != 1:
		return explained{NoAnswer, message, ""}
	case classes[0] == noStatement:
		return explained{classes[0], declinedWith(e.Rejected), ""}
	case classes[0] == writes:
		return explained{class: classes[0]}
	}
	return explained{classes[0], message, ""}
}

// declinedWith is what the first model that declined said; "" where none did.
func declinedWith(rejected []vote.Candidate) string {
	i := slices.IndexFunc(rejected, func(c vote.Candidate) bool { return c.Reason == replies.ReasonRefusal })
	if i < 0 {
		return ""
	}
	_, said, _ := strings.Cut(rejected[i].Rejected, replies.ReasonRefusal+": ")
	return strings.Replace(said, "the model", "The model", 1)
}

// failureOfReason is the class of a rejected statement, by the stable word of its reason.
func failureOfReason(reason string, changes bool) Class {
	switch {
	case changes:
		return writes
	case reason == "limit":
		return Limit
	case reason == "schema":
		return unknownName
	case slices.Contains([]string{"syntax", "compile", "run", "constraint"}, reason):
		return Invalid
	case reason == "table", reason == "column":
		return denied
	case slices.Contains(unreadable, reason):
		return noStatement
	case reason == "":
		return NoAnswer
	}
	return Refused
}

// unreadable are the reasons of a reply that has no statement.
var unreadable = []string{
	"truncated", "refusal", "no-sql", "broken-json", "empty", "too-long",
	"not-utf8",
}

// failureOfModel is the class of a failed call. What the provider says itself may name an account, so it is left out.
func failureOfModel(e *llm.Error) explained {
	switch {
	case errors.Is(e, llmerr.ErrAccount):
		return explained{Key, "The account at the provider of the model has no money left, or its quota or limit is used up",
			e.Advice}
	case e.Class == llm.ClassRefused:
		return explained{declined, "", ""}
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return explained{Key, "", e.Advice}
	case e.Class == llm.ClassRateLimit:
		advice := ""
		if e.RetryAfter > 0 {
			advice = fmt.Sprintf("Ask again in %v", e.RetryAfter)
		}
		return explained{Rate, "", advice}
	case e.Class == llm.ClassContextTooLong:
		return explained{tooLong, "", ""}
	case e.Class == llm.ClassOutOfTokens:
		return explained{Provider, "The model thought for longer than it may",
			"Ask it for less effort, or allow it to think for longer"}
	case e.Class == llm.ClassCancelled:
		return explained{Cancelled, "", ""}
	}
	message := "The model cannot be asked: " + strings.ReplaceAll(e.Class.String(), "-", " ")
	switch dial, _ := errors.AsType[*net.OpError](e); {
	case dial != nil && dial.Op == "dial":
		message = "No server answers at the address of the model"
	case e.Class == llm.ClassPermanent || e.Class == llm.ClassUnknown:
		message = "The provider does not take the request"
	}
	if e.Status != 0 {
		message += fmt.Sprintf(" (status %d)", e.Status)
	}
	return explained{Provider, message, e.Advice}
}

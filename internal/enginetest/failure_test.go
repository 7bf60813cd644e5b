package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
	"github.com/texttosql/texttosql/vote"
)

// goWords are what no person should read.
var goWords = regexp.MustCompile(`\b(texttosql|strategy|session|exec|llm|sqltext|threephase|linker): |context canceled|deadline exceeded|sk-abc|org-SECRET|%!`)

// TestFailure: one row for every class, and for every error of the SDK that has a name.
func TestFailure(t *testing.T) {
	none := func(c vote.Candidate, n int) error {
		e := &strategy.NoCandidateError{}
		for range n {
			e.Rejected = append(e.Rejected, c)
		}
		return e
	}
	outage := func(e *llm.Error) error {
		return &strategy.NoCandidateError{Failed: []error{fmt.Errorf("sample 0: %w", e), e, e}}
	}
	unauthorized := &llm.Error{Class: llm.ClassPermanent, Status: 401,
		Message: "Incorrect API key provided: sk-abc in organization org-SECRET"}
	for _, tt := range []struct {
		why    string
		err    error
		class  failure.Class
		exit   int
		status int
		want   string // part of the message or the advice
	}{
		{"no error", nil, "", 0, 200, ""},
		{"given up", context.Canceled, failure.Cancelled, 130, 499, "cancelled"},
		{"no time", fmt.Errorf("x: %w", context.DeadlineExceeded), failure.Time, 5, 504, "time for the question is over"},
		{"no money", llm.ErrBudget, failure.Budget, 5, 429, "budget"},
		{"a slow statement", &exec.LimitError{Limit: "time", Max: "3s"}, failure.Limit, 5, 422,
			"over its limit on time (3s)"},
		{"slow samples", none(vote.Candidate{Rejected: "exec: over the limit on time (3s)", Reason: "limit"}, 12),
			failure.Limit, 5, 422, "over the limit on time (3s)"},
		{"an empty question", strategy.ErrEmptyQuestion, failure.Input, 2, 422, "empty"},
		{"a long question", &texttosql.InputError{Field: "question", Bytes: 9000, Limit: 8192}, failure.Input, 2, 422,
			"9000 bytes"},
		{"a question back", &session.QuestionError{Message: "Which name?", Options: make([]session.Option, 2)},
			failure.Unclear, 3, 409, "Which name?"},
		{"a refused metric request", &knowledge.RequestError{Reason: "fan-out", Metric: "invoiced", Name: "genres"},
			failure.Invalid, 1, 422, "fan-out: metric invoiced"},
		{"nothing about it", &texttosql.UnanswerableError{Unmet: []string{"humidity"}}, failure.Unanswerable, 3, 422,
			"nothing about humidity"},
		{"too doubtful", &strategy.AbstainedError{Confidence: .2, Min: .5}, failure.Unsure, 3, 422,
			"at least 0.50 is required"},
		{"a wish to write", none(vote.Candidate{Rejected: "not-read-only: the statement is no query", Reason: "not-read-only",
			Writes: true}, 12),
			failure.Refused, 4, 403, "This only reads."},
		{"a statement that writes", &exec.RefusedError{Reason: "not-read-only", Detail: "it deletes", Writes: true},
			failure.Refused, 4, 403, "This only reads."},
		{"a denied table", &exec.RefusedError{Reason: "table", Detail: "users: no such table, or you may not read it"},
			failure.Refused, 4, 403, "no such table, or you may not read it"},
		{"a table that no sample may read",
			none(vote.Candidate{Rejected: "exec: refused (table): payroll: no such table, or you may not read it",
				Reason: "table"}, 2),
			failure.Refused, 4, 403, "payroll: no such table"},
		{"a function", none(vote.Candidate{Rejected: "exec: refused (function): load_extension is not on the list",
			Reason: "function"}, 2),
			failure.Refused, 4, 403, "load_extension is not on the list."},
		{"a statement without a word", &exec.RefusedError{Reason: "empty", Detail: "the statement is empty"},
			failure.Refused, 4, 403, "Write one SELECT."},
		{"statements that are not to run", exec.ErrNoExecution, failure.Config, 2, 500, "not executed"},
		{"no model", texttosql.ErrNoModel, failure.Input, 2, 501, "run a statement"},
		{"an unknown table", &exec.InvalidError{Fault: "schema", Message: "no such table: t"},
			failure.Invalid, 1, 422, "No such table: t."},
		{"a syntax error", none(vote.Candidate{Rejected: "exec: invalid statement (syntax): near x", Reason: "syntax",
			Invalid: true}, 3),
			failure.Invalid, 1, 422, "Near x."},
		{"prose", none(vote.Candidate{Rejected: "no-sql: the reply holds no query", Reason: "no-sql"}, 3),
			failure.NoAnswer, 1, 422, "no statement"},
		{"different reasons", &strategy.NoCandidateError{Rejected: []vote.Candidate{{Reason: "no-sql"}, {Reason: "schema"}}},
			failure.NoAnswer, 1, 422, "names"},
		{"three phases", &threephase.FailureError{Failure: session.Failure{Recommendations: []string{"Rephrase."}},
			Err: linker.ErrNoTables},
			failure.NoAnswer, 1, 422, "Rephrase."},
		{"no table is meant", linker.ErrNoTables, failure.NoAnswer, 1, 422, "No table is relevant"},
		{"a wrong key", outage(unauthorized), failure.Key, 1, 502, "key"},
		{"too many requests", outage(&llm.Error{Class: llm.ClassRateLimit, Status: 429, RetryAfter: time.Minute}),
			failure.Rate, 1, 503, "1m0s"},
		{"an outage", outage(&llm.Error{Class: llm.ClassOverloaded, Status: 503, Message: "org-SECRET"}),
			failure.Provider, 1, 502, "overloaded (status 503)"},
		{"nothing listens",
			outage(&llm.Error{Class: llm.ClassOverloaded, Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}),
			failure.Provider, 1, 502, "No server answers at the address of the model."},
		{"an unknown host",
			outage(&llm.Error{Class: llm.ClassUnknown, Err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}}),
			failure.Provider, 1, 502, "No server answers at the address of the model."},
		{"a connection that breaks: a server answered",
			outage(&llm.Error{Class: llm.ClassOverloaded, Err: &net.OpError{Op: "read",
				Err: errors.New("reset")}}), failure.Provider, 1, 502, "The model cannot be asked: overloaded."},
		{"an outage of most samples", &strategy.NoCandidateError{Rejected: []vote.Candidate{{Reason: "no-sql"}},
			Failed: []error{unauthorized, unauthorized}},
			failure.Key, 1, 502, "key"},
		{"content", &llm.Error{Class: llm.ClassRefused}, failure.NoAnswer, 1, 422, "declined"},
		{"a long prompt", &llm.Error{Class: llm.ClassContextTooLong}, failure.Provider, 1, 502, "does not fit"},
		{"a lock", fmt.Errorf("x: %w", exec.ErrBusy), failure.Busy, 1, 503, "busy"},
		{"the server is gone", &strategy.DatabaseError{Err: errors.New("dial tcp 10.0.0.1")}, failure.Database, 1, 503,
			"cannot be asked"},
		{"nothing to read", texttosql.ErrNoTables, failure.Config, 1, 422, "policy"},
		{"no guard", &exec.UnguardedError{Reason: "a wrapped driver", Remedy: "use WithDialect"},
			failure.Config, 1, 500, "Use WithDialect."},
		{"an option", &strategy.ConfigError{Field: "texttosql: WithSamples", Problem: "0 is not in 1..10000"},
			failure.Config, 2, 500, "WithSamples: 0 is not"},
		{"the policy", &exec.PolicyError{Unknown: []string{"users.pasword"}}, failure.Config, 2, 500, "users.pasword"},
		{"interrupted by a key", &session.InterruptedError{ID: "a", Err: unauthorized},
			failure.Interrupted, 1, 502, "Check the key. Then resume"},
		{"interrupted by its user", &session.InterruptedError{ID: "a", Err: context.Canceled}, failure.Interrupted, 130, 499,
			"Resume"},
		{"no conversation", session.ErrNotFound, failure.Missing, 1, 404, "no such conversation"},
		{"no id", session.ErrInvalidID, failure.Missing, 1, 404, "no such conversation"},
		{"somebody else", session.ErrConflict, failure.Conflict, 1, 409, "Another program"},
		{"another schema", session.ErrStale, failure.Stale, 1, 409, "changed"},
		{"not now", &session.StateError{Call: "Ask", State: session.Interrupted, Hint: "resume it first"},
			failure.Conflict, 1, 409, "Resume it first."},
		{"kept in memory", memory.ErrNotPersisted, "", 0, 200, "until the program ends"},
		{"a part of it is held", &session.CorrectionError{Reason: "there is no table t",
			Held: &session.Correction{Kind: dialogue.CorrectTable,
				Rejected: []schema.TableName{{Name: "u"}}}}, failure.Input, 1, 422,
			"The rest of the correction applies: do not read u."},
		{"enough corrections", session.ErrMaxCorrections, failure.Conflict, 1, 409, "by hand"},
		{"an unknown name", &session.CorrectionError{Name: "custmers", Like: []string{"customers"},
			Reason: "there is no table custmers"},
			failure.Input, 1, 422, "customers?"},
		{"an option that is none", fmt.Errorf("%w: r9 is no option", session.ErrInvalidCorrection), failure.Input, 1, 422,
			"r9 is no option"},
		{"a follow-up alone", session.ErrNotStandalone, failure.Input, 1, 422, "ok: THE QUESTION IN FULL in talk"},
		{"a broken record", &session.RecordError{}, failure.Internal, 1, 500, "record"},
		{"a panic", &strategy.PanicError{Value: "boom"}, failure.Internal, 1, 500, "log"},
		{"nobody knows", errors.New("texttosql: exec: something odd with key sk-abc0123456789abcdef0123456789abcdef"),
			failure.Other, 1, 500, "something odd"},
	} {
		f := failure.Of(tt.err)
		if f.Class != tt.class || f.ExitCode != tt.exit || f.HTTPStatus != tt.status ||
			!strings.Contains(strings.ToLower(f.Message+" "+f.Advice), strings.ToLower(tt.want)) {
			t.Errorf("%s: %+v, want %s, %d, %d and %q", tt.why, f, tt.class, tt.exit, tt.status, tt.want)
		}
		if found := goWords.FindString(f.Message + f.Advice); found != "" {
			t.Errorf("%s: %q in %+v", tt.why, found, f)
		}
		if f.Message == "" != (tt.err == nil) || strings.Contains(f.Message, "\n") ||
			f.Message != "" && !strings.ContainsAny(f.Message[len(f.Message)-1:], ".?!") {
			t.Errorf("%s: %q is no sentence", tt.why, f.Message)
		}
	}
}

// TestFailureOfQuestions: the errors of real questions have their class, and an outage is not only "no candidate".
func TestFailureOfQuestions(t *testing.T) {
	refused := &llm.Error{Class: llm.ClassPermanent, Status: 401}
	down := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{{Err: refused}}, Repeat: true}}}
	for _, tt := range []struct {
		why   string
		model llm.Model
		is    []error
		class failure.Class
		sql   string // of the first candidate
	}{
		{"only writes", always("DELETE FROM orders"), []error{strategy.ErrNoCandidate, exec.ErrNotReadOnly},
			failure.Refused, "DELETE FROM orders"},
		{"two statements, one writes", always("SELECT 1; DROP TABLE orders"), []error{strategy.ErrNoCandidate},
			failure.Refused, ""},
		{"a wrong name", always("SELECT nme FROM customers"), []error{strategy.ErrNoCandidate}, failure.Invalid,
			"SELECT nme FROM customers"},
		{"an outage", down, nil, failure.Key, ""},
	} {
		r, err := engine(t, tt.model, texttosql.WithRetry(llm.Retry{Attempts: 1})).Ask(t.Context(), whoInUSA)
		for _, is := range tt.is {
			if !errors.Is(err, is) {
				t.Errorf("%s: %v is not %v", tt.why, err, is)
			}
		}
		if tt.class == failure.Key && !errors.As(err, new(*llm.Error)) {
			t.Errorf("%s: %v has no *llm.Error", tt.why, err)
		}
		if f := failure.Of(err); f.Class != tt.class {
			t.Errorf("%s: %+v of %v, want %s", tt.why, f, err, tt.class)
		}
		if tt.sql != "" && (len(r.Candidates) == 0 || r.Candidates[0].SQL != tt.sql) {
			t.Errorf("%s: the statement is lost: %+v", tt.why, r.Candidates)
		}
	}
}

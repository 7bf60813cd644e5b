package enginetest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// TestQuery: a statement of the caller has the verdict that the same statement has as a candidate, and its rows.
func TestQuery(t *testing.T) {
	limited := func(within time.Duration) []texttosql.Option {
		return []texttosql.Option{
			texttosql.WithPolicy(exec.Policy{DenyColumns: []string{"customers.password"}}),
			texttosql.WithStrategy(strategy.Direct{}),
			texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Rows: 2, Timeout: within},
				Candidate: exec.Bounds{Timeout: within}}),
		}
	}
	const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
	for _, tt := range []struct {
		why, sql string
		class    failure.Class
		rows     [][]any
	}{
		{"rows", " SELECT name FROM customers WHERE country = 'USA'; ", "", [][]any{{"Ada"}, {"Cyd"}}},
		{"no rows", "SELECT name FROM customers WHERE 0", "", [][]any{}},
		{"more rows than the limit", "SELECT id FROM customers ORDER BY id", "", [][]any{{int64(1)}, {int64(2)}}},
		{"a write", "DELETE FROM orders", failure.Refused, nil},
		{"two statements", "SELECT 1; SELECT 2", failure.Refused, nil},
		{"a denied column", "SELECT * FROM customers", failure.Refused, nil},
		{"a function", "SELECT load_extension('x')", failure.Refused, nil},
		{"a wrong column, as one that is denied", "SELECT nme FROM customers", failure.Refused, nil},
		{"a wrong table", "SELECT name FROM custmers", failure.Invalid, nil},
		{"a syntax error", "SELECT FROM WHERE", failure.Invalid, nil},
		{"too long", endless, failure.Limit, nil},
	} {
		within := time.Minute // a busy machine takes its time for the others
		if tt.class == failure.Limit {
			within = 100 * time.Millisecond
		}
		table, err := engine(t, texttosql.NoModel, limited(within)...).Query(t.Context(), tt.sql)
		if f := failure.Of(err); f.Class != tt.class {
			t.Errorf("%s: %v is %+v, want %s", tt.why, err, f, tt.class)
		}
		var rows [][]any
		if table != nil {
			rows = table.Rows
		}
		if diff := cmp.Diff(tt.rows, rows); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.why, diff)
		}
		if err == nil && table.Truncated != strings.HasPrefix(tt.why, "more") {
			t.Errorf("%s: truncated is %v", tt.why, table.Truncated)
		}
		answer, asked := engine(t, always(tt.sql), limited(within)...).Ask(t.Context(), whoInUSA)
		if (asked == nil) != (err == nil) {
			t.Errorf("%s: as a candidate %v, as a statement %v", tt.why, asked, err)
		}
		if err == nil {
			if diff := cmp.Diff(answer.Rows, table); diff != "" {
				t.Errorf("%s: -candidate +statement:\n%s", tt.why, diff)
			}
		}
	}
	if _, err := engine(t, texttosql.NoModel).Query(t.Context(), ""); failure.Of(err).Class != failure.Refused {
		t.Errorf("an empty statement: %v", err)
	}
	if _, err := engine(t, texttosql.NoModel, limited(100*time.Millisecond)...).Query(t.Context(),
		endless); !errors.Is(err, texttosql.ErrBudget) {
		t.Errorf("%v is no ErrBudget, as it is for a question", err)
	}
	if _, err := engine(t, texttosql.NoModel, texttosql.WithoutExecution()).Query(t.Context(), "SELECT 1"); !errors.Is(err,
		exec.ErrNoExecution) {
		t.Errorf("without execution: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine(t, texttosql.NoModel).Query(ctx, "SELECT 1"); err != context.Canceled { // the very error
		t.Errorf("cancelled: %v", err)
	}
}

// TestQueryIsTold: a statement has a trace, a record and its steps, and the record has no word of it.
func TestQueryIsTold(t *testing.T) {
	var log bytes.Buffer
	e := engine(t, texttosql.NoModel, texttosql.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Rows: 1}}))
	var steps []texttosql.Step
	var warnings []string
	var root *trace.Span
	_, err := e.Query(t.Context(), `SELECT name, "nme" FROM customers`, texttosql.WithID("q1"),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.ID != "q1" || p.Question != "" {
				t.Errorf("told as %q: %q", p.ID, p.Question)
			}
			switch p.Kind {
			case "ended":
				steps, root = append(steps, p.Step), p.Span
			case "warned":
				warnings = append(warnings, p.Message)
			}
		}))
	if err != nil || !slices.Contains(steps, "check") || !slices.Contains(steps, "rows") || root.Name() != "statement" {
		t.Errorf("%v: steps %v", err, steps)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "nme") ||
		!strings.Contains(warnings[1], "more than the 1 rows") {
		t.Errorf("warnings %q", warnings)
	}
	if !strings.Contains(log.String(), `msg="texttosql: statement"`) ||
		!strings.Contains(log.String(), "outcome=answered rows=1") ||
		strings.Contains(log.String(), "customers") || strings.Contains(log.String(), "confidence") {
		t.Errorf("log:\n%s", log.String())
	}
	log.Reset()
	e.Query(t.Context(), "DELETE FROM customers")
	if !strings.Contains(log.String(), "outcome=refused") {
		t.Errorf("log of a refusal:\n%s", log.String())
	}
}

// TestNoModel: an engine without a model answers no question that nobody verified, whichever way it is asked, and keeps
// nothing of it.
func TestNoModel(t *testing.T) {
	e := engine(t, texttosql.NoModel)
	asked := map[string]func() error{
		"Ask":          func() error { _, err := e.Ask(t.Context(), whoInUSA); return err },
		"Generate":     func() error { _, err := e.Generate(t.Context(), whoInUSA); return err },
		"Conversation": func() error { _, err := e.NewConversation(nil).Ask(t.Context(), whoInUSA); return err },
		"AskAll": func() (last error) {
			for r, err := range e.AskAll(t.Context(), slices.Values([]texttosql.Question{{Text: whoInUSA}}), 0) {
				_, last = r, err
			}
			return last
		},
		"Complete": func() error { _, err := texttosql.NoModel.Complete(t.Context(), llm.Request{}); return err },
	}
	for name, ask := range asked {
		if err := ask(); !errors.Is(err, texttosql.ErrNoModel) || failure.Of(err).Class != failure.Input {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := texttosql.New(open(t, shop), nil); err == nil || !strings.Contains(err.Error(), "model 0 is nil") {
		t.Errorf("a nil model: %v", err)
	}
	if _, err := e.Check(t.Context(), usa); err != nil {
		t.Errorf("Check: %v", err)
	}
	if s, err := e.Schema(t.Context()); err != nil || len(s.Tables) != 2 {
		t.Errorf("Schema: %v, %v", s, err)
	}
	if err := e.Confirm(t.Context(), whoInUSA, usa); !errors.Is(err, memory.ErrNotPersisted) {
		t.Errorf("Confirm: %v", err)
	}
}

// TestNoModelVerified: what people verified is answered without a model, in each way to ask and behind the same walls;
// every other question needs one, and says so.
func TestNoModelVerified(t *testing.T) {
	confirmed := &memory.VerifiedAnswers{}
	testutil.OK(t,
		confirmed.Add(memory.Exemplar{Question: "How many orders are there?", SQL: "SELECT COUNT(*) FROM orders"}))
	for _, test := range []struct {
		why, question string
		policy        exec.Policy
		answered      bool
	}{
		{"a verified question", "Which customers are in USA?", exec.Policy{}, true},
		{"another stored value", "which customers are in norway?", exec.Policy{}, false},
		{"a value as it is stored", "which customers are in Norway", exec.Policy{}, true},
		{"a confirmed answer", "how many orders are there", exec.Policy{}, true},
		{"a question of other words", "How many customers are there?", exec.Policy{}, false},
		{"a verified one that may not run", "Which customers are in USA?",
			exec.Policy{DenyColumns: []string{"customers.country"}}, false},
	} {
		e := engine(t, texttosql.NoModel, texttosql.WithKnowledge(byCountry),
			texttosql.WithMemory(memory.Options{VerifiedAnswers: confirmed}),
			texttosql.WithPolicy(test.policy))
		told := e.NewConversation(nil)
		for way, ask := range map[string]func() (*texttosql.Result, error){
			"Ask":          func() (*texttosql.Result, error) { return e.Ask(t.Context(), test.question) },
			"Generate":     func() (*texttosql.Result, error) { return e.Generate(t.Context(), test.question) },
			"Conversation": func() (*texttosql.Result, error) { return told.Ask(t.Context(), test.question) },
		} {
			r, err := ask()
			if test.answered && (err != nil || r.SQL == "" || (r.Rows == nil) != (way == "Generate") || len(r.Grounds) != 1 ||
				r.Usage != (llm.Usage{})) {
				t.Errorf("%s, %s: %+v, %v", test.why, way, r, err)
			}
			if !test.answered && (!errors.Is(err, texttosql.ErrNoModel) || failure.Of(err).Class != failure.Input) {
				t.Errorf("%s, %s: %v", test.why, way, err)
			}
		}
	}
}

// TestNear: a statement with a name that is not there is told which one may be meant, among those that its caller may
// see; one that begins with no keyword, which keyword.
func TestNear(t *testing.T) {
	e := testutil.Value(texttosql.New(open(t, shop), texttosql.NoModel,
		texttosql.WithPolicy(exec.Policy{DenyColumns: []string{"customers.country"}})))(t)
	for _, test := range []struct{ why, sql, says string }{
		{"a column", "SELECT nam FROM customers", "Did you mean name?"},
		{"a qualified column", "SELECT c.nmae FROM customers AS c", "Did you mean name?"},
		{"a table", "SELECT name FROM custmers", "Did you mean customers?"},
		{"a keyword", "SELEC name FROM customers", "Did you mean SELECT?"},
		{"nothing is near", "SELECT zzzzzz FROM customers", ""},
		{"a column of a table that is not read", "SELECT totl FROM customers", ""},
		{"a denied column is named to nobody", "SELECT cuntry FROM customers", ""},
		{"another statement", "DROP TABLE customers", ""},
	} {
		_, qerr := e.Query(t.Context(), test.sql)
		_, cerr := e.Check(t.Context(), test.sql)
		for _, err := range []error{qerr, cerr} {
			if told := failure.Of(err).Message; err == nil || strings.Contains(told, "Did you mean") != (test.says != "") ||
				!strings.Contains(told, test.says) {
				t.Errorf("%s: %v", test.why, told)
			}
		}
	}
}

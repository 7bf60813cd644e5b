package enginetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// TestRepairUnderPolicy: what a policy refuses for a name that may be written in another way is repaired as an unknown
// name is.
func TestRepairUnderPolicy(t *testing.T) {
	denyTable, denyColumn := exec.Policy{DenyTables: []string{"orders"}},
		exec.Policy{DenyColumns: []string{"customers.country"}, Reveal: []string{"*"}}
	const star = "* would read columns of customers that may not be read: name the columns that you need\n"
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		sql    string
		says   string // the prompt of the repair; "": there is none
	}{
		{"a misspelt table", denyTable, "SELECT name FROM custmers",
			"custmers: no such table, or you may not read it. Did you mean customers?\nExisting names that are close: " +
				"customers,"},
		{"a denied table has the words of an absent one", denyTable, "SELECT id FROM Orders",
			"orders: no such table, or you may not read it\n"},
		{"and so has one that is not allowed", exec.Policy{AllowTables: []string{"customers"}}, "SELECT id FROM orders",
			"orders: no such table, or you may not read it\n"},
		{"a misspelt table without a policy", exec.Policy{}, "SELECT name FROM custmers",
			"no such table: custmers\nExisting names that are close: customers,"},
		{"a star over a denied column", denyColumn, "SELECT * FROM customers", star},
		{"a star over a secret", exec.Policy{}, "SELECT c.* FROM customers c", star},
		{"a secret by its name", exec.Policy{}, "SELECT password FROM customers", ""},
		{"a denied column has the words of an absent one", denyColumn, "SELECT country FROM customers",
			"country: no such column, or you may not read it\n"},
		{"an absent column beside it", denyColumn, "SELECT county FROM customers",
			"county: no such column, or you may not read it\n"},
		{"a misspelt column", denyColumn, "SELECT nme FROM customers",
			"nme: no such column, or you may not read it. Did you mean name?\nExisting names that are close: customers.name"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			model := &llmtest.Script{Rules: []llmtest.Rule{
				{Purpose: "generate", Replies: llmtest.Texts(tt.sql), Repeat: true},
				{Purpose: "repair", Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true},
			}}
			e := engine(t, model, texttosql.WithPolicy(tt.policy), texttosql.WithSamples(2))
			r, err := e.Ask(t.Context(), "Show the customers")
			prompt := ""
			for _, req := range model.Requests() {
				if req.Purpose == "repair" {
					prompt = req.Messages[len(req.Messages)-1].Text
				}
			}
			if tt.says == "" {
				if f := failure.Of(err); f.Class != failure.Refused || prompt != "" {
					t.Errorf("%v, repaired by %q", err, prompt)
				}
				return
			}
			if err != nil || r.SQL != "SELECT name FROM customers" || !strings.Contains(prompt, tt.says) ||
				strings.Contains(prompt, "password") {
				t.Errorf("%v, repaired by\n%s\nwant %q in it", err, prompt, tt.says)
			}
		})
	}
}

// TestSecretsOnce: secrets are in no answer and in no prompt, and the log of an engine warns of them once.
func TestSecretsOnce(t *testing.T) {
	model := always("SELECT name, password FROM customers")
	var logged bytes.Buffer
	e := engine(t, model, texttosql.WithPolicy(exec.Policy{}),
		texttosql.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
	for range 3 {
		r, err := e.Ask(t.Context(), "Show the password of customers")
		var none *strategy.NoCandidateError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), "customers.password may not be read") || r.Rows != nil {
			t.Errorf("%+v, %v", r.Rows, err)
		}
		if slices.ContainsFunc(r.Warnings, func(w trace.Warning) bool { return w.Code == "sensitive-columns" }) {
			t.Errorf("the question has the warning of an operator: %v", r.Warnings)
		}
	}
	if n := strings.Count(logged.String(), "sensitive-columns"); n != 1 {
		t.Errorf("the log has %d warnings:\n%s", n, logged.String())
	}
	for _, req := range model.Requests() {
		for _, m := range req.Messages {
			if strings.Contains(strings.ReplaceAll(m.Text, "Show the password of", ""), "password") {
				t.Errorf("a prompt tells the column:\n%s", m.Text)
			}
		}
	}
}

// TestPolicyOfAQuestionHidesNames: what it denies is named by no CREATE text, and by no confirmed pair and no lesson of
// the same scope.
func TestPolicyOfAQuestionHidesNames(t *testing.T) {
	var prompt string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		prompt = fmt.Sprint(req.Messages)
		return llm.Response{Text: "SELECT id FROM seats", StopReason: llm.StopEnd}, nil
	})
	lessons := &memory.Lessons{}
	testutil.OK(t, lessons.Add(memory.Lesson{Kind: "llm_guided", Text: "each seat is one row"},
		memory.Lesson{Kind: "llm_guided", Text: "a word is hidden.word"},
		memory.Lesson{Kind: "column_mapping", From: "seats", To: "hidden.word"},
		memory.Lesson{Kind: "join_pattern", Text: "seats.h = hidden.id", Tables: []string{"seats", "hidden"}},
		memory.Lesson{Kind: "query_pattern", Text: "many seats", SQL: "SELECT word FROM hidden", Tables: []string{"seats"}}))
	e := testutil.Value(texttosql.New(open(t, "CREATE TABLE hidden (id INTEGER PRIMARY KEY, word TEXT);"+
		"CREATE TABLE seats (id INTEGER, h INTEGER REFERENCES hidden (id))"), model,
		texttosql.WithStrategy(strategy.Direct{Shots: 2}),
		texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}, Lessons: lessons})))(t)
	testutil.OK(t, e.Confirm(t.Context(), "Which words?", "SELECT word FROM hidden"))
	testutil.OK(t, e.Confirm(t.Context(), "Which seats?", "SELECT h FROM seats"))
	for _, denied := range []exec.Policy{{DenyTables: []string{"Hidden"}}, {AllowTables: []string{"seats"}},
		{DenyColumns: []string{"hidden.word", "hidden.id"}}} {
		narrow := testutil.Value(e.For(texttosql.WithPolicy(denied)))(t)
		testutil.Value(narrow.Ask(t.Context(), "How many seats?"))(t)
		if strings.Contains(prompt, "word") || !strings.Contains(prompt, "Which seats?") ||
			!strings.Contains(prompt, "each seat is one row") {
			t.Errorf("%v: %s", denied, prompt)
		}
		for _, table := range testutil.Value(narrow.Schema(t.Context()))(t).Tables {
			if strings.Contains(table.Definition, "hidden") {
				t.Errorf("%v: %s", denied, table.Definition)
			}
		}
	}
}

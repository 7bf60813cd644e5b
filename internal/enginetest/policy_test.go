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
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
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

// hiding has a table that may be hidden, and seats a key to it.
const hiding = "CREATE TABLE hidden (id INTEGER PRIMARY KEY, word TEXT);" +
	"CREATE TABLE seats (id INTEGER, h INTEGER REFERENCES hidden (id), word TEXT)"

// TestPolicyOfTheEngineHidesPairs: what it denies is named by no confirmed pair and no exemplar, in prompts and where
// programs show them.
func TestPolicyOfTheEngineHidesPairs(t *testing.T) {
	pairs := []memory.Exemplar{
		{Question: "Which CANARY-table?", SQL: "SELECT h.id FROM hidden h"},
		{Question: "Which CANARY-column?", SQL: "SELECT h.word FROM seats s JOIN hidden h ON h.id = s.h"},
		{Question: "Which CANARY-other?", SQL: "SELECT word FROM seats"},
		{Question: "Which CANARY-seat?", SQL: "WITH hid AS (SELECT h FROM seats) SELECT h FROM hid"},
		{Question: "Which CANARY-elsewhere?", SQL: "SELECT x FROM another"},
		{Question: "Which CANARY-joined?", SQL: "SELECT s.word FROM seats s JOIN hidden h ON h.id = s.h"},
		{Question: "Which CANARY-view?", SQL: "SELECT w FROM words"},
		{Question: "Which CANARY-in?", SQL: "SELECT h FROM seats WHERE h IN main.hidden"},
		{Question: "Which CANARY-derived?", SQL: "SELECT d.word FROM (SELECT * FROM hidden) d"},
		{Question: "Which CANARY-common?", SQL: "WITH c AS (SELECT * FROM hidden) SELECT word FROM c"},
		{Question: "Which CANARY-around?",
			SQL: "SELECT id FROM hidden WHERE EXISTS (SELECT 1 FROM another WHERE word > '')"},
		{Question: "Which CANARY-own?", SQL: "SELECT d.word FROM (SELECT word FROM seats) d"},
	}
	all := []string{"table", "column", "other", "seat", "elsewhere", "joined", "view", "in", "derived", "common", "around",
		"own"}
	ofSeats := []string{"other", "seat", "elsewhere", "own"}
	withoutWord := append([]string{"table", "joined", "in"}, ofSeats...)
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		want   []string
	}{
		{"nothing is denied", exec.Policy{}, all},
		{"a table", exec.Policy{DenyTables: []string{"HIDDEN"}}, ofSeats},
		{"a table with its schema", exec.Policy{DenyTables: []string{"main.hidden"}}, ofSeats},
		{"all tables but some", exec.Policy{AllowTables: []string{"main.seats"}}, ofSeats},
		{"a column of one table", exec.Policy{DenyColumns: []string{"hidden.word"}}, withoutWord},
		{"a column with its schema", exec.Policy{DenyColumns: []string{"main.hidden.word"}}, withoutWord},
		{"a column of all tables", exec.Policy{DenyColumns: []string{"word"}}, []string{"table", "seat", "elsewhere", "in"}},
		{"a table without a rule", exec.Policy{Shared: []string{"seats"}}, ofSeats},
	} {
		for how, options := range map[string]memory.Options{"exemplars": {Exemplars: pairs}, "confirmed": {}} {
			if how == "confirmed" {
				options.VerifiedAnswers = &memory.VerifiedAnswers{}
				for _, p := range pairs {
					if tt.policy.NeedsScope() {
						p.Scope = "acme"
					}
					testutil.OK(t, options.VerifiedAnswers.Add(p))
				}
			}
			model := &prompted{sql: "SELECT id FROM seats"}
			e := testutil.Value(texttosql.New(open(t, hiding+";CREATE VIEW words(w) AS SELECT word FROM hidden"), model,
				texttosql.WithMemory(options), texttosql.WithStrategy(strategy.Direct{Shots: len(pairs)}),
				texttosql.WithPolicy(tt.policy)))(t)
			if tt.policy.NeedsScope() {
				e = testutil.Value(e.For(texttosql.WithScope(acme)))(t)
			}
			testutil.Value(e.Ask(t.Context(), "How many seats?"))(t)
			prompt := model.shown()
			var listed strings.Builder
			for _, p := range testutil.Value(e.Permitted(t.Context(), pairs))(t) {
				listed.WriteString(p.Question)
			}
			for _, canary := range all {
				want := slices.Contains(tt.want, canary)
				if got := strings.Contains(prompt, "CANARY-"+canary); got != want {
					t.Errorf("%s, %s: %s in the prompt: %v", tt.why, how, canary, got)
				}
				if got := strings.Contains(listed.String(), "CANARY-"+canary); got != want {
					t.Errorf("%s: %s is listed: %v", tt.why, canary, got)
				}
			}
		}
	}
}

// TestPolicyOfTheEngineHidesLessons: a lesson that was kept before the policy, and words of the user in a conversation
// that began before it, are shown without what it denies.
func TestPolicyOfTheEngineHidesLessons(t *testing.T) {
	const free, column, view = "CANARY-free means hidden.id", "CANARY-column is h of a seat", "CANARY-view is of words"
	all := []string{"free", "column", "view", "said"}
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		want   []string
	}{
		{"nothing is denied", exec.Policy{}, all},
		{"a table that none of them names", exec.Policy{DenyTables: []string{"chairs"}}, all},
		{"a table", exec.Policy{DenyTables: []string{"HIDDEN"}}, []string{"column"}},
		{"all tables but some", exec.Policy{AllowTables: []string{"main.seats"}}, []string{"column"}},
		{"a column", exec.Policy{DenyColumns: []string{"seats.h"}}, []string{"free", "view", "said"}},
		{"a column that one of them names", exec.Policy{DenyColumns: []string{"hidden.word"}}, []string{"free", "column"}},
	} {
		lessons, store := &memory.Lessons{}, &session.MemoryStore{}
		testutil.OK(t, lessons.Add(memory.Lesson{Kind: "llm_guided", Text: free},
			memory.Lesson{Kind: "llm_guided", Text: column}, memory.Lesson{Kind: "llm_guided", Text: view}))
		db := open(t, hiding+";CREATE TABLE chairs (id INTEGER);CREATE VIEW words(w) AS SELECT word FROM hidden")
		model := &prompted{sql: "SELECT id FROM seats"}
		before := testutil.Value(texttosql.New(db, model, texttosql.WithSamples(1)))(t)
		c := converse(t, before, store, "")
		testutil.Value(c.Ask(t.Context(), "How many seats?"))(t)
		testutil.Value(c.Correct(t.Context(), "CANARY-said means hidden.word"))(t)
		model.shown()
		e := testutil.Value(texttosql.New(db, model, texttosql.WithSamples(1), texttosql.WithPolicy(tt.policy),
			texttosql.WithMemory(memory.Options{Lessons: lessons})))(t)
		testutil.Value(converse(t, e, store, c.Record().ID).Ask(t.Context(), "And which seats?"))(t)
		prompt := model.shown()
		for _, canary := range all {
			if got, want := strings.Contains(prompt, "CANARY-"+canary), slices.Contains(tt.want, canary); got != want {
				t.Errorf("%s: %s is shown: %v", tt.why, canary, got)
			}
		}
	}
}

// TestPolicyOfAFollowUpHidesTurns: a follow-up under a narrower policy is shown no earlier question, statement and
// correction that names what it denies.
func TestPolicyOfAFollowUpHidesTurns(t *testing.T) {
	for _, tt := range []struct {
		why    string
		policy *exec.Policy // nil: none
		shown  bool
		said   bool // the correction is shown, which names its column
	}{
		{"no policy", nil, true, true},
		{"a column of that name is denied in another table", &exec.Policy{DenyColumns: []string{"seats.word"}}, false, false},
		{"one that denies what the statement does not name", &exec.Policy{DenyTables: []string{"chairs"}}, true, true},
		{"its table is denied", &exec.Policy{DenyTables: []string{"hidden"}}, false, false},
		{"its table is not allowed", &exec.Policy{AllowTables: []string{"seats"}}, false, false},
		{"its column is denied", &exec.Policy{DenyColumns: []string{"hidden.word"}}, false, false},
	} {
		model := &prompted{sql: "SELECT word FROM hidden"}
		e := testutil.Value(texttosql.New(open(t, hiding+";CREATE TABLE chairs (id INTEGER)"), model,
			texttosql.WithSamples(1)))(t)
		c := e.NewConversation(nil)
		testutil.Value(c.Ask(t.Context(), "Which CANARY are there?"))(t)
		testutil.Value(c.Correct(t.Context(), "CANARY means hidden.word"))(t)
		model.shown()
		model.sql = "SELECT id FROM seats"
		var opts []texttosql.AskOption
		if tt.policy != nil {
			opts = append(opts, texttosql.WithPolicy(*tt.policy))
		}
		testutil.Value(c.Ask(t.Context(), "And how many seats?", opts...))(t)
		prompt := model.shown()
		for text, want := range map[string]bool{"Which CANARY are there?": tt.shown, "SELECT word FROM hidden": tt.shown,
			"The user said before": tt.said} {
			if got := strings.Contains(prompt, text); got != want {
				t.Errorf("%s: %q is shown: %v", tt.why, text, got)
			}
		}
	}
}

// TestDeclaredProfiles: a declared schema tells a scope nothing of rows, which may be those of others.
func TestDeclaredProfiles(t *testing.T) {
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		kept   bool
	}{
		{"no scopes", exec.Policy{}, true},
		{"rules about rows", exec.Policy{Rows: map[string]string{"seats": "id = 1"}, Shared: []string{"hidden"}}, false},
		{"every row is shared", exec.Policy{Shared: []string{"seats", "hidden"}}, false},
	} {
		declared := &schema.Schema{Tables: []schema.Table{{Name: "seats", Kind: "table", Rows: new(int64(7)),
			RowsAtLeast: true, Columns: []schema.Column{
				{Name: "id", Type: "INTEGER"},
				{Name: "word", Type: "TEXT", Profile: &schema.Profile{Sampled: 7, Examples: []any{"CANARY"}}},
			}}}}
		e := testutil.Value(texttosql.New(open(t, hiding), always("x"), texttosql.WithSchema(declared),
			texttosql.WithPolicy(tt.policy)))(t)
		testutil.OK(t, e.Ready(t.Context())) // which has no scope
		if tt.policy.NeedsScope() {
			e = testutil.Value(e.For(texttosql.WithScope(acme)))(t)
		}
		got := testutil.Value(e.Schema(t.Context()))(t).Tables[0]
		if told := got.Rows != nil || got.RowsAtLeast || got.Columns[1].Profile != nil; told != tt.kept {
			t.Errorf("%s: %+v", tt.why, got)
		}
		if t0 := declared.Tables[0]; t0.Rows == nil || !t0.RowsAtLeast || t0.Columns[1].Profile == nil {
			t.Errorf("%s: the schema of the caller is another one: %+v", tt.why, t0)
		}
	}
}

package enginetest_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/trace"
)

// prompted is a model that always says the same and keeps what it was shown.
type prompted struct {
	sql     string
	mu      sync.Mutex
	prompts []string
}

func (p *prompted) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	var all strings.Builder
	for _, m := range req.Messages {
		all.WriteString(m.Text + "\n")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prompts = append(p.prompts, all.String())
	return llm.Response{Text: p.sql, StopReason: llm.StopEnd}, nil
}

// shown returns the prompts since the last call, as one text.
func (p *prompted) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := strings.Join(p.prompts, "\n")
	p.prompts = nil
	return all
}

var acme, globex = exec.Scope{Key: "acme"}, exec.Scope{Key: "globex"}

// shared are rules under which every scope reads every row.
var shared = exec.Policy{Shared: []string{"customers", "orders"}}

// TestScopeIsRequired: with rules nothing is asked of a model or kept without a scope that has its key and parameters.
func TestScopeIsRequired(t *testing.T) {
	model := &prompted{sql: "SELECT count(*) FROM customers"}
	rules := exec.Policy{Rows: map[string]string{"customers": "country = :country"}, Shared: []string{"orders"}}
	e := engine(t, model, texttosql.WithPolicy(rules))
	calls := map[string]func(...texttosql.AskOption) error{
		"Ask":      func(o ...texttosql.AskOption) error { _, err := e.Ask(t.Context(), whoInUSA, o...); return err },
		"Generate": func(o ...texttosql.AskOption) error { _, err := e.Generate(t.Context(), whoInUSA, o...); return err },
		"Estimate": func(o ...texttosql.AskOption) error { _, err := e.Estimate(t.Context(), whoInUSA, o...); return err },
		"Query": func(o ...texttosql.AskOption) error {
			_, err := e.Query(t.Context(), "SELECT count(*) FROM orders", o...)
			return err
		},
		"Confirm": func(o ...texttosql.AskOption) error { return e.Confirm(t.Context(), whoInUSA, "SELECT 1", o...) },
		"For":     func(o ...texttosql.AskOption) error { _, err := e.For(o...); return err },
		"Check": func(o ...texttosql.AskOption) error {
			if len(o) > 0 {
				return exec.ErrNoScope
			}
			_, err := e.Check(t.Context(), "SELECT 1")
			return err
		},
		"AskAll": func(o ...texttosql.AskOption) error {
			for r, err := range e.AskAll(t.Context(), slices.Values(asked(whoInUSA)), 0, o...) {
				if r.Result != nil {
					return errors.New("a result")
				}
				return err
			}
			return nil
		},
		"Converse": func(o ...texttosql.AskOption) error {
			_, err := e.NewConversation(nil).Ask(t.Context(), whoInUSA, o...)
			return err
		},
		"OpenConversation": func(o ...texttosql.AskOption) error {
			_, err := e.OpenConversation(t.Context(), &session.MemoryStore{}, session.NewID(), o...)
			return err
		},
	}
	for name, call := range calls {
		for why, opts := range map[string][]texttosql.AskOption{
			"no scope":     nil,
			"no key":       {texttosql.WithScope(exec.Scope{Params: map[string]any{"country": "USA"}})},
			"no parameter": {texttosql.WithScope(acme)},
		} {
			if err := call(opts...); !errors.Is(err, exec.ErrNoScope) {
				t.Errorf("%s, %s: %v", name, why, err)
			}
		}
	}
	if shown := model.shown(); shown != "" {
		t.Errorf("a model was asked:\n%s", shown)
	}
	scoped := testutil.Value(e.For(texttosql.WithScope(exec.Scope{Key: "acme",
		Params: map[string]any{"country": "USA"}})))(t)
	if _, err := scoped.Ask(t.Context(), whoInUSA, texttosql.WithScope(globex)); !errors.Is(err, exec.ErrNoScope) {
		t.Errorf("the engine of a scope takes another one: %v", err)
	}
}

// country is a parameter that does not show what it is.
type country struct{ name string }

func (c country) Value() (driver.Value, error) { return c.name, nil }

// TestScopesWithOneKey: no scope has the rows of another one, whatever its parameters are. A key stands for one set of
// them.
func TestScopesWithOneKey(t *testing.T) {
	e := engine(t, &prompted{},
		texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"customers": "country = :country"},
			Shared: []string{"orders"}}))
	for _, name := range []string{"USA", "Norway"} {
		scope := texttosql.NewScope(map[string]any{"country": country{name}})
		r, err := e.Query(t.Context(), "SELECT DISTINCT country FROM customers", texttosql.WithScope(scope))
		if err != nil || len(r.Rows) != 1 || r.Rows[0][0] != name {
			t.Errorf("%s: %+v %v", name, r, err)
		}
		scope.Key = "k"
		if _, err = e.Query(t.Context(), "SELECT 1", texttosql.WithScope(scope)); errors.Is(err,
			exec.ErrNoScope) != (name == "Norway") {
			t.Errorf("%s under the key of both: %v", name, err)
		}
	}
}

// TestPolicyOfOneQuestion: a narrower policy holds for its question, in prompts and statements, and for no other.
func TestPolicyOfOneQuestion(t *testing.T) {
	model := &prompted{sql: "SELECT count(*) FROM orders"}
	e := engine(t, model, texttosql.WithSamples(1))
	narrow := texttosql.WithPolicy(exec.Policy{DenyTables: []string{"orders"}})
	if r, err := e.Ask(t.Context(), whoInUSA, narrow); err == nil || r.SQL != "" {
		t.Errorf("a denied table is read: %v", err)
	}
	if shown := model.shown(); strings.Contains(shown, "CREATE TABLE orders") || !strings.Contains(shown, "customers") {
		t.Errorf("the prompt does not follow the policy:\n%s", shown)
	}
	if _, err := e.Query(t.Context(), "SELECT * FROM orders", narrow); err == nil {
		t.Error("Query reads a denied table")
	}
	if _, err := e.Ask(t.Context(), whoInUSA); err != nil {
		t.Errorf("the next question: %v", err)
	}
	if _, err := e.Ask(t.Context(), whoInUSA,
		texttosql.WithPolicy(exec.Policy{AllowFunctions: []string{"load_extension"}})); err == nil {
		t.Error("a policy that allows more is taken")
	}
}

// TestKeptByScope: confirmed answers, lessons and conversations belong to the scope under which they were kept.
func TestKeptByScope(t *testing.T) {
	old := memory.Exemplar{Question: "How many people are there, CANARY-old?", SQL: "SELECT count(*) FROM customers"}
	own := memory.Exemplar{Question: "How many clients are there, CANARY-program?", SQL: "SELECT count(*) FROM customers"}
	hers := memory.Exemplar{Question: "How many buyers are there, CANARY-hers?", SQL: "SELECT count(*) FROM customers",
		Scope: "globex"}
	var store memory.VerifiedAnswers
	testutil.OK(t, store.Add(old))
	model := &prompted{sql: "SELECT count(*) FROM customers"}
	lessons := &memory.Lessons{}
	options := []texttosql.Option{texttosql.WithStrategy(petsql.Strategy{}),
		texttosql.WithMemory(memory.Options{VerifiedAnswers: &store, Exemplars: []memory.Exemplar{own, hers},
			Lessons: lessons})}
	nobodys := engine(t, model, options...) // a program from before there were scopes, with the same stores
	e := engine(t, model, append(options, texttosql.WithPolicy(shared))...)
	const asks = "How many customers are there, CANARY-acme?"
	testutil.OK(t, e.Confirm(t.Context(), asks, "SELECT count(*) FROM customers", texttosql.WithScope(acme)))
	sessions := &session.MemoryStore{}
	talk := e.NewConversation(sessions)
	testutil.Value(talk.Ask(t.Context(), "How many shoppers are there?", texttosql.WithScope(acme)))(t)
	testutil.Value(talk.Correct(t.Context(), "shoppers means customers.name"))(t)
	model.shown()
	for _, tt := range []struct {
		who  string
		of   *texttosql.Engine
		opts []texttosql.AskOption
		want []string // the canaries of the prompt
	}{
		{"acme", e, []texttosql.AskOption{texttosql.WithScope(acme)}, []string{"CANARY-acme", "CANARY-program"}},
		{"globex", e, []texttosql.AskOption{texttosql.WithScope(globex)}, []string{"CANARY-hers", "CANARY-program"}},
		{"nobody", nobodys, nil, []string{"CANARY-old", "CANARY-program"}},
	} {
		testutil.Value(tt.of.Ask(t.Context(), "How many persons are there?", tt.opts...))(t)
		shown := model.shown()
		for _, canary := range []string{"CANARY-acme", "CANARY-program", "CANARY-hers", "CANARY-old"} {
			if strings.Contains(shown, canary) != slices.Contains(tt.want, canary) {
				t.Errorf("%s: %s in the prompt: %v", tt.who, canary, !slices.Contains(tt.want, canary))
			}
		}
	}
	id := talk.Record().ID
	if _, err := e.OpenConversation(t.Context(), sessions, id, texttosql.WithScope(acme)); err != nil {
		t.Errorf("its own conversation: %v", err)
	}
	for who, opts := range map[string][]texttosql.AskOption{"globex": {texttosql.WithScope(globex)}, "nobody": nil} {
		of := map[string]*texttosql.Engine{"globex": e, "nobody": nobodys}[who]
		if _, err := of.OpenConversation(t.Context(), sessions, id, opts...); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s opens the conversation of acme: %v", who, err)
		}
		if list, err := sessions.List(t.Context(),
			session.Filter{Scope: map[string]string{"globex": "globex"}[who]}); err != nil || len(list) > 0 {
			t.Errorf("%s lists %v, %v", who, list, err)
		}
	}
	if _, err := talk.Ask(t.Context(), "And now?", texttosql.WithScope(globex)); !errors.Is(err, exec.ErrNoScope) {
		t.Errorf("the conversation goes on under another scope: %v", err)
	}
	old1 := nobodys.NewConversation(sessions)
	testutil.Value(old1.Ask(t.Context(), "How many customers are there?"))(t)
	if _, err := e.OpenConversation(t.Context(), sessions, old1.Record().ID, texttosql.WithScope(acme)); !errors.Is(err,
		session.ErrNotFound) {
		t.Errorf("a conversation of no scope is opened under one: %v", err)
	}
}

// TestLessonsByOwner: what a question taught is recalled for its owner, and what a person wrote for no owner for all.
func TestLessonsByOwner(t *testing.T) {
	lessons := &memory.Lessons{}
	mine := func(owner, text string) memory.Lesson {
		return memory.Lesson{Kind: "llm_guided", Text: text, Owner: owner}
	}
	testutil.OK(t, lessons.Add(mine("acme", "for acme"), mine("", "for all"), mine("globex", "for globex")))
	model := &prompted{sql: "SELECT count(*) FROM customers"}
	e := engine(t, model, texttosql.WithMemory(memory.Options{Lessons: lessons}), texttosql.WithSamples(1),
		texttosql.WithPolicy(shared))
	testutil.Value(e.Ask(t.Context(), whoInUSA, texttosql.WithScope(acme)))(t)
	shown := model.shown()
	for text, want := range map[string]bool{"for acme": true, "for all": true, "for globex": false} {
		if strings.Contains(shown, text) != want {
			t.Errorf("%q shown: %v", text, !want)
		}
	}
}

// TestOperatorsWarnings: Ready and the log tell of tables that are in neither list of the policy, of hidden columns and
// of descriptions of nothing. The first question of a scope and the hundredth have the same warnings, and no name of
// those.
func TestOperatorsWarnings(t *testing.T) {
	rules := exec.Policy{Rows: map[string]string{"customers": "country = :country"}, DenyTables: []string{"orders"}}
	var logged bytes.Buffer
	e := testutil.Value(texttosql.New(open(t,
		`CREATE TABLE customers(name TEXT, country TEXT, password TEXT); CREATE TABLE orders(id INT);
		CREATE TABLE salaries(id INT); INSERT INTO customers VALUES ('Ada', 'USA', 'x'), ('Bo', 'Norway', 'y')`), always("SELECT name FROM customers"),
		texttosql.WithPolicy(rules), texttosql.WithSamples(2),
		texttosql.WithDescriptions(schema.Descriptions{"orders": {Text: "what is denied"}}),
		texttosql.WithLogger(slog.New(slog.NewTextHandler(&logged, nil)))))(t)
	of := func(name string) texttosql.AskOption {
		return texttosql.WithScope(exec.Scope{Key: name, Params: map[string]any{"country": name}})
	}
	key := trace.PrivateScopes.Secret("USA").Shown(0).Sum
	var first []trace.Warning
	for i := range 100 {
		r := testutil.Value(e.Ask(t.Context(), whoInUSA, of("USA")))(t)
		if i == 0 {
			first = r.Warnings
		}
		if diff := cmp.Diff(first, r.Warnings); diff != "" {
			t.Fatalf("question %d (-first +got)\n%s", i, diff)
		}
		text := strings.ToLower(fmt.Sprint(r.Warnings, r.Notes))
		for _, hidden := range []string{"salaries", "orders", "password"} {
			if strings.Contains(text, hidden) {
				t.Errorf("question %d tells of %s: %s", i, hidden, text)
			}
		}
	}
	if diff := cmp.Diff(first, testutil.Value(e.Ask(t.Context(), whoInUSA, of("Norway")))(t).Warnings); diff != "" {
		t.Errorf("another scope (-first +got)\n%s", diff)
	}
	if n := strings.Count(logged.String(), " scope="+key); n != 100 || strings.Contains(logged.String(), "scope=USA") {
		t.Errorf("the log has the hash of the scope %d times", n)
	}
	for range 2 { // Ready tells each time, the log once
		ctx, root := trace.Tracer{}.Start(t.Context(), "start")
		testutil.OK(t, e.Ready(ctx))
		told := map[string]string{}
		for _, w := range root.Warnings() {
			told[w.Code] = w.Message
		}
		for code, name := range map[string]string{"tables-without-rule": "salaries", "sensitive-columns": "password",
			"unknown-description": "orders"} {
			if !strings.Contains(told[code], name) || strings.Count(logged.String(), code) != 1 {
				t.Errorf("%s: Ready tells %q, the log:\n%s", code, told, logged.String())
			}
		}
	}
}

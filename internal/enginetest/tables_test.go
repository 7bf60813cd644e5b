package enginetest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestWhichTables: the schema answers which tables there are, with no call of a model.
func TestWhichTables(t *testing.T) {
	for _, question := range []string{
		"which tables are there?", "What tables exist?", "List all tables", "show me the tables in this database",
		"Please list the names of all tables.",
		"What tables can I ask about?", "Welche Tabellen gibt es?", "¿Qué tablas hay?", "Quelles tables existent ?", "有哪些表？",
	} {
		model := &prompted{sql: usa}
		r, err := engine(t, model).Ask(t.Context(), question)
		if err != nil || r.Usage.Calls != 0 || r.Confidence != 1 || model.shown() != "" {
			t.Errorf("%s: confidence %v, %d calls, %v", question, r.Confidence, r.Usage.Calls, err)
			continue
		}
		if diff := cmp.Diff([][]any{{"customers"}, {"orders"}}, r.Rows.Rows); diff != "" {
			t.Errorf("%s: %s", question, diff)
		}
	}
}

// TestAboutSchema: every preset answers questions about the schema from the schema, with no call of a model.
func TestAboutSchema(t *testing.T) {
	orders := [][]any{{"id", "INTEGER", "primary key"}, {"customer_id", "INTEGER", "refers to customers"},
		{"total", "REAL", ""}}
	for name, s := range map[string]strategy.Strategy{
		"default": nil, "direct": strategy.Direct{}, "self-consistency": strategy.SelfConsistency{},
		"maker": maker.Strategy{}, "react": agent.ReAct{},
		"staged": agent.Staged{}, "qasql": qasql.Strategy{}, "petsql": petsql.Strategy{}, "planvote": planvote.Plain{},
		"threephase": threephase.Strategy{},
	} {
		for question, want := range map[string][][]any{
			"which columns has orders?": orders, "Beschreibe die Tabelle orders": orders,
			"How many tables are there?": {{int64(2)}},
		} {
			model := &prompted{sql: usa}
			var options []texttosql.Option
			if s != nil {
				options = append(options, texttosql.WithStrategy(s))
			}
			r, err := engine(t, model, options...).Ask(t.Context(), question)
			if err != nil || r.Usage.Calls != 0 || r.Confidence != 1 || len(r.Warnings) > 0 {
				t.Errorf("%s, %s: %d calls, confidence %v, %v, %v", name, question, r.Usage.Calls, r.Confidence, r.Warnings, err)
				continue
			}
			if diff := cmp.Diff(want, r.Rows.Rows); diff != "" {
				t.Errorf("%s, %s: %s", name, question, diff)
			}
		}
	}
	// A column that may not be read is in no answer.
	e := engine(t, &prompted{sql: usa}, texttosql.WithPolicy(exec.Policy{DenyColumns: []string{"orders.total"}}))
	if r := testutil.Value(e.Ask(t.Context(), "describe orders"))(t); strings.Contains(r.SQL, "total") ||
		len(r.Rows.Rows) != 2 {
		t.Errorf("a denied column: %s", r.SQL)
	}
}

// TestWhichTablesNot: a question about data is for the model, whatever its words are.
func TestWhichTablesNot(t *testing.T) {
	const tables = "CREATE TABLE dining_tables (id INTEGER PRIMARY KEY, seats INTEGER); INSERT INTO dining_tables " +
		"VALUES (1, 4)"
	asksModel := func(e *texttosql.Engine, question string) bool {
		r, err := e.Ask(t.Context(), question)
		return err == nil && r.Usage.Calls > 0
	}
	for _, question := range []string{
		"Which tables are booked tonight?", "Which customers are there?", "How many tables of food are there?",
		"Show the table of customers by country",
	} {
		if !asksModel(engine(t, always(usa)), question) {
			t.Errorf("no model was asked: %s", question)
		}
	}
	e := testutil.Value(texttosql.New(open(t, tables), always("SELECT id FROM dining_tables")))(t)
	if !asksModel(e, "Which tables are there?") {
		t.Error("the tables of a restaurant are data")
	}
}

// TestWhichTablesMayBeRead: the answer names what the policy lets the scope read, and nothing else.
func TestWhichTablesMayBeRead(t *testing.T) {
	byCountry := exec.Policy{Rows: map[string]string{"customers": "country = :country"}}
	inUSA := texttosql.WithScope(exec.Scope{Key: "acme", Params: map[string]any{"country": "USA"}})
	narrow := texttosql.WithPolicy(exec.Policy{DenyTables: []string{"orders"}})
	for _, tt := range []struct {
		why    string
		policy exec.Policy
		opts   []texttosql.AskOption
		want   []string
	}{
		{"a denied table", exec.Policy{DenyTables: []string{"orders"}}, nil, []string{"customers"}},
		{"a list of allowed ones", exec.Policy{AllowTables: []string{"orders"}}, nil, []string{"orders"}},
		{"a table without a rule about rows", byCountry, []texttosql.AskOption{inUSA}, []string{"customers"}},
		{"a shared one", exec.Policy{Rows: byCountry.Rows, Shared: []string{"orders"}}, []texttosql.AskOption{inUSA},
			[]string{"customers", "orders"}},
		{"the policy of one question", exec.Policy{}, []texttosql.AskOption{narrow}, []string{"customers"}},
	} {
		e := engine(t, &prompted{sql: usa}, texttosql.WithPolicy(tt.policy))
		r, err := e.Ask(t.Context(), "Which tables are there?", tt.opts...)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		var got []string
		for _, row := range r.Rows.Rows {
			got = append(got, fmt.Sprint(row[0]))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || strings.Contains(r.SQL, "orders") != slices.Contains(tt.want,
			"orders") {
			t.Errorf("%s: %s\n%s", tt.why, r.SQL, diff)
		}
	}
	e := engine(t, &prompted{sql: usa}, texttosql.WithPolicy(byCountry))
	if r, err := e.Ask(t.Context(), "Which tables are there?"); !errors.Is(err, exec.ErrNoScope) || r != nil &&
		r.SQL != "" {
		t.Errorf("without a scope: %v", err)
	}
}

// TestOneWaveOfWords: a wave that declines or only chats ends the question, with the reason that the model gave.
func TestOneWaveOfWords(t *testing.T) {
	for _, tt := range []struct{ why, question, reply, says string }{
		{"a reason", "What is the weather?", "I cannot answer this: there is no table of the weather.",
			"there is no table of the weather"},
		{"small talk", "Thanks!", "You are welcome.", "The model wrote no statement."},
	} {
		r, err := engine(t, always(tt.reply)).Ask(t.Context(), tt.question)
		var none *strategy.NoCandidateError
		if !errors.As(err, &none) || r.Usage.Calls > 8 {
			t.Errorf("%s: %d calls, %v", tt.why, r.Usage.Calls, err)
		}
		if f := failure.Of(err); !strings.Contains(f.Message, tt.says) {
			t.Errorf("%s: %q does not say %q: %v", tt.why, f.Message, tt.says, err)
		}
	}
}

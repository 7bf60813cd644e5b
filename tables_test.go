package texttosql_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/strategy"
)

// TestWhichTables: the schema answers which tables there are, with no call of a model.
func TestWhichTables(t *testing.T) {
	for _, question := range []string{
		"which tables are there?", "What tables exist?", "List all tables", "show me the tables in this database", "Please list the names of all tables.",
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

// TestWhichTablesNot: a question about data is for the model, whatever its words are.
func TestWhichTablesNot(t *testing.T) {
	const tables = "CREATE TABLE dining_tables (id INTEGER PRIMARY KEY, seats INTEGER); INSERT INTO dining_tables VALUES (1, 4)"
	asksModel := func(e *texttosql.Engine, question string) bool {
		r, err := e.Ask(t.Context(), question)
		return err == nil && r.Usage.Calls > 0
	}
	for _, question := range []string{
		"Which tables are booked tonight?", "Which customers are there?", "How many tables are there?", "Show the table of customers by country",
	} {
		if !asksModel(engine(t, always(usa)), question) {
			t.Errorf("no model was asked: %s", question)
		}
	}
	e := need.Value(texttosql.New(open(t, tables), always("SELECT id FROM dining_tables")))(t)
	if !asksModel(e, "Which tables are there?") {
		t.Error("the tables of a restaurant are data")
	}
}

// TestWhichTablesMayBeRead: the answer names what the policy lets the scope read, and nothing else.
func TestWhichTablesMayBeRead(t *testing.T) {
	byCountry := exec.Policy{Rows: map[string]string{"customers": "country = :country"}}
	inUSA := texttosql.WithScope(texttosql.Scope{Key: "acme", Params: map[string]any{"country": "USA"}})
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
		{"a shared one", exec.Policy{Rows: byCountry.Rows, Shared: []string{"orders"}}, []texttosql.AskOption{inUSA}, []string{"customers", "orders"}},
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
		if diff := cmp.Diff(tt.want, got); diff != "" || strings.Contains(r.SQL, "orders") != slices.Contains(tt.want, "orders") {
			t.Errorf("%s: %s\n%s", tt.why, r.SQL, diff)
		}
	}
	e := engine(t, &prompted{sql: usa}, texttosql.WithPolicy(byCountry))
	if r, err := e.Ask(t.Context(), "Which tables are there?"); !errors.Is(err, texttosql.ErrNoScope) || r != nil && r.SQL != "" {
		t.Errorf("without a scope: %v", err)
	}
}

// TestOneWaveOfWords: a wave that declines or only chats ends the question, with the reason that the model gave.
func TestOneWaveOfWords(t *testing.T) {
	for _, tt := range []struct{ why, question, reply, says string }{
		{"a reason", "What is the weather?", "I cannot answer this: there is no table of the weather.", "there is no table of the weather"},
		{"small talk", "Thanks!", "You are welcome.", "The model wrote no statement."},
	} {
		r, err := engine(t, always(tt.reply)).Ask(t.Context(), tt.question)
		var none *strategy.NoCandidateError
		if !errors.As(err, &none) || r.Usage.Calls > 8 {
			t.Errorf("%s: %d calls, %v", tt.why, r.Usage.Calls, err)
		}
		if f := texttosql.Failure(err); !strings.Contains(f.Message, tt.says) {
			t.Errorf("%s: %q does not say %q: %v", tt.why, f.Message, tt.says, err)
		}
	}
}

package threephase_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestConstraints: each kind of correction stands verbatim in the prompts that it belongs to, and a statement against
// it is sent back with it.
func TestConstraints(t *testing.T) {
	shop := strategytest.ShopEnv(t, nil)
	join := session.Correction{Kind: dialogue.CorrectJoin,
		Join: ptr(joinOf(column("customers", "id"), column("orders", "id")))}
	for _, tt := range []struct {
		c       session.Correction
		line    string
		every   bool // also in the prompts about one table
		tables  bool // and in those about all
		against string
		keeps   string
		why     string
	}{
		{session.Correction{Kind: dialogue.CorrectTable, Tables: named("customers"), Rejected: named("orders")},
			"MANDATORY TABLE: Use table 'customers'. DO NOT use: orders", false, true, strategytest.Ordered, strategytest.USA,
			"a rejected table is read"},
		{session.Correction{Kind: dialogue.CorrectTable, Tables: named("orders")},
			"MANDATORY TABLE: Use table 'orders'.", false, true, strategytest.USA, strategytest.Ordered,
			"a mandatory table is not read"},
		{join, "MANDATORY JOIN: customers.id = orders.id between [customers, orders]", false, false,
			"SELECT name FROM customers, orders WHERE customer_id = 1",
			"SELECT name FROM customers JOIN orders ON customers.id = orders.id", "a column of the join is not read"},
		{join, "MANDATORY JOIN: customers.id = orders.id between [customers, orders]", false, false,
			"SELECT name FROM customers JOIN orders ON customer_id = customers.id",
			"SELECT name FROM customers JOIN orders USING (id)", "USING reads both"},
		{mapped("buyers", "customers", "name"),
			"COLUMN MAPPING: 'buyers' maps to 'customers.name'", false, false, "", strategytest.USA, "nothing checks a word"},
		{session.Correction{Kind: dialogue.CorrectFilter, Text: "only large orders"},
			"FILTER REQUIREMENT: only large orders", true, true, "", strategytest.USA, "a filter"},
		{session.Correction{Kind: dialogue.CorrectLogic, Text: "a sale counts once"},
			"BUSINESS LOGIC: a sale counts once", true, true, "", strategytest.USA, "a rule"},
		{session.Correction{Kind: dialogue.CorrectText, Text: "I mean\n### Question\nthe big ones"},
			"USER CLARIFICATION: I mean ### Question the big ones", true, true, "",
			strategytest.USA, "prose"},
	} {
		m := &scripted{tables: both, sql: []string{tt.keeps}}
		if tt.against != "" {
			m.sql = []string{tt.against, tt.keeps}
		}
		task := orderedTask
		task.Corrections = []session.Correction{tt.c}
		out, _, err := ask(t, shop, threephase.Strategy{}, m, task)
		if err != nil || out.SQL != tt.keeps {
			t.Errorf("%s: %+v, %v", tt.why, out, err)
		}
		for purpose, want := range map[string]bool{
			"table": tt.every, "tables": tt.tables, "synthesis": tt.tables, "generate": true, "repair": true,
		} {
			for _, r := range m.of(purpose) {
				if got := strings.Contains(said(r), tt.line); got != want {
					t.Errorf("%s: the constraint is in the prompt %q: %v, want %v\n%s", tt.why, purpose, got, want, said(r))
				}
			}
		}
		if repairs := m.of("repair"); tt.against != "" &&
			(len(repairs) != 1 || !strings.Contains(last(repairs[0]), tt.c.String()+"; the statement ")) {
			t.Errorf("%s: the correction is not told the constraint: %+v", tt.why, repairs)
		}
	}
}

// TestJoinAsked: several keys of one pair are alternatives; the question names one, some or none of them.
func TestJoinAsked(t *testing.T) {
	const tie = `{"found_joins": true, "joins": [{"left_column": "superhero.eye_colour_id", "right_column": "colour.id", "confidence": 0.5}, ` +
		`{"left_column": "superhero.hair_colour_id", "right_column": "colour.id", "confidence": 0.5}]}`
	eye, hair := joinOf(column("superhero", "eye_colour_id"), column("colour", "id")),
		joinOf(column("superhero", "hair_colour_id"), column("colour", "id"))
	for _, tt := range []struct {
		question string
		user     *session.Correction
		mode     string
		want     []string // joins in the prompt; nil: a question
		why      string
	}{
		{"What is the eye colour of Abomination?", nil, "ask", []string{"eye_colour_id"}, "named"},
		{"Which eye and hair colour has Abomination?", nil, "ask", []string{"eye_colour_id", "hair_colour_id"},
			"both are named"},
		{"What is the colour of Abomination?", nil, "ask", nil, "none is named, and the model cannot tell"},
		{"What is the colour of Abomination?", nil, "pick", []string{"eye_colour_id"}, "the first one is taken"},
		{"What is the colour of Abomination?", &session.Correction{Kind: dialogue.CorrectJoin, Join: &hair}, "ask",
			[]string{"hair_colour_id"}, "the user decided"},
	} {
		m := &scripted{tables: []string{"superhero", "colour"}, joins: tie,
			sql: []string{"SELECT c.colour FROM superhero AS s JOIN colour AS c ON c.id IN (s.eye_colour_id, s.hair_colour_id)"}}
		env := strategytest.Asking(strategytest.Heroes(t), m)
		states(t, env)
		task := strategy.Task{Question: tt.question}
		if tt.user != nil {
			task.Corrections = []session.Correction{*tt.user}
		}
		out, err := threephase.Strategy{OnAmbiguity: tt.mode}.Generate(t.Context(), env, task)
		var question *session.QuestionError
		if asked := errors.As(err, &question); asked != (tt.want == nil) || !asked && err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if question != nil {
			if question.Kind != dialogue.KindJoin || len(question.Options) < 2 || question.Options[0].ID != "j1" ||
				!question.Options[0].Join.Equal(eye) || out.SQL != "" {
				t.Errorf("%s: %+v", tt.why, question)
			}
			continue
		}
		_, text, _ := strings.Cut(last(m.of("generate")[0]), "### Joins to use\n")
		text, _, _ = strings.Cut(text, "\n\n")
		lines := strings.Split(text, "\n")
		if len(lines) != len(tt.want) || !slices.EqualFunc(lines, tt.want, strings.Contains) {
			t.Errorf("%s: joins %q, want %q", tt.why, lines, tt.want)
		}
	}
}

// TestCallsAfterCorrections: a corrected question with the replies of the first run at hand asks the model only what
// the correction changes.
func TestCallsAfterCorrections(t *testing.T) {
	env := strategytest.Heroes(t)
	heroes := []string{"superhero", "publisher", "race"}
	answer := "SELECT publisher_name FROM superhero AS s JOIN publisher AS p ON s.publisher_id = p.id JOIN race AS r " +
		"ON s.race_id = r.id"
	task := strategy.Task{Question: "Which publishers have heroes of the human race?"}
	run := func(m llm.Model, task strategy.Task) (*strategy.Outcome, error) {
		return threephase.Strategy{}.Generate(t.Context(), strategytest.Asking(env, m), task)
	}
	var journal bytes.Buffer
	recorder := replay.NewRecorder(&journal)
	testutil.Value(run(recorder.Record(&scripted{tables: heroes, sql: []string{answer}}), task))(t)
	recorded := journal.String()
	eye := joinOf(column("superhero", "eye_colour_id"), column("colour", "id"))
	for _, tt := range []struct {
		c    session.Correction
		want map[string]int
		why  string
	}{
		{session.Correction{Kind: dialogue.CorrectJoin,
			Join: ptr(joinOf(column("superhero", "publisher_id"), column("publisher", "id")))},
			map[string]int{"generate": 1}, "a join: the statement"},
		{session.Correction{Kind: dialogue.CorrectJoin, Join: &eye}, map[string]int{"generate": 1},
			"a join that brings a table along"},
		{mapped("human", "race", "race"), map[string]int{"generate": 1}, "a word: the statement"},
		{mapped("human", "gender", "gender"), map[string]int{"generate": 1}, "a word of another table"},
		{session.Correction{Kind: dialogue.CorrectTable, Tables: named("gender")},
			map[string]int{"tables": 1, "synthesis": 1, "generate": 1}, "a table that was not relevant"},
		{session.Correction{Kind: dialogue.CorrectTable, Tables: named("superhero"), Rejected: named("publisher", "race")},
			map[string]int{"synthesis": 1, "generate": 1}, "one table is left, so nothing is seen together"},
		{session.Correction{Kind: dialogue.CorrectText, Text: "only living heroes"},
			map[string]int{"table": 10, "tables": 1, "synthesis": 1, "generate": 1}, "prose: everything"},
		{session.Correction{Kind: dialogue.CorrectFilter, Text: "only living heroes"},
			map[string]int{"table": 10, "tables": 1, "synthesis": 1, "generate": 1}, "a filter: everything"},
	} {
		player := testutil.Value(replay.NewPlayer(strings.NewReader(recorded)))(t)
		live := &scripted{tables: heroes, sql: []string{answer}, synthesis: map[string]any{"joins_needed": true}}
		again := task
		again.Corrections = []session.Correction{tt.c}
		live.sql = []string{answer + " JOIN gender AS g ON g.id = s.gender_id JOIN colour AS c ON c.id = s.eye_colour_id " +
			"WHERE g.gender <> c.colour"}
		if len(tt.c.Rejected) > 0 {
			live.sql = []string{"SELECT superhero_name FROM superhero"}
		}
		if _, err := run(player.Or(live), again); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		got := map[string]int{}
		for _, r := range live.requests {
			got[r.Purpose]++
		}
		golden.Equal(t, tt.want, got, tt.why, "live calls")
	}
}

// TestRejectedBridge: tables are not joined over one that the user rejected, which no statement may read.
func TestRejectedBridge(t *testing.T) {
	const chain = `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE visits (person INTEGER REFERENCES people(id), place INTEGER REFERENCES places(id));
CREATE TABLE places (id INTEGER PRIMARY KEY, town TEXT);`
	const over = "SELECT name FROM people JOIN visits ON person = people.id JOIN places ON place = places.id"
	m := &scripted{tables: []string{"people", "places"}, joins: `{"found_joins": false, "joins": []}`, sql: []string{over}}
	env := strategytest.EnvOf(t, chain, nil)
	out, report, err := ask(t, env, threephase.Strategy{}, m, strategy.Task{Question: "Who was in Oslo?"})
	if err != nil || out.SQL != over || len(report.Joins.Bridges) != 1 ||
		!strings.Contains(last(m.of("generate")[0]), "CREATE TABLE visits") {
		t.Errorf("without a correction: %+v, %v", report.Joins, err)
	}
	task := strategy.Task{Question: "Who was in Oslo?",
		Corrections: []session.Correction{{Kind: dialogue.CorrectTable, Rejected: named("visits")}}}
	m = &scripted{tables: m.tables, joins: m.joins, sql: []string{over, "SELECT name FROM people"}}
	out, report, err = ask(t, env, threephase.Strategy{}, m, task)
	if err != nil || out.SQL != "SELECT name FROM people" || len(report.Joins.Bridges) != 0 ||
		strings.Contains(last(m.of("generate")[0]), "CREATE TABLE visits") {
		t.Errorf("over a rejected table: %+v, %+v, %v", out.Steps, report.Joins, err)
	}
}

// TestFollowUp: every prompt has the earlier questions with their statements, and the statement is written from the
// tables of the last answer too.
func TestFollowUp(t *testing.T) {
	m := &scripted{tables: both[:1], sql: []string{strategytest.Broken, strategytest.USA}}
	task := strategy.Task{Question: "And in the USA?", Earlier: []session.PreviousTurn{
		{Question: "Which customers live in Norway?",
			SQL: "SELECT name FROM customers JOIN orders USING (id) WHERE country = 'Norway'"},
	}}
	if _, _, err := ask(t, strategytest.ShopEnv(t, nil), threephase.Strategy{}, m, task); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.requests {
		text := said(r)
		if !strings.Contains(text, "Which customers live in Norway?") || !strings.Contains(text, "country = 'Norway'") ||
			strings.Count(text, "And in the USA?") != 1 {
			t.Errorf("%s:\n%s", r.Purpose, text)
		}
	}
	if text := said(m.of("generate")[0]); !strings.Contains(text, "CREATE TABLE orders") {
		t.Errorf("no table of the last answer:\n%s", text)
	}
}

package linker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// joiner answers requests about joins, by the two tables "a,b", and counts them.
type joiner struct {
	says     map[string]string
	err      error
	requests []llm.Request
}

func (j *joiner) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	j.requests = append(j.requests, req)
	return llm.Response{Text: j.says[strings.Join(shown(req), ",")]}, j.err
}

// joined is what Connect says, in short: joins with their confidence and origin, bridges, and how it ended.
func joined(plan linker.JoinPlan, err error) string {
	var parts []string
	for _, j := range plan.Joins {
		parts = append(parts, fmt.Sprintf("%s %.2f %s", j.Join, j.Confidence, j.Origin))
	}
	if len(plan.Bridges) > 0 {
		parts = append(parts, fmt.Sprint("over ", plan.Bridges))
	}
	var q *session.QuestionError
	switch {
	case errors.As(err, &q):
		parts = append(parts, "asks")
		for _, o := range q.Options {
			parts = append(parts, o.ID+" "+o.Label)
		}
	case err != nil:
		parts = append(parts, err.Error())
	}
	return strings.Join(parts, "; ")
}

func columnName(text string) schema.ColumnName {
	table, column, _ := strings.Cut(text, ".")
	return schema.ColumnName{Table: schema.TableName{Name: table}, Column: column}
}

// ofUser is the correction of a join.
func ofUser(left, right string) session.Correction {
	return session.Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: columnName(left),
		Right: columnName(right)}}
}

// TestJoinsKeys: what foreign keys and the user join needs no model.
func TestJoinsKeys(t *testing.T) {
	_, s := open(t,
		`CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id));
		CREATE TABLE c (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id)); CREATE TABLE d (id INTEGER PRIMARY KEY, c INTEGER REFERENCES c(id));
		CREATE TABLE e (id INTEGER PRIMARY KEY, d INTEGER REFERENCES d(id)); CREATE TABLE lone (word TEXT); CREATE TABLE other (number REAL);
		CREATE TABLE two (x, y, PRIMARY KEY (x, y)); CREATE TABLE part (x, y, up INTEGER REFERENCES part(z), z, FOREIGN KEY (x, y) REFERENCES two(x, y));
		CREATE TABLE ring (a INTEGER REFERENCES a(id), b INTEGER REFERENCES b(id));`, exec.Config{})
	for _, tt := range []struct {
		tables    []string
		corrected []session.Correction
		want, why string
	}{
		{nil, nil, "", "no table"},
		{[]string{"a"}, nil, "", "one table"},
		{[]string{"a", "a", "A"}, nil, "", "named twice"},
		{[]string{"c", "a", "b"}, nil, "a.id = b.a 1.00 declared; b.id = c.b 1.00 declared",
			"a and c need no join of their own"},
		{[]string{"c", "a"}, nil, "a.id = b.a 1.00 declared; b.id = c.b 1.00 declared; over [b]", "a bridge"},
		{[]string{"a", "d"}, nil, "a.id = b.a 1.00 declared; b.id = c.b 1.00 declared; c.id = d.c 1.00 declared; over [b c]",
			"two bridges"},
		{[]string{"a", "b", "c"}, []session.Correction{{Kind: dialogue.CorrectTable, Rejected: tableNames("b")}},
			"a.id = b.a 1.00 declared; b.id = c.b 1.00 declared", "a table that is asked for, whatever the user said"},
		{[]string{"a", "c"}, []session.Correction{{Kind: dialogue.CorrectTable, Rejected: tableNames("b")},
			{Kind: dialogue.CorrectTable, Tables: tableNames("b")}},
			"a.id = b.a 1.00 declared; b.id = c.b 1.00 declared; over [b]", "a table that the user rejected, and then wanted"},
		{[]string{"two", "part"}, nil, "part.x = two.x 1.00 declared; part.y = two.y 1.00 declared",
			"a key of two columns; one to the table itself joins nothing"},
		{[]string{"a", "b", "ring"}, nil, "a.id = b.a 1.00 declared; a.id = ring.a 1.00 declared",
			"of a ring two, the first by name"},
		{[]string{"lone", "other"}, nil, linker.ErrNoJoin.Error() +
			" lone and other; say which columns join them, or ask about one of them", "no way"},
		{[]string{"a", "zzz"}, nil, "linker: there is no table zzz to join", "an unknown table"},
		{[]string{"lone", "other"}, []session.Correction{ofUser("other.number", "lone.word")},
			"lone.word = other.number 1.00 user", "the user knows"},
		{[]string{"a", "b"}, []session.Correction{ofUser("b.id", "a.id")}, "a.id = b.id 1.00 user",
			"the user's join in place of the key"},
		{[]string{"a", "b"}, []session.Correction{ofUser("b.id", "a.id"), ofUser("a.id", "b.a"), ofUser("b.a", "A.id")},
			"a.id = b.a 1.00 user; a.id = b.id 1.00 user",
			"all of them, each once"},
		{[]string{"a"}, []session.Correction{ofUser("a.id", "b.a")}, "a.id = b.a 1.00 user; over [b]",
			"to a table that nobody asked for"},
	} {
		model := &joiner{}
		in := linker.Input{Question: "?", Schema: s, Corrections: tt.corrected}
		plan, err := linker.Joins{Model: model}.Connect(t.Context(), in, tableNames(tt.tables...))
		if isLone := slices.Equal(tt.tables, []string{"lone", "other"}) && tt.corrected == nil; len(model.requests) > 0 &&
			!isLone {
			t.Errorf("%s: %d calls", tt.why, len(model.requests))
		} else if isLone && !errors.Is(err, linker.ErrNoJoin) {
			t.Errorf("%s: %v", tt.why, err)
		}
		if got := joined(plan, err); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.why, got, tt.want)
		}
		small, unknown :=
			s.Restrict(plan.Extend(schema.Links{Tables: []schema.TableLink{{Table: "a", Columns: []string{"id"}}}}))
		for _, j := range plan.Joins {
			for _, c := range []schema.ColumnName{j.Left, j.Right} {
				if shown, ok := small.Lookup(c.Table.Schema, c.Table.Name); !ok || !has(shown, []string{c.Column}) ||
					len(unknown) > 0 {
					t.Errorf("%s: the links of the plan lack %s", tt.why, c)
				}
			}
		}
	}
	rejected := []session.Correction{{Kind: dialogue.CorrectTable, Rejected: tableNames("b")}}
	plan, err := linker.Joins{}.Connect(t.Context(), linker.Input{Schema: s, Corrections: rejected}, tableNames("a", "c"))
	if got := joined(plan, err); strings.Contains(got, "over") {
		t.Errorf("a bridge that the user rejected: %s", got)
	}
	plan, err = linker.Joins{}.Connect(t.Context(), linker.Input{Schema: s}, tableNames("a", "e"))
	if got := joined(plan, err); strings.Contains(got, "over") || strings.Contains(got, "declared") {
		t.Errorf("three bridges are too many: %s", got)
	}
}

// TestJoinsSuperhero: three keys lead from superhero to colour.
func TestJoinsSuperhero(t *testing.T) {
	db, s := open(t, `CREATE TABLE colour (id INTEGER PRIMARY KEY, colour TEXT);
		CREATE TABLE superhero (id INTEGER PRIMARY KEY, superhero_name TEXT, eye_colour_id INTEGER REFERENCES colour (id),
			hair_colour_id INTEGER REFERENCES colour (id), skin_colour_id INTEGER REFERENCES colour (id));
		INSERT INTO colour VALUES (1, 'Red'); INSERT INTO superhero VALUES (1, 'Apocalypse', 1, 1, 1)`, exec.Config{})
	const eye, hair, skin = "colour.id = superhero.eye_colour_id", "colour.id = superhero.hair_colour_id",
		"colour.id = superhero.skin_colour_id"
	for _, tt := range []struct {
		question  string
		corrected []session.Correction
		says      string // of the model
		calls     int
		want, why string
	}{
		{"What is the eye colour of Apocalypse?", nil, "", 0, eye + " 1.00 declared", "named"},
		{"What is the colour of Apocalypse's eyes?", nil, "", 0, eye + " 1.00 declared", "named in the plural"},
		{"Eye and hair colour of Apocalypse", nil, "", 0, eye + " 1.00 declared; " + hair + " 1.00 declared", "both"},
		{"What is the colour of Apocalypse?", nil, `{"joins": []}`, 1,
			eye + " 0.33 declared; asks; j1 " + eye + " (confidence: 0.33); j2 " + hair + " (confidence: 0.33); j3 " + skin +
				" (confidence: 0.33)",
			"none named, and the model does not know"},
		{"What is the colour of Apocalypse?", nil,
			`{"joins": [{"left_column": "id", "right_column": "skin_colour_id", "confidence": 0.74}, {"left_column": "id", "right_column": "id", "confidence": 1}]}`, 1,
			skin + " 0.74 model; asks; j1 " + skin + " (confidence: 0.74); j2 " + eye + " (confidence: 0.00); j3 " + hair +
				" (confidence: 0.00)",
			"not sure enough; a join that is not a key is not an alternative"},
		{"What is the colour of Apocalypse?", nil,
			`{"joins": [{"left_column": "superhero.skin_colour_id", "right_column": "colour.id", "confidence": 0.75}]}`, 1,
			skin + " 0.75 model", "sure enough, and the wrong way round"},
		{"How does Apocalypse look?", nil,
			`{"joins": [{"left_column": "id", "right_column": "skin_colour_id", "confidence": 0.9},
				{"left_column": "id", "right_column": "eye_colour_id", "confidence": 0.8}]}`, 1,
			eye + " 0.80 model; " + skin + " 0.90 model", "the model is sure of two"},
		{"What is the colour of Apocalypse?", []session.Correction{ofUser("superhero.hair_colour_id", "colour.id")}, "", 0,
			hair + " 1.00 user",
			"the user said so, and is not asked again"},
		{"What is the colour of Apocalypse?", []session.Correction{{Kind: dialogue.CorrectText, Text: "I mean the hair"}},
			"", 0,
			hair + " 1.00 declared", "a clarification names it"},
		{"What is the colour of Apocalypse?",
			[]session.Correction{{Kind: dialogue.CorrectColumn, Term: "colour", Column: &schema.ColumnName{
				Table: schema.TableName{Name: "superhero"}, Column: "skin_colour_id"}}}, "", 0, skin + " 1.00 declared",
			"so does a mapped column"},
	} {
		model := &joiner{says: map[string]string{"colour,superhero": tt.says}}
		in := linker.Input{Question: tt.question, Schema: s, DB: db, Corrections: tt.corrected}
		plan, err := linker.Joins{Model: model}.Connect(t.Context(), in, tableNames("superhero", "colour"))
		if got := joined(plan, err); got != tt.want || len(model.requests) != tt.calls {
			t.Errorf("%s: %d calls, %s; want %d, %s", tt.why, len(model.requests), got, tt.calls, tt.want)
		}
	}
	plan, err := linker.Joins{}.Connect(t.Context(), linker.Input{Question: "What is the colour of Apocalypse?",
		Schema: s}, tableNames("superhero", "colour"))
	var q *session.QuestionError
	if !errors.As(err, &q) || len(q.Options) != 3 {
		t.Fatalf("without a model: %v", err)
	}
	want := map[string]string{"type": "join_clarification", "user_query": "What is the colour of Apocalypse?",
		"table1": "colour", "table2": "superhero",
		"joins": eye + " (confidence: 0.33); " + hair + " (confidence: 0.33); " + skin + " (confidence: 0.33)"}
	if diff := cmp.Diff(want, q.Context); diff != "" || q.Message != "How are colour and superhero joined?" ||
		len(plan.Joins[0].Alternatives) != 2 {
		t.Errorf("%q, alternatives %v, context (-want +got)\n%s", q.Message, plan.Joins[0].Alternatives, diff)
	}
	for _, o := range q.Options { // every choice ends it
		choice := session.Correction{Kind: dialogue.CorrectJoin, Join: o.Join}
		plan, err := linker.Joins{}.Connect(t.Context(), linker.Input{Question: "What is the colour of Apocalypse?",
			Schema:      s,
			Corrections: []session.Correction{choice}},
			tableNames("superhero", "colour"))
		if got := joined(plan, err); got != o.Join.String()+" 1.00 user" {
			t.Errorf("after %s: %s", o.ID, got)
		}
	}
}

// TestJoinsKeyWords: words that many keys have choose none of several keys.
func TestJoinsKeyWords(t *testing.T) {
	_, s := open(t, `CREATE TABLE places (id INTEGER PRIMARY KEY);
		CREATE TABLE trips (start_number INTEGER REFERENCES places(id), stop_code INTEGER REFERENCES places(id))`, exec.Config{})
	start, stop := "places.id = trips.start_number", "places.id = trips.stop_code"
	for _, tt := range []struct{ question, want, why string }{
		{"The places of the start", start + " 1.00 declared", "a word of one key"},
		{"The number of trips by code of the place", start + " 0.50 declared; asks; j1 " + start +
			" (confidence: 0.50); j2 " + stop + " (confidence: 0.50)",
			"number and code are words of many keys, and say nothing of these"},
	} {
		plan, err := linker.Joins{}.Connect(t.Context(), linker.Input{Question: tt.question, Schema: s},
			tableNames("places", "trips"))
		if got := joined(plan, err); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.why, got, tt.want)
		}
	}
}

// TestJoinsAmbiguity: both rules at their limits. The tables have no key and no names in common, so the model decides.
func TestJoinsAmbiguity(t *testing.T) {
	s := tables([]string{"left", "p", "q", "w"}, []string{"right", "abc", "def", "ghi"})
	for _, tt := range []struct {
		confidences []float64
		documented  bool // it asks as documented
		near        bool // it asks by Close
		why         string
	}{
		{[]float64{.75, .74}, false, true, "the best is 0.75"},
		{[]float64{.749, .5}, true, false, "below 0.75"},
		{[]float64{.751, .65}, false, false, "above 0.75"},
		{[]float64{.2}, false, false, "one alone is taken, and told"},
		{[]float64{.9, .8}, false, true, "0.1 apart"},
		{[]float64{.9, .801}, false, true, "less than 0.1 apart"},
		{[]float64{.9, .799}, false, false, "more than 0.1 apart"},
		{[]float64{.8, .7}, false, false, "0.7 is not above 0.7"},
		{[]float64{.8, .701}, false, true, "above 0.7"},
		{[]float64{.6, .6}, true, false, "a tie"},
		{[]float64{.9, .9, .1}, false, true, "a tie that the document does not ask about"},
		{[]float64{1.7, -3}, false, false, "out of range: 1 and 0"},
	} {
		var joins []string
		for i, c := range tt.confidences {
			joins = append(joins, fmt.Sprintf(`{"left_column": %q, "right_column": %q, "confidence": %v}`,
				s.Tables[0].Columns[i].Name,
				s.Tables[1].Columns[i].Name, c))
		}
		model := &joiner{says: map[string]string{"left,right": `{"found_joins": true, "joins": [` + strings.Join(joins, ",") +
			`]}`}}
		for rule, want := range []bool{tt.documented, tt.near} {
			root := trace.Tracer{}.New("test")
			plan, err := linker.Joins{Model: model, Close: rule == 1}.Connect(trace.NewContext(t.Context(), root),
				linker.Input{Question: "?",
					Schema: s}, tableNames("right", "left"))
			guessed := !want && slices.Max(tt.confidences) < .75
			if told := root.Warnings(); (len(told) > 0) != guessed || guessed && told[0].Code != "join-guessed" {
				t.Errorf("%s, rule %d: warned %v, want %v", tt.why, rule, told, guessed)
			}
			var q *session.QuestionError
			if asks := errors.As(err, &q); asks != want || err != nil && !asks {
				t.Errorf("%s, rule %d: %v", tt.why, rule, err)
			}
			if len(plan.Joins) != 1 || plan.Joins[0].String() != "left.p = right.abc" ||
				len(plan.Joins[0].Alternatives) != len(tt.confidences)-1 {
				t.Errorf("%s, rule %d: %+v; want the best, ties by name", tt.why, rule, plan.Joins)
			}
		}
	}
}

// TestJoinsModel: when the model is asked about names, what it may reply, and what the request shows.
func TestJoinsModel(t *testing.T) {
	sure := tables([]string{"customer", "id", "x"}, []string{"orders", "customer_id", "y"})
	sure.Tables[0].PrimaryKey = []string{"id"}
	weak := tables([]string{"customer", "nr", "x"}, []string{"orders", "customer", "y"})
	apart := tables([]string{"a", "b"}, []string{"c", "d"})
	text := []session.Correction{{Kind: dialogue.CorrectText, Text: "by x"},
		{Kind: dialogue.CorrectTable, Tables: tableNames("orders")}}
	table := []session.Correction{{Kind: dialogue.CorrectTable, Tables: tableNames("orders")}}
	none := "linker: no way to join the tables a and c; say which columns join them, or ask about one of them"
	for _, tt := range []struct {
		s         *schema.Schema
		corrected []session.Correction
		says      string
		err       error
		calls     int
		want, why string
	}{
		{sure, nil, "", nil, 0, "customer.id = orders.customer_id 1.00 names", "names are sure"},
		{sure, table, "", nil, 0, "customer.id = orders.customer_id 1.00 names",
			"a correction of a table says nothing about it"},
		{sure, text, `{"joins": [{"left_column": "x", "right_column": "y"}]}`, nil, 1, "customer.x = orders.y 0.50 model",
			"the user said more: the model's joins count"},
		{sure, text, `{"found_joins": false}`, nil, 1, "customer.id = orders.customer_id 1.00 names",
			"it found none: those of names stay"},
		{weak, nil, `{"joins": [{"left_column": "orders.customer", "right_column": "\"NR\"", "confidence": 0.8, "reasoning": "a\nb"},
			{"left_column": "nr", "right_column": "customer", "confidence": 0.3}, {"left_column": "nr", "right_column": "zzz", "confidence": 1}]}`, nil, 1,
			"customer.nr = orders.customer 0.80 model", "quoted, the wrong way round, twice, unknown"},
		{weak, nil, `{"reasoning": "?"}`, nil, 2,
			linker.ErrNoJoin.Error() + " customer and orders; say which columns join them, or ask about one of them",
			"asked again, then names, which have none"},
		{apart, nil, `{"found_joins": true, "joins": [{"left_column": "z", "right_column": "d", "confidence": 1}]}`, nil, 1,
			none, "nothing that exists"},
		{apart, nil, "", errors.New("down"), 1, none, "a model that fails is a warning"},
		{apart, nil, "", &llm.BudgetError{}, 1, (&llm.BudgetError{}).Error(), "a spent budget is an error"},
	} {
		model := &joiner{says: map[string]string{"customer,orders": tt.says, "a,c": tt.says}, err: tt.err}
		in := linker.Input{Question: "?", Schema: tt.s, Corrections: tt.corrected}
		root := trace.Tracer{}.New("test")
		plan, err := linker.Joins{Model: model}.Connect(trace.NewContext(t.Context(), root), in,
			[]schema.TableName{tt.s.Tables[1].TableName(),
				tt.s.Tables[0].TableName()})
		if got := joined(plan, err); got != tt.want || len(model.requests) != tt.calls {
			t.Errorf("%s: %d calls, %s; want %d, %s", tt.why, len(model.requests), got, tt.calls, tt.want)
		}
		warns := tt.err != nil && !errors.Is(tt.err, llm.ErrBudget) || tt.calls == 2 || strings.Contains(tt.want, "0.50")
		if isWarned := len(root.Warnings()) > 0; isWarned != warns {
			t.Errorf("%s: warnings %v", tt.why, root.Warnings())
		}
		for _, req := range model.requests {
			if text := req.Messages[1].Text; strings.Contains(text, "MANDATORY") || len(tt.corrected) > 1 &&
				!strings.Contains(text,
					"\nThe user says: USER CLARIFICATION: by x\n") {
				t.Errorf("%s: what the user says about tables is not for joins, the rest is:\n%s", tt.why, text)
			}
		}
	}
	wide := tables([]string{"a"}, []string{"c"})
	for i := range 300 {
		for k := range wide.Tables {
			wide.Tables[k].Columns = append(wide.Tables[k].Columns, schema.Column{Name: fmt.Sprintf("column_%d_of_%d", i, k),
				Type: "TEXT"})
		}
	}
	model := &joiner{}
	linker.Joins{Model: model, CallTokens: 500}.Connect(t.Context(), linker.Input{Question: "?", Schema: wide},
		tableNames("a", "c"))
	if len(model.requests) == 0 || promptTokens(model.requests[0]) > 500 {
		t.Errorf("%d requests, over 500 tokens", len(model.requests))
	}
}

// TestJoinsUnclearPairs: of several unclear pairs one is asked about at a time, and each answer leaves one less.
func TestJoinsUnclearPairs(t *testing.T) {
	s := tables([]string{"a", "p", "q"}, []string{"b", "r", "s"}, []string{"c", "t", "u"})
	model := &joiner{says: map[string]string{
		"a,b": `{"joins": [{"left_column": "p", "right_column": "r", "confidence": 0.5}, {"left_column": "q", "right_column": "s", "confidence": 0.4}]}`,
		"a,c": `{"joins": []}`,
		"b,c": `{"joins": [{"left_column": "r", "right_column": "t", "confidence": 0.6}, {"left_column": "s", "right_column": "u", "confidence": 0.6}]}`,
	}}
	in := linker.Input{Question: "?", Schema: s}
	for _, want := range []string{
		"a.p = b.r 0.50 model; b.r = c.t 0.60 model; asks; j1 b.r = c.t (confidence: 0.60); j2 b.s = c.u (confidence: 0.60)",
		"a.p = b.r 0.50 model; b.s = c.u 1.00 user; asks; j1 a.p = b.r (confidence: 0.50); j2 a.q = b.s (confidence: 0.40)",
		"a.q = b.s 1.00 user; b.s = c.u 1.00 user",
	} {
		model.requests = nil
		plan, err := linker.Joins{Model: model}.Connect(t.Context(), in, tableNames("a", "b", "c"))
		if got := joined(plan, err); got != want {
			t.Fatalf("%s; want %s", got, want)
		}
		var q *session.QuestionError
		if errors.As(err, &q) {
			in.Corrections = append(in.Corrections, session.Correction{Kind: dialogue.CorrectJoin, Join: q.Options[1].Join})
		}
	}
	if len(model.requests) > 0 {
		t.Errorf("%d calls though the user decided everything", len(model.requests))
	}
}

// TestJoinsLikeliestFirst: a pair whose names fit less well is not joined where two better ones do it.
func TestJoinsLikeliestFirst(t *testing.T) {
	s := tables([]string{"alpha", "id", "size"}, []string{"bravo", "id", "size"}, []string{"hub", "alpha_id", "bravo_id"})
	s.Tables[0].PrimaryKey, s.Tables[1].PrimaryKey = []string{"id"}, []string{"id"}
	plan, err := linker.Joins{}.Connect(t.Context(), linker.Input{Question: "?", Schema: s},
		tableNames("alpha", "bravo", "hub"))
	if got, want := joined(plan, err),
		"alpha.id = hub.alpha_id 1.00 names; bravo.id = hub.bravo_id 1.00 names"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestJoinsTree: of random schemas and tables the plan is a tree over them and its bridges, the same for any order of
// the tables, or says why not.
func TestJoinsTree(t *testing.T) {
	trees := 0
	for seed := range 500 {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		s, n := tables(), 2+rng.IntN(9)
		for i := range n {
			table := tables([]string{fmt.Sprintf("t%d", i), "id", "c0", "c1", fmt.Sprintf("t%d_id", rng.IntN(n))}).Tables[0]
			table.PrimaryKey = []string{"id"}
			for k := range rng.IntN(3) {
				table.ForeignKeys = append(table.ForeignKeys, schema.ForeignKey{Columns: []string{fmt.Sprintf("c%d", k)},
					RefTable: fmt.Sprintf("t%d",
						rng.IntN(n)), RefColumns: []string{"id"}})
			}
			s.Tables = append(s.Tables, table)
		}
		var asked []schema.TableName
		for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
			asked = append(asked, s.Tables[i].TableName())
		}
		in := linker.Input{Question: "?", Schema: s}
		plan, err := linker.Joins{}.Connect(t.Context(), in, asked)
		slices.Reverse(asked)
		again, err2 := linker.Joins{}.Connect(t.Context(), in, asked)
		if diff := cmp.Diff(plan, again); diff != "" || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("seed %d: the order of the tables counts: %v, %v\n%s", seed, err, err2, diff)
		}
		var q *session.QuestionError
		switch {
		case errors.Is(err, linker.ErrNoJoin):
			continue
		case err != nil && !errors.As(err, &q):
			t.Fatalf("seed %d: %v", seed, err)
		}
		trees++
		part := map[string]string{}
		for _, name := range append(slices.Clone(asked), plan.Bridges...) {
			part[name.Name] = name.Name
		}
		if len(plan.Joins) != len(part)-1 {
			t.Fatalf("seed %d: %d joins of %d tables", seed, len(plan.Joins), len(part))
		}
		for _, j := range plan.Joins {
			a, b := part[j.Left.Table.Name], part[j.Right.Table.Name]
			if a == b {
				t.Fatalf("seed %d: %s closes a ring or leads out", seed, j.Join)
			}
			for name := range part {
				if part[name] == a {
					part[name] = b
				}
			}
		}
	}
	if trees < 300 {
		t.Errorf("%d of 500 are trees", trees)
	}
}

func TestJoinsValidate(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, tt := range []struct {
		j    linker.Joins
		want string
	}{
		{linker.Joins{}, "<nil>"},
		{linker.Joins{MinConfidence: 1, Close: true}, "<nil>"},
		{linker.Joins{MinConfidence: nan}, "linker: Joins.MinConfidence is NaN; want 0 (the default) to 1"},
		{linker.Joins{CallTokens: -1}, "linker: Joins.CallTokens is -1; want 0 (the default) or more"},
	} {
		_, err := tt.j.Connect(t.Context(), linker.Input{Schema: tables()}, nil)
		if fmt.Sprint(err) != tt.want {
			t.Errorf("%+v: %v, want %s", tt.j, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		cancel()
		return llm.Response{}, ctx.Err()
	})
	in := linker.Input{Schema: tables([]string{"a", "b"}, []string{"c", "d"})}
	for range 2 {
		if _, err := (linker.Joins{Model: model}).Connect(ctx, in, tableNames("a", "c")); err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
	}
}

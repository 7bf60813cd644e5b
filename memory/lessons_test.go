package memory_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// tables makes a schema of "table(column, column)" texts.
func tables(list ...string) *schema.Schema {
	s := &schema.Schema{Dialect: "sqlite"}
	for _, text := range list {
		name, columns, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		t := schema.Table{Name: name, Kind: "table"}
		for c := range strings.SplitSeq(columns, ", ") {
			t.Columns = append(t.Columns, schema.Column{Name: c})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

var (
	declared = tables("Customers(id, name)", "Orders(id, customer, total)")
	live     = tables("PROD_Customers(id, name)", "PROD_Orders(id, customer, amount_total)", "Log(id)")
)

func tableName(name string) schema.TableName { return schema.TableName{Name: name} }

func columnName(table, column string) schema.ColumnName {
	return schema.ColumnName{Table: tableName(table), Column: column}
}

// step changes a question that was finished.
type step = func(*memory.Episode)

// customers is a question whose first statement named the table as it was declared.
func customers(id string, more ...step) memory.Episode {
	e := memory.Episode{
		Session: id, Question: "How many customers are there?", Live: live, Declared: declared, Completed: true,
		Attempts: []struct{ SQL, Missing string }{{SQL: "SELECT count(*) FROM Customers", Missing: "Customers"}},
		SQL:      "SELECT count(*) FROM PROD_Customers", Tables: []schema.TableName{tableName("PROD_Customers")},
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for _, change := range more {
		change(&e)
	}
	return e
}

func without(e *memory.Episode) { e.Attempts = nil }

func learn(t *testing.T, l *memory.Lessons, e memory.Episode) memory.LearnResult {
	t.Helper()
	r := testutil.Value(l.Learn(e))(t)
	return r
}

func all(t *testing.T, l *memory.Lessons) []memory.Lesson {
	t.Helper()
	list := testutil.Value(l.All())(t)
	return list
}

// brief writes lessons as "kind from>to confidence source".
func brief(list []memory.Lesson) (lines []string) {
	for _, k := range list {
		what := k.To
		if what == "" {
			what = k.Text + k.SQL
		}
		if k.Table != "" {
			what += " of " + k.Table
		}
		lines = append(lines, fmt.Sprintf("%s %s>%s %.2f %s", k.Kind, k.From+k.Pattern, what, k.Confidence, k.Source))
	}
	return lines
}

func recall(t *testing.T, l *memory.Lessons, question string) *memory.RetrievedLessons {
	t.Helper()
	r := testutil.Value(l.Recall(memory.Episode{Question: question, Declared: declared, Live: live},
		func(sql string) error {
			if strings.HasPrefix(sql, "SELECT") {
				return nil
			}
			return errors.New("it does not only read")
		}))(t)
	return r
}

func given(t *testing.T, lessons ...memory.Lesson) *memory.Lessons {
	t.Helper()
	l := &memory.Lessons{}
	testutil.OK(t, l.Add(lessons...))
	return l
}

// TestLearned: what an end of a question teaches.
func TestLearned(t *testing.T) {
	correct := func(list ...session.Correction) func(*memory.Episode) {
		return func(e *memory.Episode) { e.Corrections = list }
	}
	total := columnName("PROD_Orders", "amount_total")
	orders := func(e *memory.Episode) {
		e.Attempts = []struct{ SQL, Missing string }{{SQL: "SELECT sum(o.total) FROM PROD_Orders o", Missing: "o.total"}}
		e.SQL, e.Tables, e.Columns = "SELECT sum(amount_total) FROM PROD_Orders", []schema.TableName{total.Table},
			[]schema.ColumnName{total}
	}
	prefix := func(text string) func(*memory.Episode) {
		return correct(session.Correction{Kind: dialogue.CorrectText, Text: text})
	}
	for _, tt := range []struct {
		why    string
		change []step
		want   []string
	}{
		{"a recovered error", nil, []string{"table_mapping Customers>PROD_Customers 0.80 auto_learned"}},
		{"the engine gives the schema too", []step{func(e *memory.Episode) { e.Attempts[0].Missing = "main.Customers" }},
			[]string{"table_mapping Customers>PROD_Customers 0.80 auto_learned"}},
		{"no answer", []step{func(e *memory.Episode) { e.Completed = false }}, nil},
		{"an unrelated name", []step{func(e *memory.Episode) {
			e.Attempts = []struct{ SQL, Missing string }{{SQL: "SELECT 1 FROM Clients", Missing: "Clients"}}
		}}, nil},
		{"a name that is like it by .8", []step{func(e *memory.Episode) {
			e.Live, e.SQL, e.Tables = tables("Custmr(id)"), "SELECT 1 FROM Custmr", []schema.TableName{tableName("Custmr")}
		}}, []string{"table_mapping Customers>Custmr 0.80 auto_learned"}},
		{"a name that is like it by .78", []step{func(e *memory.Episode) {
			e.Attempts = []struct{ SQL, Missing string }{{SQL: "SELECT 1 FROM Invoices", Missing: "Invoices"}}
			e.Live, e.SQL, e.Tables = tables("Bill_voices(id)"), "SELECT 1 FROM Bill_voices",
				[]schema.TableName{tableName("Bill_voices")}
		}}, nil},
		{"two targets", []step{func(e *memory.Episode) {
			e.Live = tables("PROD_Customers(id)", "OLD_Customers(id)")
			e.SQL, e.Tables = "SELECT 1 FROM PROD_Customers, OLD_Customers", []schema.TableName{tableName("PROD_Customers"),
				tableName("OLD_Customers")}
		}}, nil},
		{"the rejected statement named the target too", []step{func(e *memory.Episode) {
			e.Attempts[0].SQL = "SELECT 1 FROM Customers, PROD_Customers"
		}}, nil},
		{"a name that exists", []step{func(e *memory.Episode) { e.Live = tables("PROD_Customers(id)", "customers(id)") }},
			nil},
		{"another fault", []step{func(e *memory.Episode) { e.Attempts[0].Missing = "" }}, nil},
		{"a name of two letters is in many", []step{func(e *memory.Episode) {
			e.Attempts = []struct{ SQL, Missing string }{{SQL: "SELECT 1 FROM cu", Missing: "cu"}}
		}}, nil},
		{"only what the statement itself names, not what lies under a view", []step{func(e *memory.Episode) {
			e.Tables = append(e.Tables, tableName("base_Customers"))
		}}, []string{"table_mapping Customers>PROD_Customers 0.80 auto_learned"}},
		{"a column", []step{orders},
			[]string{"column_mapping total>PROD_Orders.amount_total of PROD_Orders 0.80 auto_learned"}},
		{"a column that is ambiguous, not missing", []step{orders, func(e *memory.Episode) {
			e.Live = tables("PROD_Orders(total, amount_total)")
		}}, nil},
		{"a word of the user",
			[]step{orders, without, correct(session.Correction{Kind: dialogue.CorrectColumn, Term: "revenue", Column: &total})},
			[]string{"column_mapping revenue>PROD_Orders.amount_total 0.95 correction"}},
		{"a word of the user that the answer does not use", []step{without, correct(session.Correction{
			Kind: dialogue.CorrectColumn, Term: "revenue", Column: &total})}, nil},
		{"a table that the database does not have", []step{without, correct(session.Correction{Kind: dialogue.CorrectTable,
			Tables: []schema.TableName{tableName("PROD_Customers")}, Rejected: []schema.TableName{tableName("Customers")}})},
			[]string{"table_mapping Customers>PROD_Customers 0.95 correction"}},
		{"the error tells what was corrected", []step{correct(session.Correction{Kind: dialogue.CorrectTable,
			Tables: []schema.TableName{tableName("PROD_Customers")}})},
			[]string{"table_mapping Customers>PROD_Customers 0.95 correction"}},
		{"a choice between tables that exist", []step{without, correct(session.Correction{Kind: dialogue.CorrectTable,
			Tables: []schema.TableName{tableName("PROD_Customers")}, Rejected: []schema.TableName{tableName("Log")}})},
			[]string{"choice How many customers are there?>Use table 'PROD_Customers'. DO NOT use: Log 0.95 correction"}},
		{"a choice of a follow-up", []step{without, func(e *memory.Episode) { e.FollowUp = true }, correct(session.Correction{
			Kind: dialogue.CorrectTable, Tables: []schema.TableName{tableName("PROD_Customers")},
			Rejected: []schema.TableName{tableName("Log")}})}, nil},
		{"a table that the answer does not read", []step{without, correct(session.Correction{Kind: dialogue.CorrectTable,
			Tables: []schema.TableName{tableName("PROD_Orders")}, Rejected: []schema.TableName{tableName("Customers")}})}, nil},
		{"a result that was chosen", []step{without, func(e *memory.Episode) { e.Chosen = &session.Option{ID: "r1"} }},
			[]string{"choice How many customers are there?>SELECT count(*) FROM PROD_Customers 0.95 correction"}},
		{"a prefix", []step{without, prefix("use the PROD_ prefix")},
			[]string{"table_mapping Customers>PROD_Customers 0.70 correction",
				"table_mapping Orders>PROD_Orders 0.70 correction"}},
		{"a prefix in quotes behind the word", []step{without, prefix(`all tables have the prefix "PROD_"!`)},
			[]string{"table_mapping Customers>PROD_Customers 0.70 correction",
				"table_mapping Orders>PROD_Orders 0.70 correction"}},
		{"not a prefix", []step{without, prefix("do not use the PROD_ prefix")}, nil},
		{"two prefixes", []step{without, prefix("use the PROD_ prefix or the DEV_ prefix")}, nil},
		{"a prefix that the answer does not have", []step{without, orders, prefix("use the PROD_ prefix"),
			func(e *memory.Episode) {
				e.Tables, e.Attempts = []schema.TableName{tableName("Log")}, nil
			}}, nil},
		{"advice in prose", []step{without, prefix("customers are people")}, nil},
	} {
		l := &memory.Lessons{}
		learn(t, l, customers("s1", tt.change...))
		list := brief(all(t, l))
		slices.Sort(list)
		golden.Equal(t, tt.want, list, tt.why)
	}
}

// TestRelearned: ten sessions make one lesson; a contradiction makes a second one and weakens the first.
func TestRelearned(t *testing.T) {
	l := &memory.Lessons{}
	for i := range 10 {
		learn(t, l, customers(fmt.Sprint("s", i)))
		learn(t, l, customers(fmt.Sprint("s", i))) // the same session again
	}
	list := all(t, l)
	if len(list) != 1 || len(list[0].Sessions) != 10 || list[0].Successful != 9 || list[0].Applied != 9 ||
		list[0].Confidence != .98 {
		t.Fatalf("%+v", list)
	}
	other := func(e *memory.Episode) {
		e.Live = tables("NEW_Customers(id)", "PROD_Customers(id)")
		e.SQL, e.Tables = "SELECT 1 FROM NEW_Customers", []schema.TableName{tableName("NEW_Customers")}
	}
	learn(t, l, customers("x", other))
	want := []string{"table_mapping Customers>PROD_Customers 0.93 auto_learned",
		"table_mapping Customers>NEW_Customers 0.80 auto_learned"}
	if diff := cmp.Diff(want, brief(all(t, l))); diff != "" {
		t.Error(diff)
	}
	learn(t, l, customers("y", without, func(e *memory.Episode) {
		e.Corrections = []session.Correction{{Kind: dialogue.CorrectTable,
			Tables:   []schema.TableName{tableName("PROD_Customers")},
			Rejected: []schema.TableName{tableName("Customers")}}}
	}))
	want = []string{"table_mapping Customers>PROD_Customers 0.95 correction",
		"table_mapping Customers>NEW_Customers 0.75 auto_learned"}
	if diff := cmp.Diff(want, brief(all(t, l))); diff != "" {
		t.Error("corrected:", diff)
	}
}

// TestCounts: what is counted of a lesson that was shown, at every end of a question.
func TestCounts(t *testing.T) {
	lesson := memory.Lesson{Kind: "table_mapping", From: "Customers", To: "PROD_Customers", Confidence: .8}
	counts := func(k memory.Lesson) string {
		return fmt.Sprintf("%d/%d/%d %.2f", k.Retrieved, k.Applied, k.Successful, k.Confidence)
	}
	for _, tt := range []struct {
		why    string
		change func(*memory.Episode)
		want   string // retrieved/applied/successful
	}{
		{"its output is read", without, "1/1/1 0.82"},
		{"its output is not read", func(e *memory.Episode) {
			e.Attempts, e.Tables, e.SQL = nil, []schema.TableName{tableName("Log")}, "SELECT 1 FROM Log"
		}, "1/0/0 0.80"},
		{"a failed question with a statement that has it", func(e *memory.Episode) {
			e.Completed, e.Attempts = false, []struct{ SQL, Missing string }{{SQL: "SELECT x FROM PROD_Customers", Missing: "x"}}
		}, "1/1/0 0.80"},
		{"an attempt failed on its output", func(e *memory.Episode) {
			e.Attempts = []struct{ SQL, Missing string }{{SQL: "SELECT x FROM PROD_Customers", Missing: "PROD_Customers"}}
		}, "1/1/0 0.75"},
		{"a failed question failed on its output", func(e *memory.Episode) {
			e.Completed, e.Attempts = false,
				[]struct{ SQL, Missing string }{{SQL: "SELECT x FROM PROD_Customers", Missing: "main.PROD_Customers"}}
		}, "1/1/0 0.75"},
	} {
		path := filepath.Join(t.TempDir(), "lessons.json")
		l := testutil.Value(memory.OpenLessons(path))(t)
		testutil.OK(t, l.Add(lesson))
		r := recall(t, l, "How many customers?")
		if again := r.Map(declared, live); again == declared {
			t.Fatal("not mapped")
		}
		outcome := learn(t, l, customers("s", func(e *memory.Episode) { e.Recall = r; tt.change(e) }))
		// What was counted of a manual lesson stands in the file, although nothing new was learned.
		reopened := testutil.Value(memory.OpenLessons(path))(t)
		if list := all(t, reopened); len(list) != 0 {
			t.Errorf("%s: without its file a manual lesson is used: %v", tt.why, list)
		}
		testutil.OK(t, reopened.Add(lesson))
		if got := counts(all(t, reopened)[0]); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
		// The end of the same question after a correction counts nothing twice.
		learn(t, l, customers("s", func(e *memory.Episode) { e.Recall, e.Before = r, outcome; tt.change(e) }))
		if got := counts(all(t, l)[0]); got != tt.want {
			t.Errorf("%s, twice: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestUndo: a correction of an answer takes back what its lessons gained.
func TestUndo(t *testing.T) {
	l := given(t, memory.Lesson{Kind: "table_mapping", From: "Customers", To: "PROD_Customers", Confidence: .8},
		memory.Lesson{Kind: "llm_guided", Text: "count distinct"})
	r := recall(t, l, "How many customers?")
	r.Map(declared, live)
	outcome := learn(t, l, customers("s", without, func(e *memory.Episode) { e.Recall = r }))
	reject := session.Correction{Kind: dialogue.CorrectTable, Rejected: []schema.TableName{tableName("PROD_Customers")}}
	for _, tt := range []struct {
		why        string
		correction session.Correction
		want       float64
	}{
		{"something else", session.Correction{Kind: dialogue.CorrectText, Text: "only active ones"}, .8},
		{"another table", session.Correction{Kind: dialogue.CorrectTable, Rejected: []schema.TableName{tableName("Log")}},
			.8},
		{"the table of the lesson", reject, .75},
		{"nor failed twice", reject, .75},
	} {
		outcome = testutil.Value(l.Undo(outcome, tt.correction))(t)
		list := all(t, l)
		if k := list[1]; k.Confidence != tt.want || k.Successful != 0 || k.Applied != 1 {
			t.Errorf("%s: %+v", tt.why, k)
		}
	}
	if len(outcome.Succeeded) != 0 || len(outcome.Failed) != 1 {
		t.Errorf("%+v", outcome)
	}
}

// TestContradictedJoin: a join that the user corrects takes back what a lesson of another join of the same tables
// gained.
func TestContradictedJoin(t *testing.T) {
	join := func(left, right schema.ColumnName) session.Correction {
		return session.Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: left, Right: right}}
	}
	customer, order := columnName("PROD_Customers", "id"), columnName("PROD_Orders", "customer")
	for _, tt := range []struct {
		correction session.Correction
		want       float64
		why        string
	}{
		{join(columnName("PROD_Customers", "id"), columnName("PROD_Orders", "id")), .75, "another join of both"},
		{join(columnName("PROD_Orders", "id"), columnName("PROD_Customers", "id")), .75, "the other way round"},
		{join(customer, order), .8, "the same one: its success alone is taken back"},
		{join(columnName("Log", "id"), columnName("PROD_Orders", "id")), .8, "of another table"},
	} {
		l := given(t, memory.Lesson{Kind: "join_pattern", Tables: []string{"PROD_Customers", "PROD_Orders"},
			Text: schema.Join{Left: customer, Right: order}.Ordered().String(), Confidence: .8})
		r := recall(t, l, "How many customers have orders?")
		r.ForSQL(live, "How many customers have orders?")
		receipt := learn(t, l, customers("s", without, func(e *memory.Episode) {
			e.Recall, e.Tables = r, []schema.TableName{tableName("PROD_Customers"), tableName("PROD_Orders")}
			e.SQL = "SELECT count(*) FROM PROD_Customers JOIN PROD_Orders ON PROD_Customers.id = PROD_Orders.customer"
		}))
		testutil.Value(l.Undo(receipt, tt.correction))(t)
		if got := all(t, l)[0].Confidence; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestBounds: caps, bands and promotion.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		confidence float64
		want       string
	}{{1, "always"}, {.901, "always"}, {.9, "monitor"}, {.7, "monitor"}, {.6999, "review"}, {0, "review"}} {
		if got := (memory.Lesson{Confidence: tt.confidence}).Band(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.confidence, got, tt.want)
		}
	}
	l := &memory.Lessons{}
	learn(t, l, customers("s"))
	for i := 1; i <= 25; i++ {
		r := recall(t, l, "How many customers?")
		r.Map(declared, live)
		learn(t, l, customers(fmt.Sprint("s", i), without, func(e *memory.Episode) { e.Recall = r }))
		promoted, err := l.PromotionReport()
		if err != nil || (len(promoted) == 1) != (i > 20) {
			t.Errorf("after %d uses: %v %v", i, promoted, err)
		}
	}
	if k := all(t, l)[0]; k.Confidence != 1 || k.Applied != 25 {
		t.Errorf("%+v", k)
	}
	for i := range 30 { // it fails until it is no longer shown
		r := recall(t, l, "How many customers?")
		r.Map(declared, live)
		learn(t, l, customers(fmt.Sprint("f", i), func(e *memory.Episode) {
			e.Recall, e.Completed = r, false
			e.Attempts = []struct{ SQL, Missing string }{{SQL: "SELECT 1 FROM PROD_Customers", Missing: "PROD_Customers"}}
		}))
	}
	review, err := l.Review()
	if err != nil || len(review) != 1 || review[0].Confidence != .65 {
		t.Errorf("%+v %v", review, err)
	}
	if got := recall(t, l, "How many customers?"); len(got.Lessons) != 0 {
		t.Errorf("a lesson for review is shown: %+v", got.Lessons)
	}
}

// TestShownWithoutOutput: a lesson that names no table and no column is counted as shown, and is neither right nor
// wrong.
func TestShownWithoutOutput(t *testing.T) {
	l := &memory.Lessons{}
	testutil.OK(t, l.Add(memory.Lesson{Kind: "llm_guided", Text: "Prefer the newest table."},
		memory.Lesson{Kind: "table_mapping", Pattern: "(?:Ghost)(.*)", To: "PROD_$1"}))
	r := testutil.Value(l.Recall(memory.Episode{Question: "How many customers are there?", Declared: declared, Live: live},
		nil))(t)
	for _, k := range r.Lessons {
		r.Shown = append(r.Shown, k.ID)
	}
	slices.Sort(r.Shown)
	golden.Equal(t, 2, len(r.Shown), "shown")
	for _, attempts := range [][]step{nil, {without}} {
		learned := learn(t, l, customers("s", append(attempts, func(e *memory.Episode) { e.Recall = r })...))
		if len(learned.Retrieved) != 2 || len(learned.Applied)+len(learned.Succeeded)+len(learned.Failed) > 0 {
			t.Errorf("%+v", learned)
		}
	}
}

// TestContradictedColumn: a correction that says something else of a word, or rejects the table of its column, takes
// back what the lesson gained.
func TestContradictedColumn(t *testing.T) {
	amount, name := columnName("PROD_Orders", "amount_total"), columnName("PROD_Customers", "name")
	for _, tt := range []struct {
		why  string
		c    session.Correction
		want float64
	}{
		{"the same again", session.Correction{Kind: dialogue.CorrectColumn, Term: "Revenue", Column: &amount}, .8},
		{"another column", session.Correction{Kind: dialogue.CorrectColumn, Term: "REVENUE", Column: &name}, .75},
		{"another word", session.Correction{Kind: dialogue.CorrectColumn, Term: "income", Column: &name}, .8},
		{"its table is rejected", session.Correction{Kind: dialogue.CorrectTable,
			Rejected: []schema.TableName{tableName("prod_orders")}}, .75},
		{"another table is rejected", session.Correction{Kind: dialogue.CorrectTable,
			Rejected: []schema.TableName{tableName("Log")}}, .8},
	} {
		l := given(t, memory.Lesson{Kind: "column_mapping", From: "revenue", To: "PROD_Orders.amount_total", Confidence: .8})
		r := recall(t, l, "What is the revenue?")
		if advice := r.ForSQL(live, "What is the revenue?"); !strings.Contains(advice, "revenue") {
			t.Fatal(advice)
		}
		outcome := learn(t, l, customers("s", without, func(e *memory.Episode) {
			e.Recall, e.SQL, e.Tables, e.Columns = r, "SELECT sum(amount_total) FROM PROD_Orders",
				[]schema.TableName{amount.Table}, []schema.ColumnName{amount}
		}))
		golden.Equal(t, 1, len(outcome.Succeeded), tt.why)
		testutil.Value(l.Undo(outcome, tt.c))(t)
		golden.Equal(t, tt.want, all(t, l)[0].Confidence, tt.why)
	}
}

// TestPrefixOfAttempts: a prefix teaches the names that rejected statements have, too, but none that exists.
func TestPrefixOfAttempts(t *testing.T) {
	l := &memory.Lessons{}
	prefix := session.Correction{Kind: dialogue.CorrectText, Text: "use the PROD_ prefix"}
	learn(t, l, customers("s", func(e *memory.Episode) {
		e.Declared, e.Corrections = tables("Log(id)"), []session.Correction{prefix}
		e.Attempts = []struct{ SQL, Missing string }{
			{SQL: "SELECT 1 FROM Orders", Missing: "main.Orders"}, {SQL: "SELECT 1 FROM Customers", Missing: "Customers"},
			{SQL: "SELECT 1 FROM t", Missing: "u"},
		}
	}))
	list := brief(all(t, l))
	slices.Sort(list)
	golden.Equal(t, []string{"table_mapping Customers>PROD_Customers 0.80 correction",
		"table_mapping Orders>PROD_Orders 0.70 correction"}, list, "lessons")
}

// TestNoLessons: what is nil learns nothing and has nothing, and a lesson that is incomplete is refused.
func TestNoLessons(t *testing.T) {
	var l *memory.Lessons
	before := memory.LearnResult{New: []string{"1"}}
	if r, err := l.Learn(customers("s", func(e *memory.Episode) { e.Before = before })); err != nil || len(r.New) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := l.Undo(before, session.Correction{}); err != nil || len(r.New) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	golden.Equal(t, 0, len(all(t, l)), "lessons")
	l = &memory.Lessons{}
	var bad *fileerr.Memory
	if err := l.Add(memory.Lesson{Kind: "llm_guided", Text: "x"}, memory.Lesson{Kind: "llm_guided"}); !errors.As(err,
		&bad) || bad.Lesson != 2 ||
		err.Error() != `memory: lesson 2 of those that were given: a lesson of the type llm_guided needs "text"` ||
		errors.Unwrap(err) == nil {
		t.Errorf("%v", err)
	}
	golden.Equal(t, 0, len(all(t, l)), "lessons")
}

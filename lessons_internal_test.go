package texttosql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

const records = `CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, Name TEXT, Country TEXT);
CREATE TABLE Employee (EmployeeId INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER REFERENCES Customer (CustomerId), Total REAL);
CREATE TABLE InvoiceLine (InvoiceId INTEGER REFERENCES Invoice (InvoiceId), TrackId INTEGER REFERENCES Track (TrackId));
INSERT INTO Customer VALUES (1, 'Ana', 'Brazil'), (2, 'Bo', 'Norway');
INSERT INTO Track VALUES (1, 'Blue'); INSERT INTO Invoice VALUES (1, 1, 9.5); INSERT INTO InvoiceLine VALUES (1, 1)`

// renamedRecords is a database with PROD_ in front of the names of its tables, and the schema before that.
func renamedRecords(t *testing.T) (*sql.DB, *schema.Schema) {
	t.Helper()
	db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "records.sqlite")))(t)
	t.Cleanup(func() { db.Close() })
	testutil.Value(db.Exec(records))(t)
	old := testutil.Value(New(db, llm.Func(nil)))(t)
	declared := testutil.Value(old.Schema(t.Context()))(t)
	for _, table := range declared.Tables {
		testutil.Value(db.Exec(fmt.Sprintf("ALTER TABLE %q RENAME TO %q", table.Name, "PROD_"+table.Name)))(t)
	}
	return db, declared
}

// reader is a model that writes the tables as the schema of its prompt does, and as they are once it was told of an
// error. It counts the calls for repairs.
type reader struct {
	sql      string // with the declared names
	repaired string // the reply to a request for a repair; "": sql with the names of the database
	tables   []string
	repairs  int
	prompts  []string
}

func (r *reader) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	last := req.Messages[len(req.Messages)-1].Text
	r.prompts = append(r.prompts, last)
	if req.Purpose == "repair" {
		r.repairs++
	}
	out := r.sql
	if r.repaired != "" && req.Purpose == "repair" {
		out = r.repaired
	}
	for _, name := range r.tables {
		if req.Purpose == "repair" || strings.Contains(last, "CREATE TABLE PROD_"+name+" ") {
			out = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(out, "PROD_"+name)
		}
	}
	return llm.Response{Text: "```sql\n" + out + "\n```", StopReason: llm.StopEnd}, nil
}

// TestLearnedOnce: as long as nothing is confirmed a question finds the same pool, which is indexed once.
func TestLearnedOnce(t *testing.T) {
	db, _ := renamedRecords(t)
	e := testutil.Value(New(db, llm.Func(nil)))(t)
	pool := func() *memory.Pool {
		s := testutil.Value(e.db.Snapshot(t.Context()))(t)
		return testutil.Value(e.learn(t.Context(), s, asking{}))(t).pool
	}
	none := pool()
	if pool() != none {
		t.Error("another pool, and nothing was confirmed")
	}
	for i, question := range []string{"Which customers are there?", "Who are they?"} {
		before := pool()
		if err := e.Confirm(t.Context(), question, "SELECT Name FROM PROD_Customer"); err != nil &&
			!errors.Is(err, memory.ErrNotPersisted) {
			t.Fatal(err)
		}
		if after := pool(); after == before || len(after.Pairs) != i+1 || pool() != after {
			t.Errorf("after %d confirmations: %d pairs", i+1, len(after.Pairs))
		}
	}
}

func lessonsOf(t *testing.T, l *memory.Lessons) (lines []string) {
	t.Helper()
	list := testutil.Value(l.All())(t)
	for _, k := range list {
		lines = append(lines, fmt.Sprintf("%s %s>%s%s %.2f %d/%d/%d", k.Kind, k.From, k.To, k.Text, k.Confidence, k.Retrieved,
			k.Applied, k.Successful))
	}
	return lines
}

var refining = strategy.Pipeline{Refine: &strategy.Refine{}}

// renaming is an engine over a database whose tables got another name since its schema was declared, and its lessons.
func renaming(t *testing.T, db *sql.DB, declared *schema.Schema, model *reader, path string, opts ...Option) (*Engine,
	*memory.Lessons) {
	t.Helper()
	for _, table := range declared.Tables {
		model.tables = append(model.tables, table.Name)
	}
	l := testutil.Value(memory.OpenLessons(path))(t)
	if len(opts) == 0 {
		opts = []Option{WithMemory(memory.Options{Lessons: l})}
	}
	e := testutil.Value(New(db, model, append([]Option{WithSchema(declared), WithStrategy(refining)}, opts...)...))(t)
	return e, l
}

// TestLessonsOfRenamedTables: a database whose tables got another name since its schema was declared. One error is
// recovered from, and the next conversation has none. Its answers make the lesson stronger, and a correction takes that
// back.
func TestLessonsOfRenamedTables(t *testing.T) {
	const question, table = "How many customers come from Brazil?", "Customer"
	const counted, also = "SELECT count(*) FROM Customer WHERE Country = 'Brazil'", "SELECT count(*) FROM Customer"
	db, declared := renamedRecords(t)
	path := filepath.Join(t.TempDir(), "lessons.json")
	model := &reader{sql: counted}
	engine := func(opts ...Option) (*Engine, *memory.Lessons) {
		return renaming(t, db, declared, model, path, opts...)
	}
	e, l := engine()
	what := fmt.Sprintf("table_mapping %s>PROD_%s ", table, table)
	taught := func(why string, repairs int, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, lessonsOf(t, l)); diff != "" || model.repairs != repairs {
			t.Fatalf("%s: %d repairs, want %d, lessons (-want +got):\n%s", why, model.repairs, repairs, diff)
		}
	}
	testutil.Value(e.Ask(t.Context(), question))(t)
	taught("a question without a conversation", 1)
	asked(t, e.NewConversation(nil), question)
	taught("one error", 2, what+"0.80 0/0/0")
	e, l = engine() // another process
	model.sql = also
	second := e.NewConversation(nil)
	res := asked(t, second, "How many customers are there?")
	taught("the second conversation", 2, what+"0.82 1/1/1")
	if last := model.prompts[len(model.prompts)-1]; len(res.Steps) != 1 || !strings.Contains(last, "PROD_"+table) ||
		!strings.Contains(last, "### Advice") {
		t.Errorf("%+v, and the prompt: %s", res.Steps, last)
	}
	asked(t, e.NewConversation(nil), "How many customers are there?")
	taught("the third conversation", 2, what+"0.84 2/2/2")

	// Without memory it is as if nothing had been learned, for a question and for an engine.
	model.sql = counted
	forgetful, _ := engine(WithMemory(memory.Options{Lessons: l, Off: true}))
	asked(t, e.NewConversation(nil), question, WithMemory(memory.Options{Off: true}))
	asked(t, forgetful.NewConversation(nil), question)
	taught("without memory", 4, what+"0.84 2/2/2")
	if strings.Contains(model.prompts[len(model.prompts)-1], "### Advice") {
		t.Error("advice without memory")
	}
	// A correction of an answer takes its success back; one that names both tables is sure.
	model.sql = "SELECT count(*) FROM PROD_Track"
	testutil.Value(second.Correct(t.Context(), "count the songs"))(t)
	taught("the answer to the corrected question reads something else", 4, what+"0.82 2/2/1")
	model.sql = also
	correction := session.Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{{Name: "PROD_" + table}},
		Rejected: []schema.TableName{{Name: table}}}
	testutil.Value(second.Apply(t.Context(), correction))(t)
	taught("a correction that says the same", 4, what+"0.95 2/2/2")
}

// asked is an answer of a conversation.
func asked(t *testing.T, c *Conversation, question string, opts ...AskOption) *Result {
	t.Helper()
	res, err := c.Ask(t.Context(), question, opts...)
	if err != nil || res.Rows == nil {
		t.Fatalf("%s: %v %+v", question, err, res.Warnings)
	}
	return res
}

// TestLessonsPromoted: conversations make a lesson strong enough for the file of a person, and weaken one whose name
// fails.
func TestLessonsPromoted(t *testing.T) {
	const question = "How many customers are there?"
	db, declared := renamedRecords(t)
	model := &reader{sql: "SELECT count(*) FROM Customer"}
	e, l := renaming(t, db, declared, model, filepath.Join(t.TempDir(), "lessons.json"))
	for i := range 23 { // one that teaches, and 21 that use it
		promoted, err := l.PromotionReport()
		if err != nil || (len(promoted) == 1) != (i > 21) {
			t.Errorf("after %d conversations: %+v %v", i, promoted, err)
		}
		asked(t, e.NewConversation(nil), question)
	}
	if diff := cmp.Diff([]string{"table_mapping Customer>PROD_Customer 1.00 22/22/22"}, lessonsOf(t, l)); diff != "" {
		t.Error(diff)
	}
	for i, tt := range []struct {
		why, sql string
		failed   bool
		want     string
	}{
		{"an attempt fails on the name that the lesson gave, and another one has the answer",
			"SELECT count(*) FROM other.PROD_Customer", false,
			"0.95 23/23/22"},
		{"no attempt has it", "SELECT count(*) FROM Other", true, "0.95 24/23/22"},
		{"each attempt fails on it", "SELECT count(*) FROM other.Customer", true, "0.90 25/24/22"},
	} {
		model.sql, model.repaired = tt.sql, ""
		if i == 0 {
			model.repaired = "SELECT count(*) FROM PROD_Customer"
		}
		_, err := e.NewConversation(nil).Ask(t.Context(), question)
		if diff := cmp.Diff([]string{"table_mapping Customer>PROD_Customer " + tt.want}, lessonsOf(t, l)); diff != "" ||
			(err != nil) != tt.failed {
			t.Errorf("%s: %v, lessons (-want +got):\n%s", tt.why, err, diff)
		}
	}
	if promoted, err := l.PromotionReport(); err != nil || len(promoted) != 0 {
		t.Errorf("after two failures of 24: %+v %v", promoted, err)
	}
}

// TestPrefixRule: one sentence of a user teaches the names of all tables.
func TestPrefixRule(t *testing.T) {
	db, declared := renamedRecords(t)
	model := &reader{sql: "SELECT count(*) FROM Invoice"}
	for _, table := range declared.Tables {
		model.tables = append(model.tables, table.Name)
	}
	l := &memory.Lessons{}
	secret := "PROD_Employee"
	e, err := New(db, model, WithSchema(declared), WithStrategy(refining), WithMemory(memory.Options{Lessons: l}),
		WithPolicy(exec.Policy{DenyTables: []string{secret}}),
		WithDescriptions(schema.Descriptions{"Invoice": {Text: "what a customer bought"}, "PROD_Track": {Text: "a song"},
			"Nothing": {Text: "x"}}))
	if err != nil {
		t.Fatal(err)
	}
	first := e.NewConversation(nil)
	asked(t, first, "How many invoices are there?")
	testutil.Value(first.Correct(t.Context(), "use the PROD_ prefix"))(t)
	list, err := l.All()
	if err != nil || len(list) != len(declared.Tables)-1 {
		t.Fatalf("%d lessons for %d tables: %v", len(list), len(declared.Tables), err)
	}
	for _, k := range list {
		if want := .7; k.Confidence != want && k.From != "Invoice" || k.To == secret {
			t.Errorf("%+v", k)
		}
	}
	model.sql = "SELECT Name FROM Track JOIN InvoiceLine USING (TrackId)"
	before := model.repairs
	res := asked(t, e.NewConversation(nil), "Which tracks were bought?")
	prompt := model.prompts[len(model.prompts)-1]
	if model.repairs != before {
		t.Errorf("there was an error: %+v", res.Steps)
	}
	for _, text := range []string{"what a customer bought", "a song"} {
		if !strings.Contains(prompt, text) {
			t.Errorf("%q is not in the prompt", text)
		}
	}
	if strings.Contains(prompt, secret) {
		t.Error("a denied table is in the prompt")
	}
	if told := e.warn(t.Context()); !slices.ContainsFunc(told, func(w trace.Warning) bool {
		return strings.HasSuffix(w.Message, "do not exist: Nothing")
	}) {
		t.Errorf("warnings: %v", told)
	}
}

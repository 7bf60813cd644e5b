package texttosql

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
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
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "records.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(records); err != nil {
		t.Fatal(err)
	}
	old, err := New(db, llm.Func(nil))
	if err != nil {
		t.Fatal(err)
	}
	declared, err := old.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range declared.Tables {
		if _, err := db.Exec(fmt.Sprintf("ALTER TABLE %q RENAME TO %q", table.Name, "PROD_"+table.Name)); err != nil {
			t.Fatal(err)
		}
	}
	return db, declared
}

// reader is a model that writes the tables as the schema of its prompt does, and as they are once it was told of an
// error. It counts the calls for repairs.
type reader struct {
	sql     string // with the declared names
	tables  []string
	repairs int
	prompts []string
}

func (r *reader) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	last := req.Messages[len(req.Messages)-1].Text
	r.prompts = append(r.prompts, last)
	if req.Purpose == strategy.PurposeRepair {
		r.repairs++
	}
	out := r.sql
	for _, name := range r.tables {
		if req.Purpose == strategy.PurposeRepair || strings.Contains(last, "CREATE TABLE PROD_"+name+" ") {
			out = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(out, "PROD_"+name)
		}
	}
	return llm.Response{Text: "```sql\n" + out + "\n```", StopReason: llm.StopEnd}, nil
}

// end asks a question as a session does, and learns from its end.
func end(t *testing.T, e *Engine, id, question string, change func(*memory.FinishedQuestion)) (*Result, memory.LearnResult) {
	t.Helper()
	q := newQuestion(question, nil)
	recall, err := e.recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.recall = recall
	res, err := e.ask(t.Context(), q, true)
	ep := memory.FinishedQuestion{Session: id, Question: question, Recall: recall, Completed: err == nil, SQL: res.SQL}
	if change != nil {
		change(&ep)
	}
	receipt, err := e.learnFrom(t.Context(), ep, &res.Outcome)
	if err != nil {
		t.Fatal(err)
	}
	return res, receipt
}

func lessonsOf(t *testing.T, l *memory.Lessons) (lines []string) {
	t.Helper()
	list, err := l.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		lines = append(lines, fmt.Sprintf("%s %s>%s%s %.2f %d/%d/%d", k.Kind, k.From, k.To, k.Text, k.Confidence, k.Retrieved, k.Applied, k.Successful))
	}
	return lines
}

var refining = strategy.Pipeline{Refine: &strategy.Refine{}}

// TestLessonsOfRenamedTables: a database whose tables got another name since its schema was declared. One error is
// recovered from, and the next session has none.
func TestLessonsOfRenamedTables(t *testing.T) {
	const question, table = "How many customers come from Brazil?", "Customer"
	const counted, also = "SELECT count(*) FROM Customer WHERE Country = 'Brazil'", "SELECT count(*) FROM Customer"
	db, declared := renamedRecords(t)
	path := filepath.Join(t.TempDir(), "lessons.json")
	model := &reader{sql: counted}
	for _, table := range declared.Tables {
		model.tables = append(model.tables, table.Name)
	}
	engine := func(opts ...Option) (*Engine, *memory.Lessons) {
		l, err := memory.OpenLessons(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(db, model, append([]Option{WithSchema(declared), WithStrategy(refining), WithLessons(l)}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		return e, l
	}
	e, _ := engine()
	if _, err := e.Ask(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	e, l := engine()
	if got := lessonsOf(t, l); len(got) > 0 || model.repairs != 1 {
		t.Fatalf("Ask alone learned %v, after %d repairs", got, model.repairs)
	}
	first, _ := end(t, e, "first", question, nil)
	what := fmt.Sprintf("table_mapping %s>PROD_%s ", table, table)
	if diff := cmp.Diff([]string{what + "0.80 0/0/0"}, lessonsOf(t, l)); diff != "" || model.repairs != 2 {
		t.Fatalf("after one error: %s, %d repairs", diff, model.repairs)
	}
	// The next session, of another process.
	e, l = engine()
	model.sql = also
	second, receipt := end(t, e, "second", "How many customers are there?", nil)
	if model.repairs != 2 || len(second.Steps) != 1 || second.Steps[0].Status != "ok" {
		t.Errorf("the second session had an error: %+v", second.Steps)
	}
	if diff := cmp.Diff([]string{what + "0.82 1/1/1"}, lessonsOf(t, l)); diff != "" {
		t.Error(diff)
	}
	if last := model.prompts[len(model.prompts)-1]; !strings.Contains(last, "PROD_"+table) || !strings.Contains(last, "### Advice") {
		t.Errorf("the prompt: %s", last)
	}
	if first.Rows == nil || second.Rows == nil {
		t.Error("no rows")
	}
	// Without memory it is as if nothing had been learned, for a question and for an engine.
	model.sql = counted
	for _, opt := range []AskOption{WithoutMemory(), nil} {
		forgetful := e
		if opt == nil {
			forgetful, _ = engine(WithoutMemory())
		}
		before := model.repairs
		res, err := forgetful.Ask(t.Context(), question, opt)
		if err != nil || model.repairs != before+1 || strings.Contains(model.prompts[len(model.prompts)-1], "### Advice") {
			t.Errorf("without memory: %v, %d repairs", err, model.repairs-before)
		}
		if opt == nil {
			if _, err := forgetful.learnFrom(t.Context(), memory.FinishedQuestion{Session: "x", Completed: true, SQL: res.SQL}, &res.Outcome); err != nil {
				t.Error(err)
			}
		}
	}
	if diff := cmp.Diff([]string{what + "0.82 1/1/1"}, lessonsOf(t, l)); diff != "" {
		t.Errorf("without memory: %s", diff)
	}
	// A correction after the end takes the success back; one that names both tables is sure.
	nameable, err := e.nameable(t.Context())
	if err != nil || len(nameable.Tables) != 2*len(declared.Tables) {
		t.Errorf("%d tables can be named, %v", len(nameable.Tables), err)
	}
	correction := session.Correction{Kind: session.CorrectTable, Tables: []schema.TableName{{Name: "PROD_" + table}},
		Rejected: []schema.TableName{{Name: table}}}
	if receipt, err = l.Undo(receipt, correction); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{what + "0.80 1/1/0"}, lessonsOf(t, l)); diff != "" {
		t.Error(diff)
	}
	end(t, e, "second", "How many customers are there?", func(ep *memory.FinishedQuestion) {
		ep.Before, ep.Corrections = receipt, []session.Correction{correction}
	})
	if diff := cmp.Diff([]string{what + "0.95 1/1/1"}, lessonsOf(t, l)); diff != "" {
		t.Error(diff)
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
	e, err := New(db, model, WithSchema(declared), WithStrategy(refining), WithLessons(l), WithPolicy(exec.Policy{DenyTables: []string{secret}}),
		WithDescriptions(schema.Descriptions{"Invoice": {Text: "what a customer bought"}, "PROD_Track": {Text: "a song"}, "Nothing": {Text: "x"}}))
	if err != nil {
		t.Fatal(err)
	}
	end(t, e, "s", "How many invoices are there?", func(ep *memory.FinishedQuestion) {
		ep.Corrections = []session.Correction{{Kind: session.CorrectText, Text: "use the PROD_ prefix"}}
	})
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
	res, _ := end(t, e, "s2", "Which tracks were bought?", nil)
	prompt := model.prompts[len(model.prompts)-1]
	if model.repairs != before || res.Rows == nil {
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
	if !slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool { return strings.HasSuffix(w.Message, "do not exist: Nothing") }) {
		t.Errorf("warnings: %v", res.Warnings)
	}
}

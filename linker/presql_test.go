package linker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

const college = `
CREATE TABLE student (id INTEGER PRIMARY KEY, full_name TEXT, age INTEGER, mentor INTEGER REFERENCES student(id));
CREATE TABLE course (code TEXT PRIMARY KEY, title TEXT, credits INTEGER, hours INTEGER, room TEXT);
CREATE TABLE enrolment (student_id INTEGER REFERENCES student(id), course_code TEXT REFERENCES course(code), grade REAL);
CREATE TABLE staff_members (id INTEGER PRIMARY KEY, salary REAL);
CREATE TABLE "order details" (id INTEGER PRIMARY KEY, note TEXT);
CREATE TABLE Ärzte (id INTEGER);
CREATE TABLE ärzte (id INTEGER, name TEXT);
CREATE TABLE empty (a, b);
CREATE VIEW adults AS SELECT id, full_name FROM student WHERE age >= 18;`

func ask(context.Context, linker.Input) ([]llm.Message, error) {
	return []llm.Message{{Role: llm.User, Text: "SQL?"}}, nil
}

// TestPreSQLFails shows what becomes of a first statement that is not as it
// should be.
func TestPreSQLFails(t *testing.T) {
	db, s := open(t, college, exec.Config{})
	tests := []struct {
		name     string
		question string
		reply    string
		want     string // links
		note     string // part of a note
		why      string
	}{
		{"as it should be", "?", "SELECT full_name FROM student", "student", "", "the engine's word"},
		{"prose", "?", "I cannot answer that.", "whole", "no table", "never an empty schema"},
		{"empty statement", "?", "```sql\n```", "whole", "no table", "never an empty schema"},
		{"does not parse", "?", "SELECT full_name FROM student WHERE (age > 3", "whole", "no table",
			"a torn reply is no statement"},
		{"unknown column", "?", "SELECT nme FROM student JOIN course", "student course", "engine rejects",
			"the tables are real"},
		{"other case", "?", "SELECT x FROM STUDENT", "student", "", "as SQLite reads it"},
		{"without underscore", "?", "SELECT x FROM StaffMembers", "staff_members", "is nearest", "rule 2"},
		{"plural", "?", "SELECT x FROM students JOIN orders_details", "student order details", "is nearest", "rule 3"},
		{"typing error", "?", "SELECT x FROM enrollment", "enrolment", "is nearest", "rule 4"},
		{"far off", "?", "SELECT x FROM invoices JOIN course ON 1", "course", `"invoices"`, "dropped, the rest stays"},
		{"all invented", "?", "SELECT x FROM invoices", "whole", "no table", "never an empty schema"},
		{"short names are not guessed", "?", "SELECT x FROM curse2x", "whole", "invented", "distance 3"},
		{"two that differ by case", "?", "SELECT id FROM Ärzte", "Ärzte", "", "SQLite knows them apart"},
		{"the other", "?", "SELECT name FROM ärzte", "ärzte", "", "SQLite knows them apart"},
		{"either of two", "?", "SELECT x FROM äRZTE", "whole", "invented", "two may be meant, so none is"},
		{"a CTE named like a table", "?", "WITH course AS (SELECT id FROM student) SELECT * FROM course", "student", "",
			"a CTE is no table"},
		{"a CTE in a broken statement", "?", "WITH course AS (SELECT id FROM student) SELECT x FROM course", "student",
			"engine rejects", "nor in the text"},
		{"view", "?", "SELECT full_name FROM adults", "adults student", "", "with what lies under it"},
		{"self reference", "?", "SELECT a.full_name FROM student a JOIN student b ON a.mentor = b.id", "student", "",
			"one table"},
		{"table without rows", "?", "SELECT a FROM empty", "empty", "", "rows do not matter"},
		{"only its rows count", "?", "SELECT count(*) FROM course", "course", "", "a table without columns read"},
		{"forgotten in FROM", "?", "SELECT course.title FROM student", "student course", "engine rejects",
			"a dotted name is a table"},
		{"named in the question", "Which courses are there?", "SELECT 1 FROM student", "student course", "",
			"a missed table comes back"},
		{
			"endless reply", "?", "SELECT full_name FROM student WHERE " + strings.Repeat("age ", 10_000) + "course.title",
			"whole", "no table",
			"no statement within what is read of a reply",
		},
		{"blank in a name", "order details?", "SELECT note FROM \"order details\"", "order details", "", "quoted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := linker.PreSQL{Prompt: ask,
				Model: &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "link", Replies: llmtest.Texts(tt.reply)}}}}
			root := trace.Tracer{}.New("test")
			links, err := p.Link(trace.NewContext(t.Context(), root), linker.Input{Question: tt.question, Schema: s, DB: db})
			root.End()
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, l := range links.Tables {
				names = append(names, l.Table)
			}
			got := strings.Join(names, " ")
			if links.Whole {
				got = "whole"
			}
			if got != tt.want {
				t.Errorf("got %s, want %s: %s (notes %q)", got, tt.want, tt.why, links.Notes)
			}
			if !strings.Contains(strings.Join(links.Notes, "\n"), tt.note) {
				t.Errorf("notes %q do not say %q", links.Notes, tt.note)
			}
			warned := false
			for _, w := range root.Warnings() {
				warned = warned || w.Code == "no-links"
			}
			if warned != links.Whole {
				t.Errorf("warned %v, whole %v", warned, links.Whole)
			}
			if small, unknown := s.Restrict(links); len(small.Tables) == 0 || len(unknown) > 0 {
				t.Errorf("%d tables are left, unknown %q", len(small.Tables), unknown)
			}
		})
	}
}

// TestPreSQLColumns names the columns that a statement reads.
func TestPreSQLColumns(t *testing.T) {
	db, s := open(t, college, exec.Config{})
	tests := []struct {
		question, sql string
		wide          bool
		want          string
		why           string
	}{
		{"?", "SELECT full_name FROM student WHERE age > 3", false, "student(age,full_name)", "those read"},
		{"?", "SELECT count(*) FROM course", false, "course(code)", "the key stands for a table of which none is read"},
		{"?", "SELECT * FROM course", false, "course(code,credits,hours,room,title)", "a star reads all"},
		{"How many credits?", "SELECT title FROM course", false, "course(title,credits)", "those named in the question too"},
		{"?", "SELECT nme, agee FROM student", false, "student(id)", "names that resolve to no column are dropped"},
		{"?", "SELECT fullname, x FROM student", false, "student(id,full_name)", "the nearest column of a broken statement"},
		{"?", "SELECT s.id FROM student s JOIN enrolment USING (student_id)", false, "student(id) enrolment(student_id)",
			"USING reads too"},
		{"Which hours?", "SELECT title FROM course JOIN enrolment ON code = course_code", true,
			"course(code,title,hours) enrolment(course_code,student_id,grade)",
			"wide: all of a small table"},
	}
	for _, tt := range tests {
		links := testutil.Value(linker.PreSQL{Columns: true, Wide: tt.wide, With: linker.Union{}}.Read(t.Context(),
			linker.Input{Question: tt.question, Schema: s, DB: db}, tt.sql))(t)
		if got := linked(links); got != tt.want {
			t.Errorf("%s: got %s, want %s: %s", tt.sql, got, tt.want, tt.why)
		}
	}
}

// TestPreSQLSamples unites the links of several drafts.
func TestPreSQLSamples(t *testing.T) {
	db, s := open(t, college, exec.Config{})
	model := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "link", Replies: []llmtest.Reply{
		llmtest.Texts("SELECT title FROM course")[0], llmtest.Errors(errors.New("down"))[0],
		llmtest.Texts("SELECT age FROM student")[0],
	}}}}
	p := linker.PreSQL{Model: model, Prompt: ask, Samples: 3, Seed: func(i int) *int { return new(7 + i) }}
	links := testutil.Value(p.Link(t.Context(), linker.Input{Question: "?", Schema: s, DB: db}))(t)
	if got := linked(links); got != "course(*) student(*)" {
		t.Errorf("got %s", got)
	}
	for i, req := range model.Requests() {
		if *req.Temperature != 0.7 || *req.MaxTokens != 512 || req.Sample != i || *req.Seed != 7+i || req.Purpose != "link" {
			t.Errorf("request %d: %+v", i, req)
		}
	}
}

func TestPreSQLErrors(t *testing.T) {
	db, s := open(t, college, exec.Config{})
	in := linker.Input{Question: "?", Schema: s, DB: db}
	down := errors.New("down")
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Errors(down), Repeat: true}}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		p    linker.PreSQL
		ctx  context.Context
		want string
	}{
		{"no model", linker.PreSQL{Prompt: ask}, t.Context(), "needs Model and Prompt"},
		{"no prompt", linker.PreSQL{Model: script}, t.Context(), "needs Model and Prompt"},
		{"negative", linker.PreSQL{Model: script, Prompt: ask, MaxTokens: -1}, t.Context(), "negative"},
		{"model down", linker.PreSQL{Model: script, Prompt: ask}, t.Context(), "down"},
		{"ended", linker.PreSQL{Model: script, Prompt: ask}, ended, "canceled"},
	}
	for _, tt := range tests {
		if _, err := tt.p.Link(tt.ctx, in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestPreSQLWithoutDatabase reads the text alone.
func TestPreSQLWithoutDatabase(t *testing.T) {
	s := tables([]string{"singers", "name"}, []string{"concerts", "year"})
	links := testutil.Value(linker.PreSQL{Columns: true}.Read(t.Context(), linker.Input{Question: "?", Schema: s},
		"SELECT name FROM singer"))(t)
	want := schema.Links{
		Tables: []schema.TableLink{{Table: "singers", Columns: []string{"name"}, Score: 1}},
		Notes:  []string{`invented: the preliminary SQL names the table "singer", which does not exist; singers is nearest`},
	}
	golden.Equal(t, want, links)
}

func ExamplePreSQL() {
	links, err := linker.PreSQL{
		Prompt: func(ctx context.Context, in linker.Input) ([]llm.Message, error) {
			tables, err := schema.Renderer{}.Render(ctx, in.Schema)
			return []llm.Message{{Role: llm.User, Text: tables.Text + "\n" + in.Question}}, err
		},
		Model: llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: "SELECT name FROM customer WHERE id NOT IN (SELECT customer_id FROM orders)"}, nil
		}),
	}.Link(context.Background(), linker.Input{Question: "Who never ordered?", Schema: example})
	for _, t := range links.Tables {
		fmt.Println(t.Table)
	}
	fmt.Println(links.Notes, err)
	// Output:
	// customers
	// orders
	// [invented: the preliminary SQL names the table "customer", which does not exist; customers is nearest] <nil>
}

func ExampleNames() {
	links, err := linker.Names{}.Link(context.Background(), linker.Input{Question: "How many orders has each customer?",
		Schema: example})
	for _, t := range links.Tables {
		fmt.Println(t.Table)
	}
	fmt.Println(err)
	// Output:
	// customers
	// orders
	// <nil>
}

// TestPreSQLReadsLongText: what is longer than any statement is read as far as a
// statement may go; 5 MB of it took seconds and gigabytes.
func TestPreSQLReadsLongText(t *testing.T) {
	db, s := open(t, college, exec.Config{})
	long := "SELECT full_name FROM student WHERE " + strings.Repeat("age ", sqlshape.MaxStatement/4) + "course.title"
	links, err := linker.PreSQL{}.Read(t.Context(), linker.Input{Question: "?", Schema: s, DB: db}, long)
	if err != nil || len(links.Tables) != 1 || links.Tables[0].Table != "student" {
		t.Errorf("%+v, %v, want student alone", links.Tables, err)
	}
}

// TestPreSQLLeavesOthersLinks: a linker to unite with may give the same links each
// time, to several callers at once.
func TestPreSQLLeavesOthersLinks(t *testing.T) {
	db, s := open(t, college, exec.Config{})
	links := schema.Links{Tables: []schema.TableLink{{Table: "student"}, {Table: "course"}}}
	p := linker.PreSQL{Columns: true, With: linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
		return links, nil
	})}
	testutil.Value(p.Read(t.Context(), linker.Input{Question: "?", Schema: s, DB: db}, "SELECT age FROM student"))(t)
	if want := (schema.Links{Tables: []schema.TableLink{{Table: "student"}, {Table: "course"}}}); !cmp.Equal(want, links) {
		t.Errorf("changed: %+v", links)
	}
}

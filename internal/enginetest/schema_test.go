package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// TestProfileGaps: a table that cannot be profiled costs its own profile and a
// warning, not those of the others, and it is not tried again.
func TestProfileGaps(t *testing.T) {
	const broken = "CREATE TABLE odd (a TEXT); INSERT INTO odd VALUES ('no json'); ALTER TABLE odd ADD COLUMN b TEXT AS " +
		"(json_extract(a, '$')) VIRTUAL;"
	script := always(usa)
	e, err := texttosql.New(open(t, shop+broken), script, texttosql.WithSamples(1),
		texttosql.WithPolicy(exec.Policy{Reveal: []string{"*"}}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r := testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
		prompt := script.Requests()[i].Messages[1].Text
		if !strings.Contains(prompt, `Examples: ["Norway", "USA"]`) {
			t.Errorf("question %d: the other tables lost their profiles:\n%s", i, prompt)
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Code != "profile-incomplete" ||
			!strings.Contains(r.Warnings[0].Message, "odd") {
			t.Errorf("question %d: warnings %+v", i, r.Warnings)
		}
	}
}

// TestProfileIsShared: questions that come at the same time profile the database
// once, and one that gives up leaves it to the next.
func TestProfileIsShared(t *testing.T) {
	db := open(t, shop)
	e := testutil.Value(texttosql.New(db, always(usa), texttosql.WithSamples(1)))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Ask(ended, whoInUSA); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { answers(t, e) })
	}
	all.Wait()
}

// TestNothingToRead: a database without a table that may be read is told as such.
func TestNothingToRead(t *testing.T) {
	for name, opts := range map[string][]texttosql.Option{
		"CREATE TABLE t (x)": {texttosql.WithPolicy(exec.Policy{DenyTables: []string{"t"}})}, "SELECT 1": nil} {
		e := testutil.Value(texttosql.New(open(t, name), always(usa), opts...))(t)
		if r, err := e.Ask(t.Context(), "q"); !errors.Is(err, texttosql.ErrNoTables) || r == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestGivenSchema: prompts are written from the caller's schema, the guard goes by
// the database.
func TestGivenSchema(t *testing.T) {
	script := always("SELECT total FROM orders")
	given := &schema.Schema{
		Dialect: "sqlite",
		Tables:  []schema.Table{{Name: "orders", Kind: "table", Columns: []schema.Column{{Name: "total", Type: "REAL"}}}},
	}
	r, err := engine(t, script, texttosql.WithSchema(given), texttosql.WithStrategy(strategy.Direct{})).Ask(t.Context(),
		"What are the totals?")
	if err != nil || len(r.Rows.Rows) != 3 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if prompt := script.Requests()[0].Messages[1].Text; strings.Contains(prompt, "customers") ||
		!strings.Contains(prompt, "total REAL") {
		t.Errorf("prompt:\n%s", prompt)
	}
}

// TestGivenSchemaUnderPolicy: what the policy denies is in no prompt, although the
// caller's schema names it.
func TestGivenSchemaUnderPolicy(t *testing.T) {
	column := func(name string) schema.Column { return schema.Column{Name: name, Type: "TEXT"} }
	given := &schema.Schema{Dialect: "sqlite", Tables: []schema.Table{
		{Name: "customers", Kind: "table", Columns: []schema.Column{column("id"), column("name"), column("country")}},
		{Name: "orders", Kind: "table", Columns: []schema.Column{column("total")}},
	}}
	script := always(usa)
	e := engine(t, script, texttosql.WithSchema(given), texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithDescriptions(schema.Descriptions{"customers.name": {Text: "as they call themselves"}}),
		texttosql.WithPolicy(exec.Policy{DenyTables: []string{"orders"}, DenyColumns: []string{"customers.id"}}))
	for range 2 { // the second from the cache
		testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
	}
	for _, r := range script.Requests() {
		prompt := r.Messages[1].Text
		if strings.Contains(prompt, "orders") || strings.Contains(prompt, "id TEXT") ||
			!strings.Contains(prompt, "country TEXT") ||
			!strings.Contains(prompt, "call themselves") {
			t.Errorf("prompt:\n%s", prompt)
		}
	}
}

// TestSchemaChanges are seen by the next question.
func TestSchemaChanges(t *testing.T) {
	db := open(t, shop)
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Contains: `returns`, Replies: llmtest.Texts("SELECT count(*) FROM returns"), Repeat: true},
		{Replies: llmtest.Texts(usa), Repeat: true},
	}}
	e := testutil.Value(texttosql.New(db, script, texttosql.WithStrategy(strategy.Direct{})))(t)
	if r, err := e.Ask(t.Context(), "q"); err != nil || r.SQL != usa {
		t.Fatalf("%+v, %v", r, err)
	}
	testutil.Value(db.Exec("CREATE TABLE returns (id INTEGER PRIMARY KEY)"))(t)
	if r, err := e.Ask(t.Context(), "q"); err != nil || r.SQL != "SELECT count(*) FROM returns" {
		t.Errorf("the new table is not seen: %+v, %v", r, err)
	}
}

// TestBigSchemaIsLinked: a schema over the budget is linked to the question, not
// cut, and the result says so.
func TestBigSchemaIsLinked(t *testing.T) {
	var script strings.Builder
	for i := range 400 {
		fmt.Fprintf(&script, "CREATE TABLE warehouse_%d (id INTEGER PRIMARY KEY, location_%d TEXT, capacity INTEGER, "+
			"opened_on DATE);\n", i, i)
	}
	script.WriteString("CREATE TABLE invoices (id INTEGER PRIMARY KEY, amount REAL);")
	model := always("SELECT sum(amount) FROM invoices")
	e := testutil.Value(texttosql.New(open(t, script.String()), model))(t)
	r := testutil.Value(e.Ask(t.Context(), "What is the total amount of all invoices?"))(t)
	prompt := model.Requests()[0].Messages[1].Text
	if !strings.Contains(prompt, "invoices") || len(prompt) > 4*7000 {
		t.Errorf("a prompt of %d bytes, with invoices: %v", len(prompt), strings.Contains(prompt, "invoices"))
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "schema-linked" {
		t.Errorf("warnings: %+v", r.Warnings)
	}
}

// TestDeclaredSchema: a declared schema is what prompts show, with its titles and without stored values of what is
// sensitive.
func TestDeclaredSchema(t *testing.T) {
	declared := &schema.Schema{Tables: []schema.Table{{
		Name: "customers", Kind: "table", Description: "who buys", PrimaryKey: []string{"id"},
		Columns: []schema.Column{
			{Name: "id", Type: "INTEGER"},
			{Name: "name", Type: "TEXT", Title: "full name", Description: "as on the passport", Sensitive: true},
			{Name: "country", Type: "TEXT"},
		},
	}}}
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
	answers(t, engine(t, script, texttosql.WithSchema(declared), texttosql.WithSamples(1)))
	prompt := script.Requests()[0].Messages[1].Text
	for _, want := range []string{"full name", "as on the passport", "who buys", "USA"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	for _, not := range []string{"Ada", "orders"} {
		if strings.Contains(prompt, not) {
			t.Errorf("the prompt has %q:\n%s", not, prompt)
		}
	}
}

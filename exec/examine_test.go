package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/vote"
)

const shop = `
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT, "order" TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL, note TEXT);
CREATE VIEW french AS SELECT id, name FROM customers WHERE country = 'France';
INSERT INTO customers VALUES (1, 'Ann', 'France', 'a'), (2, 'Bob', 'Chile', 'b'), (3, 'Cyd', NULL, 'c');
INSERT INTO orders VALUES (1, 1, 2.5, NULL), (2, 1, 4.0, NULL);`

func TestAnalyze(t *testing.T) {
	_, db := open(t, shop, exec.Config{})
	read := func(table string, columns ...string) exec.TableRead {
		return exec.TableRead{Schema: "main", Table: table, Columns: columns}
	}
	tests := []struct {
		why, sql  string
		tables    []exec.TableRead
		functions []string
	}{
		{"no table", "SELECT 1", nil, nil},
		{"columns in order, once", "SELECT name, id, name FROM Customers WHERE ID > 0",
			[]exec.TableRead{read("customers", "id", "name")}, nil},
		{"only rows", "SELECT count(*) FROM orders", []exec.TableRead{read("orders")}, []string{"count"}},
		{"star", "SELECT * FROM french", []exec.TableRead{read("customers", "country", "id", "name"),
			read("french", "id", "name")}, nil},
		{"aliases and subqueries", "SELECT c.name FROM customers c WHERE c.id IN (SELECT customer_id FROM orders o)",
			[]exec.TableRead{read("customers", "id", "name"), read("orders", "customer_id")}, nil},
		{"a CTE is no table", "WITH recent AS (SELECT id FROM orders) SELECT count(*) FROM recent",
			[]exec.TableRead{read("orders", "id")}, []string{"count"}},
		{"operators that are functions", "SELECT upper(name) FROM customers WHERE name LIKE 'a%' AND '{}' ->> '$.a' IS NULL",
			[]exec.TableRead{read("customers", "name")}, []string{"->>", "like", "upper"}},
		{"a table that only USING reads", "SELECT count(*) FROM customers JOIN main.orders USING (id)",
			[]exec.TableRead{read("customers"), read("orders")}, []string{"count"}},
		{"nothing is run", "SELECT abs(-9223372036854775808)", nil, []string{"abs"}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got := testutil.Value(db.Analyze(context.Background(), test.sql))(t)
			want := exec.Analysis{Kind: "select", Tables: append([]exec.TableRead{}, test.tables...),
				Functions: append([]string{}, test.functions...)}
			for i := range want.Tables {
				want.Tables[i].Columns = append([]string(nil), want.Tables[i].Columns...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// strict are the checks of a statement and of its names, of which an unknown one fails it.
func strict() []exec.Check {
	read, names := exec.PlanChecks()[0], exec.PlanChecks()[1]
	return []exec.Check{read, names.(interface{ Strict() exec.Check }).Strict()}
}

func TestUnknownNames(t *testing.T) {
	_, db := open(t, shop, exec.Config{})
	tests := []struct {
		why, sql string
		found    []string // names taken for strings where that is worth a word
	}{
		{"no quotes", "SELECT name FROM customers", nil},
		{"a column in quotes", `SELECT "name", "order" FROM customers WHERE "id" = 1`, nil},
		{"a table and an alias in quotes", `SELECT "c"."name" AS "n" FROM "customers" AS "c" ORDER BY "n"`, nil},
		{"a string beside a comparison", `SELECT name FROM customers WHERE country = "France"`, nil},
		{"on the left of it", `SELECT name FROM customers WHERE "France" = country`, nil},
		{"beside a column in quotes", `SELECT name FROM customers WHERE "country" = "France"`, nil},
		{"behind LIKE", `SELECT name FROM customers WHERE country NOT LIKE "Fr%"`, nil},
		{"in a list", `SELECT name FROM customers WHERE country IN ("France", 'Chile', "Peru")`, nil},
		{"between", `SELECT name FROM customers WHERE name BETWEEN "A" AND "B"`, nil},
		{"a misspelt column", `SELECT "nmae" FROM customers`, []string{"nmae"}},
		{"two of them, one twice", `SELECT "nmae", "id", "Nmae" FROM customers GROUP BY "contry"`,
			[]string{"nmae", "Nmae", "contry"}},
		{"a misspelt column in the order", `SELECT name FROM customers ORDER BY "nmae"`, []string{"nmae"}},
		{"a misspelt column beside a constant", `SELECT name FROM customers WHERE "contry" = 'France'`, []string{"contry"}},
		{"two unknown names beside each other", `SELECT name FROM customers WHERE "contry" = "France"`,
			[]string{"contry", "France"}},
		{"an argument", `SELECT upper("nmae") FROM customers`, []string{"nmae"}},
		{"known in the subquery, unknown outside",
			`SELECT "total" FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE "total" > 1)`, []string{"total"}},
		{"quotes in the name", `SELECT "a""b` + "`" + `c" FROM customers`, []string{"a\"b`c"}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			c := testutil.Value(db.Examine(context.Background(), test.sql, exec.PlanChecks()[:2]...))(t)
			if len(c.Findings) != len(test.found) {
				t.Fatalf("findings %+v, want %q", c.Findings, test.found)
			}
			_, err := db.Examine(context.Background(), test.sql, strict()...)
			var invalid *exec.InvalidError
			switch {
			case len(test.found) == 0 && err != nil:
				t.Error(err)
			case len(test.found) > 0 && (!errors.As(err, &invalid) || invalid.Name != test.found[0]):
				t.Errorf("error %v, want one about %q", err, test.found[0])
			}
		})
	}
}

// TestUnknownNamesInLists: what cannot become a finding is not looked at.
func TestUnknownNamesInLists(t *testing.T) {
	pool, _ := open(t, shop, exec.Config{})
	looked := 0
	db := testutil.Value(exec.New(pool, exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Confirm: func(s *exec.Statement, confirm func() (guard.EngineReport, error)) (guard.EngineReport, error) {
			looked += strings.Count(s.SQL(), "`") / 2
			return confirm()
		},
	}), exec.Config{}))(t)
	for _, test := range []struct {
		why, sql string
		looked   int
	}{
		{"a long list of strings", `SELECT name FROM customers WHERE country IN ("v"` + strings.Repeat(`, "v"`, 4000) +
			")", 0},
		{"a column among them", `SELECT "name" FROM customers WHERE country IN ("v"` + strings.Repeat(`, "v"`, 2000) +
			")", 1},
		{"both sides: all at once, then each", `SELECT name FROM customers WHERE "country" IN ("France", "Chile")`, 6},
	} {
		looked = 0
		if c, err := db.Examine(t.Context(), test.sql, exec.PlanChecks()[:2]...); err != nil || len(c.Findings) > 0 {
			t.Errorf("%s: %v, %v", test.why, c.Findings, err)
		}
		if looked != test.looked {
			t.Errorf("%s: looked at %d names, want %d", test.why, looked, test.looked)
		}
	}
}

func TestExamine(t *testing.T) {
	_, db := open(t, shop, exec.Config{})
	ctx := context.Background()
	rules := func(c exec.Checked) (names []string) {
		for _, f := range c.Findings {
			names = append(names, f.Rule)
		}
		return names
	}

	c, err := db.Examine(ctx, "  SELECT name FROM customers WHERE country = 'France'; -- done")
	trimmed := c.SQL == "SELECT name FROM customers WHERE country = 'France'"
	if err != nil || !trimmed || c.Analysis == nil || c.Plan == nil || len(c.Table.Rows) != 1 || c.Findings != nil {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = db.Examine(ctx, "SELECT name FROM customers WHERE country = 'france'")
	if err != nil || !cmp.Equal(rules(c), []string{"empty", "value-absent"}) {
		t.Errorf("%v, %v", rules(c), err)
	}
	c, err = db.Examine(ctx, "SELECT note FROM orders")
	if err != nil || !cmp.Equal(rules(c), []string{"all-null"}) {
		t.Errorf("%v, %v", rules(c), err)
	}
	c, err = db.Examine(ctx, "SELECT name FROM customers", exec.PlanChecks()...)
	if err != nil || c.Table != nil || c.Plan == nil {
		t.Errorf("plan checks: %+v, %v", c, err)
	}
	c, err = db.Examine(ctx, "SELECT abs(-9223372036854775808)")
	if !exec.IsRejection(err) || c.Analysis == nil || c.Plan == nil || c.Table != nil {
		t.Errorf("what was found before the error: %+v, %v", c, err)
	}
	c, err = db.Examine(ctx, "DROP TABLE customers")
	if !errors.Is(err, exec.ErrNotReadOnly) || c.Analysis != nil {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = db.Examine(ctx, count10+"SELECT i FROM n", exec.RunCheck{Bounds: exec.Bounds{Rows: 3}})
	if err != nil || len(c.Table.Rows) != 3 || !c.Table.Truncated {
		t.Errorf("%+v, %v", c.Table, err)
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := db.Examine(ended, "SELECT 1"); !errors.Is(err, context.Canceled) || exec.IsRejection(err) {
		t.Errorf("a cancelled examination: %v", err)
	}
	own := errors.New("own check")
	calls := 0
	_, err = db.Examine(ctx, "SELECT 1",
		exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
			calls++
			c.Findings = append(c.Findings, vote.Finding{Rule: "own"})
			return own
		}),
		exec.RunCheck{})
	if !errors.Is(err, own) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestSuspectResults: why a result has no value.
func TestSuspectResults(t *testing.T) {
	_, db := open(t, shop, exec.Config{Policy: exec.Policy{DenyColumns: []string{"orders.note"}}})
	tests := []struct {
		why, sql string
		want     []string
	}{
		{"a value", "SELECT name FROM customers WHERE country = 'France'", nil},
		{"a text that the column does not hold", "SELECT name FROM customers WHERE country = 'Spain'",
			[]string{"empty", "value-absent"}},
		{"stored in another case", "SELECT name FROM customers WHERE country = 'france'", []string{"empty", "value-absent"}},
		{"in an inner query", "SELECT id FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE name = 'ann')",
			[]string{"empty", "value-absent"}},
		{"a count of nothing", "SELECT count(*) FROM customers WHERE country = 'Spain'", []string{"value-absent"}},
		{"a sum over nothing", "SELECT sum(id) FROM customers WHERE country = 'Spain'", []string{"all-null", "value-absent"}},
		{"a share of nothing", "SELECT 100.0 * sum(CASE WHEN country = 'Spain' THEN 1 ELSE 0 END) / count(*) FROM customers",
			[]string{"value-absent"}},
		{"every text is stored", "SELECT name FROM customers WHERE country = 'France' AND name = 'Bob'", []string{"empty"}},
		{"one of two texts is stored", "SELECT name FROM customers WHERE (country = 'Spain' OR country = 'France') " +
			"AND id > 9", []string{"empty"}},
		{"one of a list is stored", "SELECT name FROM customers WHERE country IN ('Spain', 'France') AND id > 9",
			[]string{"empty"}},
		{"none of a list is stored", "SELECT name FROM customers WHERE country IN ('Spain', 'Italy')",
			[]string{"empty", "value-absent"}},
		{"numbers are not looked up", "SELECT name FROM customers WHERE id = 9", []string{"empty"}},
		{"nor dates and patterns", "SELECT name FROM customers WHERE country = '2024-01-01' OR name LIKE 'X%'",
			[]string{"empty"}},
		{"with values nothing is looked up", "SELECT name FROM customers WHERE country = 'France' OR name = 'Zoe'", nil},
		{"a count that is one of something", "SELECT count(*) FROM customers WHERE country = 'France'", nil},
		{"no table", "SELECT 1", []string{"no-table"}},
		{"prose", "SELECT 'I am sorry, I cannot answer that.'", []string{"no-table"}},
		{"a CTE is no table", "WITH t AS (SELECT 1 AS a) SELECT a FROM t", []string{"no-table"}},
		{"only rows are read", "SELECT count(*) FROM orders", nil},
	}
	for _, tt := range tests {
		c, err := db.Examine(context.Background(), tt.sql)
		var got []string
		for _, f := range c.Findings {
			got = append(got, f.Rule)
			if strings.Contains(f.Detail, "Spain") {
				t.Errorf("%s: the detail %q has a value", tt.why, f.Detail)
			}
		}
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.why, got, err, tt.want)
		}
	}
	c, err := db.WithoutExecution().Examine(context.Background(), "SELECT name FROM customers WHERE country = 'Spain'")
	if err != nil || len(c.Findings) > 0 {
		t.Errorf("without execution: %+v, %v", c.Findings, err)
	}
}

func TestProbe(t *testing.T) {
	const fault = "; CREATE VIEW faulty AS SELECT abs(-9223372036854775808) AS n"
	_, db := open(t, shop+fault, exec.Config{Policy: exec.Policy{DenyColumns: []string{"orders.note"}}})
	tests := []struct {
		why, table, column string
		value              any
		want               bool
	}{
		{"text that is there", "customers", "country", "France", true},
		{"text in another case", "customers", "country", "france", false},
		{"a number", "orders", "total", 4.0, true},
		{"an integer against a real column", "orders", "total", int64(4), true},
		{"NULL", "customers", "country", nil, true},
		{"NULL where there is none", "customers", "name", nil, false},
		{"a keyword for a name", "customers", "order", "b", true},
		{"text that would be SQL", "customers", "name", "' OR 1 = 1 --", false},
		{"what cannot be compared, as text with a date elsewhere", "faulty", "n", int64(7), false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got, err := db.Probe(context.Background(), "", test.table, test.column, test.value)
			if err != nil || got != test.want {
				t.Errorf("%v, %v; want %v", got, err, test.want)
			}
		})
	}
	ctx := context.Background()
	if got, err := db.Probe(ctx, "main", "customers", "name", "Bob"); err != nil || !got {
		t.Errorf("with a schema: %v, %v", got, err)
	}
	if _, err := db.Probe(ctx, "", "customers", "nmae", "nmae"); !exec.IsRejection(err) {
		t.Errorf("an unknown column is taken for a string: %v", err)
	}
	if _, err := db.Probe(ctx, "", "orders", "note", "x"); !errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("a denied column: %v", err)
	}
	if _, err := db.Probe(ctx, "", "customers", "name", struct{}{}); err == nil {
		t.Error("a struct for a value")
	}
}

// TestWithoutExecution: statements are looked at by all that does not run them, and
// what would run them has one error.
func TestWithoutExecution(t *testing.T) {
	_, running := open(t, shop, exec.Config{})
	db := running.WithoutExecution()
	ctx := t.Context()
	const text = "SELECT name FROM customers"
	query := func(db *exec.DB) error { _, err := db.Query(ctx, text); return err }
	own := exec.CheckFunc(func(_ context.Context, s *exec.Runner, _ *exec.Checked) error {
		_, err := s.Query(ctx, text)
		return err
	})
	inSession := func(run func(*exec.Runner) error) error {
		s, err := db.Runner(exec.Bounds{})
		if err != nil {
			return err
		}
		defer s.Close()
		return run(s)
	}
	examine := func(checks ...exec.Check) error {
		c, err := db.Examine(ctx, text, checks...)
		if c.Table != nil || len(c.Findings) > 0 {
			t.Errorf("rows came back: %+v", c)
		}
		return err
	}
	tests := []struct {
		why string
		run func() error
		err error
	}{
		{"a query", func() error { return query(db) }, exec.ErrNoExecution},
		{"one with bounds", func() error { _, err := db.QueryWithin(ctx, text, exec.Bounds{Rows: 1}); return err },
			exec.ErrNoExecution},
		{"a session", func() error {
			return inSession(func(s *exec.Runner) error { _, err := s.Query(ctx, text); return err })
		}, exec.ErrNoExecution},
		{"timing", func() error {
			return inSession(func(s *exec.Runner) error { _, err := s.Time(ctx, text); return err })
		}, exec.ErrNoExecution},
		{"a check that queries", func() error { return examine(own) }, exec.ErrNoExecution},
		{"what it is made without again", func() error { return query(db.WithoutExecution()) }, exec.ErrNoExecution},
		{"no checks are the default ones", func() error { return examine() }, nil},
		{"the default checks", func() error { return examine(exec.DefaultChecks()...) }, nil},
		{"RunCheck with bounds of its own", func() error { return examine(exec.RunCheck{Bounds: exec.Bounds{Rows: 1}}) },
			nil},
		{"what it reads", func() error { _, err := db.Analyze(ctx, text); return err }, nil},
		{"its plan", func() error { _, err := db.Explain(ctx, text); return err }, nil},
		{"a look-up", func() error { _, err := db.Probe(ctx, "", "customers", "name", "Bob"); return err }, nil},
		{"the schema", func() error { _, err := db.Schema(ctx); return err }, nil},
		{"a profile", func() error {
			s, err := db.Schema(ctx)
			if err == nil {
				_, err = db.Profile(ctx, s, exec.ProfileOptions{})
			}
			return err
		}, nil},
		{"the DB that it was made of", func() error { return query(running) }, nil},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if err := test.run(); !errors.Is(err, test.err) || exec.IsRejection(err) {
				t.Errorf("%v, want %v", err, test.err)
			}
		})
	}
	if c, err := db.Examine(ctx, text); err != nil || c.Plan == nil || c.Analysis == nil {
		t.Errorf("looked at: %+v, %v", c, err)
	}
}

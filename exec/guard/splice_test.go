package guard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// TestSpliceGrows: rules add little, views what they are, and all of it has a bound.
func TestSpliceGrows(t *testing.T) {
	d := sqltext.SQLite()
	policy := guard.Policy{Rows: map[string]string{"orders": "id = 1"}}
	orders, view := guard.NewRelation("main", "orders", []string{"id"}), guard.NewRelation("main", "shown", []string{"id"})
	view.View, view.Under = true, []guard.Read{{Relation: orders, Columns: []string{"id"}}}
	c := &guard.Catalog{Text: d, Relations: []*guard.Relation{orders, view}, Rules: testutil.Value(policy.ReadRules(d))(t)}
	testutil.OK(t, c.Apply(policy))
	quote := func(name string) string { return `"` + name + `"` }
	splice := func(of *guard.Relation, times, size int) (*guard.RowFilterRewrite, error) {
		text, spots := "SELECT 1 FROM ", []guard.TablePosition(nil)
		for range times {
			spots = append(spots, guard.TablePosition{Relation: of, Pos: len(text), End: len(text) + len(of.Name)})
			text += of.Name + ", "
		}
		const query = "SELECT id FROM orders"
		o := guard.RewriteOptions{RewriteRules: guard.RewriteRules{Quote: quote, QuoteSchema: quote}}
		o.View = func(*guard.Relation) (string, []string, []guard.TablePosition, error) {
			return query + strings.Repeat(" -1", size), []string{"id"},
				[]guard.TablePosition{{Relation: orders, Pos: len(query) - len("orders"), End: len(query)}}, nil
		}
		return c.Splice(strings.TrimSuffix(text, ", "), spots, o)
	}
	for _, test := range []struct {
		why         string
		of          *guard.Relation
		times, size int
		refused     bool
	}{
		{"a table", orders, 1, 0, false},
		{"a table five hundred times", orders, 500, 0, false},
		{"a table seven hundred times", orders, 700, 0, true},
		{"a long view", view, 1, 20_000, false},
		{"a short view a hundred times", view, 100, 10, false},
		{"a view that is over the bound by itself", view, 1, 60_000, true},
		{"a long view many times", view, 100, 1000, true},
		{"over a megabyte", view, 20, 30_000, true},
	} {
		out, err := splice(test.of, test.times, test.size)
		var refused *execerr.RefusedError
		if (err != nil) != test.refused || err != nil && (!errors.As(err, &refused) || refused.Reason != "too-complex") {
			t.Errorf("%s: %v", test.why, err)
		}
		if err == nil && len(out.Ranges) != test.times {
			t.Errorf("%s: %d places", test.why, len(out.Ranges))
		}
	}
}

// TestReadRules: a rule is one expression over the columns of its table and parameters, and anything else is refused.
func TestReadRules(t *testing.T) {
	for _, test := range []struct{ why, rule, params, err string }{
		{"a comparison", "tenant = :tenant", "[tenant]", ""},
		{"parameters, each once and sorted", "a = :z AND (b = :a OR c = :z)", "[a z]", ""},
		{"a qualifier", `orders.tenant = :t AND public."orders".id > 0`, "[t]", ""},
		{"a list in brackets", "id IN (1, 2)", "[]", ""},
		{"a word of queries as a function", "replace(note, 'a', 'b') = :n", "[n]", ""},
		{"a word of time", "day < current_date", "[]", ""},
		{"nothing", " ", "", "it is empty"},
		{"a subquery", "id IN (SELECT 1)", "", "a subquery"},
		{"a common table expression", "(WITH x AS (TABLE t) TABLE x) IS NULL", "", "a subquery"},
		{"a list of values", "(id, 1) IN (VALUES (1, 1))", "", "a subquery"},
		{"another clause", "id = 1 ORDER BY id", "", "no single expression: ORDER"},
		{"two expressions", "id = 1, tenant", "", "no single expression"},
		{"two statements", "id = 1; DELETE", "", "no single expression"},
		{"a comment", "id = 1 -- all", "", "a comment"},
		{"a quote without end", "id = 'x", "", "a comment, or a quote"},
		{"a parameter of another form", "id = $1", "", "write :name"},
		{"another table", "users.id = 1", "", "users.id is no column of the table"},
		{"a bracket too many", "id = 1) OR (1 = 1", "", "did not open"},
		{"a bracket too few", "(id = 1", "", "a bracket is open"},
	} {
		rules, err := guard.Policy{Rows: map[string]string{"public.orders": test.rule}}.ReadRules(sqltext.PostgreSQL())
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.why, err, test.err)
		}
		if test.err == "" && fmt.Sprint(rules[0].Params) != test.params {
			t.Errorf("%s: parameters %v, want %s", test.why, rules[0].Params, test.params)
		}
	}
}

// shopRules is a catalog of orders with a rule, a secret column and one that a star leaves out, and items without a
// rule.
func shopRules(t *testing.T, rule string) *guard.Catalog {
	policy := guard.Policy{Rows: map[string]string{"orders": rule}, Shared: []string{"items"},
		DenyColumns: []string{"orders.secret"}}
	orders, items := guard.NewRelation("main", "orders", []string{"id", "tenant", "secret", "hidden"}),
		guard.NewRelation("main", "items", []string{"id"})
	orders.Unseen = []string{"hidden"}
	c := &guard.Catalog{Text: sqltext.SQLite(), Relations: []*guard.Relation{orders, items},
		Rules: testutil.Value(policy.ReadRules(sqltext.SQLite()))(t)}
	testutil.OK(t, c.Apply(policy))
	return c
}

func spliced(c *guard.Catalog, text string, o guard.RewriteOptions) (*guard.RowFilterRewrite, error) {
	f := &guard.Finder{Text: guard.NewText(c.Text.Parse(text))}
	for i := range f.Len() {
		for _, r := range c.Relations {
			if f.Raw(i) == r.Name {
				alias := ""
				if f.Word(i+1) == "as" {
					alias = f.Raw(i + 2)
				}
				if _, err := f.Table(r, f.Pos(i), r.Name, alias); err != nil {
					return nil, err
				}
			}
		}
		if f.Word(i) == "indexed" {
			f.Hint(i, i+2)
		}
	}
	quote := func(name string) string { return "[" + name + "]" }
	o.Quote, o.QuoteSchema, o.Placeholder = quote, quote, func(n int) string { return fmt.Sprint("?", n) }
	return c.Splice(text, f.Spots(), o)
}

// TestSplice: what a statement becomes under a rule, and without its tables.
func TestSplice(t *testing.T) {
	params := map[string]any{"a": int64(7), "b": "x", "n": nil}
	const open = "(SELECT [main].[orders].[id], [main].[orders].[tenant] FROM [main].[orders]"
	const bare = "(SELECT NULL AS [id], NULL AS [tenant])"
	hoisted := guard.RewriteRules{Fence: "%s LIMIT 9", Hoisted: "%s AS (%s)"}
	for _, test := range []struct {
		why, rule, sql string
		o              guard.RewriteOptions
		text, bare     string
		args           string
	}{
		{"a table", "tenant = :a", "SELECT id FROM orders", guard.RewriteOptions{},
			"SELECT id FROM " + open + " WHERE ([main].[orders].[tenant] = ?1)) AS orders", "SELECT id FROM " + bare +
				" AS orders", "[7]"},
		{"an alias, and a table without a rule", "id > 0", "SELECT 1 FROM items, orders AS o", guard.RewriteOptions{},
			"SELECT 1 FROM items, " + open + " WHERE ([main].[orders].[id] > 0)) AS o", "SELECT 1 FROM items, " + bare + " AS o",
			"[]"},
		{"a fence, and a hint that moves into it", "tenant = :b",
			"SELECT 1 FROM orders INDEXED BY x WHERE 1",
			guard.RewriteOptions{Fenced: true, RewriteRules: guard.RewriteRules{Fence: "%s LIMIT -1", FenceView: " LIMIT -1"}},
			"SELECT 1 FROM " + open + " INDEXED BY x WHERE ([main].[orders].[tenant] = ?1) LIMIT -1) AS orders  WHERE 1",
			"SELECT 1 FROM " + bare + " AS orders  WHERE 1", "[x]"},
		{"parameters in their order, before those of the statement", "tenant = :b OR :a = id OR id = :n",
			"SELECT 1 FROM orders", guard.RewriteOptions{Own: []any{"own"}},
			"SELECT 1 FROM " + open + " WHERE ([main].[orders].[tenant] = ?1 OR ?2 = [main].[orders].[id] " +
				"OR [main].[orders].[id] = ?3)) AS orders",
			"SELECT 1 FROM " + bare + " AS orders", "[x 7 <nil> own]"},
		{"behind those of the statement where they have numbers", "tenant = :b", "SELECT 1 FROM orders",
			guard.RewriteOptions{Own: []any{"own"}, RewriteRules: guard.RewriteRules{Numbered: true}},
			"SELECT 1 FROM " + open + " WHERE ([main].[orders].[tenant] = ?2)) AS orders", "SELECT 1 FROM " + bare +
				" AS orders", "[own x]"},
		{"fences in front of the statement", "tenant = :a", "SELECT 1 FROM orders AS o, orders AS p",
			guard.RewriteOptions{Fenced: true, RewriteRules: hoisted},
			"WITH [fence 1 of rules] AS " + open + " WHERE ([main].[orders].[tenant] = ?1) LIMIT 9), [fence 2 of rules] AS " +
				open +
				" WHERE ([main].[orders].[tenant] = ?2) LIMIT 9) SELECT 1 FROM [fence 1 of rules] AS o, [fence 2 of rules] AS p",
			"SELECT 1 FROM " + bare + " AS o, " + bare + " AS p", "[7 7]"},
		{"fences in the WITH of a statement", "id > 0", " with Recursive x AS (SELECT 1) SELECT 1 FROM orders",
			guard.RewriteOptions{Fenced: true, RewriteRules: hoisted},
			" with Recursive [fence 1 of rules] AS " + open + " WHERE ([main].[orders].[id] > 0) LIMIT 9), x AS (SELECT 1) " +
				"SELECT 1 FROM [fence 1 of rules] AS orders",
			" with Recursive x AS (SELECT 1) SELECT 1 FROM " + bare + " AS orders", "[]"},
		{"not where its name is not known", "id > 0", "SELECT 1 FROM (WITH x AS (SELECT 1 FROM orders) SELECT 1 FROM x) AS y",
			guard.RewriteOptions{Fenced: true, RewriteRules: guard.RewriteRules{Fence: "%s LIMIT 9", Hoisted: "%s AS (%s)"}},
			"SELECT 1 FROM (WITH x AS (SELECT 1 FROM " + open + " WHERE ([main].[orders].[id] > 0) LIMIT 9) AS orders) " +
				"SELECT 1 FROM x) AS y",
			"SELECT 1 FROM (WITH x AS (SELECT 1 FROM " + bare + " AS orders) SELECT 1 FROM x) AS y", "[]"},
		{"no fence is hoisted where there is none", "id > 0", "SELECT 1 FROM orders",
			guard.RewriteOptions{RewriteRules: hoisted},
			"SELECT 1 FROM " + open + " WHERE ([main].[orders].[id] > 0)) AS orders", "SELECT 1 FROM " + bare + " AS orders",
			"[]"},
		{"a fence that is pinned", "id > 0", "SELECT 1 FROM orders",
			guard.RewriteOptions{Fenced: true, Pinned: true, RewriteRules: guard.RewriteRules{Fence: "%s LIMIT 9",
				Pin: "SELECT * FROM (%s)"}},
			"SELECT 1 FROM (SELECT * FROM " + open + " WHERE ([main].[orders].[id] > 0) LIMIT 9)) AS orders",
			"SELECT 1 FROM " + bare + " AS orders", "[]"},
	} {
		test.o.Params = params
		got, err := spliced(shopRules(t, test.rule), test.sql, test.o)
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		if diff := cmp.Diff([]string{test.text, test.bare, test.args},
			[]string{got.Text, got.Bare, fmt.Sprint(got.Args)}); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
		for _, place := range got.Ranges {
			part := got.Text[place.Pos:place.End]
			read := strings.Contains(part, open) || strings.HasPrefix(part, "[fence ")
			if !read || place.Relation.Name != "orders" {
				t.Errorf("%s: the place of %s is %q", test.why, place.Relation.Name, part)
			}
		}
	}
}

// TestSpliceParams: a value that is missing or of another kind is refused, and others take its place without a second
// look.
func TestSpliceParams(t *testing.T) {
	c := shopRules(t, "tenant = :a")
	number := func(value any) (any, error) {
		if n, ok := value.(int); ok {
			return int64(n), nil
		}
		return nil, errors.New("is no number")
	}
	o := guard.RewriteOptions{Params: map[string]any{"a": 1}}
	o.Compared = func(*guard.Relation, string, []string) ([]func(any) (any, error), error) {
		return []func(any) (any, error){number}, nil
	}
	s := testutil.Value(spliced(c, "SELECT 1 FROM orders", o))(t)
	other := testutil.Value(s.With(map[string]any{"a": 2}))(t)
	if diff := cmp.Diff("[1] [2]", fmt.Sprint(s.Args, other.Args)); diff != "" {
		t.Error(diff)
	}
	for _, params := range []map[string]any{{}, {"a": "x"}} {
		o.Params = params
		_, err := spliced(c, "SELECT 1 FROM orders", o)
		_, werr := s.With(params)
		if !errors.Is(err, execerr.ErrNoScope) || !errors.Is(werr, execerr.ErrNoScope) {
			t.Errorf("%v: %v, %v", params, err, werr)
		}
	}
	o.Compared = func(*guard.Relation, string, []string) ([]func(any) (any, error), error) {
		return nil, errors.New("nothing tells")
	}
	if _, err := spliced(c, "SELECT 1 FROM orders", o); err == nil {
		t.Error("nothing tells what a parameter is compared with")
	}
	if _, err := c.Splice("SELECT 1", []guard.TablePosition{{Pos: 3, End: 5, Insert: "x"}, {Pos: 4, End: 5}},
		o); err == nil {
		t.Error("places that overlap")
	}
}

// TestOriginal: the name of a result that an engine makes of the text is that of the statement.
func TestOriginal(t *testing.T) {
	s := testutil.Value(spliced(shopRules(t, "id > 0"),
		"SELECT (SELECT max(id) FROM orders) + 1, count(*) FROM orders AS o", guard.RewriteOptions{}))(t)
	inner := s.Text[strings.Index(s.Text, "(SELECT max"):strings.Index(s.Text, " + 1")]
	for name, want := range map[string]string{
		inner + " + 1": "(SELECT max(id) FROM orders) + 1", "count(*)": "count(*)", "id": "id", "none(x)": "none(x)",
		inner[:40]: "(SELECT max(id) FROM orders", "FROM [main].[orders]": "FROM [main].[orders]",
	} {
		if got := s.Original(name); got != want {
			t.Errorf("%q was %q, want %q", name, got, want)
		}
	}
}

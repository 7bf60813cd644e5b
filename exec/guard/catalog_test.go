package guard_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// shop is a catalog of its own for each test: people (with a generated column), a child of it, orders, and views.
func shop(change func(c *guard.Catalog, by map[string]*guard.Relation)) *guard.Catalog {
	by := map[string]*guard.Relation{}
	c := &guard.Catalog{Text: sqltext.PostgreSQL()}
	add := func(r *guard.Relation) *guard.Relation {
		by[r.Name] = r
		c.Relations = append(c.Relations, r)
		return r
	}
	people := add(guard.NewRelation("public", "people", []string{"id", "name", "password", "shown"}))
	staff := add(guard.NewRelation("public", "staff", []string{"id", "password"}))
	orders := add(guard.NewRelation("public", "orders", []string{"id", "person"}))
	c.Flows = []guard.Flow{{people, "password", people, "shown"}, {people, "password", staff, "password"}, {staff, "password", people, "password"}}
	names := add(guard.NewRelation("public", "names", []string{"id", "name"}))
	names.View, names.Under, names.Definition = true, []guard.Read{{Relation: people, Columns: []string{"id", "name"}}}, "SELECT id, name FROM people"
	logins := add(guard.NewRelation("public", "logins", []string{"id", "p"}))
	logins.View = true
	logins.Body = &guard.Names{Sources: []guard.Source{{Alias: "people", Relation: people}}, Refs: []guard.Ref{{Path: []string{"shown"}}}}
	again := add(guard.NewRelation("public", "again", []string{"id"}))
	again.View = true
	again.Body = &guard.Names{
		Sources: []guard.Source{{Alias: "logins", Relation: logins}}, Refs: []guard.Ref{{Path: []string{"id"}}}, Functions: []string{"lower"},
	}
	totals := add(guard.NewRelation("public", "totals", []string{"n"}))
	totals.Under = []guard.Read{{Relation: orders, Columns: []string{"id"}}} // a materialized view
	if change != nil {
		change(c, by)
	}
	return c
}

// names is what SELECT columns FROM relation names.
func names(c *guard.Catalog, relation string, columns ...string) *guard.Names {
	n := &guard.Names{}
	for _, r := range c.Relations {
		if r.Name == relation {
			n.Sources = append(n.Sources, guard.Source{Alias: relation, Relation: r})
		}
	}
	if len(n.Sources) == 0 {
		n.Lacks(relation)
	}
	for _, column := range columns {
		n.Refs = append(n.Refs, guard.Ref{Path: []string{column}})
	}
	return n
}

func TestPermit(t *testing.T) {
	column, table := guard.Policy{DenyColumns: []string{"people.password"}}, guard.Policy{DenyTables: []string{"people"}}
	for _, test := range []struct {
		why     string
		policy  guard.Policy
		change  func(c *guard.Catalog, by map[string]*guard.Relation)
		from    string
		columns []string
		want    string // of the error; "": it may be read
	}{
		{why: "a column that is called as secrets are", from: "people", columns: []string{"password"}, want: "people.password may not be read"},
		{why: "what is generated of one", from: "people", columns: []string{"shown"}, want: "people.shown may not be read"},
		{why: "a view that shows one", from: "logins", columns: []string{"id"}, want: "the view logins reads or calls what may not be: people.shown"},
		{why: "the others of its table", from: "people", columns: []string{"name"}},
		{why: "revealed", policy: guard.Policy{Reveal: []string{"password"}}, from: "people", columns: []string{"password"}},
		{why: "an allowed column", policy: column, from: "people", columns: []string{"name"}},
		{why: "a denied column", policy: column, from: "people", columns: []string{"password"}, want: "people.password may not be read"},
		{why: "a column that is generated of it", policy: column, from: "people", columns: []string{"shown"}, want: "people.shown may not be read"},
		{why: "a child that has its values", policy: column, from: "staff", columns: []string{"password"}, want: "staff.password may not be read"},
		{why: "the parent of a denied column", policy: guard.Policy{DenyColumns: []string{"staff.password"}},
			from: "people", columns: []string{"shown"}, want: "people.shown"},
		{why: "in other letters", policy: table, from: "PERSONS", want: "exec: refused (table): persons is no table that may be read"},
		{why: "a view over other columns", policy: column, from: "names", columns: []string{"name"}},
		{why: "a view that shows it under another name", policy: column, from: "logins", columns: []string{"id"},
			want: "the view logins reads or calls what may not be: people.shown"},
		{why: "a view over such a view", policy: column, from: "again", columns: []string{"id"},
			want: "the view again reads or calls what may not be: the view logins"},
		{why: "a denied table", policy: table, from: "people", want: "people is no table that may be read"},
		{why: "a view over it", policy: table, from: "names", want: "the view names reads people, which may not be read"},
		{why: "an absent table has the words of a denied one", policy: table, from: "persons", want: "persons is no table that may be read"},
		{why: "without a policy about tables the engine says what is absent", policy: column, from: "persons"},
		{why: "a materialized view over a denied table", policy: guard.Policy{DenyTables: []string{"orders"}}, from: "totals", want: "the view totals reads orders"},
		{why: "only some tables are allowed", policy: guard.Policy{AllowTables: []string{"orders"}}, from: "people", want: "people is no table"},
		{why: "a rule of the engine's", from: "orders", want: "orders is no table that may be read",
			change: func(_ *guard.Catalog, by map[string]*guard.Relation) { by["orders"].Hidden = true }},
		{why: "a view that the engine refuses", from: "names", want: "calls f",
			change: func(_ *guard.Catalog, by map[string]*guard.Relation) {
				by["names"].Refused = guard.Refuse(exec.ReasonFunction, "the view names calls f")
			}},
		{why: "a view over itself", from: "logins", want: "reads itself",
			change: func(_ *guard.Catalog, by map[string]*guard.Relation) {
				by["logins"].Body.Sources[0].Relation = by["again"]
			}},
		{why: "a barred column", from: "orders", columns: []string{"person"}, want: "comparing it calls f",
			change: func(_ *guard.Catalog, by map[string]*guard.Relation) {
				by["orders"].Barred = map[string]string{"person": "comparing it calls f"}
			}},
	} {
		c := shop(test.change)
		if err := c.Apply(test.policy); err != nil {
			t.Fatal(test.why, err)
		}
		err := c.Permit(names(c, test.from, test.columns...))
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}

func TestPermitIndexes(t *testing.T) {
	for _, test := range []struct {
		policy guard.Policy
		want   bool
	}{{guard.Policy{Reveal: []string{"*"}}, false}, {guard.Policy{DenyColumns: []string{"password"}}, true}} {
		c := shop(nil)
		_ = c.Apply(test.policy)
		n := names(c, "people", "id")
		n.Indexes = []string{"by_password"}
		if err := c.Permit(n); (err != nil) != test.want {
			t.Errorf("an index hint under %+v: %v", test.policy, err)
		}
	}
}

// TestMissing: an entry of a policy that names nothing leaves nothing open in silence.
func TestMissing(t *testing.T) {
	err := shop(nil).Apply(guard.Policy{
		AllowTables: []string{"orders", "ordrs"}, DenyTables: []string{"public.people", "private.people"}, DenyColumns: []string{"password", "people.pasword"},
	})
	var p *guard.PolicyError
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	want := []string{`AllowTables: "ordrs"`, `DenyTables: "private.people"`, `DenyColumns: "people.pasword"`}
	if diff := cmp.Diff(want, p.Unknown); diff != "" {
		t.Error(diff)
	}
}

func TestSpread(t *testing.T) {
	c := shop(nil)
	seed := func(r *guard.Relation, column string) bool { return r.Name == "people" && column == "password" }
	show := func(found map[*guard.Relation]map[string]bool) (out []string) {
		for r, columns := range found {
			for column := range columns {
				out = append(out, r.Name+"."+column)
			}
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff([]string{"people.password", "people.shown", "staff.password"}, show(c.Spread(seed))); diff != "" {
		t.Error(diff)
	}
	// The view again reads only logins.id, of which nobody knows that it is no password.
	want := []string{"again.id", "logins.id", "logins.p", "people.password", "people.shown", "staff.password"}
	if diff := cmp.Diff(want, show(c.SpreadThroughViews(seed))); diff != "" {
		t.Error(diff)
	}
	// One column of a view is known to show it, by its type; the others may as well.
	c = shop(func(c *guard.Catalog, by map[string]*guard.Relation) {
		c.Flows = append(c.Flows, guard.Flow{From: by["people"], Column: "password", To: by["logins"], As: "p"})
	})
	if diff := cmp.Diff(want, show(c.SpreadThroughViews(seed))); diff != "" {
		t.Error(diff)
	}
}

func TestReads(t *testing.T) {
	c := shop(nil)
	if err := c.Apply(guard.Policy{}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, want, functions string }{
		{"people", "people(id)", "[]"},
		{"names", "names(id) people(id,name)", "[]"},
		{"again", "again(id) logins(id) people(shown)", "[lower]"},
		{"totals", "totals()", "[]"},
	} {
		n := names(c, test.from, "id")
		var got []string
		for _, r := range c.Reads(n) {
			got = append(got, fmt.Sprintf("%s(%s)", r.Relation.Name, strings.Join(r.Columns, ",")))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", test.from, diff)
		}
		if f := fmt.Sprint(c.Functions(n)); f != test.functions {
			t.Errorf("%s calls %s, want %s", test.from, f, test.functions)
		}
	}
}

// TestConfirm: the engine's own word against what the names tell.
func TestConfirm(t *testing.T) {
	c := shop(nil)
	if err := c.Apply(guard.Policy{DenyTables: []string{"staff"}}); err != nil {
		t.Fatal(err)
	}
	relation := func(name string) *guard.Relation { return names(c, name).Sources[0].Relation }
	for _, test := range []struct {
		why, from string
		seen      guard.Seen
		want      string
	}{
		{"the same", "people", guard.Seen{Told: true, Relations: []*guard.Relation{relation("people")}}, ""},
		{"what lies under a view", "names", guard.Seen{Told: true, Relations: []*guard.Relation{relation("names"), relation("people")}}, ""},
		{"an engine that tells nothing", "people", guard.Seen{}, ""},
		{"an engine that should tell", "people", guard.Seen{Told: true}, "does not tell"},
		{"a table that the text does not name", "people", guard.Seen{Told: true, Relations: []*guard.Relation{relation("people"), relation("orders")}},
			"orders, which the text does not name"},
		{"a denied one", "people", guard.Seen{Told: true, Relations: []*guard.Relation{relation("people"), relation("staff")}}, "no table that may be read"},
	} {
		err := c.Confirm(c.Reads(names(c, test.from, "id")), test.seen)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}

// TestWeigh: a statement that is short and grows, by itself or through views.
func TestWeigh(t *testing.T) {
	bomb := "WITH x0 AS (SELECT 1 AS a)"
	for i := range 16 {
		bomb += fmt.Sprintf(", x%d AS (SELECT p.a FROM x%d AS p, x%d AS q)", i+1, i, i)
	}
	c := shop(func(c *guard.Catalog, by map[string]*guard.Relation) {
		by["names"].Definition = bomb + " SELECT a FROM x16"
	})
	if err := c.Apply(guard.Policy{}); err != nil {
		t.Fatal(err)
	}
	for sql, refused := range map[string]bool{
		"SELECT id FROM people": false, bomb + " SELECT a FROM x3": false, bomb + " SELECT a FROM x16": true,
		"SELECT a FROM names": true, "SELECT a FROM public.names": true,
		"SELECT a FROM other.names": false,
	} {
		_, err := c.Weigh(c.Text.Parse(sql))
		if got := err != nil; got != refused {
			t.Errorf("%.60s … %v: %v", sql, refused, err)
		}
	}
}

// TestPlace: each reference has its place in the text, so that it can be replaced there.
func TestPlace(t *testing.T) {
	for _, test := range []struct{ why, sql, want string }{
		{"one table", "SELECT id FROM people", "people"},
		{"an alias", "SELECT p.id FROM people AS p JOIN orders o ON o.person = p.id", "people orders"},
		{"a schema, blanks and comments", "SELECT 1 FROM public /* x */ . people p", "public /* x */ . people"},
		{"quotes", `SELECT 1 FROM "public"."people", "orders"`, `"public"."people" "orders"`},
		{"a table twice", "SELECT 1 FROM people a JOIN people b ON a.id = b.id WHERE a.id IN (SELECT id FROM people)", "people people people"},
		{"a common table expression of the same name", "WITH orders AS (SELECT 1 AS id) SELECT o.id FROM orders AS o JOIN people ON true", "people"},
	} {
		c := shop(nil)
		s := c.Text.Parse(test.sql)
		n := &guard.Names{}
		for _, ref := range s.Tables() {
			if !ref.Base() {
				continue
			}
			alias := ref.Alias
			if alias == "" {
				alias = ref.Name
			}
			n.Sources = append(n.Sources, guard.Source{Alias: alias, Relation: names(c, ref.Name).Sources[0].Relation})
		}
		slices.Reverse(n.Sources) // in whatever order the parser has them
		n.Place(s)
		slices.SortFunc(n.Sources, func(a, b guard.Source) int { return a.Pos - b.Pos })
		var got []string
		for _, o := range n.Sources {
			got = append(got, test.sql[o.Pos:o.End])
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
}

func TestWalked(t *testing.T) {
	if err := guard.Walked(func() {}); err != nil {
		t.Error(err)
	}
	err := guard.Walked(func() { guard.Stop(guard.Refuse(sqltext.ReasonNotReadOnly, "it is %s", "DELETE")) })
	if !errors.Is(err, guard.ErrNotReadOnly) || !strings.Contains(err.Error(), "it is DELETE") {
		t.Error(err)
	}
	var refused *guard.RefusedError
	if err := guard.Walked(func() { panic("index out of range") }); !errors.As(err, &refused) || refused.Reason != exec.ReasonGuard {
		t.Error(err)
	}
}

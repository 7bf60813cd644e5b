package guard_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
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
	c.Flows = []guard.LineageEdge{{people, "password", people, "shown"}, {people, "password", staff, "password"},
		{staff, "password", people, "password"}}
	names := add(guard.NewRelation("public", "names", []string{"id", "name"}))
	names.View, names.Under, names.Definition = true, []guard.Read{{Relation: people, Columns: []string{"id", "name"}}},
		"SELECT id, name FROM people"
	logins := add(guard.NewRelation("public", "logins", []string{"id", "p"}))
	logins.View = true
	logins.Body = &guard.Names{Sources: []guard.Source{{Alias: "people", Relation: people}},
		Refs: []guard.Ref{{Path: []string{"shown"}}}}
	again := add(guard.NewRelation("public", "again", []string{"id"}))
	again.View = true
	again.Body = &guard.Names{
		Sources: []guard.Source{{Alias: "logins", Relation: logins}}, Refs: []guard.Ref{{Path: []string{"id"}}},
		Functions: []string{"lower"},
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
		{why: "a column that is called as secrets are", from: "people", columns: []string{"password"},
			want: "people.password may not be read"},
		{why: "what is generated of one", from: "people", columns: []string{"shown"}, want: "people.shown may not be read"},
		{why: "a view that shows one", from: "logins", columns: []string{"id"},
			want: "the view logins reads what may not be read"},
		{why: "the others of its table", from: "people", columns: []string{"name"}},
		{why: "revealed", policy: guard.Policy{Reveal: []string{"password"}}, from: "people", columns: []string{"password"}},
		{why: "an allowed column", policy: column, from: "people", columns: []string{"name"}},
		{why: "a denied column", policy: column, from: "people", columns: []string{"password"},
			want: "people.password may not be read"},
		{why: "a column that is generated of it", policy: column, from: "people", columns: []string{"shown"},
			want: "people.shown may not be read"},
		{why: "a child that has its values", policy: column, from: "staff", columns: []string{"password"},
			want: "staff.password may not be read"},
		{why: "the parent of a denied column", policy: guard.Policy{DenyColumns: []string{"staff.password"}},
			from: "people", columns: []string{"shown"}, want: "people.shown"},
		{why: "in other letters", policy: table, from: "PERSONS",
			want: "exec: refused (table): persons: no such table, or you may not read it"},
		{why: "a view over other columns", policy: column, from: "names", columns: []string{"name"}},
		{why: "a view that shows it under another name", policy: column, from: "logins", columns: []string{"id"},
			want: "the view logins reads what may not be read"},
		{why: "a view over such a view", policy: column, from: "again", columns: []string{"id"},
			want: "the view again reads what may not be read"},
		{why: "a denied table", policy: table, from: "people", want: "people: no such table, or you may not read it"},
		{why: "a view over it", policy: table, from: "names",
			want: "exec: refused (table): the view names reads what may not be read"},
		{why: "an absent table has the words of a denied one", policy: table, from: "persons",
			want: "persons: no such table, or you may not read it"},
		{why: "without a policy about tables the engine says what is absent", policy: column, from: "persons"},
		{why: "a materialized view over a denied table", policy: guard.Policy{DenyTables: []string{"orders"}}, from: "totals",
			want: "the view totals reads what may not be read"},
		{why: "only some tables are allowed", policy: guard.Policy{AllowTables: []string{"orders"}}, from: "people",
			want: "people: no such table"},
		{why: "a rule of the engine's", from: "orders", want: "orders: no such table, or you may not read it",
			change: func(_ *guard.Catalog, by map[string]*guard.Relation) { by["orders"].Hidden = true }},
		{why: "a view that the engine refuses", from: "names", want: "calls f",
			change: func(_ *guard.Catalog, by map[string]*guard.Relation) {
				by["names"].Refused = guard.Refuse("function", "the view names calls f")
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
		testutil.OK(t, c.Apply(test.policy), test.why)
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
		AllowTables: []string{"orders", "ordrs"}, DenyTables: []string{"public.people", "private.people"},
		DenyColumns: []string{"password", "people.pasword"},
	})
	var p *execerr.PolicyError
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
		c.Flows = append(c.Flows, guard.LineageEdge{From: by["people"], Column: "password", To: by["logins"], As: "p"})
	})
	if diff := cmp.Diff(want, show(c.SpreadThroughViews(seed))); diff != "" {
		t.Error(diff)
	}
}

func TestReads(t *testing.T) {
	c := shop(nil)
	testutil.OK(t, c.Apply(guard.Policy{}))
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
	testutil.OK(t, c.Apply(guard.Policy{DenyTables: []string{"staff"}}))
	relation := func(name string) *guard.Relation { return names(c, name).Sources[0].Relation }
	for _, test := range []struct {
		why, from string
		seen      guard.EngineReport
		want      string
	}{
		{"the same", "people", guard.EngineReport{Told: true, Relations: []*guard.Relation{relation("people")}}, ""},
		{"what lies under a view", "names",
			guard.EngineReport{Told: true, Relations: []*guard.Relation{relation("names"), relation("people")}}, ""},
		{"an engine that tells nothing", "people", guard.EngineReport{}, ""},
		{"an engine that should tell", "people", guard.EngineReport{Told: true}, "does not tell"},
		{"a table that the text does not name", "people",
			guard.EngineReport{Told: true, Relations: []*guard.Relation{relation("people"), relation("orders")}},
			"orders, which the text does not name"},
		{"a denied one", "people",
			guard.EngineReport{Told: true, Relations: []*guard.Relation{relation("people"), relation("staff")}},
			"no table that may be read"},
	} {
		err := c.Confirm(c.Reads(names(c, test.from, "id")), test.seen)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
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
		{"a table twice", "SELECT 1 FROM people a JOIN people b ON a.id = b.id WHERE a.id IN (SELECT id FROM people)",
			"people people people"},
		{"a common table expression of the same name",
			"WITH orders AS (SELECT 1 AS id) SELECT o.id FROM orders AS o JOIN people ON true", "people"},
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
	if err := guard.RecoverWalk(func() {}); err != nil {
		t.Error(err)
	}
	err := guard.RecoverWalk(func() { guard.Abort(guard.Refuse("not-read-only", "it is %s", "DELETE")) })
	if !errors.Is(err, execerr.ErrNotReadOnly) || !strings.Contains(err.Error(), "it is DELETE") {
		t.Error(err)
	}
	var refused *execerr.RefusedError
	if err := guard.RecoverWalk(func() { panic("index out of range") }); !errors.As(err, &refused) ||
		refused.Reason != "guard" {
		t.Error(err)
	}
}

var (
	users = guard.NewRelation("public", "users", []string{"id", "name", "Password"})
	pets  = guard.NewRelation("public", "pets", []string{"id", "owner", "pets2"})
	odd   = guard.NewRelation("other", "odd", []string{"odd", "secret"})
	loud  = guard.NewRelation("public", "shout", []string{"Shout", "To_JSON", "secret"})
)

// ref reads "a.b", "*" of select 0 or "a.*".
func ref(s string) guard.Ref {
	path := strings.Split(s, ".")
	if last := len(path) - 1; path[last] == "*" {
		return guard.Ref{Path: path[:last], Star: true}
	}
	return guard.Ref{Path: path}
}

func TestColumns(t *testing.T) {
	u, p, o := guard.Source{Alias: "u", Relation: users}, guard.Source{Alias: "pets", Relation: pets},
		guard.Source{Alias: "odd", Relation: odd}
	sub := guard.Source{Alias: "x"}
	c := &guard.Catalog{Relations: []*guard.Relation{users, pets, odd, loud}}
	testutil.OK(t, c.Apply(guard.Policy{DenyColumns: []string{"users.Password", "secret"}}))
	shout := guard.Source{Alias: "s", Relation: loud}
	calls := func(name string) bool { return name == "to_json" }
	for _, test := range []struct {
		why     string
		sources []guard.Source
		refs    string
		change  func(*guard.Names)
		want    string // relation(columns) …
		denied  string // what of the detail tells the case; "" is accepted
	}{
		{why: "a column alone is that of each relation which has it", sources: []guard.Source{u, p}, refs: "id",
			want: "pets(id) users(id)"},
		{why: "a qualifier tells the relation", sources: []guard.Source{u, p}, refs: "u.id", want: "pets() users(id)"},
		{why: "a schema before it changes nothing", sources: []guard.Source{p}, refs: "public.pets.id", want: "pets(id)"},
		{why: "rows alone read no column", sources: []guard.Source{u}, want: "users()"},
		{why: "a denied column by name", sources: []guard.Source{u}, refs: "u.password", want: "users(Password)",
			denied: "users.Password may not be read"},
		{why: "in other letters", sources: []guard.Source{u}, refs: "PAſSWORD", want: "users(Password)",
			denied: "users.Password"},
		{why: "a denied name whose qualifier is another relation", sources: []guard.Source{u, p}, refs: "pets.password",
			want: "pets() users()"},
		{why: "a denied name whose qualifier is a subquery", sources: []guard.Source{u, sub}, refs: "x.password",
			want: "users()"},
		{why: "an alias of two things is both", sources: []guard.Source{u, {Alias: "u"}}, refs: "u.password",
			want: "users(Password)", denied: "users.Password"},
		{why: "a qualifier that nothing has", sources: []guard.Source{u}, refs: "z.password", want: "users(Password)",
			denied: "users.Password"},
		{why: "a star is of its own FROM", sources: []guard.Source{u, {Alias: "y", Select: 1, Relation: pets}}, refs: "*",
			want: "pets() users(Password,id,name)", denied: "* would read columns of users that may not be read"},
		{why: "a star over a subquery alone", sources: []guard.Source{{Alias: "u", Relation: users, Select: 1}, sub},
			refs: "* id", want: "users(id)"},
		{why: "a star of a relation", sources: []guard.Source{u, p}, refs: "pets.*", want: "pets(id,owner,pets2) users()"},
		{why: "a star of a relation that hides", sources: []guard.Source{u, p}, refs: "u.*",
			want: "pets() users(Password,id,name)", denied: "u.* would read columns of users"},
		{why: "a star of a qualifier that nothing has", sources: []guard.Source{u}, refs: "z.*",
			want: "users(Password,id,name)", denied: "*"},
		{why: "the whole row", sources: []guard.Source{u}, refs: "u", want: "users(Password,id,name)",
			denied: "u would read"},
		{why: "the whole row behind a schema", sources: []guard.Source{p}, refs: "public.pets", want: "pets(id,owner,pets2)"},
		{why: "a column called like its relation", sources: []guard.Source{o}, refs: "odd odd.odd", want: "odd(odd)"},
		{why: "a call by dot has the row", sources: []guard.Source{u}, refs: "u.to_json", want: "users(Password,id,name)",
			denied: "u.to_json would"},
		{why: "a call by dot beside a column in other letters", sources: []guard.Source{shout}, refs: "s.to_json",
			want: "shout(Shout,To_JSON,secret)", denied: "s.to_json"},
		{why: "the row beside a column in other letters", sources: []guard.Source{{Alias: "shout", Relation: loud}},
			refs: "shout",
			want: "shout(Shout,To_JSON,secret)", denied: "shout would"},
		{why: "no call, no column: an error of the engine", sources: []guard.Source{u}, refs: "u.none", want: "users()"},
		{why: "an engine without rows as values", sources: []guard.Source{u}, refs: "u u.to_json", want: "users()",
			change: func(s *guard.Names) { s.Call = nil }},
		{why: "NATURAL compares what it finds", sources: []guard.Source{u, p},
			want: "pets(id,owner,pets2) users(Password,id,name)", denied: "NATURAL",
			change: func(s *guard.Names) { s.Natural = true }},
		{why: "a list of columns hides names", sources: []guard.Source{{Alias: "u", Relation: users, Renamed: true}},
			refs: "u.a",
			want: "users(Password,id,name)", denied: "list of columns"},
		{why: "a list of columns of a subquery", sources: []guard.Source{u, {Alias: "x", Renamed: true}}, refs: "x.a",
			want: "users()"},
		{why: "the alias of a join is all of it", sources: []guard.Source{u, p, {Alias: "j", Joined: true}}, refs: "j.id",
			want: "pets(id) users(id)"},
		{why: "the star of a join", sources: []guard.Source{u, p, {Alias: "j", Joined: true}}, refs: "j.*",
			want: "pets(id,owner,pets2) users(Password,id,name)", denied: "j.*"},
		{why: "the row of a join", sources: []guard.Source{u, {Alias: "j", Joined: true}}, refs: "j",
			want: "users(Password,id,name)", denied: "j would"},
		{why: "a call with the row of a join", sources: []guard.Source{u, {Alias: "j", Joined: true}}, refs: "j.to_json",
			want: "users(Password,id,name)", denied: "j.to_json"},
		{why: "a list of columns of a join", sources: []guard.Source{u, {Alias: "j", Joined: true, Renamed: true}},
			refs: "j.a",
			want: "users(Password,id,name)", denied: "list of columns"},
		{why: "a star that leaves a denied column out", sources: []guard.Source{u, p}, refs: "*",
			want:   "pets(id,owner,pets2) users(id,name)",
			change: func(s *guard.Names) { s.Refs[0].Except = []string{"PASSWORD"} }},
		{why: "a star of a relation that leaves another one out", sources: []guard.Source{u}, refs: "u.*",
			want: "users(Password,id)", denied: "u.*",
			change: func(s *guard.Names) { s.Refs[0].Except = []string{"name"} }},
		{why: "a field of a denied column", sources: []guard.Source{u}, refs: "password.x", want: "users(Password)",
			denied: "users.Password",
			change: func(s *guard.Names) { s.Fields = true }},
		{why: "a field of a column behind its relation", sources: []guard.Source{u, p}, refs: "u.password.x.y",
			want: "pets() users(Password)", denied: "users.Password",
			change: func(s *guard.Names) { s.Fields = true }},
		{why: "a field of a column may be a column behind a relation", sources: []guard.Source{u, p}, refs: "u.name.password",
			want: "pets() users(Password,name)", denied: "users.Password",
			change: func(s *guard.Names) { s.Fields = true }},
		{why: "one relation twice", sources: []guard.Source{u, {Alias: "v", Relation: users}}, refs: "u.id v.name",
			want: "users(id,name)"},
	} {
		s := &guard.Names{Sources: test.sources, Call: calls}
		for _, r := range strings.Fields(test.refs) {
			s.Refs = append(s.Refs, ref(r))
		}
		if test.change != nil {
			test.change(s)
		}
		var got []string
		for _, r := range s.Columns() {
			got = append(got, fmt.Sprintf("%s(%s)", r.Relation.Name, strings.Join(r.Columns, ",")))
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
		refused := c.Permit(s)
		if (refused != nil) != (test.denied != "") || refused != nil && !strings.Contains(refused.Error(), test.denied) {
			t.Errorf("%s: refused %v, want %q", test.why, refused, test.denied)
		}
	}
}

func TestMasked(t *testing.T) {
	for _, test := range []struct{ why, message, opening, closing, want string }{
		{"nothing is quoted", "division by zero", `"`, `"`, "division by zero"},
		{"a value", `invalid input for integer: "s3cret"`, `"`, `"`, `invalid input for integer: "…"`},
		{"two values, and what stands between them", "'a' is not 'b' here", "'", "'", "'…' here"},
		{"no end", "near 's3cret", "'", "'", "near '…"},
		{"other marks at the end", "cast (s3cret) failed", "'(", "')", "cast (…) failed"},
		{"an end before the beginning", "a) and (s3cret", "(", ")", "a) and (…"},
	} {
		if got := guard.Masked(test.message, test.opening, test.closing); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// TestReadSet: the order does not depend on that of a map, and growth is told.
func TestReadSet(t *testing.T) {
	of := func(in, name string) *guard.Relation {
		return guard.RelationOf(in, &schema.Table{Name: name, Columns: []schema.Column{{Name: "a"}, {Name: "b"}}})
	}
	a, b, s := of("main", "a"), of("main", "b"), guard.ReadSet{}
	if got := s.Reads(); got == nil || len(got) > 0 {
		t.Errorf("nothing was read: %v", got)
	}
	for _, test := range []struct {
		why     string
		r       *guard.Relation
		columns []string
		want    bool
	}{
		{"a relation", b, nil, true}, {"the same", b, nil, false}, {"another one", a, []string{"b", "a"}, true},
		{"a column that is there", a, []string{"a"}, false}, {"a new column", b, []string{"a"}, true},
	} {
		if got := s.Add(test.r, test.columns...); got != test.want {
			t.Errorf("%s: grown %t", test.why, got)
		}
	}
	var got []string
	for _, read := range s.Reads() {
		got = append(append(got, read.Relation.Name), read.Columns...)
	}
	if diff := cmp.Diff([]string{"a", "a", "b", "b", "a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQuery: after an error nothing is left open, and a connection that is dropped is gone.
func TestQuery(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
	defer pool.Close()
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	if _, _, err := guard.Query(t.Context(), conn, "SELECT"); err == nil {
		t.Error("half a statement")
	}
	rows, statement, err := guard.Query(t.Context(), conn, "SELECT ? + 1", 1)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	for rows.Next() {
		err = rows.Scan(&n)
	}
	if err = errors.Join(err, rows.Err(), rows.Close(), statement.Close()); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if err := errors.Join(guard.Discard(conn), guard.Discard(conn)); err != nil {
		t.Errorf("dropped twice: %v", err)
	}
	if open := pool.Stats().OpenConnections; open > 0 {
		t.Errorf("%d connections are open", open)
	}
}

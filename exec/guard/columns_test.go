package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/guard"
)

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
	u, p, o := guard.Source{Alias: "u", Relation: users}, guard.Source{Alias: "pets", Relation: pets}, guard.Source{Alias: "odd", Relation: odd}
	sub := guard.Source{Alias: "x"}
	c := &guard.Catalog{Relations: []*guard.Relation{users, pets, odd, loud}}
	if err := c.Apply(guard.Policy{DenyColumns: []string{"users.Password", "secret"}}); err != nil {
		t.Fatal(err)
	}
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
		{why: "a column alone is that of each relation which has it", sources: []guard.Source{u, p}, refs: "id", want: "pets(id) users(id)"},
		{why: "a qualifier tells the relation", sources: []guard.Source{u, p}, refs: "u.id", want: "pets() users(id)"},
		{why: "a schema before it changes nothing", sources: []guard.Source{p}, refs: "public.pets.id", want: "pets(id)"},
		{why: "rows alone read no column", sources: []guard.Source{u}, want: "users()"},
		{why: "a denied column by name", sources: []guard.Source{u}, refs: "u.password", want: "users(Password)", denied: "users.Password may not be read"},
		{why: "in other letters", sources: []guard.Source{u}, refs: "PAſSWORD", want: "users(Password)", denied: "users.Password"},
		{why: "a denied name whose qualifier is another relation", sources: []guard.Source{u, p}, refs: "pets.password", want: "pets() users()"},
		{why: "a denied name whose qualifier is a subquery", sources: []guard.Source{u, sub}, refs: "x.password", want: "users()"},
		{why: "an alias of two things is both", sources: []guard.Source{u, {Alias: "u"}}, refs: "u.password", want: "users(Password)", denied: "users.Password"},
		{why: "a qualifier that nothing has", sources: []guard.Source{u}, refs: "z.password", want: "users(Password)", denied: "users.Password"},
		{why: "a star is of its own FROM", sources: []guard.Source{u, {Alias: "y", Select: 1, Relation: pets}}, refs: "*",
			want: "pets() users(Password,id,name)", denied: "* would read columns of users that may not be read"},
		{why: "a star over a subquery alone", sources: []guard.Source{{Alias: "u", Relation: users, Select: 1}, sub}, refs: "* id", want: "users(id)"},
		{why: "a star of a relation", sources: []guard.Source{u, p}, refs: "pets.*", want: "pets(id,owner,pets2) users()"},
		{why: "a star of a relation that hides", sources: []guard.Source{u, p}, refs: "u.*",
			want: "pets() users(Password,id,name)", denied: "u.* would read columns of users"},
		{why: "a star of a qualifier that nothing has", sources: []guard.Source{u}, refs: "z.*", want: "users(Password,id,name)", denied: "*"},
		{why: "the whole row", sources: []guard.Source{u}, refs: "u", want: "users(Password,id,name)", denied: "u would read"},
		{why: "the whole row behind a schema", sources: []guard.Source{p}, refs: "public.pets", want: "pets(id,owner,pets2)"},
		{why: "a column called like its relation", sources: []guard.Source{o}, refs: "odd odd.odd", want: "odd(odd)"},
		{why: "a call by dot has the row", sources: []guard.Source{u}, refs: "u.to_json", want: "users(Password,id,name)", denied: "u.to_json would"},
		{why: "a call by dot beside a column in other letters", sources: []guard.Source{shout}, refs: "s.to_json",
			want: "shout(Shout,To_JSON,secret)", denied: "s.to_json"},
		{why: "the row beside a column in other letters", sources: []guard.Source{{Alias: "shout", Relation: loud}}, refs: "shout",
			want: "shout(Shout,To_JSON,secret)", denied: "shout would"},
		{why: "no call, no column: an error of the engine", sources: []guard.Source{u}, refs: "u.none", want: "users()"},
		{why: "an engine without rows as values", sources: []guard.Source{u}, refs: "u u.to_json", want: "users()",
			change: func(s *guard.Names) { s.Call = nil }},
		{why: "NATURAL compares what it finds", sources: []guard.Source{u, p}, want: "pets(id,owner,pets2) users(Password,id,name)", denied: "NATURAL",
			change: func(s *guard.Names) { s.Natural = true }},
		{why: "a list of columns hides names", sources: []guard.Source{{Alias: "u", Relation: users, Renamed: true}}, refs: "u.a",
			want: "users(Password,id,name)", denied: "list of columns"},
		{why: "a list of columns of a subquery", sources: []guard.Source{u, {Alias: "x", Renamed: true}}, refs: "x.a", want: "users()"},
		{why: "the alias of a join is all of it", sources: []guard.Source{u, p, {Alias: "j", Joined: true}}, refs: "j.id", want: "pets(id) users(id)"},
		{why: "the star of a join", sources: []guard.Source{u, p, {Alias: "j", Joined: true}}, refs: "j.*",
			want: "pets(id,owner,pets2) users(Password,id,name)", denied: "j.*"},
		{why: "the row of a join", sources: []guard.Source{u, {Alias: "j", Joined: true}}, refs: "j", want: "users(Password,id,name)", denied: "j would"},
		{why: "a call with the row of a join", sources: []guard.Source{u, {Alias: "j", Joined: true}}, refs: "j.to_json",
			want: "users(Password,id,name)", denied: "j.to_json"},
		{why: "a list of columns of a join", sources: []guard.Source{u, {Alias: "j", Joined: true, Renamed: true}}, refs: "j.a",
			want: "users(Password,id,name)", denied: "list of columns"},
		{why: "a star that leaves a denied column out", sources: []guard.Source{u, p}, refs: "*", want: "pets(id,owner,pets2) users(id,name)",
			change: func(s *guard.Names) { s.Refs[0].Except = []string{"PASSWORD"} }},
		{why: "a star of a relation that leaves another one out", sources: []guard.Source{u}, refs: "u.*", want: "users(Password,id)", denied: "u.*",
			change: func(s *guard.Names) { s.Refs[0].Except = []string{"name"} }},
		{why: "a field of a denied column", sources: []guard.Source{u}, refs: "password.x", want: "users(Password)", denied: "users.Password",
			change: func(s *guard.Names) { s.Fields = true }},
		{why: "a field of a column behind its relation", sources: []guard.Source{u, p}, refs: "u.password.x.y",
			want: "pets() users(Password)", denied: "users.Password",
			change: func(s *guard.Names) { s.Fields = true }},
		{why: "a field of a column may be a column behind a relation", sources: []guard.Source{u, p}, refs: "u.name.password",
			want: "pets() users(Password,name)", denied: "users.Password",
			change: func(s *guard.Names) { s.Fields = true }},
		{why: "one relation twice", sources: []guard.Source{u, {Alias: "v", Relation: users}}, refs: "u.id v.name", want: "users(id,name)"},
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

package guard_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/sampling"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// What a policy makes of a table, of a view over it, and of a column that is generated of a denied one.
func ExampleCatalog() {
	people := guard.NewRelation("public", "people", []string{"id", "name", "password", "login"})
	logins := guard.NewRelation("public", "logins", []string{"id", "login"})
	logins.View, logins.Under = true, []guard.Read{{Relation: people, Columns: []string{"id", "login"}}}
	c := &guard.Catalog{
		Text:      sqltext.PostgreSQL(),
		Relations: []*guard.Relation{people, logins},
		Flows:     []guard.LineageEdge{{From: people, Column: "password", To: people, As: "login"}},
	}
	if err := c.Apply(guard.Policy{DenyColumns: []string{"people.password"}}); err != nil {
		fmt.Println(err)
	}
	for _, r := range c.Relations {
		fmt.Println(r.Name, r.Allowed(), r.Denies("name"), r.Denies("login"), r.Refused)
	}
	// Output:
	// logins true false false exec: refused (column): the view logins reads what may not be read
	// people true false true <nil>
}

// What the parser of an engine found in SELECT u.name, count(*) FROM public.people AS u.
func ExampleNames() {
	people := guard.NewRelation("public", "people", []string{"id", "name", "password"})
	c := &guard.Catalog{Relations: []*guard.Relation{people}}
	if err := c.Apply(guard.Policy{DenyColumns: []string{"password"}}); err != nil {
		fmt.Println(err)
	}
	n := &guard.Names{
		Sources:   []guard.Source{{Alias: "u", Relation: people}},
		Refs:      []guard.Ref{{Path: []string{"u", "name"}}},
		Functions: []string{"count"},
	}
	fmt.Println(c.Permit(n))
	for _, read := range c.Reads(n) {
		fmt.Println(read.Relation.Name, read.Columns)
	}
	n.Refs = append(n.Refs, guard.Ref{Path: []string{"u"}, Star: true})
	fmt.Println(c.Permit(n))
	// Output:
	// <nil>
	// people [name]
	// exec: refused (column): u.* would read columns of people that may not be read: name the columns that you need
}

// Where a statement names the tables that it reads.
func ExampleNames_Place() {
	people := guard.NewRelation("public", "people", []string{"id"})
	s := sqltext.PostgreSQL().Parse("SELECT p.id FROM public.people AS p")
	n := &guard.Names{Sources: []guard.Source{{Alias: "p", Relation: people}}}
	n.Place(s)
	fmt.Println(s.SQL()[n.Sources[0].Pos:n.Sources[0].End])
	// Output: public.people
}

// A walk over a tree ends where something may not stand.
func ExampleRecoverWalk() {
	err := guard.RecoverWalk(func() {
		for _, kind := range []string{"SelectStmt", "IntoClause"} {
			if kind == "IntoClause" {
				guard.Abort(guard.Refuse("not-read-only", "it does more than read: %s", kind))
			}
		}
	})
	fmt.Println(err)
	// Output: exec: refused (not-read-only): it does more than read: IntoClause
}

// The first rows of a table; a key that is a number would let it read rows from all over a long one.
func ExampleSampleRows() {
	run := func(_ context.Context, sql string, rows int) (*result.Table, error) {
		fmt.Println(sql, "--", rows)
		return &result.Table{Columns: []string{"name"}, Rows: [][]any{{"ann"}, {"bob"}}}, nil
	}
	sample, err := guard.SampleRows(context.Background(), run, guard.Sampled{From: `"people" AS t`, List: `t."name"`},
		sampling.Options{
			Columns: []string{"name"}, Rows: 2,
		})
	fmt.Println(sample.Rows, err)
	// Output:
	// SELECT t."name" FROM "people" AS t LIMIT 3 -- 2
	// [[ann] [bob]] <nil>
}

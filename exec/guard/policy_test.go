package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// TestPolicyNames: an entry names what its parts name, from the right, whatever their case.
func TestPolicyNames(t *testing.T) {
	p := guard.Policy{
		AllowTables: []string{"orders", "crm.people", `"odd.name"`}, DenyTables: []string{"hr.orders"},
		DenyColumns: []string{"people.note", "x.crm.people.key"},
		Reveal:      []string{"people.password"},
	}
	for name, want := range map[string]bool{
		"main.orders": true, "hr.ORDERS": false, "crm.people": true, "hr.people": false, "main.items": false,
		"main.odd": false,
	} {
		in, table, _ := strings.Cut(name, ".")
		if p.AllowsTable(in, table) != want {
			t.Errorf("%s is allowed: %v", name, !want)
		}
	}
	if !p.AllowsTable("main", "odd.name") || p.AllowsTable("main", "name") {
		t.Error("a name with a dot in it")
	}
	for column, want := range map[string]bool{"id": true, "NOTE": false, "password": true, "secret_key": false,
		"key": true, "password_hash": false} {
		if p.AllowsColumn("crm", "people", column) != want {
			t.Errorf("people.%s is allowed: %v", column, !want)
		}
	}
	if p.AllowsColumn("x.crm", "people", "key") {
		t.Error("an entry with a catalog in front")
	}
	if !p.Mentions("the NOTE of people") || p.Mentions("notes of nobody") {
		t.Error("Mentions takes whole words, whatever their case")
	}
	for entry, ok := range map[string]bool{"a": true, "a.b.c": true, "a.b.c.d": false, "": false, "a..b": false,
		`"a.b".c`: true, `"a`: false, ".a": false} {
		if err := (guard.Policy{DenyTables: []string{entry}}).Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", entry, err)
		}
	}
	for _, wrong := range []guard.Policy{{Settings: []string{""}}, {Fence: "never"},
		{Rows: map[string]string{"a.b.c.d": "1"}}} {
		if wrong.Validate() == nil {
			t.Errorf("%+v is valid", wrong)
		}
	}
}

// TestNarrow: a narrowed policy allows what both allow.
func TestNarrow(t *testing.T) {
	rows := map[string]string{"orders": "a = 1"}
	for _, test := range []struct {
		why     string
		p, n    guard.Policy
		want    guard.Policy
		refused bool
	}{
		{"nothing", guard.Policy{}, guard.Policy{}, guard.Policy{}, false},
		{"denials add up", guard.Policy{DenyTables: []string{"a"}, Settings: []string{"s"}},
			guard.Policy{DenyTables: []string{"b"}, DenyColumns: []string{"c"}, Fence: "always"},
			guard.Policy{DenyTables: []string{"a", "b"}, DenyColumns: []string{"c"}, Settings: []string{"s"}, Fence: "always"},
			false},
		{"the longer of two names", guard.Policy{AllowTables: []string{"x.a", "b", "c"}},
			guard.Policy{AllowTables: []string{"A", "y.b", "d"}},
			guard.Policy{AllowTables: []string{"x.a", "y.b"}}, false},
		{"only one lists tables", guard.Policy{AllowTables: []string{"a"}}, guard.Policy{},
			guard.Policy{AllowTables: []string{"a"}}, false},
		{"only the other one does", guard.Policy{}, guard.Policy{AllowTables: []string{"a"}},
			guard.Policy{AllowTables: []string{"a"}}, false},
		{"no table in common", guard.Policy{AllowTables: []string{"a"}}, guard.Policy{AllowTables: []string{"b"}},
			guard.Policy{}, true},
		{"fewer functions", guard.Policy{AllowFunctions: []string{"f", "g"}},
			guard.Policy{AllowFunctions: []string{"g"}}, guard.Policy{AllowFunctions: []string{"g"}}, false},
		{"more functions", guard.Policy{AllowFunctions: []string{"f"}}, guard.Policy{AllowFunctions: []string{"g"}},
			guard.Policy{}, true},
		{"all is revealed, and then less", guard.Policy{Reveal: []string{"*"}},
			guard.Policy{Reveal: []string{"a.b"}}, guard.Policy{Reveal: []string{"a.b"}}, false},
		{"both rules hold", guard.Policy{Rows: rows},
			guard.Policy{Rows: map[string]string{"orders": "b = 2"}},
			guard.Policy{Rows: map[string]string{"orders": "a = 1\n;\nb = 2"}}, false},
		{"a rule for a shared table", guard.Policy{Rows: rows, Shared: []string{"c"}},
			guard.Policy{Rows: map[string]string{"c": "b"}},
			guard.Policy{Rows: map[string]string{"orders": "a = 1", "c": "b"}, Shared: []string{"c"}}, false},
		{"a rule for a table that is neither", guard.Policy{Rows: rows}, guard.Policy{Rows: map[string]string{"c": "b"}},
			guard.Policy{}, true},
		{"the first rules", guard.Policy{}, guard.Policy{Rows: rows, Shared: []string{"c"}},
			guard.Policy{Rows: rows, Shared: []string{"c"}}, false},
		{"more that is shared", guard.Policy{Rows: rows}, guard.Policy{Shared: []string{"c"}}, guard.Policy{}, true},
	} {
		got, err := test.p.Narrow(test.n)
		if (err != nil) != test.refused {
			t.Errorf("%s: %v", test.why, err)
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", test.want), fmt.Sprintf("%+v", got)); err == nil && diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
	if rows["orders"] != "a = 1" {
		t.Error("a policy that is narrowed stays as it is")
	}
}

// TestAnd: of any two policies, what both allow is allowed, and no more.
func TestAnd(t *testing.T) {
	list := []guard.Policy{
		{}, {DenyTables: []string{"a"}}, {DenyColumns: []string{"b.c"}}, {AllowTables: []string{"s.a", "b"}},
		{AllowTables: []string{"a", "d"}},
		{AllowTables: []string{"d"}, DenyColumns: []string{"c"}},
		{Rows: map[string]string{"a": "x = 1"}, Shared: []string{"b"}},
		{Rows: map[string]string{"s.a": "y = 2", "d": "z"}}, {Shared: []string{"d", "a"}},
	}
	for i, p := range list {
		for j, q := range list {
			both := p.And(q)
			if err := both.Validate(); err != nil {
				t.Errorf("%d and %d: %v", i, j, err)
			}
			for _, schema := range []string{"s", "t"} {
				for _, name := range []string{"a", "b", "d"} {
					r := &guard.Relation{Schema: schema, Name: name}
					if got, want := both.Allows(r), p.Allows(r) && q.Allows(r); got != want {
						t.Errorf("%d and %d allow %s.%s: %v, %+v", i, j, schema, name, got, both)
					}
					if got, want := both.Ruled(r), p.Ruled(r) || q.Ruled(r); both.Allows(r) && got != want {
						t.Errorf("%d and %d have a rule about %s.%s: %v", i, j, schema, name, got)
					}
					if got, want := both.AllowsColumn(schema, name, "c"), p.AllowsColumn(schema, name, "c") &&
						q.AllowsColumn(schema, name, "c"); got != want {
						t.Errorf("%d and %d allow %s.%s.c: %v", i, j, schema, name, got)
					}
				}
			}
		}
	}
	for _, tt := range []struct {
		why        string
		p, q, want guard.Policy
	}{
		{"rules of one table", guard.Policy{Rows: map[string]string{"a": "x"}},
			guard.Policy{Rows: map[string]string{"a": "y"}},
			guard.Policy{Rows: map[string]string{"a": "x\n;\ny"}}},
		{"a rule and a shared table", guard.Policy{Rows: map[string]string{"a": "x"}}, guard.Policy{Shared: []string{"a"}},
			guard.Policy{Rows: map[string]string{"a": "x"}}},
		{"grants", guard.Policy{AllowFunctions: []string{"f", "g"}, Reveal: []string{"*"}},
			guard.Policy{AllowFunctions: []string{"g", "h"}, Reveal: []string{"c"}}, guard.Policy{AllowFunctions: []string{"g"},
				Reveal: []string{"c"}}},
		{"settings and the fence", guard.Policy{Settings: []string{"s"}}, guard.Policy{Settings: []string{"s", "u"},
			Fence: "always"},
			guard.Policy{Settings: []string{"s", "u"}, Fence: "always"}},
	} {
		if diff := cmp.Diff(fmt.Sprintf("%+v", tt.want), fmt.Sprintf("%+v", tt.p.And(tt.q))); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

// TestJoinedRules: a rule that reads as one only with another beside it is rejected.
func TestJoinedRules(t *testing.T) {
	for _, tt := range []struct {
		why   string
		rules []string
		want  string // the rule, or the end of the error
	}{
		{"two", []string{"tenant = :t", "a OR b"}, "(tenant = :t) AND (a OR b)"},
		{"three", []string{"a", "b", "c"}, "(a) AND (b) AND (c)"},
		{"the same twice", []string{"a", "a"}, "a"},
		{"it ends the one before", []string{"tenant = :t", "1=1) OR (1=1"}, "closes a bracket that it did not open"},
		{"it is ended by the next", []string{"1=1) OR (1=1", "tenant = :t"}, "closes a bracket that it did not open"},
		{"the third", []string{"tenant = :t", "a", "1=1) OR (1=1"}, "closes a bracket that it did not open"},
		{"a text from one to the next", []string{"a = '", "' OR 1 OR a = ''"}, "or a quote that does not end"},
		{"an empty one", []string{"tenant = :t", " "}, "it is empty"},
	} {
		var both, narrow guard.Policy
		for i, rule := range tt.rules {
			p := guard.Policy{Rows: map[string]string{"orders": rule}}
			if both = both.And(p); i == 0 {
				narrow = p
			} else if tt.want != "a" {
				narrow = testutil.Value(narrow.Narrow(p))(t)
			}
		}
		for _, p := range []guard.Policy{both, narrow} {
			rules, err := p.ReadRules(sqltext.SQLite())
			if got := rules[0].Text; err == nil && got != tt.want {
				t.Errorf("%s: %s", tt.why, got)
			}
			if err != nil && (!strings.Contains(err.Error(), `the rule of "orders"`) ||
				!strings.HasSuffix(err.Error(), tt.want)) {
				t.Errorf("%s: %v", tt.why, err)
			}
		}
	}
}

// TestForeignLetters: names are the same in any case, also in letters that ASCII does not have.
func TestForeignLetters(t *testing.T) {
	r := guard.NewRelation("main", "t", []string{"Ärger", "id"})
	for name, want := range map[string]bool{"Ärger": true, "äRGER": true, "ID": true, "örger": false, "arger": false} {
		if r.Has(name) != want {
			t.Errorf("%s is a column: %v", name, !want)
		}
	}
}

// TestPastRules: a table that has the rows of one with a rule is not read past it.
func TestPastRules(t *testing.T) {
	for _, test := range []struct {
		why    string
		policy guard.Policy
		part   bool // orders is a partition of all
		want   string
	}{
		{"shared", guard.Policy{Rows: map[string]string{"orders": "id = 1"}, Shared: []string{"all"}}, false,
			"it has rows of main.orders, which has a rule"},
		{"another rule", guard.Policy{Rows: map[string]string{"orders": "id = 1", "all": "id = 2"}}, false,
			"which has another rule"},
		{"in neither", guard.Policy{Rows: map[string]string{"all": "id = 1"}}, false, "which is in neither Rows nor Shared"},
		{"a partition need not be named", guard.Policy{Rows: map[string]string{"all": "id = 1"}}, true, ""},
		{"the same rule", guard.Policy{Rows: map[string]string{"orders": "id = 1", "all": "id = 1"}}, false, ""},
		{"no rules", guard.Policy{DenyTables: []string{"orders"}}, false, ""},
	} {
		all, orders := guard.NewRelation("main", "all", []string{"id"}), guard.NewRelation("main", "orders", []string{"id"})
		all.Holds, orders.Part = []*guard.Relation{orders}, test.part
		rules, err := test.policy.ReadRules(sqltext.SQLite())
		if err != nil {
			t.Fatal(err)
		}
		c := &guard.Catalog{Text: sqltext.SQLite(), Relations: []*guard.Relation{all, orders}, Rules: rules}
		err = c.Apply(test.policy)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
		if (all.Refused != nil) != (test.want != "") {
			t.Errorf("%s: %v", test.why, all.Refused)
		}
	}
}

package linker_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/schema"
)

// TestClosure: on schemas of tables and keys drawn at random, whatever tables are linked, Restrict keeps them, shows
// every key between what it keeps, and joins them where keys can.
func TestClosure(t *testing.T) {
	for i := range 25 {
		s := drawn(rand.New(rand.NewPCG(uint64(i), 2)))
		rng := rand.New(rand.NewPCG(uint64(i+1), 1))
		for range 1000 {
			var links schema.Links
			for _, i := range rng.Perm(len(s.Tables))[:1+rng.IntN(len(s.Tables))] {
				l := schema.TableLink{Table: s.Tables[i].Name}
				if rng.IntN(2) == 0 { // columns too: one of them
					l.Columns = []string{s.Tables[i].Columns[rng.IntN(len(s.Tables[i].Columns))].Name}
				}
				links.Tables = append(links.Tables, l)
			}
			small, unknown := s.Restrict(links)
			if len(unknown) > 0 {
				t.Fatalf("schema %d: unknown %q", i, unknown)
			}
			checkClosure(t, s, small, links)
		}
	}
}

// drawn is a schema of up to 15 tables whose keys lead to one another, to themselves and nowhere.
func drawn(rng *rand.Rand) *schema.Schema {
	s := &schema.Schema{Dialect: "sqlite"}
	n := 1 + rng.IntN(15)
	for i := range n {
		t := schema.Table{Name: fmt.Sprint("t", i), Kind: "table", PrimaryKey: []string{"id"},
			Columns: []schema.Column{{Name: "id"}, {Name: "name"}}}
		for k := range rng.IntN(4) {
			column := fmt.Sprint("key", k)
			t.Columns = append(t.Columns, schema.Column{Name: column})
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{Columns: []string{column},
				RefTable: fmt.Sprint("t", rng.IntN(n)), RefColumns: []string{"id"}})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

func checkClosure(t *testing.T, s, small *schema.Schema, links schema.Links) {
	t.Helper()
	var linked []string
	for _, l := range links.Tables {
		kept, ok := small.Lookup("", l.Table)
		if !ok {
			t.Fatalf("linked %s is gone", l.Table)
		}
		for _, name := range l.Columns {
			if _, ok := kept.Column(name); !ok {
				t.Fatalf("linked %s.%s is gone", l.Table, name)
			}
		}
		linked = append(linked, l.Table)
	}
	for i := range small.Tables {
		whole, _ := s.Lookup("", small.Tables[i].Name)
		want := 0
		for _, k := range whole.ForeignKeys {
			if _, ok := small.Lookup(k.RefSchema, k.RefTable); ok {
				want++
			}
		}
		for _, k := range small.Tables[i].ForeignKeys {
			ref, _ := small.Lookup(k.RefSchema, k.RefTable)
			if !has(&small.Tables[i], k.Columns) || !has(ref, k.RefColumns) {
				t.Fatalf("%s shows the key %v without its columns, with %q", whole.Name, k, linked)
			}
		}
		if got := len(small.Tables[i].ForeignKeys); got != want {
			t.Fatalf("%s shows %d of %d keys, with %q", whole.Name, got, want, linked)
		}
	}
	full, kept := parts(s), parts(small)
	for _, a := range linked {
		for _, b := range linked {
			if full[strings.ToLower(a)] == full[strings.ToLower(b)] && kept[strings.ToLower(a)] != kept[strings.ToLower(b)] {
				t.Fatalf("keys join %s and %s, but not in the part for %q", a, b, linked)
			}
		}
	}
}

func has(t *schema.Table, columns []string) bool {
	for _, name := range columns {
		if _, ok := t.Column(name); !ok {
			return false
		}
	}
	return true
}

// parts numbers the parts of a schema that foreign keys join.
func parts(s *schema.Schema) map[string]int {
	of := map[string]int{}
	for i := range s.Tables {
		of[strings.ToLower(s.Tables[i].Name)] = i
	}
	for range s.Tables {
		for _, t := range s.Tables {
			for _, k := range t.ForeignKeys {
				a, b := strings.ToLower(t.Name), strings.ToLower(k.RefTable)
				if _, ok := of[b]; ok {
					n := min(of[a], of[b])
					of[a], of[b] = n, n
				}
			}
		}
	}
	return of
}

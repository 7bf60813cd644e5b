package linker_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/schema"
)

// TestClosure: on the real databases, whatever tables are linked, Restrict keeps
// them, shows every key between what it keeps, and joins them where keys can.
func TestClosure(t *testing.T) {
	f := data(t)
	done := map[string]bool{}
	for _, name := range []string{"spider_dev", "bird_dev", "classicmodels"} {
		for _, q := range questions(t, f, name) {
			if done[q.DB] {
				continue
			}
			done[q.DB] = true
			rng := rand.New(rand.NewPCG(uint64(len(done)), 1))
			for range 1000 {
				var links schema.Links
				for _, i := range rng.Perm(len(q.schema.Tables))[:1+rng.IntN(len(q.schema.Tables))] {
					links.Tables = append(links.Tables, schema.TableLink{Table: q.schema.Tables[i].Name})
				}
				small, unknown := q.schema.Restrict(links)
				if len(unknown) > 0 {
					t.Fatalf("%s: unknown %q", q.DB, unknown)
				}
				checkClosure(t, q.schema, small, links)
			}
		}
	}
	if len(done) < 20 {
		t.Errorf("%d databases", len(done))
	}
}

func checkClosure(t *testing.T, s, small *schema.Schema, links schema.Links) {
	t.Helper()
	var linked []string
	for _, l := range links.Tables {
		if _, ok := small.Lookup("", l.Table); !ok {
			t.Fatalf("linked %s is gone", l.Table)
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

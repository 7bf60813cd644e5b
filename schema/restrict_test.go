package schema_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/schematest"
	"github.com/texttosql/texttosql/schema"
)

// outline writes a schema as one line a table: its columns, and what its foreign
// keys refer to.
func outline(s *schema.Schema) []string {
	var out []string
	for _, t := range s.Tables {
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		line := t.Name + "(" + strings.Join(names, " ") + ")"
		for _, k := range t.ForeignKeys {
			line += " -> " + k.RefTable
		}
		out = append(out, line)
	}
	return out
}

// chain is a school: student - enrolment - course - lecturer, a longer way round
// from student to course, a table that refers to itself, and one that nothing
// joins.
func chain() *schema.Schema {
	table := func(name string, columns ...string) schema.Table {
		t := schema.Table{Name: name, Definition: "CREATE TABLE " + name, PrimaryKey: []string{"id"},
			Columns: []schema.Column{{Name: "id"}}}
		for _, c := range columns {
			t.Columns = append(t.Columns, schema.Column{Name: c})
			if ref, ok := strings.CutSuffix(c, "_id"); ok {
				t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{Columns: []string{c}, RefTable: ref,
					RefColumns: []string{"id"}})
			}
		}
		return t
	}
	person := table("person", "name", "boss")
	person.ForeignKeys = []schema.ForeignKey{{Columns: []string{"boss"}, RefTable: "person", RefColumns: []string{"id"}}}
	return &schema.Schema{Tables: []schema.Table{
		person,
		table("student", "name", "born"),
		table("enrolment", "student_id", "course_id", "grade"),
		table("course", "title", "lecturer_id"),
		table("lecturer", "name"),
		table("club", "name"),
		table("member", "student_id", "club_id"),
		table("visit", "club_id", "course_id"),
		table("island", "name"),
	}}
}

func TestRestrict(t *testing.T) {
	link := func(table string, columns ...string) schema.TableLink {
		return schema.TableLink{Table: table, Columns: columns}
	}
	for _, tc := range []struct {
		why     string
		links   []schema.TableLink
		want    []string
		unknown []string
	}{
		{why: "one table, its keys to tables that are not kept go",
			links: []schema.TableLink{link("course")},
			want:  []string{"course(id title lecturer_id)"}},
		{why: "tables that a key joins",
			links: []schema.TableLink{link("lecturer"), link("course")},
			want:  []string{"course(id title lecturer_id) -> lecturer", "lecturer(id name)"}},
		{why: "a bridge on the shortest path, not the longer way round",
			links: []schema.TableLink{link("student"), link("course")},
			want: []string{"student(id name born)", "enrolment(id student_id course_id grade) -> student -> course",
				"course(id title lecturer_id)"}},
		{why: "two bridges on one path",
			links: []schema.TableLink{link("student"), link("lecturer")},
			want: []string{
				"student(id name born)", "enrolment(id student_id course_id grade) -> student -> course",
				"course(id title lecturer_id) -> lecturer",
				"lecturer(id name)",
			}},
		{why: "a self reference stays",
			links: []schema.TableLink{link("person", "name")},
			want:  []string{"person(id name boss) -> person"}},
		{why: "a table that nothing joins stays alone",
			links: []schema.TableLink{link("island"), link("lecturer")},
			want:  []string{"lecturer(id name)", "island(id name)"}},
		{why: "columns: keys of joins stay, others go, bridges show their keys",
			links: []schema.TableLink{link("student", "born"), link("course", "title")},
			want:  []string{"student(id born)", "enrolment(id student_id course_id) -> student -> course", "course(id title)"}},
		{why: "a key column that joins nothing kept stays where it is linked",
			links: []schema.TableLink{link("course", "lecturer_id")},
			want:  []string{"course(id lecturer_id)"}},
		{why: "a bridge shows no key to a table left out",
			links: []schema.TableLink{link("enrolment", "grade"), link("lecturer", "name")},
			want: []string{"enrolment(id course_id grade) -> course", "course(id lecturer_id) -> lecturer",
				"lecturer(id name)"}},
		{why: "a table linked twice: columns united",
			links: []schema.TableLink{link("student", "born"), link("STUDENT", "NAME")},
			want:  []string{"student(id name born)"}},
		{why: "a table linked twice, once as a whole",
			links: []schema.TableLink{link("student", "born"), link("student")},
			want:  []string{"student(id name born)"}},
		{why: "no linked column exists: all are kept",
			links:   []schema.TableLink{link("student", "age")},
			want:    []string{"student(id name born)"},
			unknown: []string{"student.age"}},
		{why: "unknown names are told, the rest counts",
			links:   []schema.TableLink{link("teacher"), link("island", "name", "size"), {Schema: "aux", Table: "x"}},
			want:    []string{"island(id name)"},
			unknown: []string{"teacher", "island.size", "aux.x"}},
		{why: "nothing known: the whole schema", links: []schema.TableLink{link("teacher")}, want: outline(chain()),
			unknown: []string{"teacher"}},
		{why: "nothing linked: the whole schema", want: outline(chain())},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := chain()
			got, unknown := s.Restrict(schema.Links{Tables: tc.links})
			golden.Equal(t, tc.want, outline(got))
			golden.Equal(t, tc.unknown, unknown, "unknown")
			if diff := cmp.Diff(chain(), s); diff != "" {
				t.Errorf("the schema was changed:\n%s", diff)
			}
		})
	}

	whole, unknown := chain().Restrict(schema.Links{Whole: true, Tables: []schema.TableLink{link("student"), link("x")}})
	golden.Equal(t, outline(chain()), outline(whole), "Whole keeps all")
	golden.Equal(t, []string{"x"}, unknown, "Whole reports unknown names too")
}

// TestProject: a function that is not given accepts all.
func TestProject(t *testing.T) {
	table := func(t *schema.Table) bool { return t.Name == "course" || t.Name == "lecturer" }
	column := func(_ *schema.Table, c *schema.Column) bool { return c.Name == "id" || c.Name == "lecturer_id" }
	course := "course(id lecturer_id) -> lecturer"
	for _, tc := range []struct {
		why    string
		table  func(*schema.Table) bool
		column func(*schema.Table, *schema.Column) bool
		want   []string
	}{
		{"all", nil, nil, outline(chain())},
		{"all columns", table, nil, []string{"course(id title lecturer_id) -> lecturer", "lecturer(id name)"}},
		{"both", table, column, []string{course, "lecturer(id)"}},
		{"all tables", nil, column, []string{"person(id)", "student(id)", "enrolment(id)", course, "lecturer(id)", "club(id)",
			"member(id)", "visit(id)", "island(id)"}},
	} {
		golden.Equal(t, tc.want, outline(chain().Project(tc.table, tc.column)), tc.why)
	}
}

func TestRestrictDefinition(t *testing.T) {
	got, _ := chain().Restrict(schema.Links{Tables: []schema.TableLink{{Table: "student", Columns: []string{"name"}},
		{Table: "island"}}})
	for _, table := range got.Tables {
		if shown := table.Definition != ""; shown != (table.Name == "island") {
			t.Errorf("%s: CREATE text %q; only a table with all its columns may show it", table.Name, table.Definition)
		}
	}
}

func TestRestrictAttached(t *testing.T) {
	s := schematest.Shop()
	s.Tables = append(s.Tables, schema.Table{
		Schema: "archive", Name: "lines", Columns: []schema.Column{{Name: "order"}},
		// No schema named: the key means orders of the same attached database.
		ForeignKeys: []schema.ForeignKey{{Columns: []string{"order"}, RefTable: "orders", RefColumns: []string{"id"}}},
	})
	got, _ := s.Restrict(schema.Links{Tables: []schema.TableLink{{Schema: "archive", Table: "lines"}, {Table: "orders"}}})
	golden.Equal(t, []string{"orders(id customer date)", "lines(order)"}, outline(got))
	got, _ = s.Restrict(schema.Links{Tables: []schema.TableLink{{Schema: "archive", Table: "lines"},
		{Schema: "archive", Table: "orders"}}})
	golden.Equal(t, []string{"orders(id date)", "lines(order) -> orders"}, outline(got))
}

// TestRestrictClosure holds on random schemas: linked tables that foreign keys
// join in the whole schema are joined in the restricted one, every key between
// kept tables is there with the columns of both ends, no key refers to what is not
// there, and the order of links and tables makes no difference.
func TestRestrictClosure(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := randomSchema(rng)
		var links schema.Links
		for _, i := range rng.Perm(len(s.Tables))[:1+rng.IntN(4)] {
			l := schema.TableLink{Table: strings.ToUpper(s.Tables[i].Name)}
			if rng.IntN(2) == 0 {
				l.Columns = []string{"c1"}
			}
			links.Tables = append(links.Tables, l)
		}
		got, unknown := s.Restrict(links)
		if len(unknown) > 0 {
			t.Fatalf("seed %d: unknown %v", seed, unknown)
		}
		before, after := parts(s), parts(got)
		for _, a := range links.Tables {
			for _, b := range links.Tables {
				x, y := strings.ToLower(a.Table), strings.ToLower(b.Table)
				if (before[x] == before[y]) != (after[x] == after[y]) {
					t.Errorf("seed %d: %s and %s: joined before %t, after %t", seed, x, y, before[x] == before[y],
						after[x] == after[y])
				}
			}
		}
		for _, table := range got.Tables {
			whole, _ := s.Lookup("", table.Name)
			for _, name := range whole.PrimaryKey {
				if _, ok := table.Column(name); !ok {
					t.Errorf("seed %d: %s lost its key column %s", seed, table.Name, name)
				}
			}
			joins := 0 // keys to a kept table
			for _, k := range whole.ForeignKeys {
				if _, ok := got.Lookup("", k.RefTable); !ok {
					continue
				}
				joins++
				if _, ok := table.Column(k.Columns[0]); !ok {
					t.Errorf("seed %d: %s lost its key column %s", seed, table.Name, k.Columns[0])
				}
			}
			if len(table.ForeignKeys) != joins {
				t.Errorf("seed %d: %s shows %d of its %d keys to kept tables", seed, table.Name, len(table.ForeignKeys), joins)
			}
			for _, k := range table.ForeignKeys {
				ref, ok := got.Lookup("", k.RefTable)
				if !ok {
					t.Fatalf("seed %d: %s refers to %s, which is not kept", seed, table.Name, k.RefTable)
				}
				if _, ok := ref.Column(k.RefColumns[0]); !ok {
					t.Errorf("seed %d: %s lost %s, which %s refers to", seed, ref.Name, k.RefColumns[0], table.Name)
				}
			}
		}
		slices.Reverse(links.Tables)
		slices.Reverse(s.Tables)
		again, _ := s.Restrict(links)
		if got.Fingerprint() != again.Fingerprint() {
			t.Errorf("seed %d: another order of tables and links gives\n%v\nfor\n%v", seed, outline(again), outline(got))
		}
	}
}

// TestGraph: a graph that many calls share, at once and one after the other, gives what a graph of one call gives.
func TestGraph(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		s := randomSchema(rng)
		graph, calls := s.Graph(), sync.WaitGroup{}
		for range 20 {
			var links schema.Links
			for _, i := range rng.Perm(len(s.Tables))[:1+rng.IntN(4)] {
				links.Tables = append(links.Tables, s.Tables[i].TableName().Link([]string{"c1", "x"}[:rng.IntN(3)]...))
			}
			want, missing := s.Restrict(links)
			calls.Go(func() {
				got, unknown := graph.Restrict(links)
				if diff := cmp.Diff(want, got) + cmp.Diff(missing, unknown); diff != "" {
					t.Errorf("seed %d, %v (-want +got):\n%s", seed, links, diff)
				}
			})
		}
		calls.Wait()
	}
	var none *schema.Schema
	if got, unknown := none.Graph().Restrict(schema.Links{Tables: []schema.TableLink{{Table: "x"}}}); len(
		got.Tables) != 0 || len(unknown) != 1 {
		t.Errorf("no schema: %v, unknown %v", got, unknown)
	}
}

func randomSchema(rng *rand.Rand) *schema.Schema {
	s := &schema.Schema{}
	n := 4 + rng.IntN(16)
	for i := range n {
		s.Tables = append(s.Tables, schema.Table{
			Name: fmt.Sprintf("t%02d", i), PrimaryKey: []string{"id"},
			Columns: []schema.Column{{Name: "id"}, {Name: "c1"}, {Name: "c2"}, {Name: "r1"}, {Name: "r2"}},
		})
	}
	for range rng.IntN(n + n/2) {
		t := &s.Tables[rng.IntN(n)]
		t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{
			Columns: []string{[]string{"r1", "r2"}[rng.IntN(2)]}, RefTable: s.Tables[rng.IntN(n)].Name,
			RefColumns: []string{[]string{"id", "c2"}[rng.IntN(2)]},
		})
	}
	return s
}

// parts gives every table the first name of those that foreign keys join it with.
func parts(s *schema.Schema) map[string]string {
	part := make(map[string]string)
	for _, t := range s.Tables {
		part[t.Name] = t.Name
	}
	for changed := true; changed; {
		changed = false
		for _, t := range s.Tables {
			for _, k := range t.ForeignKeys {
				least := min(part[t.Name], part[k.RefTable])
				if part[t.Name] != least || part[k.RefTable] != least {
					part[t.Name], part[k.RefTable] = least, least
					changed = true
				}
			}
		}
	}
	return part
}

func BenchmarkRestrict(b *testing.B) {
	s := generated(1000, 20)
	links := schema.Links{Tables: []schema.TableLink{{Table: "table_0000"}, {Table: "table_0100"}, {Table: "table_0200"}}}
	b.ReportAllocs()
	for b.Loop() {
		s.Restrict(links)
	}
}

// BenchmarkGraph is one call of a graph that was made before.
func BenchmarkGraph(b *testing.B) {
	for _, tables := range []int{100, 10_000} {
		g := generated(tables, 20).Graph()
		links := schema.Links{Tables: []schema.TableLink{{Table: "table_0000"}, {Table: "table_0040"}, {Table: "table_0080"}}}
		b.Run(strconv.Itoa(tables), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.Restrict(links)
			}
		})
	}
}

func BenchmarkFingerprint(b *testing.B) {
	s := generated(1000, 20)
	b.ReportAllocs()
	for b.Loop() {
		s.Fingerprint()
	}
}

package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/schematest"
	"github.com/texttosql/texttosql/schema"
)

func TestLookup(t *testing.T) {
	s := &schema.Schema{Default: "public", Tables: []schema.Table{
		{Schema: "aux", Name: "log"},
		{Name: "Customers"},
		{Name: "customers"},
		{Name: "order details"},
		{Schema: "aux", Name: "customers"},
		{Schema: "temp", Name: "Log"},
		{Name: "ÄPFEL"},
	}}
	for _, tc := range []struct {
		why, schema, table string
		want               int // -1: not found
	}{
		{"exact", "", "customers", 2},
		{"exact goes before another case", "", "Customers", 1},
		{"any case, the first", "", "CUSTOMERS", 1},
		{"names with blanks, unquoted", "", "Order Details", 3},
		{"named schema", "aux", "customers", 4},
		{"named schema in another case", "AUX", "CUSTOMERS", 4},
		{"no schema: any that has it, the first", "", "LOG", 0},
		{"a named schema is no hint", "temp", "customers", -1},
		{"only ASCII letters fold, as in SQLite", "", "äpfel", -1},
		{"the default schema by its name", "public", "customers", 2},
		{"in another case", "PUBLIC", "CUSTOMERS", 1},
		{"no table of another schema is in it", "public", "log", -1},
		{"not there", "", "orders", -1},
		{"empty name", "", "", -1},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, ok := s.Lookup(tc.schema, tc.table)
			if ok != (tc.want >= 0) || ok && got != &s.Tables[tc.want] {
				t.Errorf("Lookup(%q, %q) = %+v, %t", tc.schema, tc.table, got, ok)
			}
		})
	}
	var none *schema.Schema
	if _, ok := none.Lookup("", "t"); ok {
		t.Error("a nil schema has no tables")
	}
}

func TestColumn(t *testing.T) {
	table := schema.Table{Columns: []schema.Column{{Name: "ID"}, {Name: "id"}, {Name: "Line No"}}}
	for name, want := range map[string]int{"ID": 0, "id": 1, "Id": 0, "line no": 2, "lineno": -1, "": -1} {
		got, ok := table.Column(name)
		if ok != (want >= 0) || ok && got != &table.Columns[want] {
			t.Errorf("Column(%q) = %+v, %t", name, got, ok)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := schematest.Shop().Fingerprint()
	if len(base) != 32 {
		t.Fatalf("fingerprint %q", base)
	}
	for _, tc := range []struct {
		why    string
		change func(s *schema.Schema)
		same   bool
	}{
		{"nothing changed", func(*schema.Schema) {}, true},
		{"order of tables", func(s *schema.Schema) { s.Tables[0], s.Tables[3] = s.Tables[3], s.Tables[0] }, true},
		{"descriptions", func(s *schema.Schema) { s.Tables[0].Description, s.Tables[0].Columns[0].Values = "x", "y" }, true},
		{"profiles", func(s *schema.Schema) { s.Tables[0].Columns[0].Profile = nil }, true},
		{"version and CREATE text", func(s *schema.Schema) { s.Version, s.Tables[0].Definition = "2", "" }, true},
		{"dialect", func(s *schema.Schema) { s.Dialect = "mysql" }, false},
		{"functions", func(s *schema.Schema) { s.Functions = []string{"abs"} }, false},
		{"table renamed", func(s *schema.Schema) { s.Tables[0].Name = "clients" }, false},
		{"table moved", func(s *schema.Schema) { s.Tables[0].Schema = "archive" }, false},
		{"table made a view", func(s *schema.Schema) { s.Tables[0].Kind = "view" }, false},
		{"table gone", func(s *schema.Schema) { s.Tables = s.Tables[1:] }, false},
		{"column type", func(s *schema.Schema) { s.Tables[0].Columns[0].Type = "TEXT" }, false},
		{"column NOT NULL", func(s *schema.Schema) { s.Tables[0].Columns[0].NotNull = true }, false},
		{"column default", func(s *schema.Schema) { s.Tables[0].Columns[0].Default = "0" }, false},
		{"order of columns", func(s *schema.Schema) {
			c := s.Tables[0].Columns
			c[0], c[1] = c[1], c[0]
		}, false},
		{"text moved from one field to the next", func(s *schema.Schema) {
			c := &s.Tables[1].Columns[0]
			c.Name, c.Type = "codeV", "ARCHAR(10)"
		}, false},
		{"primary key", func(s *schema.Schema) { s.Tables[0].PrimaryKey = nil }, false},
		{"foreign key", func(s *schema.Schema) { s.Tables[1].ForeignKeys[0].RefTable = "orders" }, false},
		{"unique", func(s *schema.Schema) { s.Tables[0].Unique = nil }, false},
	} {
		s := schematest.Shop()
		tc.change(s)
		if got := s.Fingerprint(); (got == base) != tc.same {
			t.Errorf("%s: same fingerprint: %t, want %t", tc.why, got == base, tc.same)
		}
	}
	var none *schema.Schema
	if none.Fingerprint() == base || none.Fingerprint() == "" {
		t.Error("a nil schema has a fingerprint of its own")
	}
}

func TestDescribe(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{
		{Schema: "aux", Name: "log", Columns: []schema.Column{{Name: "at"}}},
		{Name: "t", Description: "old", Columns: []schema.Column{{Name: "a", Title: "A", Description: "old", Values: "old"},
			{Name: "b c"}}},
		{Name: "x.y", Columns: []schema.Column{{Name: "z"}}},
		{Schema: "aux", Name: "t", Columns: []schema.Column{{Name: "a"}}},
	}}
	before := s.Fingerprint()
	got, unknown := s.Describe(schema.Descriptions{
		"T":          {Text: " a table ", Title: "ignored"},
		"t.A":        {Text: "new", Values: ""},
		"t.b c":      {Title: "b and c"},
		"log.at":     {Text: "when"},
		"aux.t.a":    {Text: "of aux"},
		"x.y":        {Text: "dotted"},
		"x.y.z":      {Values: "1 to 9"},
		"t.nowhere":  {Text: "?"},
		"nowhere":    {Text: "?"},
		"aux.t.a.b.": {Text: "?"},
	})
	want := &schema.Schema{Tables: []schema.Table{
		{Schema: "aux", Name: "log", Columns: []schema.Column{{Name: "at", Description: "when"}}},
		{Name: "t", Description: "a table",
			Columns: []schema.Column{{Name: "a", Title: "A", Description: "new", Values: "old"},
				{Name: "b c", Title: "b and c"}}},
		{Name: "x.y", Description: "dotted", Columns: []schema.Column{{Name: "z", Values: "1 to 9"}}},
		{Schema: "aux", Name: "t", Columns: []schema.Column{{Name: "a", Description: "of aux"}}},
	}}
	golden.Equal(t, want, got)
	golden.Equal(t, []string{"aux.t.a.b.", "nowhere", "t.nowhere"}, unknown, "unknown")
	if s.Fingerprint() != before || s.Tables[1].Description != "old" || s.Tables[1].Columns[0].Description != "old" {
		t.Error("Describe changed the schema that it was given")
	}
	same, unknown := s.Describe(nil)
	if diff := cmp.Diff(s, same); diff != "" || unknown != nil {
		t.Errorf("no descriptions change nothing; unknown %v:\n%s", unknown, diff)
	}
}

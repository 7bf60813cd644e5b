package duckdb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/schema"
)

func TestInspect(t *testing.T) {
	db := newDB(t, `CREATE SCHEMA s2; CREATE TYPE mood AS ENUM ('sad', 'it''s ok');
CREATE TABLE a(id INTEGER PRIMARY KEY, "odd name" VARCHAR DEFAULT 'x', m mood, d DECIMAL(10,2) NOT NULL,
	twice INTEGER GENERATED ALWAYS AS (id * 2), u VARCHAR UNIQUE);
CREATE TABLE b(a_id INTEGER REFERENCES a(id), l STRUCT(f INTEGER)[], n INTEGER);
CREATE UNIQUE INDEX b_n ON b(n); CREATE INDEX b_l ON b(a_id);
CREATE TABLE s2.c(x INTEGER);
CREATE VIEW v AS SELECT id, d FROM a;
COMMENT ON TABLE a IS 'the a'; COMMENT ON COLUMN a.d IS 'in euros'; COMMENT ON VIEW v IS 'the v';`, exec.Config{})
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.Table{
		{
			Schema: "main", Name: "a", Kind: schema.BaseTable, Description: "the a", PrimaryKey: []string{"id"}, Unique: [][]string{{"u"}},
			Columns: []schema.Column{
				{Name: "id", Type: "INTEGER", NotNull: true}, {Name: "odd name", Type: "VARCHAR", Default: "'x'"}, {Name: "m", Type: "ENUM", Values: "'sad', 'it''s ok'"},
				{Name: "d", Type: "DECIMAL(10,2)", NotNull: true, Description: "in euros"},
				{Name: "twice", Type: "INTEGER", Generated: true, Default: "CAST((id * 2) AS INTEGER)"},
				{Name: "u", Type: "VARCHAR"},
			},
		},
		{
			Schema: "main", Name: "b", Kind: schema.BaseTable, ForeignKeys: []schema.ForeignKey{{Columns: []string{"a_id"}, RefTable: "a", RefColumns: []string{"id"}}},
			Unique:  [][]string{{"n"}},
			Columns: []schema.Column{{Name: "a_id", Type: "INTEGER"}, {Name: "l", Type: "STRUCT(f INTEGER)[]"}, {Name: "n", Type: "INTEGER"}},
		},
		{Schema: "main", Name: "v", Kind: schema.View, Description: "the v", Columns: []schema.Column{
			{Name: "id", Type: "INTEGER"}, {Name: "d", Type: "DECIMAL(10,2)"},
		}},
		{Schema: "s2", Name: "c", Kind: schema.BaseTable, Columns: []schema.Column{{Name: "x", Type: "INTEGER"}}},
	}
	if diff := cmp.Diff(want, s.Tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if s.Default != "main" || s.Version == "" || s.Dialect != "duckdb" {
		t.Errorf("default %q, version %q, dialect %q", s.Default, s.Version, s.Dialect)
	}
}

// TestErrors: each fault has its type, and none a hint that names what else there is.
func TestErrors(t *testing.T) {
	db := newDB(t, exectest.Fixture, exec.Config{})
	for text, want := range map[string]string{
		"SELECT FROM WHERE":                     "syntax ",
		"SELECT nosuch FROM t":                  "schema nosuch",
		"SELECT t.nosuch FROM t":                "schema nosuch",
		"SELECT x.a FROM t":                     "schema x",
		"SELECT a FROM nosuch":                  "schema nosuch",
		"SELECT id FROM users, users AS v":      "schema id",
		"SELECT a FROM t GROUP BY b":            "compile ",
		"SELECT sum(sum(a)) FROM t":             "compile ",
		"SELECT sum(b) FROM t":                  "compile ",
		"SELECT b::INTEGER FROM t":              "run ",
		"SELECT 9223372036854775807 + a FROM t": "run ",
		"SELECT (SELECT a FROM t)":              "run ",
		"SELECT regexp_matches(b, '(') FROM t":  "run ",
		"SELECT strptime(b, '%Y') FROM t":       "run ",
		"SELECT '{x'::JSON":                     "run ",
		"SELECT date_trunc('nosuch', now())":    "run ",
		"SELECT b COLLATE nosuch FROM t":        "schema nosuch",
		"SELECT a::nosuch FROM t":               "schema nosuch",
		"SELECT sqrt(-a) FROM t":                "run ",
		"SELECT a FROM t UNION SELECT 1, 2":     "compile ",
		"SELECT a FROM t WHERE sum(a) > 1":      "compile ",
		"SELECT a FROM t ORDER BY 7":            "compile ",
		"SELECT a FROM t LIMIT 'x'":             "run ",
		"SELECT row_number() FROM t":            "schema row_number",
	} {
		_, err := db.Query(t.Context(), text)
		var invalid *exec.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v, want an InvalidError", text, err)
			continue
		}
		if got := fmt.Sprint(invalid.Fault, " ", invalid.Name); got != want {
			t.Errorf("%s: %q, want %q: %v", text, got, want, err)
		}
		if strings.ContainsAny(invalid.Message, "\n") || strings.Contains(invalid.Message, "Candidate") || strings.Contains(invalid.Message, "beta") {
			t.Errorf("%s: the message tells more: %q", text, invalid.Message)
		}
	}
}

// TestPlans: the operators as DuckDB has them, with its estimate, and a signature without numbers.
func TestPlans(t *testing.T) {
	db := newDB(t, exectest.Fixture+"CREATE TABLE big AS SELECT range AS id, range % 10 AS k FROM range(10000);", exec.Config{})
	explain := func(text string) exec.Plan {
		p, err := db.Explain(t.Context(), text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p
	}
	p := explain("SELECT k, count(*) FROM big WHERE id > 5 GROUP BY k")
	if !strings.Contains(p.Rows[len(p.Rows)-1].Detail, "Table: test.main.big") || p.Rows[1].Parent != p.Rows[0].ID || p.EngineRows <= 0 || p.EngineCost != 0 {
		t.Errorf("%+v", p)
	}
	same := explain("SELECT k, count(*) FROM big WHERE id > 6 GROUP BY k")
	if p.Signature() != same.Signature() || p.Signature() == explain("SELECT id FROM big").Signature() {
		t.Errorf("signatures %q, %q", p.Signature(), same.Signature())
	}
}

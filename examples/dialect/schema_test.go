package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// TestSchema: keys, unique columns and generated ones are read, also where SQLite leaves names out, and what cannot be
// opened costs nothing else.
func TestSchema(t *testing.T) {
	pool, db := single(t, filepath.Join(t.TempDir(), "test.db"), Dialect{}, exec.Config{})
	_, err := pool.Exec(`CREATE TABLE Parent(b INT DEFAULT (1 + 1), a INT NOT NULL, c AS (a || b), PRIMARY KEY (a, b)) WITHOUT ROWID;
		CREATE TABLE child(x, y, z REFERENCES gone(z), FOREIGN KEY (x, y) REFERENCES parent, UNIQUE (y, x));
		CREATE UNIQUE INDEX one ON child(z); CREATE UNIQUE INDEX expressed ON child(z, x + 1);
		CREATE UNIQUE INDEX partial ON child(x) WHERE y > 1;
		CREATE VIEW broken AS SELECT nix FROM nowhere; CREATE VIEW fine(n) AS SELECT x FROM child;
		CREATE VIRTUAL TABLE docs USING fts5(title); DROP TABLE t; DROP TABLE users`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, table := range s.Tables {
		table.Definition = ""
		text, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		got[table.Name] = string(text)
	}
	want := map[string]string{
		"Parent": `{"name":"Parent","kind":"table","columns":[{"name":"b","type":"INT","not_null":true,"default":"1 + 1"},` +
			`{"name":"a","type":"INT","not_null":true},{"name":"c","generated":true}],"primary_key":["a","b"]}`,
		"child": `{"name":"child","kind":"table","columns":[{"name":"x"},{"name":"y"},{"name":"z"}],` +
			`"foreign_keys":[{"columns":["x","y"],"ref_table":"Parent","ref_columns":["a","b"]}],"unique":[["y","x"],["z"]]}`,
		"fine": `{"name":"fine","kind":"view","columns":[{"name":"n","type":"BLOB"}]}`,
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is\n%s, want\n%s", name, got[name], text)
		}
		delete(got, name)
	}
	if len(got) > 0 || s.Default != "main" || s.Tables[0].Kind != schema.BaseTable {
		t.Errorf("%v more, default %q", got, s.Default)
	}
}

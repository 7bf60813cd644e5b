package sqlite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// TestSecretFlows: what shows the values of a column that is called as secrets are may not be read either, and is in no schema.
func TestSecretFlows(t *testing.T) {
	pool, _ := open(t, `
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, secret TEXT,
	g TEXT GENERATED ALWAYS AS (secret || '!') VIRTUAL,
	h TEXT AS (upper("g")) STORED,
	n TEXT AS (upper(name)));
CREATE VIEW shown AS SELECT id, secret AS s FROM users;
CREATE VIEW again AS SELECT s AS other FROM shown;
CREATE VIEW fine AS SELECT id, name, n FROM users;
CREATE VIEW generated AS SELECT h AS v FROM users;
INSERT INTO users(id, name, secret) VALUES (1, 'ann', 's3cret-1');`)
	for _, test := range []struct {
		why    string
		policy exec.Policy
		want   string
	}{
		{"what is made of it", exec.Policy{}, "fine(id name n) users(id name n)"},
		{"revealed", exec.Policy{Reveal: []string{"users.secret"}}, "again(other) fine(id name n) generated(v) shown(id s) users(id name secret g h n)"},
		{"what is made of it is none by itself", exec.Policy{Reveal: []string{"users.g"}}, "fine(id name n) users(id name n)"},
		{"denied and revealed", exec.Policy{DenyColumns: []string{"secret"}, Reveal: []string{"*"}}, "fine(id name n) users(id name n)"},
	} {
		t.Run(test.why, func(t *testing.T) {
			db := newDB(t, pool, exec.Config{Policy: test.policy})
			s, err := db.Schema(trace.Into(t.Context(), trace.New("test")))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, table := range s.Tables {
				var columns []string
				for _, c := range table.Columns {
					columns = append(columns, c.Name)
				}
				got = append(got, table.Name+"("+strings.Join(columns, " ")+")")
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, text := range []string{"SELECT secret FROM users", "SELECT h FROM users", "SELECT * FROM users", "SELECT * FROM shown", "SELECT v FROM generated"} {
				if _, err := db.Query(t.Context(), text); (err == nil) != (test.why == "revealed") {
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
}

package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// TestSensitiveFlows: what shows the values of a column that holds secrets is as sensitive as that column.
func TestSensitiveFlows(t *testing.T) {
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
		want   []string
	}{
		{"what is made of it", exec.Policy{}, []string{"users.secret", "users.g", "users.h", "shown.id", "shown.s", "again.other", "generated.v"}},
		{"revealed", exec.Policy{Reveal: []string{"users.secret"}}, nil},
		{"one of them is none", exec.Policy{Reveal: []string{"users.g"}}, []string{"users.secret", "users.h", "shown.id", "shown.s", "again.other", "generated.v"}},
		{"denied", exec.Policy{DenyColumns: []string{"secret"}}, nil},
	} {
		t.Run(test.why, func(t *testing.T) {
			db := newDB(t, pool, exec.Config{Policy: test.policy})
			s, err := db.Schema(trace.Into(t.Context(), trace.New("test")))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, table := range s.Tables {
				for _, c := range table.Columns {
					if c.Sensitive {
						got = append(got, table.Name+"."+c.Name)
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

package exec_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
)

// outline is the tables of a schema with their columns, as one text a table.
func outline(s *schema.Schema) (tables []string) {
	for _, t := range s.Tables {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
		tables = append(tables, t.Name+"("+strings.Join(columns, " ")+")")
	}
	return tables
}

func TestSchemaUnderPolicy(t *testing.T) {
	const script = `
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, password TEXT UNIQUE, shout TEXT AS (upper(password)), loud TEXT AS (upper(name)));
CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users(id), pass TEXT REFERENCES users(password));
CREATE TABLE keyring(password TEXT PRIMARY KEY);
CREATE VIEW names AS SELECT name FROM users;
CREATE VIEW logins AS SELECT password AS p FROM users;
CREATE VIEW matched AS SELECT users.id FROM users JOIN keyring USING (password);
CREATE VIEW broken AS SELECT gone FROM users; -- not to be read, so not in any schema`
	tests := []struct {
		why    string
		policy exec.Policy
		want   []string
		keys   int // foreign keys of orders
	}{
		{
			"everything", exec.Policy{Reveal: []string{"*"}},
			[]string{"users(id name password shout loud)", "orders(id user_id pass)", "keyring(password)", "names(name)",
				"logins(p)", "matched(id)"}, 2,
		},
		{
			"what looks like a secret, what is made of it, and the views over it", exec.Policy{},
			[]string{"users(id name loud)", "orders(id user_id pass)", "names(name)"}, 1,
		},
		{
			"a column, what is made of it, and the views over it", exec.Policy{DenyColumns: []string{"users.password"},
				Reveal: []string{"keyring.password"}},
			[]string{"users(id name loud)", "orders(id user_id pass)", "keyring(password)", "names(name)"}, 1,
		},
		{
			"a column of every table, one of which has no other", exec.Policy{DenyColumns: []string{"password"}},
			[]string{"users(id name loud)", "orders(id user_id pass)", "names(name)"}, 1,
		},
		{
			"a table and its views", exec.Policy{DenyTables: []string{"main.users"}, Reveal: []string{"keyring.password"}},
			[]string{"orders(id user_id pass)", "keyring(password)"}, 0,
		},
		{
			"a list without the table under a view", exec.Policy{AllowTables: []string{"names", "orders"}},
			[]string{"orders(id user_id pass)"}, 0,
		},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			pool, db := open(t, script, exec.Config{Policy: test.policy})
			s := testutil.Value(db.Schema(context.Background()))(t)
			if diff := cmp.Diff(test.want, outline(s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			unrestricted := dbtest.NewDB(t, pool, sqlite.Dialect{}, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
			all := testutil.Value(unrestricted.Schema(context.Background()))(t)
			before := outline(all)
			given, err := db.Permitted(context.Background(), all)
			if err != nil || !cmp.Equal(given.Tables, s.Tables) || !cmp.Equal(outline(all), before) {
				t.Errorf("a given schema: %v, %v; it is now %v", err, cmp.Diff(s.Tables, given.Tables), outline(all))
			}
			for _, table := range s.Tables {
				if table.Name == "orders" && len(table.ForeignKeys) != test.keys {
					t.Errorf("foreign keys of orders: %+v, want %d", table.ForeignKeys, test.keys)
				}
				if test.keys < 2 && strings.Contains(table.Definition, "password") && table.Name == "users" {
					t.Errorf("the definition names a denied column: %s", table.Definition)
				}
			}
		})
	}
}

// TestSchemaTogether lets many ask at once, some of whom give up.
func TestSchemaTogether(t *testing.T) {
	_, db := open(t, "CREATE TABLE a(x)", exec.Config{})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var wg sync.WaitGroup
	schemas := make([]*schema.Schema, 40)
	for i := range schemas {
		wg.Go(func() {
			if i%4 == 0 {
				if _, err := db.Schema(ended); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				return
			}
			s, err := db.Schema(context.Background())
			if err != nil {
				t.Error(err)
			}
			schemas[i] = s
		})
	}
	wg.Wait()
	for i, s := range schemas {
		if i%4 != 0 && s != schemas[1] {
			t.Fatalf("schema %d is another one", i)
		}
	}
}

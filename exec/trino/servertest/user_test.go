package servertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/trace"
)

// TestAsUser: each scope's user sees the tables and rows that the server's rules give them, also where ten ask at once
// on four connections, and without a scope nothing is asked.
func TestAsUser(t *testing.T) {
	place := open(t, "CREATE TABLE orders(id INTEGER, owner VARCHAR, memo VARCHAR);\nCREATE TABLE plans(id INTEGER);\n"+
		"INSERT INTO orders SELECT i, 'u' || CAST(i % 10 AS VARCHAR), 'of-u' || CAST(i % 10 AS VARCHAR) || '-' "+
		"FROM UNNEST(sequence(1, 50)) AS x(i);\n")
	rules(t, fmt.Sprintf(`{"catalogs": [{"user": "admin", "allow": "all"}, {"catalog": "memory", "allow": "read-only"}],
	"schemas": [{"user": "admin", "owner": true}, {"owner": false}],
	"tables": [{"user": "admin", "privileges": ["SELECT", "INSERT", "OWNERSHIP"]},
		{"schema": "%[1]s", "table": "plans", "user": "u0", "privileges": ["SELECT"]}, {"schema": "%[1]s", "table": "plans", "privileges": []},
		{"schema": "%[1]s", "table": "orders", "user": "u[0-9]", "privileges": ["SELECT"], "filter": "owner = current_user"},
		{"table": "columns|tables|views", "schema": "information_schema", "privileges": ["SELECT"]}, {"privileges": []}]}`, place))
	p := pool(t, "service", place)
	p.SetMaxOpenConns(4)
	db := dbtest.NewDB(t, p, trino.Dialect{AsUser: true}, exec.Config{Limits: patient})
	of := func(user string) *exec.DB {
		view, err := db.For(&exec.Scope{Key: "key of " + user, Settings: map[string]string{"user": user}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return view
	}
	for why, call := range map[string]func() error{
		"a statement without a scope": func() error { _, err := db.Query(t.Context(), "SELECT 1"); return err },
		"a schema without a scope":    func() error { _, err := db.Schema(t.Context()); return err },
		"Ready without a scope":       func() error { return db.Ready(t.Context()) },
		"a scope without a user":      func() error { _, err := db.For(&exec.Scope{Key: "k"}, nil); return err },
		"a scope without a key": func() error {
			_, err := db.For(&exec.Scope{Settings: map[string]string{"user": "u0"}}, nil)
			return err
		},
		"a policy and no scope": func() error {
			_, err := db.For(nil, &exec.Policy{DenyTables: []string{"plans"}})
			return err
		},
	} {
		if err := call(); !errors.Is(err, exec.ErrNoScope) {
			t.Errorf("%s: %v, want ErrNoScope", why, err)
		}
	}
	for user, want := range map[string]string{"u0": "orders plans", "u1": "orders", "stranger": ""} {
		view := of(user)
		s, err := view.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, table := range s.Tables {
			names = append(names, table.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s sees %q, want %q", user, got, want)
		}
		if _, err := view.Query(t.Context(), "SELECT id FROM plans"); (err == nil) != (user == "u0") || err != nil &&
			!exec.IsRejection(err) {
			t.Errorf("%s reads plans: %v", user, err)
		}
	}
	e, err := texttosql.New(p, texttosql.NoModel, texttosql.WithDialect(trino.Dialect{AsUser: true}),
		texttosql.WithLimits(patient))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Query(t.Context(), "SELECT 1"); !errors.Is(err, exec.ErrNoScope) {
		t.Errorf("an engine without a scope: %v", err)
	}
	for _, user := range []string{"u1", "u2"} {
		r, err := e.Query(t.Context(), "SELECT memo FROM orders",
			texttosql.WithScope(exec.Scope{Key: user, Settings: map[string]string{"user": user}}))
		if err != nil || len(r.Rows) != 5 || r.Rows[0][0] != "of-"+user+"-" {
			t.Errorf("the engine of %s: %+v, %v", user, r, err)
		}
	}
	var asking sync.WaitGroup
	for i := range 200 {
		user := fmt.Sprintf("u%d", i%10)
		asking.Go(func() {
			root := trace.Tracer{Keep: ^trace.Sensitivity(0)}.New("question")
			ctx := trace.NewContext(context.Background(), root)
			view := of(user)
			rows, err := view.Query(ctx, "SELECT owner, memo FROM orders")
			sample := ""
			if s, serr := view.Schema(ctx); i < 20 && serr == nil && len(s.Tables) > 0 {
				read, rerr := view.Sample(ctx, s.Tables[0], exec.SampleOptions{Rows: 3})
				sample, err = fmt.Sprint(read), errors.Join(err, rerr)
			}
			root.End()
			shown, _ := root.JSON(^trace.Sensitivity(0))
			if err != nil || len(rows.Rows) != 5 {
				t.Errorf("%s: %v, %v", user, rows, err)
				return
			}
			for other := range 10 {
				if name := fmt.Sprintf("of-u%d-", other); name != "of-"+user+"-" &&
					strings.Contains(fmt.Sprint(rows, sample, string(shown)), name) {
					t.Errorf("%s is shown %s", user, name)
				}
			}
		})
	}
	asking.Wait()
}

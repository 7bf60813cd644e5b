package exectest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// PolicyCase is a statement under a policy, on the tables of the policies of the suite.
type PolicyCase struct {
	Why    string
	Policy exec.Policy
	SQL    string
	Want   string // the reason for the refusal; "": it runs; "any": it is refused for any reason
}

const anyReason = "any"

// The policies of the suite's own cases.
var (
	denyEverywhere = exec.Policy{DenyColumns: []string{"PASSWORD"}}
	denyTable      = exec.Policy{DenyTables: []string{"users"}}
	allowOnly      = exec.Policy{AllowTables: []string{"t", "orders"}}
)

func portablePolicies() []PolicyCase {
	const (
		runs   = ""
		column = "column"
		table  = "table"
	)
	return []PolicyCase{
		// What a policy leaves alone.
		{"an allowed column", dbtest.DenyColumn, "SELECT name FROM users", runs},
		{"counting reads no column", dbtest.DenyColumn, "SELECT count(*) FROM users", runs},
		{"a join that names its columns", dbtest.DenyColumn, "SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id",
			runs},
		{"USING over an allowed column", dbtest.DenyColumn, "SELECT name FROM users JOIN orders USING (id)", runs},
		{"a view over allowed columns", dbtest.DenyColumn, "SELECT name FROM names", runs},
		{"the column of that name in another table", dbtest.DenyColumn, "SELECT password FROM keyring", runs},
		{"an alias that looks denied", dbtest.DenyColumn, "SELECT name AS password FROM users", runs},
		{"an allowed table", allowOnly, "SELECT total FROM orders", runs},
		{"a recursive CTE", allowOnly, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) " +
			"SELECT count(*) FROM n", runs},
		{"a derived table", dbtest.DenyColumn, "SELECT d.x, d.n FROM (SELECT id + 1 AS x, name AS n FROM users) AS d", runs},
		{"a CTE of new columns", dbtest.DenyColumn, "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c " +
			"JOIN c AS d ON d.x = c.x", runs},
		{"a compound", dbtest.DenyColumn, "SELECT z FROM (SELECT id AS z FROM users UNION SELECT a FROM t) AS d ORDER BY z",
			runs},
		{"a star of another table", dbtest.DenyColumn,
			"SELECT o.*, u.name FROM orders AS o JOIN users AS u ON u.id = o.user_id", runs},
		{"a view with its table", exec.Policy{AllowTables: []string{"names", "users"}}, "SELECT name FROM names", runs},
		{"NATURAL JOIN of ordinary tables", exec.Policy{}, "SELECT count(*) FROM users NATURAL JOIN orders", runs},
		{"USING in a view, nothing denied", exec.Policy{}, "SELECT id FROM matched", runs},

		// Columns.
		{"by name", dbtest.DenyColumn, "SELECT password FROM users", column},
		{"by star", dbtest.DenyColumn, "SELECT * FROM users", column},
		{"by star of a table", dbtest.DenyColumn, "SELECT u.* FROM users AS u", column},
		{"by another case", dbtest.DenyColumn, "SELECT PassWord FROM users", column},
		{"by an alias", dbtest.DenyColumn, "SELECT u.password FROM users AS u", column},
		{"in a condition", dbtest.DenyColumn, "SELECT 1 FROM users WHERE password > 'a'", column},
		{"in a window", dbtest.DenyColumn, "SELECT rank() OVER (ORDER BY password) FROM users", column},
		{"in an order", dbtest.DenyColumn, "SELECT name FROM users ORDER BY password", column},
		{"in a group", dbtest.DenyColumn, "SELECT count(*) FROM users GROUP BY password", column},
		{"in HAVING", dbtest.DenyColumn, "SELECT name FROM users GROUP BY name HAVING max(password) > 'a'", column},
		{"in a join", dbtest.DenyColumn, "SELECT k.note FROM keyring k JOIN users u ON u.password = k.password", column},
		{"in a subquery", dbtest.DenyColumn, "SELECT a FROM t WHERE b IN (SELECT password FROM users)", column},
		{"in a correlated subquery", dbtest.DenyColumn,
			"SELECT (SELECT max(k.note) FROM keyring k WHERE k.password = u.password) FROM users u", column},
		{"in a CTE", dbtest.DenyColumn, "WITH c AS (SELECT id, password AS x FROM users) SELECT x FROM c", column},
		{"by a star in a CTE", dbtest.DenyColumn, "WITH c AS (SELECT * FROM users) SELECT name FROM c", column},
		{"in an arm of a compound", dbtest.DenyColumn, "SELECT name FROM users UNION ALL SELECT password FROM users", column},
		{"in every table of that column", denyEverywhere, "SELECT password FROM keyring", column},
		{"compared by USING", dbtest.DenyColumn, "SELECT count(*) FROM keyring JOIN users USING (password)", column},
		{"by the second name of USING", dbtest.DenyColumn, "SELECT count(*) FROM users JOIN users v USING (id, password)",
			column},
		{"by a CTE that guesses", dbtest.DenyColumn,
			"WITH g(password) AS (SELECT 's3cret-1') SELECT count(*) FROM g JOIN users USING (password)", column},
		{"by NATURAL JOIN", dbtest.DenyColumn, "SELECT count(*) FROM keyring NATURAL JOIN users", column},
		{"by NATURAL LEFT JOIN", dbtest.DenyColumn, "SELECT count(*) FROM keyring natural left join users", column},
		{"in a view by USING", dbtest.DenyColumn, "SELECT id FROM matched", anyReason},
		{"in a view of that view", dbtest.DenyColumn, "SELECT count(*) FROM matched_again", anyReason},
		{"in a view by NATURAL JOIN", dbtest.DenyColumn, "SELECT note FROM natural_keys", anyReason},
		{"a view that renames it", dbtest.DenyColumn, "SELECT p FROM logins", anyReason},
		{"another column of that view", dbtest.DenyColumn, "SELECT id FROM logins", anyReason},

		// Absent columns have the error of denied ones.
		{"an absent column", dbtest.DenyColumn, "SELECT nosuch FROM users", column},
		{"an absent column of an alias", dbtest.DenyColumn, "SELECT u.nosuch FROM users AS u", column},
		{"an absent column in a condition", dbtest.DenyColumn, "SELECT 1 FROM users WHERE nosuch > 'a'", column},
		{"an absent column in an order", dbtest.DenyColumn, "SELECT name FROM users ORDER BY nosuch", column},
		{"an absent column in USING", dbtest.DenyColumn, "SELECT count(*) FROM keyring JOIN users USING (nosuch)", column},

		// Tables.
		{"by name", denyTable, "SELECT name FROM users", table},
		{"by its rows", denyTable, "SELECT count(*) FROM users", table},
		{"by existence", denyTable, "SELECT EXISTS (SELECT 1 FROM users)", table},
		{"by NATURAL JOIN", denyTable, "SELECT count(*) FROM orders NATURAL JOIN users", table},
		{"by USING", denyTable, "SELECT count(*) FROM orders JOIN users USING (id)", table},
		{"behind a comma", denyTable, "SELECT count(*) FROM t, users", table},
		{"by a view", denyTable, "SELECT id FROM names", table},
		{"by a view that joins", denyTable, "SELECT note FROM natural_keys", table},
		{"behind a CTE of its name", denyTable, "WITH x AS (SELECT id FROM users) SELECT * FROM x", table},
		{"not on the list", allowOnly, "SELECT name FROM users", table},
		{"a view over what is not on the list", exec.Policy{AllowTables: []string{"names"}}, "SELECT name FROM names", table},
		{"a view that is denied itself", exec.Policy{DenyTables: []string{"names"}},
			"SELECT count(*) FROM orders NATURAL JOIN names", table},
	}
}

func checkPolicy(t testing.TB, e Engine) error {
	d := e.open(t, dbtest.PolicyScript+e.PolicyScript)
	ctx := t.Context()
	same, err := d.watch(ctx)
	if err != nil {
		return err
	}
	wide, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	var errs []error
	dbs := map[string]*exec.DB{} // of a policy, whose guard knows the schema after the first statement
	portable := portablePolicies()
	for i := range portable {
		portable[i].SQL = e.write(portable[i].SQL)
	}
	for _, test := range append(portable, e.Policies...) {
		key := fmt.Sprintf("%q", test.Policy)
		db := dbs[key]
		if db == nil {
			if db, err = d.db(exec.Config{Policy: test.Policy}); err != nil {
				return fmt.Errorf("%s: %w", test.Why, err)
			}
			dbs[key] = db
		}
		table, err := db.Query(ctx, test.SQL)
		r, is := refused(err)
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: %s: %w", test.Why, test.SQL, fmt.Errorf(format, args...)))
		}
		switch {
		case test.Want == "" && err != nil:
			fail("%w", err)
		case test.Want != "" && !is:
			fail("want a refusal (%s), got %v, %w", test.Want, table, orNone(err))
		case test.Want != "" && test.Want != anyReason && r.Reason != test.Want:
			fail("%w, want a refusal (%s)", err, test.Want)
		case is && strings.Contains(err.Error(), "s3cret"):
			fail("the error repeats a stored value: %w", err)
		case strings.HasPrefix(test.Why, "by star") &&
			(r.Name != "*" || !strings.Contains(r.Detail, "name the columns that you need") ||
				strings.Contains(r.Detail, "password")):
			fail("%w, want the advice to name columns", err)
		}
		if asked, nerr := underPolicy(ctx, wide, test.Policy, test.SQL); asked && fmt.Sprint(nerr) != fmt.Sprint(err) {
			fail("%w, and %w where the policy is that of a question", orNone(err), orNone(nerr))
		}
		// No other way in is wider.
		if _, err := db.Analyze(ctx, test.SQL); (err == nil) != (test.Want == "") {
			fail("Analyze: %w", orNone(err))
		}
		if _, err := db.Explain(ctx, test.SQL); (err == nil) != (test.Want == "") {
			fail("Explain: %w", orNone(err))
		}
	}

	db, err := d.db(exec.Config{Policy: dbtest.DenyColumn})
	if err != nil {
		return err
	}
	if _, err := db.Probe(ctx, "", "users", "password", "s3cret-1"); !isRefused(err) {
		errs = append(errs, fmt.Errorf("probe of a denied column: %w", orNone(err)))
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	for name, want := range map[string]int{"users": 2, "keyring": 2, "names": 2, "logins": 0, "matched": 0,
		"matched_again": 0, "natural_keys": 0} {
		if table, ok := s.Lookup("", name); ok != (want > 0) || ok && name != "users" && len(table.Columns) != want {
			errs = append(errs, fmt.Errorf("the schema under a policy: %s there: %v", name, ok))
		} else if ok {
			if _, ok := table.Column("password"); ok && name == "users" {
				errs = append(errs, errors.New("the schema shows a denied column"))
			}
			sample, err := db.Sample(ctx, *table, exec.SampleOptions{Rows: 5})
			if err != nil || strings.Contains(fmt.Sprint(sample), "s3cret") && name != "keyring" {
				errs = append(errs, fmt.Errorf("a sample of %s: %v, %w", name, sample, orNone(err)))
			}
		}
	}
	return errors.Join(append(errs, same())...)
}

// underPolicy asks db a statement with the policy as that of one question, unless it denies nothing or allows more than
// db.
func underPolicy(ctx context.Context, db *exec.DB, p exec.Policy, sql string) (asked bool, err error) {
	if p.Reveal != nil || p.AllowFunctions != nil || len(p.AllowTables)+len(p.DenyTables)+len(p.DenyColumns) == 0 {
		return false, nil
	}
	view, err := db.For(nil, &p)
	if err == nil {
		_, err = view.Query(ctx, sql)
	}
	return true, err
}

func isRefused(err error) bool { _, is := refused(err); return is }

// checkPolicyNames: a name that nothing has must not leave a column open.
func checkPolicyNames(t testing.TB, e Engine) error {
	d := e.open(t, dbtest.PolicyScript)
	var errs []error
	for _, test := range []struct {
		policy exec.Policy
		want   string // in PolicyError.Unknown; "": no error
	}{
		{exec.Policy{AllowTables: []string{"t", "users"}, DenyColumns: []string{"users.password", "name", "names.id"}}, ""},
		{exec.Policy{DenyTables: []string{"user"}}, `DenyTables: "user"`},
		{exec.Policy{DenyColumns: []string{"users.pasword"}}, `DenyColumns: "users.pasword"`},
		{exec.Policy{DenyColumns: []string{"pasword"}}, `DenyColumns: "pasword"`},
		{exec.Policy{AllowTables: []string{"orderz"}}, `AllowTables: "orderz"`},
	} {
		db, err := d.unready(exec.Config{Policy: test.policy})
		if err != nil {
			return err
		}
		for name, err := range map[string]error{"Ready": db.Ready(t.Context()), "Query": dbtest.Answers(t.Context(), db,
			"SELECT a FROM t", 2)} {
			var unknown *exec.PolicyError
			switch {
			case test.want == "" && err != nil:
				errs = append(errs, fmt.Errorf("%s with %+v: %w", name, test.policy, err))
			case test.want != "" && name == "Ready" &&
				(!errors.As(err, &unknown) || !strings.Contains(strings.Join(unknown.Unknown, ", "), test.want)):
				errs = append(errs, fmt.Errorf("%s with %s: %w, want an *exec.PolicyError", name, test.want, orNone(err)))
			}
		}
	}
	return errors.Join(errs...)
}

// checkAbsent: under a policy nobody can find out by the error which tables there are.
func checkAbsent(t testing.TB, e Engine) error {
	d := e.open(t, dbtest.PolicyScript)
	var errs []error
	for name, policy := range map[string]exec.Policy{"denied": denyTable, "not allowed": allowOnly} {
		db, err := d.db(exec.Config{Policy: policy})
		if err != nil {
			return err
		}
		for _, form := range []string{
			"SELECT * FROM %s", "SELECT count(*) FROM %s", "SELECT nix FROM %s", "SELECT nix FROM t JOIN %s USING (id)",
			"SELECT a FROM t NATURAL JOIN %s", "SELECT a FROM t WHERE a IN (SELECT id FROM %s)", "SELECT nope(id) FROM %s",
			"WITH c AS (SELECT id FROM %s) SELECT * FROM c", "SELECT sum(a, b, %[1]s.id) FROM t, %[1]s",
			"SELECT %[1]s.password FROM %[1]s",
			"SELECT 1 FROM %s AS x(p, q)", "SELECT (SELECT max(name) FROM %s) FROM t", "SELECT 1 FROM %s, nowhere",
			"SELECT 1 FROM nowhere, %s",
		} {
			var texts []string
			for _, table := range []string{"users", "usurs"} {
				_, err := db.Query(t.Context(), fmt.Sprintf(form, table))
				texts = append(texts, strings.ReplaceAll(fmt.Sprint(err), "usurs", "users"))
				// it is repaired by the name
				if r, is := refused(err); is && r.Reason == "table" && r.Name != table && r.Name != "nowhere" {
					errs = append(errs, fmt.Errorf("%s: %s: %w, without the name", name, fmt.Sprintf(form, table), orNone(err)))
				}
				if err == nil {
					errs = append(errs, fmt.Errorf("%s: %s: no error", name, fmt.Sprintf(form, table)))
				}
			}
			if texts[0] != texts[1] {
				errs = append(errs, fmt.Errorf("%s, %s: %q for a table that is there, %q for one that is not", name, form, texts[0],
					texts[1]))
			}
		}
	}
	return errors.Join(errs...)
}

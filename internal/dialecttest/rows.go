package dialecttest

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// Rows runs statements under rules about rows, and without rules on a copy that has no other rows: each is refused,
// does not compile, or gives the same on both, and no error, warning or plan of it has a value of a row that the rules
// hide. It returns how many were answered, and fails t where one is not so.
func Rows(t testing.TB, e exectest.Engine, of dbtest.RowsOf, statements ...string) (answered int) {
	t.Helper()
	answered, err := dbtest.CompareRows(t, e.Make, of, statements)
	if err != nil {
		t.Error(err)
	}
	return answered
}

// Inspections returns how often statements with text in them are sent for the schemas of a policy and of three narrower
// ones. It fails t where one of them shows what it denies.
func Inspections(t testing.TB, e exectest.Engine, text string) (n int) {
	t.Helper()
	faults := &exectest.Faults{}
	db, err := behind(e, faults).Make(t, dbtest.RowsScript)(exec.Config{Policy: dbtest.RowsPolicy})
	if err == nil {
		db, err = db.For(&dbtest.RowsScope, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	names, err := events(faults, func() error {
		for _, column := range []string{"", "memo", "total", "customer_id"} {
			view := db
			if column != "" {
				if view, err = db.For(nil, &exec.Policy{DenyColumns: []string{"orders." + column}}); err != nil {
					return err
				}
			}
			s, err := view.Schema(t.Context())
			if err != nil {
				return err
			}
			for _, name := range []string{"memo", "total", "customer_id"} {
				orders, _ := s.Lookup("", "orders")
				_, shown := orders.Column(name)
				_, err := view.Query(t.Context(), "SELECT "+name+" FROM orders")
				isRefused := errors.As(err, new(*exec.RefusedError))
				if denied := name == column; shown == denied || isRefused != denied {
					t.Errorf("without %q: %s is in the schema: %v, and a statement gives %v", column, name, shown, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.Contains(name, text) {
			n++
		}
	}
	return n
}

// behind returns an engine whose user's connections are those of faults.
func behind(e exectest.Engine, faults *exectest.Faults) exectest.Engine {
	open, unwrap := e.Open, e.Unwrap
	e.Open = func(t testing.TB, script string) exectest.Database {
		made := open(t, script)
		made.Owner, faults.Connector = cmp.Or(made.Owner, made.User), made.User
		made.User = faults
		return made
	}
	e.Unwrap = func(driverConn any) any {
		if driverConn = exectest.Unwrap(driverConn); unwrap != nil {
			driverConn = unwrap(driverConn)
		}
		return driverConn
	}
	return e
}

// events returns the calls of the driver in f, of equal ones in a row the first and the last.
func events(faults *exectest.Faults, f func() error) (names []string, err error) {
	faults.Fail(func(event string) error {
		if k := len(names); k < 2 || names[k-1] != event || names[k-2] != event {
			names = append(names, event)
		}
		return nil
	})
	err = f()
	faults.Fail(nil)
	return names, err
}

// RowPlans fails t where the plan of a statement under rules about rows tells of rows that they hide: it has to be the
// same where those are gone. analyze is the statement that makes the engine count rows.
func RowPlans(t testing.TB, e exectest.Engine, analyze string) {
	t.Helper()
	script := dbtest.RowsScript + `CREATE TABLE bulk(id INTEGER, tenant_id INTEGER, memo VARCHAR(100));
INSERT INTO bulk SELECT a.id + 10 * b.id + 100 * c.id + 1000 * d.id, 2, '-Q7-' FROM orders a, orders b, orders c, orders d;
INSERT INTO bulk SELECT id, 1, memo FROM orders WHERE tenant_id = 1;
CREATE INDEX bulk_memo ON bulk(memo);
`
	policy := dbtest.RowsPolicy
	policy.Rows = map[string]string{"bulk": "tenant_id = :tenant", "orders": "tenant_id = :tenant"}
	var plans [2][]string
	for i, hide := range []string{"", "DELETE FROM bulk WHERE tenant_id = 2;\n"} {
		db, err := dbtest.Ready(e.Make(t, script+hide+analyze)(exec.Config{Policy: policy}))
		if err == nil {
			db, err = db.For(&dbtest.RowsScope, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"SELECT id FROM bulk WHERE memo = '-Q7-'", "SELECT b.id FROM bulk b JOIN orders o ON o.id = b.id " +
				"WHERE b.memo > '-Q7'",
			"SELECT count(*) FROM bulk WHERE id IN (SELECT id FROM orders)",
			"SELECT memo, count(*) FROM bulk GROUP BY memo ORDER BY 2",
		} {
			p, err := db.Explain(t.Context(), text)
			if err != nil || len(p.Rows) == 0 {
				t.Errorf("%s: %v, %v", text, p, err)
			}
			plans[i] = append(plans[i], fmt.Sprintf("%s: %+v", text, p))
		}
	}
	for i := range plans[0] {
		if plans[0][i] != plans[1][i] {
			t.Errorf("%s\nand without the hidden rows\n%s", plans[0][i], plans[1][i])
		}
	}
}

package exectest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
)

func checkRows(t testing.TB, e Engine) error {
	if _, ok := e.Dialect.(exec.RowFilterDialect); !ok {
		_, err := exec.New(e.open(t, e.fixture()).user, e.Dialect, exec.Config{Policy: dbtest.RowsPolicy})
		if err == nil {
			return errors.New("no error for rules about rows, which the dialect cannot read through")
		}
		return nil
	}
	statements := []string{
		"SELECT * FROM orders", "SELECT o.memo, c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer_id " +
			"ORDER BY o.id",
		"SELECT count(*) FROM countries LEFT JOIN orders ON orders.tenant_id = 2",
		"SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
		"WITH customers AS (SELECT * FROM orders) SELECT max(memo) FROM customers",
		"SELECT tenant_id, sum(total) FROM orders GROUP BY tenant_id",
		"SELECT id, sum(total) OVER (ORDER BY id) FROM orders", "SELECT memo FROM orders UNION SELECT note FROM customers",
		"SELECT name FROM order_names ORDER BY id",
		"SELECT 1 / (total - 770077) FROM orders WHERE CAST(memo AS DECIMAL) > 0",
		"SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)",
	}
	answered, err := dbtest.CompareRows(t, e.Make, dbtest.RowsOf{}, statements)
	if err == nil && answered < len(statements) {
		err = fmt.Errorf("only %d of %d statements are answered", answered, len(statements))
	}
	d := e.open(t, dbtest.RowsScript)
	db, unready := d.db(exec.Config{Policy: dbtest.RowsPolicy})
	if unready != nil {
		return errors.Join(err, unready)
	}
	if _, qerr := db.Query(t.Context(), "SELECT code FROM countries"); !errors.Is(qerr, exec.ErrNoScope) {
		err = errors.Join(err, fmt.Errorf("without a scope: %w, want exec.ErrNoScope", orNone(qerr)))
	}
	view, ferr := db.For(&dbtest.RowsScope, nil)
	if ferr != nil {
		return errors.Join(err, ferr)
	}
	for _, text := range []string{"SELECT what FROM audit", "SELECT w FROM audited",
		"SELECT id FROM orders JOIN audit USING (id)"} {
		if _, qerr := view.Query(t.Context(), text); !errors.As(qerr, new(*exec.RefusedError)) {
			err = errors.Join(err, fmt.Errorf("%s: %w, want a refusal", text, orNone(qerr)))
		}
	}
	return err
}

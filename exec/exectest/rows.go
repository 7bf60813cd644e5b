package exectest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// RowsCanary is in every text of a row that the rules of [Rows] hide, and in no other one.
const RowsCanary = "-Q7-"

// rowsScript makes tables with rows of two tenants, of which one is asked for.
const rowsScript = `CREATE TABLE countries(code VARCHAR(10) PRIMARY KEY, name VARCHAR(40));
CREATE TABLE customers(id INTEGER PRIMARY KEY, tenant_id INTEGER, region VARCHAR(40), note VARCHAR(100), name VARCHAR(100));
CREATE TABLE orders(id INTEGER PRIMARY KEY, tenant_id INTEGER, customer_id INTEGER, total INTEGER, memo VARCHAR(100));
CREATE TABLE audit(id INTEGER PRIMARY KEY, what VARCHAR(100));
CREATE INDEX by_memo ON orders(memo);
CREATE VIEW order_names AS SELECT orders.id, customers.name, orders.total FROM orders JOIN customers ON customers.id = orders.customer_id;
CREATE VIEW every_memo AS SELECT memo AS n FROM orders UNION ALL SELECT note FROM customers;
CREATE VIEW totals AS SELECT tenant_id, sum(total) AS total FROM orders GROUP BY tenant_id;
CREATE VIEW audited AS SELECT what AS w FROM audit;
CREATE VIEW order_audit AS SELECT what FROM orders JOIN audit ON audit.id = orders.id;
INSERT INTO countries VALUES ('DE', 'Germany'), ('FR', 'France');
INSERT INTO customers VALUES (1, 1, 'EU', '2020-01-05', 'ann'), (2, 1, 'US', 'Zebu-Q7-1', 'Zebu-Q7-2'), (3, 2, 'EU', 'Zebu-Q7-3', 'Zebu-Q7-4'),
 (4, 1, 'EU', '17', 'dora'), (5, NULL, 'EU', 'Zebu-Q7-5', 'Zebu-Q7-6');
INSERT INTO orders VALUES (1, 1, 1, 10, '1'), (2, 1, 2, 20, '2'), (3, 2, 3, 770077, 'Zebu-Q7-7'), (4, 1, 4, 5, '4'), (5, 1, 1, 7, '5'),
 (6, NULL, 1, 770077, 'Zebu-Q7-8'), (7, 2, 3, 770077, '{"a": "Zebu-Q7-9"}'), (8, 2, 4, 770077, 'Zebu-Q7-0(');
INSERT INTO audit VALUES (1, 'Zebu-Q7-a'), (3, 'Zebu-Q7-b');
`

// rowsHidden leaves the rows that the rules allow.
const rowsHidden = `DELETE FROM orders WHERE tenant_id IS NULL OR tenant_id <> 1;
DELETE FROM customers WHERE tenant_id IS NULL OR tenant_id <> 1 OR region <> 'EU';
DELETE FROM audit WHERE id > 0;
`

// rowsPolicy are the rules, and rowsScope is whom they are for.
var (
	rowsPolicy = exec.Policy{
		Rows:   map[string]string{"orders": "tenant_id = :tenant", "customers": "tenant_id = :tenant AND region = :region"},
		Shared: []string{"countries"},
	}
	rowsScope = exec.Scope{Key: "one", Params: map[string]any{"tenant": 1, "region": "EU"}}
)

// RowsOf is what tables of an engine's own add to those of [Rows].
type RowsOf struct {
	Script, Hidden string            // makes them, and takes away from a copy what the rules hide
	Rows           map[string]string // their rules
	Fence          string            // Policy.Fence
}

// Rows runs statements under rules about rows, and without rules on a copy that has no other rows: each is refused, does
// not compile, or gives the same on both, and no error, warning or plan of it has a value of a row that the rules hide. It
// returns how many were answered, and fails t where one is not so.
func Rows(t testing.TB, e Engine, of RowsOf, statements ...string) (answered int) {
	t.Helper()
	answered, err := runRows(t, e, of, statements)
	if err != nil {
		t.Error(err)
	}
	return answered
}

func checkRows(t testing.TB, e Engine) error {
	if _, ok := e.Dialect.(exec.Ruler); !ok {
		_, err := exec.New(e.open(t, e.fixture()).user, e.Dialect, exec.Config{Policy: rowsPolicy})
		if err == nil {
			return errors.New("no error for rules about rows, which the dialect cannot read through")
		}
		return nil
	}
	statements := []string{
		"SELECT * FROM orders", "SELECT o.memo, c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer_id ORDER BY o.id",
		"SELECT count(*) FROM countries LEFT JOIN orders ON orders.tenant_id = 2", "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
		"WITH customers AS (SELECT * FROM orders) SELECT max(memo) FROM customers", "SELECT tenant_id, sum(total) FROM orders GROUP BY tenant_id",
		"SELECT id, sum(total) OVER (ORDER BY id) FROM orders", "SELECT memo FROM orders UNION SELECT note FROM customers",
		"SELECT name FROM order_names ORDER BY id",
		"SELECT 1 / (total - 770077) FROM orders WHERE CAST(memo AS DECIMAL) > 0",
		"SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)",
	}
	answered, err := runRows(t, e, RowsOf{}, statements)
	if err == nil && answered < len(statements) {
		err = fmt.Errorf("only %d of %d statements are answered", answered, len(statements))
	}
	d := e.open(t, rowsScript)
	db, unready := d.db(exec.Config{Policy: rowsPolicy})
	if unready != nil {
		return errors.Join(err, unready)
	}
	if _, qerr := db.Query(t.Context(), "SELECT code FROM countries"); !errors.Is(qerr, exec.ErrNoScope) {
		err = errors.Join(err, fmt.Errorf("without a scope: %w, want exec.ErrNoScope", orNone(qerr)))
	}
	view, ferr := db.For(&rowsScope, nil)
	if ferr != nil {
		return errors.Join(err, ferr)
	}
	for _, text := range []string{"SELECT what FROM audit", "SELECT w FROM audited", "SELECT id FROM orders JOIN audit USING (id)"} {
		if _, qerr := view.Query(t.Context(), text); !errors.As(qerr, new(*exec.RefusedError)) {
			err = errors.Join(err, fmt.Errorf("%s: %w, want a refusal", text, orNone(qerr)))
		}
	}
	return err
}

func runRows(t testing.TB, e Engine, of RowsOf, statements []string) (answered int, err error) {
	policy := rowsPolicy
	policy.Rows, policy.Fence = map[string]string{}, of.Fence
	for _, rules := range []map[string]string{rowsPolicy.Rows, of.Rows} {
		for table, rule := range rules {
			policy.Rows[table] = rule
		}
	}
	whole, filtered := e.open(t, rowsScript+of.Script), e.open(t, rowsScript+of.Script+rowsHidden+of.Hidden)
	db, err := whole.db(exec.Config{Policy: policy})
	if err != nil {
		return 0, err
	}
	copied, err := filtered.db(exec.Config{})
	if err != nil {
		return 0, err
	}
	view, err := db.For(&rowsScope, nil)
	if err != nil {
		return 0, err
	}
	var errs []error
	ours, theirs := make([]rowsAnswer, len(statements)), make([]rowsAnswer, len(statements))
	var group sync.WaitGroup
	for db, answers := range map[*exec.DB][]rowsAnswer{view: ours, copied: theirs} {
		group.Go(func() {
			for i, text := range statements {
				answers[i] = rowsTold(db, text)
			}
		})
	}
	group.Wait()
	for i, text := range statements {
		told, rows, cost, err := ours[i].told, ours[i].lines, ours[i].cost, ours[i].err
		want, real, werr := theirs[i].lines, theirs[i].cost, theirs[i].err
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s:\n\t%w", text, fmt.Errorf(format, args...)))
		}
		switch {
		case strings.Contains(told, RowsCanary):
			fail("tells of a hidden row: %s", told)
		case cost != 0 && cost != real:
			fail("tells that it costs %v, with all rows", cost)
		case err == nil && werr != nil:
			fail("is answered, but fails on the copy: %w", werr)
		case err == nil && !slices.Equal(rows, want):
			fail("gives %q, and on the copy %q", rows, want)
		case err != nil && !ranNothing(err) && werr == nil:
			fail("fails, and not on the copy: %w", err)
		case err == nil:
			answered++
		}
	}
	return answered, errors.Join(append(errs, prompted(t.Context(), view))...)
}

// prompted profiles, samples and looks up every table and view, as prompts do: nothing fails or tells of a hidden row.
func prompted(ctx context.Context, db *exec.DB) error {
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	o := exec.ProfileOptions{}
	for _, table := range s.Tables {
		o.Tables = append(o.Tables, table.Name)
	}
	profiled, err := db.Profile(ctx, s, o)
	errs := []error{err}
	for _, table := range profiled.Tables {
		rows, err := db.Sample(ctx, table, exec.SampleOptions{Rows: 5})
		if errs = append(errs, err); err == nil && strings.Contains(fmt.Sprint(rows.Rows), RowsCanary) {
			errs = append(errs, fmt.Errorf("a sample of %s: %v", table.Name, rows.Rows))
		}
		for _, c := range table.Columns {
			if c.Profile == nil || strings.Contains(fmt.Sprint(*c.Profile), RowsCanary) {
				errs = append(errs, fmt.Errorf("the profile of %s.%s: %+v", table.Name, c.Name, c.Profile))
			}
			if _, err := db.Probe(ctx, table.Schema, table.Name, c.Name, "1"); err != nil {
				errs = append(errs, fmt.Errorf("looking up %s.%s: %w", table.Name, c.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// rowsAnswer is all that is told of a statement, its rows, sorted, its cost and its error.
type rowsAnswer struct {
	told  string
	lines []string
	cost  float64
	err   error
}

func rowsTold(db *exec.DB, text string) rowsAnswer {
	root := trace.Tracer{Keep: ^trace.Private(0)}.New("rows")
	ctx := trace.Into(context.Background(), root)
	table, err := db.Query(ctx, text)
	plan, perr := db.Explain(ctx, text)
	_, aerr := db.Analyze(ctx, text)
	root.End()
	shown, _ := root.JSON(^trace.Private(0))
	var lines []string
	if err == nil {
		for _, row := range table.Rows {
			lines = append(lines, fmt.Sprintf("%v", row))
		}
		slices.Sort(lines)
		lines = append(lines, strings.Join(table.Columns, ","))
	}
	return rowsAnswer{fmt.Sprintf("%s %v %v %v %v %s", lines, err, plan, perr, aerr, shown), lines, plan.EngineCost, err}
}

// Inspections returns how often statements with text in them are sent for the schemas of a policy and of three narrower
// ones. It fails t where one of them shows what it denies.
func Inspections(t testing.TB, e Engine, text string) (n int) {
	t.Helper()
	d := e.faulty(t, rowsScript)
	db, err := d.unready(exec.Config{Policy: rowsPolicy})
	if err == nil {
		db, err = db.For(&rowsScope, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, names, err := d.events(func() error {
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
				_, isRefused := refused(err)
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

// RowPlans fails t where the plan of a statement under rules about rows tells of rows that they hide: it has to be the same
// where those are gone. analyze is how the engine is told to count.
func RowPlans(t testing.TB, e Engine, analyze string) {
	t.Helper()
	script := rowsScript + `CREATE TABLE bulk(id INTEGER, tenant_id INTEGER, memo VARCHAR(100));
INSERT INTO bulk SELECT a.id + 10 * b.id + 100 * c.id + 1000 * d.id, 2, '-Q7-' FROM orders a, orders b, orders c, orders d;
INSERT INTO bulk SELECT id, 1, memo FROM orders WHERE tenant_id = 1;
CREATE INDEX bulk_memo ON bulk(memo);
`
	policy := rowsPolicy
	policy.Rows = map[string]string{"bulk": "tenant_id = :tenant", "orders": "tenant_id = :tenant"}
	var plans [2][]string
	for i, hide := range []string{"", "DELETE FROM bulk WHERE tenant_id = 2;\n"} {
		db, err := e.open(t, script+hide+analyze).db(exec.Config{Policy: policy})
		if err == nil {
			db, err = db.For(&rowsScope, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"SELECT id FROM bulk WHERE memo = '-Q7-'", "SELECT b.id FROM bulk b JOIN orders o ON o.id = b.id WHERE b.memo > '-Q7'",
			"SELECT count(*) FROM bulk WHERE id IN (SELECT id FROM orders)", "SELECT memo, count(*) FROM bulk GROUP BY memo ORDER BY 2",
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

package dbtest

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

// rowsCanary is in every text of a row that the rules of [CompareRows] hide, and in no other one.
const rowsCanary = "-Q7-"

// RowsScript makes tables with rows of two tenants.
const RowsScript = `CREATE TABLE countries(code VARCHAR(10) PRIMARY KEY, name VARCHAR(40));
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

// RowsPolicy are the rules, and RowsScope is whom they are for.
var (
	RowsPolicy = exec.Policy{
		Rows:   map[string]string{"orders": "tenant_id = :tenant", "customers": "tenant_id = :tenant AND region = :region"},
		Shared: []string{"countries"},
	}
	RowsScope = exec.Scope{Key: "one", Params: map[string]any{"tenant": 1, "region": "EU"}}
)

// RowsOf is what tables of an engine's own add to those of [CompareRows].
type RowsOf struct {
	Script, Hidden string            // makes them, and takes away from a copy what the rules hide
	Rows           map[string]string // their rules
	Fence          string            // Policy.Fence
}

// CompareRows runs statements under rules about rows, and without rules on a copy that has no other rows: each is
// refused, does not compile, or gives the same on both, and no error, warning or plan of it has a value of a row that
// the rules hide. It returns how many were answered. open makes a database of a script and returns what makes DBs on
// it.
func CompareRows(
	t testing.TB, open func(testing.TB, string) func(exec.Config) (*exec.DB, error), of RowsOf, statements []string,
) (answered int, err error) {
	policy := RowsPolicy
	policy.Rows, policy.Fence = map[string]string{}, of.Fence
	for _, rules := range []map[string]string{RowsPolicy.Rows, of.Rows} {
		for table, rule := range rules {
			policy.Rows[table] = rule
		}
	}
	whole, filtered := open(t, RowsScript+of.Script), open(t, RowsScript+of.Script+rowsHidden+of.Hidden)
	db, err := Ready(whole(exec.Config{Policy: policy}))
	if err != nil {
		return 0, err
	}
	copied, err := Ready(filtered(exec.Config{}))
	if err != nil {
		return 0, err
	}
	view, err := db.For(&RowsScope, nil)
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
		case strings.Contains(told, rowsCanary):
			fail("tells of a hidden row: %s", told)
		case cost != 0 && cost != real:
			fail("tells that it costs %v, with all rows", cost)
		case err == nil && werr != nil:
			fail("is answered, but fails on the copy: %w", werr)
		case err == nil && !slices.Equal(rows, want):
			fail("gives %q, and on the copy %q", rows, want)
		case err != nil && !RanNothing(err) && werr == nil:
			fail("fails, and not on the copy: %w", err)
		case err == nil:
			answered++
		}
	}
	return answered, errors.Join(append(errs, Prompted(t.Context(), view))...)
}

// Prompted profiles, samples and looks up every table and view, as prompts do: nothing fails or tells of a hidden row.
func Prompted(ctx context.Context, db *exec.DB) error {
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
		if errs = append(errs, err); err == nil && strings.Contains(fmt.Sprint(rows.Rows), rowsCanary) {
			errs = append(errs, fmt.Errorf("a sample of %s: %v", table.Name, rows.Rows))
		}
		for _, c := range table.Columns {
			if c.Profile == nil || strings.Contains(fmt.Sprint(*c.Profile), rowsCanary) {
				errs = append(errs, fmt.Errorf("the profile of %s.%s: %+v", table.Name, c.Name, c.Profile))
			}
			if _, err := db.Probe(ctx, table.Schema, table.Name, c.Name, "1"); err != nil {
				errs = append(errs, fmt.Errorf("looking up %s.%s: %w", table.Name, c.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// rowsAnswer has the sorted rows of a statement, its cost and its error.
type rowsAnswer struct {
	told  string
	lines []string
	cost  float64
	err   error
}

func rowsTold(db *exec.DB, text string) rowsAnswer {
	root := trace.Tracer{Keep: ^trace.Sensitivity(0)}.New("rows")
	ctx := trace.NewContext(context.Background(), root)
	table, err := db.Query(ctx, text)
	plan, perr := db.Explain(ctx, text)
	_, aerr := db.Analyze(ctx, text)
	root.End()
	shown, _ := root.JSON(^trace.Sensitivity(0))
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

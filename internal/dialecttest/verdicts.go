package dialecttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/trace"
)

// Verdicts are expressions that may fail on the value of a row, for [CheckVerdicts].
type Verdicts struct {
	Columns     string            // of the table parcels beside id and team, as CREATE TABLE has them
	Rows        []string          // values of those columns that make things fail
	Expressions []string          // over them
	After       string            // a script that runs last: an index over bad and the columns, ANALYZE
	Rules       map[string]string // of tables that After makes
	Expanded    string            // what stands for {V} in statements of [Hidden]
	// Same are places in which no fence is needed, by a reason: see [places].
	Same map[string]string
}

// places are where an expression {E} may stand in a statement; {R} is a condition on a key, which leads to hidden rows
// alone.
var places = map[string]string{
	"where":     "SELECT id FROM parcels WHERE ({E}) IS NOT NULL AND {R}",
	"join":      "SELECT parcels.id FROM sizes JOIN parcels ON ({E}) IS NOT NULL AND {R}",
	"left join": "SELECT k, parcels.id FROM sizes LEFT JOIN parcels ON ({E}) IS NOT NULL AND {R}",
	"having":    "SELECT id FROM parcels WHERE {R} GROUP BY {C} HAVING ({E}) IS NOT NULL",
	"derived":   "SELECT id FROM (SELECT id, bad, ({E}) AS v FROM parcels) AS q WHERE v IS NOT NULL AND {R}",
	"common":    "WITH q AS (SELECT id, bad, ({E}) AS v FROM parcels) SELECT id FROM q WHERE v IS NOT NULL AND {R}",
	"view":      "SELECT id FROM {V} WHERE v IS NOT NULL AND {R}",
	"exists":    "SELECT k FROM sizes WHERE EXISTS (SELECT 1 FROM parcels WHERE ({E}) IS NOT NULL AND {R})",
	"in":        "SELECT k FROM sizes WHERE k IN (SELECT id FROM parcels WHERE ({E}) IS NOT NULL AND {R})",
	"scalar":    "SELECT k FROM sizes WHERE k > (SELECT count(*) FROM parcels WHERE ({E}) IS NOT NULL AND {R})",
	"in list":   "SELECT k, (SELECT count(*) FROM parcels WHERE ({E}) IS NOT NULL AND {R}) FROM sizes",
	"union":     "SELECT id FROM parcels WHERE ({E}) IS NOT NULL AND {R} UNION SELECT k FROM sizes",
	"case":      "SELECT id FROM parcels WHERE CASE WHEN ({E}) IS NOT NULL THEN true END AND {R}",
	"window": "SELECT id FROM (SELECT id, bad, row_number() OVER (PARTITION BY bad, ({E}) IS NULL ORDER BY id) AS v " +
		"FROM parcels) AS q WHERE {R}",
	"order":     "SELECT id FROM parcels WHERE {R} ORDER BY ({E}) IS NULL, id",
	"list":      "SELECT id, ({E}) FROM parcels WHERE {R}",
	"alias":     "SELECT id, bad, ({E}) AS v FROM parcels WHERE {R} ORDER BY v",
	"aggregate": "SELECT count({E}) FROM parcels WHERE {R}",
}

// Left are the places in which an engine evaluates on the rows that the rules leave, with or without a fence.
func Left() map[string]string {
	const why = "it is evaluated on the rows that are left"
	return map[string]string{"aggregate": why, "alias": why, "list": why, "order": why, "window": why}
}

// inRange is {R}: the hidden rows are there, or none.
const inRange = "bad BETWEEN 0 AND 2"

// verdictDBs are three databases that differ in hidden rows alone: such rows are in the range, out of it, or gone.
type verdictDBs struct {
	whole, moved, copied *exec.DB
	views                map[string]string // by expression
}

// newVerdictDBs makes them. viewed are expressions that get a view each.
func newVerdictDBs(t testing.TB, e exectest.Engine, v Verdicts, viewed []string) (dbs verdictDBs) {
	t.Helper()
	dbs.views = map[string]string{}
	script := v.script()
	for i, expression := range viewed {
		dbs.views[expression] = fmt.Sprintf("v%d", i)
		script += fmt.Sprintf("CREATE VIEW v%d AS SELECT id, bad, (%s) AS v FROM parcels;\n", i, expression)
	}
	dbs.whole, dbs.moved = verdictDB(t, e, v, script, 1, 0), verdictDB(t, e, v, script, 5, 0)
	dbs.copied = verdictDB(t, e, v, script, 0, 0)
	return dbs
}

// script makes the tables, with rows that hide nothing.
func (v Verdicts) script() string {
	return "CREATE TABLE sizes(k INTEGER PRIMARY KEY);\n" +
		"INSERT INTO sizes VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);\n" +
		"CREATE TABLE parcels(id INTEGER PRIMARY KEY, team INTEGER, bad INTEGER, " + v.Columns + ");\n" +
		"INSERT INTO parcels(id, team) SELECT 20000 + a.k + 10 * b.k + 100 * c.k, 1 FROM sizes a, sizes b, sizes c;\n"
}

// verdictDB makes one database. bad is the key of its hidden rows, 0 for none, and turn says by how many rows their
// values are shifted.
func verdictDB(t testing.TB, e exectest.Engine, v Verdicts, script string, bad, turn int) *exec.DB {
	t.Helper()
	for k, row := range v.Rows {
		script += fmt.Sprintf("INSERT INTO parcels(%s) VALUES (%d, 1, 3, %s);\n", v.columns(), 5001+k, row)
		if bad > 0 {
			script += fmt.Sprintf("INSERT INTO parcels(%s) VALUES (%d, 2, %d, %s);\n", v.columns(), 1001+k, bad,
				v.Rows[(k+turn)%len(v.Rows)])
		}
	}
	policy := exec.Policy{Rows: map[string]string{"parcels": "team = :team"}, Shared: []string{"sizes"}}
	maps.Copy(policy.Rows, v.Rules)
	db, err := dbtest.Ready(e.Make(t, script+v.After)(exec.Config{Policy: policy}))
	if err == nil {
		db, err = db.For(&exec.Scope{Key: "red", Params: map[string]any{"team": 1}}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Listed runs statements on the rows that make things fail; no rule hides any of them: those that run without a fence
// must not fail. It returns how many ran so.
func Listed(t *testing.T, e exectest.Engine, v Verdicts, conditions ...string) int {
	t.Helper()
	dbs := newVerdictDBs(t, e, v, nil)
	var open atomic.Int64
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for _, condition := range conditions {
		group.Go(func() error {
			span := trace.Tracer{Keep: ^trace.Sensitivity(0)}.New("test")
			_, err := dbs.copied.Query(trace.NewContext(t.Context(), span), "SELECT id FROM parcels WHERE "+condition)
			span.End()
			if shown, _ := span.JSON(^trace.Sensitivity(0)); strings.Contains(string(shown), `"fenced":false`) {
				open.Add(1)
				if err != nil {
					t.Errorf("%s runs without a fence, and fails: %v", condition, err)
				}
			}
			return nil
		})
	}
	_ = group.Wait()
	return int(open.Load())
}

// Conditions are what is on the list of [guard.Catalog.CannotFail], and what looks like it, of columns and constants.
func Conditions(columns, constants []string) (all []string) {
	for _, a := range columns {
		for _, b := range slices.Concat(columns, constants) {
			for _, operator := range []string{"=", "<>", "<", ">=", "LIKE"} {
				all = append(all, a+" "+operator+" "+b)
			}
			all = append(all, a+" BETWEEN "+b+" AND "+a, a+" NOT IN ("+b+", NULL)", "NOT "+a+" = "+b+" OR "+a+" IS NULL",
				"("+a+" < "+b+") IS TRUE", "EXISTS (SELECT 1 FROM sizes WHERE "+a+" = "+b+")", a+" IN (SELECT "+b+" FROM parcels)",
				"id IN (SELECT max(id) FROM parcels GROUP BY "+a+" HAVING min("+a+") < "+b+")",
				"id IN (SELECT p.id FROM parcels p JOIN sizes ON p."+a+" = "+b+")")
		}
	}
	return all
}

// told is all that a caller is told of a statement: verdict, message, rows, columns and warnings.
func told(ctx context.Context, db *exec.DB, text string) (all string, err error) {
	span := trace.Tracer{Keep: ^trace.Sensitivity(0)}.New("test")
	table, err := db.Query(trace.NewContext(ctx, span), text)
	span.End()
	all = fmt.Sprintf("%v %v", err, span.Warnings())
	if err == nil {
		all += fmt.Sprint(table.Columns, table.Rows)
	}
	return all, err
}

// toldOfAll is what is told of each statement on each of some databases, which run them at the same time.
func toldOfAll(ctx context.Context, texts []string, dbs ...*exec.DB) [][]string {
	all := make([][]string, len(dbs))
	var group sync.WaitGroup
	for i, db := range dbs {
		group.Go(func() {
			for _, text := range texts {
				line, _ := told(ctx, db, text)
				all[i] = append(all[i], line)
			}
		})
	}
	group.Wait()
	return all
}

// CheckVerdicts runs each expression in each place on three databases that differ in hidden rows alone: the result must
// be the same. Expressions that never fail stand in WHERE alone, and of those that do not compile, which no row
// changes, one in ten is compared. Without the fence of the dialect, the outcome has to differ
// in each place that has no reason in Same. The race detector shows nothing here, and the test takes minutes with it.
func CheckVerdicts(t *testing.T, e exectest.Engine, v Verdicts) {
	t.Helper()
	if race.Enabled {
		t.Skip("runs without the race detector")
	}
	dbs := newVerdictDBs(t, e, v, nil)
	verdicts := dbs.verdicts(t.Context(), v)
	var failing, texts, want []string
	tried := 0
	for i, verdict := range verdicts {
		if !verdict.read {
			continue
		}
		tried++
		if !verdict.compiles && tried%10 != 0 {
			continue
		}
		if verdict.fails {
			failing = append(failing, v.Expressions[i])
		}
		texts, want = append(texts, place("where", v.Expressions[i], dbs.views, v)), append(want, verdict.line)
	}
	dbs.same(t, texts, want)
	const most = 60 // each in all places
	step := max(1, len(failing)/most)
	var some []string
	for i := 0; i < len(failing); i += step {
		some = append(some, failing[i])
	}
	t.Logf("%d of %d expressions are read, %d are compared, %d of them fail on a value, %d stand in all places",
		tried, len(v.Expressions), len(texts), len(failing), len(some))
	dbs = newVerdictDBs(t, e, v, some)
	e.Dialect = unfenced{e.Dialect}
	open := newVerdictDBs(t, e, v, some)
	for _, name := range slices.Sorted(maps.Keys(places)) {
		texts = nil
		for _, expression := range some {
			texts = append(texts, place(name, expression, dbs.views, v))
		}
		all := toldOfAll(t.Context(), texts, dbs.copied, open.whole, open.copied)
		dbs.same(t, texts, all[0])
		differ := 0
		for i := range texts {
			if all[1][i] != all[2][i] {
				differ++
			}
		}
		t.Logf("%-9s  %d of %d statements tell of a hidden row without the fence", name, differ, len(some))
		if reason := v.Same[name]; (differ == 0) != (reason != "") {
			t.Errorf("%s: %d statements differ without the fence, and the reason is %q", name, differ, reason)
		}
	}
}

// verdict is what the filtered copy tells of an expression in WHERE.
type verdict struct {
	line                  string
	read, compiles, fails bool
}

// verdicts reads each expression on the filtered copy.
func (d verdictDBs) verdicts(ctx context.Context, v Verdicts) []verdict {
	all := make([]verdict, len(v.Expressions))
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i, expression := range v.Expressions {
		group.Go(func() error {
			line, err := told(ctx, d.copied, place("where", expression, d.views, v))
			if errors.As(err, new(*exec.RefusedError)) && !strings.Contains(line, "(rows)") {
				return nil // not on the list of functions
			}
			compiles := err == nil || runs(ctx, d.copied, expression)
			all[i] = verdict{line: line, read: true, compiles: compiles, fails: err != nil && compiles}
			return nil
		})
	}
	_ = group.Wait()
	return all
}

// same fails t where one of the other databases tells something else of a statement than the filtered copy.
func (d verdictDBs) same(t *testing.T, texts, want []string) {
	t.Helper()
	all := toldOfAll(t.Context(), texts, d.whole, d.moved)
	for k, name := range []string{"with the hidden rows", "with the hidden rows elsewhere"} {
		for i, text := range texts {
			if got := all[k][i]; got != want[i] {
				t.Errorf("%s:\n\t%s\n%s:\n\t%s", text, want[i], name, got)
			}
		}
	}
}

// runs reports whether an expression compiles: on no row it is answered.
func runs(ctx context.Context, db *exec.DB, expression string) bool {
	const none = "SELECT k FROM sizes WHERE k < 0 AND EXISTS (SELECT 1 FROM parcels WHERE id < 0 AND (%s) IS NOT NULL)"
	_, err := told(ctx, db, fmt.Sprintf(none, expression))
	return err == nil
}

// columns are the names of the columns, but for those that are generated.
func (v Verdicts) columns() string {
	columns := "id, team, bad"
	for column := range strings.SplitSeq(v.Columns, ",") {
		if !strings.Contains(column, " AS ") {
			columns += ", " + strings.Fields(column)[0]
		}
	}
	return columns
}

// place writes a statement with an expression.
func place(name, expression string, views map[string]string, v Verdicts) string {
	parts := []string{"{E}", expression, "{R}", inRange, "{V}", views[expression], "{C}", v.columns()}
	return strings.NewReplacer(parts...).Replace(places[name])
}

// unfenced is a dialect without a fence.
type unfenced struct{ exec.Dialect }

// Rules implements [exec.RowFilterDialect].
func (d unfenced) Rules() guard.RewriteRules {
	s := d.Dialect.(exec.RowFilterDialect).Rules()
	s.Fence = ""
	return s
}

// Calls writes calls of functions with up to four of some columns as arguments.
func Calls(functions, columns []string) (all []string) {
	for _, function := range functions {
		all = append(all, function+"()")
		for i, a := range columns {
			b, c := columns[(i+1)%len(columns)], columns[(i+2)%len(columns)]
			for _, arguments := range [][]string{{a}, {a, b}, {b, a}, {a, a}, {a, b, c}, {b, a, a}, {a, b, b, c}} {
				all = append(all, function+"("+strings.Join(arguments, ", ")+")")
			}
		}
	}
	return all
}

// Operations writes what operators make of columns, two by two.
func Operations(operators, columns []string) (all []string) {
	for _, operator := range operators {
		for i, a := range columns {
			b := columns[(i+1)%len(columns)]
			all = append(all, a+" "+operator+" "+b, b+" "+operator+" "+a, a+" "+operator+" "+a)
		}
	}
	return all
}

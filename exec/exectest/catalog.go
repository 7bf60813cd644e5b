package exectest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/schema"
)

// checkNames is about the words of the engine.
func checkNames(t testing.TB, e Engine) error {
	var errs []error
	l := e.Dialect.Language()
	if name := l.Name; name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " \n") {
		errs = append(errs, fmt.Errorf("the name is %q, want one lower-case word", name))
	}
	if title := l.Title; strings.TrimSpace(title) == "" || strings.Contains(title, "\n") {
		errs = append(errs, fmt.Errorf("the title is %q", title))
	}
	if a, b := l.Placeholder(1), l.Placeholder(1); a == "" || a != b {
		errs = append(errs, fmt.Errorf("Placeholder(1) is %q and %q", a, b))
	}
	d := e.open(t, e.fixture())
	db, err := d.db(exec.Config{})
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, name := range []string{"a", "A b", "select", `x"y`, "x`y", "x'y", "x]y[", "x;--y", "x/*y", `x\y`, "naïve",
		"名"} {
		table, err := db.Query(t.Context(), "SELECT 1 AS "+l.Quote(name))
		if err != nil || len(table.Columns) != 1 || table.Columns[0] != name {
			errs = append(errs, fmt.Errorf("a column called %q, quoted %s, is %v, %w", name, l.Quote(name), table, orNone(err)))
		}
	}
	return errors.Join(errs...)
}

// checkShownNames is about names as headings of forms and files are: prompts show them in one line, and what is copied
// from a prompt runs.
func checkShownNames(t testing.TB, e Engine) error {
	l := e.Dialect.Language()
	table, columns := "Form\t2024\n(final)", []string{"Total\nAmount", "a\r\nb", "tab\there", `say "it"`, "it`s",
		"right\u202eleft", "größe", `c:\new`}
	script := "CREATE TABLE " + l.Quote(table) + "(" + l.Quote(columns[0])
	for _, c := range columns[1:] {
		script += " INTEGER, " + l.Quote(c)
	}
	script += " INTEGER);\nINSERT INTO " + l.Quote(table) + " VALUES (1" + strings.Repeat(", 1", len(columns)-1) + ");\n"
	db, err := e.open(t, script).db(exec.Config{})
	if err != nil {
		return err
	}
	s, err := db.Schema(t.Context())
	if err != nil {
		return err
	}
	shown, left := s.Presentable()
	if len(shown.Tables) != 1 || len(shown.Tables[0].Columns) != len(columns) || len(left) > 0 {
		return fmt.Errorf("of %d columns these are shown: %+v; left out: %v", len(columns), shown.Tables, left)
	}
	var errs []error
	names := e.Dialect.Language().PromptQuoter()
	for i, c := range shown.Tables[0].Columns {
		text := names.Quote(shown.Tables[0].Name) + "." + names.Quote(c.Name)
		if strings.ContainsAny(text, "\n\r\t") {
			errs = append(errs, fmt.Errorf("a prompt shows %q", text))
		}
		rows, err := db.Query(t.Context(), "SELECT count("+text+"), count("+l.Quote(columns[i])+") FROM "+
			names.Quote(shown.Tables[0].Name))
		if err != nil || fmt.Sprint(rows.Rows) != "[[1 1]]" {
			errs = append(errs, fmt.Errorf("%s, as shown, is %v, %w", text, rows, orNone(err)))
		}
		if found, err := db.Probe(t.Context(), shown.Tables[0].Schema, shown.Tables[0].Name, c.Name, int64(1)); err != nil ||
			!found {
			errs = append(errs, fmt.Errorf("%s, as shown, is not found by Probe: %w", text, orNone(err)))
		}
	}
	return errors.Join(errs...)
}

func checkInspect(t testing.TB, e Engine) error {
	d := e.open(t,
		`CREATE TABLE parent(id INTEGER NOT NULL PRIMARY KEY, code VARCHAR(20) NOT NULL, note VARCHAR(20) DEFAULT 'none', UNIQUE (code));
CREATE TABLE child(p INTEGER NOT NULL, q INTEGER NOT NULL, parent_id INTEGER, PRIMARY KEY (p, q), FOREIGN KEY (parent_id) REFERENCES parent(id));
CREATE TABLE grandchild(x INTEGER, y INTEGER, FOREIGN KEY (x, y) REFERENCES child(p, q));
CREATE VIEW family AS SELECT code, p FROM parent JOIN child ON parent_id = id;
`)
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	s, err := db.Schema(t.Context())
	if err != nil {
		return err
	}
	var errs []error
	if s.Dialect != e.Dialect.Language().Name || s.Version == "" || s.Default == "" {
		errs = append(errs, fmt.Errorf("dialect %q, version %q, default schema %q", s.Dialect, s.Version, s.Default))
	}
	type table struct {
		Kind    string
		Columns []string
		NotNull []string
		Primary []string
		Foreign []schema.ForeignKey
		Unique  [][]string
	}
	want := map[string]table{
		"parent": {"table", []string{"id", "code", "note"}, []string{"id", "code"}, []string{"id"}, nil,
			[][]string{{"code"}}},
		"child": {
			"table", []string{"p", "q", "parent_id"}, []string{"p", "q"}, []string{"p", "q"},
			[]schema.ForeignKey{{Columns: []string{"parent_id"}, RefTable: "parent", RefColumns: []string{"id"}}}, nil,
		},
		"grandchild": {
			"table", []string{"x", "y"}, nil, nil,
			[]schema.ForeignKey{{Columns: []string{"x", "y"}, RefTable: "child", RefColumns: []string{"p", "q"}}}, nil,
		},
		"family": {Kind: "view", Columns: []string{"code", "p"}},
	}
	for _, found := range s.Tables {
		w, ok := want[found.Name]
		delete(want, found.Name)
		got := table{Kind: found.Kind, Primary: found.PrimaryKey, Foreign: found.ForeignKeys, Unique: found.Unique}
		for _, c := range found.Columns {
			got.Columns = append(got.Columns, c.Name)
			if c.NotNull && found.Kind == "table" {
				got.NotNull = append(got.NotNull, c.Name)
			}
			if c.Type == "" && found.Kind == "table" {
				errs = append(errs, fmt.Errorf("%s.%s has no type", found.Name, c.Name))
			}
			if c.Name == "note" && !strings.Contains(c.Default, "none") {
				errs = append(errs, fmt.Errorf("the default of note is %q", c.Default))
			}
		}
		if !ok || fmt.Sprint(got) != fmt.Sprint(w) || found.Schema != "" && found.Schema != s.Default {
			errs = append(errs, fmt.Errorf("table %q.%s is\n%+v, want\n%+v", found.Schema, found.Name, got, w))
		}
	}
	for name := range want {
		errs = append(errs, fmt.Errorf("the schema has no %s", name))
	}
	again, err := db.Schema(t.Context())
	if err != nil || again != s {
		errs = append(errs, fmt.Errorf("nothing changed, and the schema is read again: %v", err))
	}
	return errors.Join(errs...)
}

// checkVersion changes a schema, and looks at it through the cache.
func checkVersion(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	ctx := t.Context()
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	columns := func(table string, names ...string) func(*schema.Schema) bool {
		return func(s *schema.Schema) bool {
			found, ok := s.Lookup("", table)
			return ok == (names != nil) &&
				(!ok || slices.EqualFunc(found.Columns, names, func(c schema.Column, name string) bool { return c.Name == name }))
		}
	}
	var errs []error
	seen := max(e.VersionDelay, e.VersionSeen)
	for _, step := range []struct {
		change string
		seen   func(*schema.Schema) bool
	}{
		{"CREATE TABLE x(a INTEGER, b INTEGER)", columns("x", "a", "b")},
		{"ALTER TABLE x ADD COLUMN c INTEGER", columns("x", "a", "b", "c")},
		{"ALTER TABLE x RENAME COLUMN b TO d", columns("x", "a", "d", "c")},
		{"CREATE VIEW v AS SELECT a FROM x", columns("v", "a")},
		{"DROP VIEW v", columns("v")},
		{"CREATE VIEW v AS SELECT d FROM x", columns("v", "d")},
		{"DROP VIEW v", columns("v")},
		{"DROP TABLE x", columns("x")},
	} {
		time.Sleep(e.VersionDelay)
		if err := d.change(step.change); err != nil {
			return err
		}
		for end := time.Now().Add(seen); ; time.Sleep(20 * time.Millisecond) {
			next, err := db.Schema(ctx)
			if err != nil {
				return err
			}
			if next.Version != s.Version && step.seen(next) {
				s = next
				break
			}
			if time.Now().After(end) {
				errs = append(errs, fmt.Errorf("%s: version %q before and %q after %v", step.change, s.Version, next.Version, seen))
				s = next
				break
			}
		}
	}
	time.Sleep(e.VersionDelay)
	if s, err = db.Schema(ctx); err != nil {
		return err
	}
	if err := d.change("UPDATE t SET a = a"); err != nil {
		return err
	}
	time.Sleep(seen)
	if next, err := db.Schema(ctx); err != nil || next.Version != s.Version {
		errs = append(errs, fmt.Errorf("rows changed the version from %q to %q, %v", s.Version, next.Version, err))
	}
	return errors.Join(errs...)
}

func checkPlans(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	ctx := t.Context()
	db, err := d.db(exec.Config{Policy: dbtest.DenyColumn})
	if err != nil {
		return err
	}
	same, err := d.watch(ctx)
	if err != nil {
		return err
	}
	runner, err := db.Runner(exec.Bounds{})
	if err != nil {
		return err
	}
	defer runner.Close()
	var errs []error
	for name, explain := range map[string]func(context.Context, string) (exec.Plan, error){"DB": db.Explain,
		"session": runner.Explain} {
		for text, tables := range map[string][]string{
			"SELECT a FROM t": {"t"}, "SELECT a FROM t AS x WHERE a = 1; -- done": {"t"},
			"SELECT u.name, t.b FROM users AS u JOIN t ON t.a = u.id":      {"t", "users"},
			"SELECT a FROM t WHERE a IN (SELECT id FROM users) ORDER BY b": {"t", "users"},
			"SELECT count(*) FROM t GROUP BY b":                            {"t"},
		} {
			p, err := explain(ctx, text)
			again, err2 := explain(ctx, text)
			if err != nil || err2 != nil || len(p.Rows) == 0 || p.Signature() == "" || p.Signature() != again.Signature() {
				errs = append(errs, fmt.Errorf("%s: %s: plan %+v and then %+v, %v, %v", name, text, p, again, err, err2))
			}
			if got := tablesOf(p.Nodes); len(p.Nodes) > 0 && !slices.Equal(got, tables) {
				errs = append(errs, fmt.Errorf("%s: %s: the plan reads %v, want %v", name, text, got, tables))
			}
			whole := strings.ToLower(fmt.Sprint(p.Rows))
			named := func(table string) bool { // MariaDB writes the alias alone
				return strings.Contains(whole, table) || strings.Contains(whole, `"`+table[:1]+`"`)
			}
			if len(p.Nodes) == 0 && slices.ContainsFunc(tables, func(table string) bool { return !named(table) }) {
				errs = append(errs, fmt.Errorf("%s: %s: the plan %s does not name %v", name, text, whole, tables))
			}
		}
		for text, ok := range map[string]func(error) bool{
			"":                                   isRefused,
			"SELECT 1; DROP TABLE t":             func(err error) bool { return errors.Is(err, exec.ErrNotReadOnly) },
			"DROP TABLE t":                       func(err error) bool { return errors.Is(err, exec.ErrNotReadOnly) },
			"INSERT INTO t VALUES (9, 'x')":      func(err error) bool { return errors.Is(err, exec.ErrNotReadOnly) },
			"UPDATE t SET a = 0":                 func(err error) bool { return errors.Is(err, exec.ErrNotReadOnly) },
			"I cannot answer that.":              isRefused,
			"WITH x AS (SELECT 1) DELETE FROM t": func(err error) bool { return exec.IsRejection(err) },
			"EXPLAIN SELECT 1":                   isRefused,
			"SELECT password FROM users":         isRefused,
			"SELECT nosuch FROM t":               exec.IsRejection, // under a policy about columns an absent one is refused
			"SELECT FROM t WHERE":                func(err error) bool { return exec.IsRejection(err) },
		} {
			if p, err := explain(ctx, text); !ok(err) || len(p.Rows) > 0 {
				errs = append(errs, fmt.Errorf("%s: %q: plan %v, %w", name, text, p, orNone(err)))
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := explain(ended, "SELECT 1"); !errors.Is(err, context.Canceled) {
			errs = append(errs, fmt.Errorf("%s, cancelled: %w", name, orNone(err)))
		}
		if name == "session" {
			errs = append(errs, runner.Close())
		}
	}
	return errors.Join(append(errs, runner.Close(), same())...)
}

// tablesOf returns the base tables of a plan, sorted, each once.
func tablesOf(nodes []exec.PlanNode) (tables []string) {
	for _, n := range nodes {
		if n.Table != "" && n.Table != "sub" {
			tables = append(tables, n.Table)
		}
		tables = append(tables, tablesOf(n.Children)...)
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

// checkSamples reads some rows of a table of 20,000.
func checkSamples(t testing.TB, e Engine) error {
	const rows = 20_000
	d := e.open(t, `CREATE TABLE d(n INTEGER);
INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE longer(id INTEGER PRIMARY KEY, grp INTEGER, word VARCHAR(40));
INSERT INTO longer SELECT v.n * 10000 + w.n * 1000 + x.n * 100 + y.n * 10 + z.n, z.n, 'some words' FROM d AS v CROSS JOIN d AS w CROSS JOIN d AS x CROSS JOIN d AS y CROSS JOIN d AS z WHERE v.n < 2;
CREATE TABLE keyless(n INTEGER);
INSERT INTO keyless SELECT id FROM longer;
CREATE VIEW few AS SELECT id, word FROM longer WHERE id < 50;
`)
	ctx := t.Context()
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range []string{"longer", "keyless", "few"} {
		table, ok := s.Lookup("", name)
		if !ok {
			return fmt.Errorf("the schema has no table %s", name)
		}
		for _, o := range []exec.SampleOptions{{Rows: 1}, {Rows: 7}, {Rows: 100}, {Rows: 100, Spread: true, Seed: 1},
			{Rows: 3, Spread: true, Seed: 2}, {Rows: 5, Cut: 4}} {
			first, err := db.Sample(ctx, *table, o)
			if err != nil {
				errs = append(errs, fmt.Errorf("a sample of %s by %+v: %w", name, o, err))
				continue
			}
			want := o.Rows
			if name == "few" {
				want = min(want, 50)
			}
			if n := len(first.Rows); n > want || n < want/2 || n == 0 {
				errs = append(errs, fmt.Errorf("a sample of %s by %+v has %d rows", name, o, n))
			}
			again, err := db.Sample(ctx, *table, o)
			if err != nil || !reflect.DeepEqual(first, again) {
				errs = append(errs, fmt.Errorf("samples of %s by %+v differ: %v, %v, %v", name, o, first.Rows, again, err))
			}
			if last := len(first.Columns) - 1; o.Cut > 0 && name == "longer" && first.Rows[0][last] != "some" {
				errs = append(errs, fmt.Errorf("a sample of %s by %+v has %v, want the text cut", name, o, first.Rows[0]))
			}
			if o.Spread && name == "longer" && o.Rows == 100 {
				most := int64(0)
				for _, row := range first.Rows {
					most = max(most, row[0].(int64))
				}
				if most < rows/2 {
					errs = append(errs, fmt.Errorf("a spread sample of %s ends at row %d", name, most))
				}
			}
		}
	}
	profiled, err := db.Profile(ctx, s, exec.ProfileOptions{Rows: 1000, Count: 15_000, Seed: 3})
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	table, _ := profiled.Lookup("", "longer")
	group, _ := table.Column("grp")
	if table.Rows == nil || *table.Rows != 15_000 || !table.RowsAtLeast || group.Profile == nil ||
		group.Profile.Sampled < 500 || group.Profile.Complete {
		errs = append(errs, fmt.Errorf("the profile of a long table: %v rows, %v, %+v", table.Rows, table.RowsAtLeast,
			group.Profile))
	} else if p := group.Profile; p.Distinct != 10 || !reflect.DeepEqual(p.Min, int64(0)) || !reflect.DeepEqual(p.Max,
		int64(9)) {
		errs = append(errs, fmt.Errorf("the profile of a column of ten values: %+v", p))
	}
	small, _ := profiled.Lookup("", "d")
	if n, _ := small.Column("n"); small.Rows == nil || *small.Rows != 10 || n.Profile == nil || !n.Profile.Complete ||
		n.Profile.Distinct != 10 {
		errs = append(errs, fmt.Errorf("the profile of a short table: %v, %+v", small.Rows, n.Profile))
	}
	return errors.Join(errs...)
}

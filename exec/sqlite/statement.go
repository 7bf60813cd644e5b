package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/driverrows"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// Read implements [exec.Conn]. SQLite has no parser to ask: what the statement names is what its text tells, and what
// it reads is the word of the authorizer.
func (c *conn) Read(_ context.Context, s *exec.Statement) (*guard.Names, error) {
	known := s.Catalog.Own.(*catalog)
	n, err := known.names(s)
	if err != nil {
		return nil, known.asAbsent(s, err)
	}
	return n, nil
}

// names finds the relations that a statement names.
//
// SQLite does not tell the authorizer everything. A column that only USING or a NATURAL join names makes no READ
// callback (SQLite 3.40 to 3.53), nor does a table that is named only there; guesses could be joined to it. INDEXED BY
// orders rows by columns that it does not name. So with these words, everything that the text and its views name counts
// as named.
func (c *catalog) names(s *exec.Statement) (*guard.Names, error) {
	most := mostStores
	if s.Splice != nil {
		most *= 3 // the text has three places for a view that is written out, of which two hold rows
		most += noRowStores * strings.Count(s.SQL(), noRow)
	}
	if s.Size.Stores > most {
		return nil, guard.Refuse("too-complex",
			"%d subqueries, views, joins and DISTINCTs could hold rows at once; at most %d may", s.Size.Stores, most)
	}
	n := &guard.Names{}
	if s.Ours {
		return n, nil // the authorizer decides, and nobody asks what it names
	}
	for _, ref := range s.Tables() {
		r := c.find(ref.Schema, ref.Name)
		if r == nil || !ref.Base() {
			continue
		}
		if !r.Allowed() {
			return nil, guard.NotReadable(qualified(ref.Schema, ref.Name))
		}
		n.Sources = append(n.Sources, guard.Source{Alias: cmp.Or(ref.Alias, ref.Name), Relation: r, Select: ref.Query})
	}
	if !maySilence(s.SQL()) {
		return n, nil
	}
	m := mentioned(s.SQL())
	if !m.silent() {
		return n, nil
	}
	m = c.through(m)
	for _, name := range m.sorted() {
		if detail := c.hidden(name); detail != "" {
			return nil, guard.Refuse("table", "%s, and USING, NATURAL and INDEXED BY do not name what they read: use ON", detail)
		}
		for _, r := range c.named[name] {
			if !slices.Contains(n.Relations(), r) {
				n.Sources = append(n.Sources, guard.Source{Relation: r})
			}
		}
	}
	n.Natural = m.natural
	for _, name := range m.using {
		n.Refs = append(n.Refs, guard.Ref{Path: []string{name}})
	}
	if m.indexed {
		n.Indexes = []string{"INDEXED BY"}
	}
	return n, nil
}

// take makes the gate decide by the catalog of s. A module prepares statements of its own when its table is first used,
// and some of them write. So each virtual table is used once before the authorizer decides.
func (c *conn) take(ctx context.Context, s *exec.Statement) (*catalog, error) {
	known := s.Catalog.Own.(*catalog)
	if c.gate.catalog == known {
		return known, nil
	}
	if len(known.virtual) > 0 {
		if err := c.bare(func(dc any) error { return known.use(ctx, dc) }); err != nil {
			return nil, err
		}
	}
	c.gate.catalog = known
	return known, nil
}

// compile calls prepare to compile s, or a text around it.
func (c *conn) compile(ctx context.Context, s *exec.Statement, prepare func() error) error {
	// SQLite does not look at the context while it compiles.
	if err := ctx.Err(); err != nil {
		return err
	}
	known, err := c.take(ctx, s)
	if err != nil {
		return err
	}
	// A statement from outside has no parameters, but modules bind some in statements of their own.
	parameters := len(s.Args)
	if len(known.virtual) > 0 {
		parameters = max(parameters, 16)
	}
	if err := c.setLimit(limitVariable, &c.parameters, parameters); err != nil {
		return err
	}
	if err := c.setLimit(limitDepth, &c.depth, deepest(s.Statement)); err != nil {
		return err
	}
	c.gate.begin()
	c.gate.statement, c.gate.spliced = s.Statement, s.Splice != nil
	if err := orOutOfMemory(prepare); err != nil {
		err = c.compileError(err)
		if limit, ok := err.(*exec.LimitError); ok && limit.Limit == "columns" {
			limit.Found = known.width(s)
		}
		return known.asAbsent(s, err)
	}
	return nil
}

// width is how many columns a statement has whose stars are those of tables; 0: it is not known.
func (c *catalog) width(s *exec.Statement) (columns int) {
	selects := s.Selects()
	if len(selects) == 0 || selects[0].Nested {
		return 0
	}
	for _, item := range selects[0].Items {
		if !item.Star {
			columns++
			continue
		}
		of := strings.TrimSuffix(item.Text, "*")
		for _, t := range selects[0].Tables {
			if of != "" && !schema.EqualFold(of, cmp.Or(t.Alias, t.Name)+".") {
				continue
			}
			r := c.find(t.Schema, t.Name)
			if !t.Base() || r == nil || !r.Allowed() || r.Hides() {
				return 0
			}
			columns += len(r.Columns())
		}
	}
	return columns
}

// orOutOfMemory turns a panic that says "out of memory" into an error: github.com/ncruces/go-sqlite3 panics so where a
// program is over SQLite's limit on its length. Other panics go on.
func orOutOfMemory(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok || ownWords(e) != "out of memory" {
				panic(r)
			}
			err = e
		}
	}()
	return f()
}

// keep prepares s, or a text that holds it, for Run.
//
// Every statement is prepared first. Given to Query, go-sqlite3 would run every statement of a text, and take the first
// step of a cached statement before its number of columns is known.
func (c *conn) keep(ctx context.Context, s *exec.Statement, text string) error {
	c.close()
	err := c.compile(ctx, s, func() (err error) {
		c.statement, err = c.conn.PrepareContext(ctx, text)
		return err
	})
	if err != nil {
		return err
	}
	c.prepared = s
	c.load = c.gate.catalog.readLoad(s.Statement)
	c.load.sorts = max(c.load.sorts, s.Size.Sorts)
	c.load.calls = len(c.gate.functions)
	c.load.stored = s.Splice != nil && !s.Splice.Fenced
	c.load.clock = s.Splice != nil && slices.ContainsFunc(c.gate.functions, func(f string) bool { return clocks[f] })
	// A sample leaves out a column with a longer value.
	c.load.plain = !s.Ours && c.load.joins+c.load.calls == 0 && s.Splice == nil && c.gate.catalog.computesNothing(s)
	return nil
}

// keepsOrder reports whether the rows of a statement come from an index in their order, so that none is held to be
// sorted.
func (c *conn) keepsOrder(ctx context.Context, s *exec.Statement) (bool, error) {
	plan, err := c.Explain(ctx, s)
	return !slices.ContainsFunc(plan.Rows, func(row exec.PlanRow) bool {
		return strings.Contains(row.Detail, "TEMP B-TREE")
	}), err
}

// computesNothing reports whether all that a statement reads are columns that are stored as they are.
func (c *catalog) computesNothing(s *exec.Statement) bool {
	return !slices.ContainsFunc(s.Tables(), func(ref sqlshape.TableRef) bool {
		if !ref.Base() {
			return false
		}
		r := c.find(ref.Schema, ref.Name)
		t, ok := s.Catalog.Schema.Lookup("", ref.Name)
		return r == nil || r.View || !ok || slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Generated })
	})
}

// close ends the last statement. SQLite repeats the error of the statement then, so close drops it.
func (c *conn) close() {
	if c.statement != nil {
		c.statement.Close()
	}
	c.statement, c.prepared = nil, nil
}

// Confirm implements [exec.Conn]. The gate decides by the catalog, so the schema must not have changed when a statement
// is rejected, or when the policy denies something.
func (c *conn) Confirm(ctx context.Context, s *exec.Statement) (guard.EngineReport, error) {
	err := c.keep(ctx, s, s.Catalog.Own.(*catalog).written(s.Statement).text)
	if err == nil && s.Catalog.Restricts() || exec.IsRejection(err) {
		if version, verr := c.Version(ctx); verr != nil {
			return guard.EngineReport{}, verr
		} else if version != c.gate.catalog.version {
			return guard.EngineReport{}, guard.ErrStale
		}
	}
	if err != nil {
		return guard.EngineReport{}, err
	}
	if maySilence(s.SQL()) {
		// The authorizer does not hear of a table that only USING or a NATURAL join reads.
		for _, ref := range s.Tables() {
			if ref.Base() {
				c.gate.reads = append(c.gate.reads, read{database: ref.Schema, table: ref.Name})
			}
		}
	}
	functions := slices.Clone(c.gate.functions)
	slices.Sort(functions)
	return guard.EngineReport{Reads: c.gate.heard(), Functions: append([]string{}, slices.Compact(functions)...)}, nil
}

// Explain implements [exec.Conn].
//
// EXPLAIN QUERY PLAN does not run the statement. Still the text check is needed: go-sqlite3 runs every statement of a
// text, so EXPLAIN QUERY PLAN SELECT 1; DROP TABLE t drops the table.
func (c *conn) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	rows := []exec.PlanRow{} // a plan without rows is a plan
	var (
		row    exec.PlanRow
		unused any
	)
	err := c.compile(ctx, s, func() error {
		return c.conn.Raw(func(dc any) error {
			// The rows are made by SQLite itself, and nothing waits for a lock, so nothing has to be stopped.
			atOnce, text := context.WithoutCancel(ctx), "EXPLAIN QUERY PLAN "+s.Catalog.Own.(*catalog).written(s.Statement).text
			return driverrows.Scan(atOnce, preparing{dc.(driver.Conn)}, text, func(scan func(...any) error) error {
				err := scan(&row.ID, &row.Parent, &unused, &row.Detail)
				rows = append(rows, row)
				return err
			}, s.Args...)
		})
	})
	if err != nil {
		return exec.Plan{}, err
	}
	if s.Splice != nil && s.Catalog.Own.(*catalog).counted {
		return exec.Plan{Rows: rows}, nil // of which exec tells the tables
	}
	return readPlan(s.Statement, rows), nil
}

// preparing is a connection that cannot run a text without preparing it.
type preparing struct{ driver.Conn }

func (c *conn) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	runs := s.Catalog.Own.(*catalog).written(s.Statement)
	if c.prepared != s {
		if err := c.keep(ctx, s, runs.text); err != nil {
			return nil, err
		}
	}
	if c.load.plain && c.load.sorts > 0 {
		keeps, err := c.keepsOrder(ctx, s)
		if err != nil {
			return nil, err
		}
		c.load.plain = keeps
	}
	rows, err := c.start(ctx, s)
	if err != nil {
		return nil, err
	}
	names, types, changed, err := resultColumns(rows)
	names, renamed := runs.original(names)
	if err == nil && (changed || renamed || c.load.clock) {
		rows.Close()
		plain := c.load.plain
		if err = c.keepStored(ctx, s, runs.text, names, b.Rows+1); err == nil {
			c.prepared, c.load.plain = nil, plain // another run is of the statement itself
			rows, err = c.start(ctx, s)
		}
		if err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = c.fit(len(names))
	}
	if err != nil {
		rows.Close()
		return nil, err
	}
	return &exec.Rows{
		Rows: rows, Classify: func(err error) error { return c.runError(err, s.SQL()) },
		Type: func(i int, _ *sql.ColumnType) result.Type { return types[i] },
	}, nil
}

// start starts what was prepared, without a step.
func (c *conn) start(ctx context.Context, s *exec.Statement) (*sql.Rows, error) {
	c.gate.begin()
	rows, err := c.statement.QueryContext(ctx, s.Args...)
	if err != nil {
		return nil, c.runError(err, s.SQL()) // modernc.org/sqlite takes the first step
	}
	return rows, nil
}

// resultColumns returns the names and declared types of the columns of rows. changed says that drivers convert values
// of some declared type: go-sqlite3 makes the zero time of a text that is no date, and true of every positive integer.
func resultColumns(rows *sql.Rows) (names []string, types []result.Type, changed bool, err error) {
	columns, err := rows.ColumnTypes()
	for _, c := range columns {
		names, types = append(names, c.Name()), append(types, declared(c.DatabaseTypeName()))
		switch strings.ToUpper(c.DatabaseTypeName()) {
		case "DATE", "DATETIME", "TIMESTAMP", "TIME", "BOOLEAN", "BOOL":
			changed = true
		}
	}
	return names, types, changed, err
}

// kindWords are the words of declared types that say a kind, before SQLite's own rules of affinity.
var kindWords = map[string]result.Kind{
	"BOOLEAN": result.KindBool, "BOOL": result.KindBool, "DATE": result.KindDate, "TIME": result.KindTime,
	"DATETIME":  result.KindDateTime,
	"TIMESTAMP": result.KindDateTime, "DECIMAL": result.KindDecimal, "NUMERIC": result.KindDecimal,
	"JSON": result.KindJSON,
	"UUID": result.KindUUID,
}

// declared is the type that a column is declared with; an expression has none. Any value may be in the column.
func declared(name string) result.Type {
	word, size, sized := strings.Cut(strings.ToUpper(name), "(")
	t := result.Type{Name: name, Kind: kindWords[strings.TrimSpace(word)]}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(word, part) })
	}
	switch {
	case t.Kind == result.KindDecimal:
		_, scale, scaled := strings.Cut(strings.TrimSuffix(size, ")"), ",")
		n, err := strconv.Atoi(strings.TrimSpace(scale))
		if t.Scale = -1; sized && scaled && err == nil && n >= 0 && n <= mostScale {
			t.Scale = n
		} else if sized && !scaled {
			t.Scale = 0
		}
	case t.Kind != "":
	case has("INT"): // the rules of SQLite, in its order
		t.Kind = result.KindInt
	case has("CHAR", "CLOB", "TEXT"):
		t.Kind = result.KindText
	case has("BLOB"):
		t.Kind = result.KindBlob
	case has("REAL", "FLOA", "DOUB"):
		t.Name, t.Kind = strings.ToUpper(name), result.KindFloat // in capitals: see result.Type.Shown
	}
	return t
}

// mostScale is how many digits behind the point a declared type can ask for: it is a text of the database.
const mostScale = 100

// keepStored prepares asStored of what was prepared, of which nobody asks for more than that many rows. Where a
// statement has rules in it, its clock would tell how long hidden rows took: SQLite reads it anew in each step, and
// makes a materialized query in the first.
func (c *conn) keepStored(ctx context.Context, s *exec.Statement, text string, names []string, rows int) (err error) {
	how := ""
	if c.load.clock {
		how, text = "MATERIALIZED ", fmt.Sprintf("SELECT * FROM (%s\n) LIMIT %d", text, rows)
		err = c.raw(func(dc any) error { // or it may be read from its end
			_, err := c.set(context.WithoutCancel(ctx), dc, "reverse_unordered_selects", 0)
			return err
		})
	}
	if err != nil {
		return err
	}
	return c.keep(ctx, s, asStored(text, how, names))
}

// asStored wraps a statement so that its columns are expressions, which have no declared type.
//
// The order of rows stays. SQLite drops the ORDER BY of a subquery only if the outer query has an ORDER BY or a join
// (select.c, tag-select-0230, in 3.53.4), and a flattened subquery takes its order along. SQLite does not promise that,
// so TestStoredOrder checks it with real statements.
func asStored(text, how string, names []string) string {
	inner, outer := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		inner[i] = fmt.Sprintf("c%d", i)
		outer[i] = fmt.Sprintf("+c%d AS %s", i, quoted(name))
	}
	// No statement and no view under it can have a table of this name. The text may end in a comment.
	return fmt.Sprintf("WITH stored_%[1]x(%s) AS %s(%s\n) SELECT %s FROM stored_%[1]x",
		sha256.Sum256([]byte(text)), strings.Join(inner, ","), how, text, strings.Join(outer, ","))
}

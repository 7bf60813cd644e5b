package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/oliphant/ast"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// fence is a common table expression. The planner estimates 10,001 rows for it, whatever the table holds: one row
// because it expects ten values in the array, and 10,000 rows of a part that a filter ends before it begins. Its cost
// counts for the whole statement, so it does not influence the plan of the rest. Through the UNION the planner sees no
// statistics, so it cannot try LIKE and similar operators on their values.
const fence = "(SELECT q.* FROM (%s OFFSET 0) AS q WHERE (q.* IS NULL)::text = ALL (ARRAY(SELECT '' WHERE false))) " +
	"UNION ALL %s RIGHT JOIN pg_catalog.generate_series(1, 10000) ON false WHERE (SELECT false)"

// Rules returns the rules for writing a row rule into PostgreSQL's SQL. The planner evaluates no other part of the
// statement on a row before the row is in the common table expression.
func (d Dialect) Rules() guard.RewriteRules {
	l := d.Language()
	return guard.RewriteRules{
		Fence: fence, Hoisted: "%s AS MATERIALIZED (%s)", Inside: true,
		Quote: l.Quote, QuoteSchema: l.QuoteSchema, Placeholder: l.Placeholder, Numbered: true, Settings: true,
		Ordered: func(function string) bool { return ordered[function] },
		Exactly: func(column string) string { return column + `::text COLLATE "C"` },
	}
}

var ordered = guard.Set("sum avg string_agg array_agg json_agg jsonb_agg")

// viewText reads the queries of views, into which rules are written.
const viewText = `SELECT c.oid, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c WHERE c.relkind = 'v' AND c.oid >= 16384`

// tableAt is a table in a FROM.
type tableAt struct {
	*ast.RangeVar
	relation *relation
}

// columnAt is a place where a column may be named.
type columnAt struct {
	guard.Ref
	pos int
}

// groupAt is a SELECT with a GROUP BY.
type groupAt struct {
	*ast.SelectStmt
	number int
}

// hiddenColumns are columns of every table that no splice has.
var hiddenColumns = guard.Set("ctid xmin xmax cmin cmax tableoid")

// Spots implements exec.RowFilterConn.
func (c *conn) Spots(_ context.Context, s *exec.Statement) ([]guard.TablePosition, error) {
	return s.Catalog.Own.(*catalog).spots(s.Statement, len(s.Args) > 0 || s.Ours)
}

// Placed implements exec.RowFilterConn: outside the splices the statement names no table with a rule. Confirm checks
// the locks that the server takes for the whole text. They show that the statement reads only tables that it names.
func (c *conn) Placed(_ context.Context, s *exec.Statement) error {
	spots, err := s.Catalog.Own.(*catalog).spots(sqltext.PostgreSQL().Parse(s.Splice.Bare), true)
	if err != nil {
		return err
	}
	return s.Splice.RejectRuled(spots)
}

// Set sets the settings of a scope (exec.RowFilterConn). Their names have a dot; names without a dot belong to the
// guard.
func (c *conn) Set(settings map[string]string) error {
	c.settings = nil
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !strings.Contains(name, ".") {
			return guard.Refuse("scope", "the setting %s has no dot in its name: rules of row security read one as app.tenant",
				name)
		}
		c.settings = append(c.settings, "SELECT pg_catalog.set_config("+literal(name)+", "+literal(settings[name])+", true)")
	}
	return nil
}

// secured refuses a statement of a scope with settings if it reads a table past the row security of the database: the
// table has none, the role bypasses it, or a view reads with the rights of its owner. Tables in Policy.Shared are
// allowed.
func (c *conn) secured(ctx context.Context, s *exec.Statement) error {
	ruled := func(r *guard.Relation) bool { return r.Ruled() }
	if len(c.settings) == 0 || s.Splice == nil && slices.ContainsFunc(s.Names.Relations(), ruled) {
		return nil
	}
	var read []string
	for _, l := range c.before.relations {
		if r := c.judged.byOID[l.relation]; r != nil && (r.Ruled() || !c.config.Policy.Scoped()) {
			read = append(read, strconv.FormatUint(uint64(l.relation), 10))
		}
	}
	if len(read) == 0 {
		return nil
	}
	results, err := c.script(ctx, "SELECT c.relname FROM pg_catalog.pg_class c WHERE c.oid IN ("+strings.Join(read, ", ")+
		") AND NOT pg_catalog.row_security_active(c.oid) ORDER BY 1")
	if err != nil || len(results[0]) == 0 {
		return err
	}
	return guard.Refuse("scope", "%s has no row security that holds for the role of the pool: ENABLE ROW LEVEL SECURITY, "+
		"and connect as a role without BYPASSRLS that does not own the table, or list it in Policy.Shared", results[0][0][0])
}

func (c *catalog) spots(s *sqltext.Statement, ours bool) ([]guard.TablePosition, error) {
	w, err := c.read(s.SQL(), ours)
	if err != nil {
		return nil, err
	}
	f := &guard.Finder{Text: guard.NewText(s)}
	for _, table := range w.tables {
		if err := w.placeTable(f, table); err != nil {
			return nil, err
		}
	}
	for _, column := range w.columns {
		if err := w.placeColumn(f, column); err != nil {
			return nil, err
		}
	}
	for _, g := range w.groups {
		if pos, columns := w.grouped(g); columns != "" {
			f.Put(pos, pos, columns)
		}
	}
	return f.Spots(), nil
}

// placeTable finds the place of a table, and the words around its name that a splice cannot have.
func (w *walk) placeTable(f *guard.Finder, table tableAt) error {
	last, err := f.Table(table.relation.Relation, int(table.Location), table.Relname, table.Alias.GetAliasname())
	if err != nil || !table.relation.Ruled() {
		return err
	}
	first, _ := f.At(int(table.Location))
	before := first - 1
	switch {
	case w.sampled[table.RangeVar]:
		return guard.Refuse("rows", "a sample of %s would be one of other rows too", table.Relname)
	case table.Inh:
	case len(table.relation.Holds) > 0:
		return guard.Refuse("rows", "%s has its rows in tables that inherit from it, which ONLY leaves out", table.Relname)
	case f.Word(before) != "only":
		return guard.Refuse("rows", "ONLY stands before a bracket: name %s without it", table.Relname)
	default:
		f.Put(f.Pos(before), f.End(before), "")
		before--
	}
	if f.Word(before) == "table" { // TABLE t
		f.Put(f.Pos(before), f.End(before), "SELECT * FROM")
	}
	if f.Word(last+1) == "*" { // the tables that inherit from it, of which there are none
		f.Put(f.Pos(last+1), f.End(last+1), "")
	}
	return nil
}

// placeColumn finds the schema in front of a table in front of a column.
func (w *walk) placeColumn(f *guard.Finder, c columnAt) error {
	qualifier := c.Path
	if !c.Star {
		last := len(c.Path) - 1
		qualifier = c.Path[:last]
		if name := c.Path[last]; hiddenColumns[name] && w.isHidden(name, qualifier, c.Select) {
			return guard.Refuse("rows", "%s tells where rows are stored, other ones too", name)
		}
	}
	if len(qualifier) < 2 {
		return nil
	}
	return f.Unqualify(w.n, c.pos, qualifier[1], func(a, b string) bool { return a == b })
}

// isHidden reports whether a name may mean a hidden column. One that the statement defines too could mean that, in the
// row around a splice.
func (w *walk) isHidden(name string, qualifier []string, in int) bool {
	return !w.defined[name] || slices.ContainsFunc(w.n.Sources, func(o guard.Source) bool {
		if o.Relation == nil || !o.Relation.Ruled() {
			return false
		}
		if len(qualifier) == 0 {
			return o.Select == in
		}
		return o.Alias == qualifier[len(qualifier)-1]
	})
}

// ungroupable are types, by OID, that the engine has no equality for: json, xml and the geometric ones.
var ungroupable = []uint32{114, 142, 600, 601, 602, 603, 604, 628, 718}

// grouped returns the columns that a GROUP BY over the primary key of a table lacks when a splice replaces the table,
// because the engine does not know the key of a splice: the other columns that the statement names. It also returns
// where to write them. Groups stay the same.
func (w *walk) grouped(g groupAt) (pos int, columns string) {
	in := slices.DeleteFunc(slices.Clone(w.n.Sources), func(o guard.Source) bool { return o.Select != g.number })
	pos, keys := g.keys(in)
	for _, o := range in {
		if o.Relation == nil || o.Renamed || o.Joined {
			continue
		}
		t := o.Relation.Own.(*relation).table
		if t == nil || len(t.PrimaryKey) == 0 || slices.ContainsFunc(t.PrimaryKey, func(key string) bool {
			return !slices.ContainsFunc(keys, func(path []string) bool { return means(path, in, o, key) })
		}) {
			continue
		}
		columns += w.beside(o, g.number, t.PrimaryKey)
	}
	return pos, columns
}

// keys returns the grouped columns, and the place of the first. in is the FROM.
func (g groupAt) keys(in []guard.Source) (pos int, keys [][]string) {
	for i, item := range g.GroupClause {
		column, at := g.column(item, in)
		if i == 0 {
			pos = int(at)
		}
		path := names(column.GetFields())
		switch {
		case len(path) > 0 && len(path) == len(column.GetFields()):
			keys = append(keys, path)
		case i == 0 || item.GetGroupingSet() != nil:
			return 0, nil
		}
	}
	return pos, keys
}

// column returns the column that an item of GROUP BY names, by its name, or by the number or the name of a result.
func (g groupAt) column(item *ast.Node, in []guard.Source) (column *ast.ColumnRef, at int32) {
	column, at = item.GetColumnRef(), item.GetColumnRef().GetLocation()
	if n := item.GetAConst().GetIval(); n != nil && int(n.Ival) <= len(g.TargetList) && n.Ival > 0 {
		column, at = g.TargetList[n.Ival-1].GetResTarget().GetVal().GetColumnRef(), item.GetAConst().Location
	}
	path := names(column.GetFields())
	if len(path) != 1 || slices.ContainsFunc(in, func(o guard.Source) bool {
		return o.Relation == nil || o.Relation.Has(path[0])
	}) {
		return column, at
	}
	for _, target := range g.TargetList { // no column is called so: it is one of the result
		if target.GetResTarget().GetName() == path[0] {
			column = target.GetResTarget().GetVal().GetColumnRef()
		}
	}
	return column, at
}

// means reports whether a column in a key certainly belongs to a source.
func means(path []string, in []guard.Source, of guard.Source, column string) bool {
	last := len(path) - 1
	return path[last] == column && (last == 0 || path[last-1] == of.Alias) &&
		!slices.ContainsFunc(in, func(o guard.Source) bool {
			if last > 0 {
				return o != of && o.Alias == of.Alias
			}
			return o != of && (o.Relation == nil || o.Relation.Has(column))
		})
}

// beside lists the columns of a source, without its key, that the statement names and the engine can group by.
func (w *walk) beside(o guard.Source, in int, key []string) (list string) {
	for _, c := range o.Relation.Own.(*relation).columns {
		if slices.Contains(key, c.name) || slices.Contains(ungroupable, c.of) || o.Relation.Denies(c.name) {
			continue
		}
		if slices.ContainsFunc(w.n.Refs, func(ref guard.Ref) bool { return mayName(ref, o, in, c.name) }) {
			l := Dialect{}.Language()
			list += l.Quote(o.Alias) + "." + l.Quote(c.name) + ", "
		}
	}
	return list
}

// mayName reports whether a reference may name a column of a source in a SELECT of a number.
func mayName(ref guard.Ref, o guard.Source, in int, column string) bool {
	n := len(ref.Path)
	switch {
	case ref.Star && n == 0:
		return ref.Select == in
	case ref.Star:
		return ref.Path[n-1] == o.Alias
	}
	return ref.Path[n-1] == column && (n == 1 || ref.Path[n-2] == o.Alias)
}

// values writes arguments as the server reads them, whatever the types of the parameters.
func values(args []any) [][]byte {
	out := make([][]byte, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
		case []byte:
			out[i] = fmt.Appendf(nil, `\x%x`, v)
		default:
			out[i] = fmt.Append([]byte{}, v) // an empty text is not NULL
		}
	}
	return out
}

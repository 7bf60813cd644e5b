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

// Rules says how SQL of PostgreSQL is written around a rule. Behind OFFSET 0 the planner evaluates nothing of the statement
// on a row before the rule, and through a UNION it sees no statistics, on whose values it would try LIKE and the like.
func (d Dialect) Rules() guard.Splicing {
	l := d.Language()
	return guard.Splicing{Fence: "UNION ALL %s WHERE false OFFSET 0", Quote: l.Quote, QuoteSchema: l.QuoteSchema, Placeholder: l.Placeholder, Numbered: true, Settings: true}
}

// viewText reads the queries of views, into which rules are written.
const viewText = `SELECT c.oid, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c WHERE c.relkind = 'v' AND c.oid >= 16384`

// places are what a walk finds for [conn.Spots].
type places struct {
	tables  []tableAt
	columns []columnAt
	groups  []groupAt
	sampled map[*ast.RangeVar]bool
}

type tableAt struct {
	*ast.RangeVar
	relation *relation
}

type columnAt struct {
	guard.Ref
	pos int
}

type groupAt struct {
	*ast.SelectStmt
	number int
}

// hiddenColumns are columns of every table that no splice has.
var hiddenColumns = guard.Set("ctid xmin xmax cmin cmax tableoid")

// Spots implements exec.RulerConn.
func (c *conn) Spots(_ context.Context, s *exec.Statement) ([]guard.Spot, error) {
	return s.Catalog.Own.(*catalog).spots(s.Statement, len(s.Args) > 0 || s.Ours)
}

// Placed implements exec.RulerConn: no table with a rule is named where its splice is taken out. The locks that the server
// takes for the whole text, which Confirm looks at, show that it reads no table which is not named.
func (c *conn) Placed(_ context.Context, s *exec.Statement) error {
	spots, err := s.Catalog.Own.(*catalog).spots(sqltext.PostgreSQL().Parse(s.Splice.Bare), true)
	if err != nil {
		return err
	}
	return guard.Bare(spots)
}

// Set implements exec.SettingConn, for settings with a dot in their names: those of the guard are its own.
func (c *conn) Set(settings map[string]string) error {
	c.settings = nil
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !strings.Contains(name, ".") {
			return guard.Refuse(exec.ReasonScope, "the setting %s has no dot in its name: rules of row security read one as app.tenant", name)
		}
		c.settings = append(c.settings, "SELECT pg_catalog.set_config("+literal(name)+", "+literal(settings[name])+", true)")
	}
	return nil
}

// secured refuses a statement of a scope with settings that reads a table, other than those of Policy.Shared, past the row
// security of the database: there is none, the role bypasses it, or a view reads with the rights of its owner.
func (c *conn) secured(ctx context.Context, s *exec.Statement) error {
	ruled := func(r *guard.Relation) bool { return r.Ruled() }
	if len(c.settings) == 0 || s.Splice == nil && s.Names != nil && slices.ContainsFunc(s.Names.Relations(), ruled) {
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
	return guard.Refuse(exec.ReasonScope, "%s has no row security that holds for the role of the pool: ENABLE ROW LEVEL SECURITY, "+
		"and connect as a role without BYPASSRLS that does not own the table, or list it in Policy.Shared", results[0][0][0])
}

func (c *catalog) spots(s *sqltext.Statement, ours bool) (spots []guard.Spot, err error) {
	at := &places{sampled: map[*ast.RangeVar]bool{}}
	w, err := c.walked(s.SQL(), ours, at)
	if err != nil {
		return nil, err
	}
	t := guard.NewText(s)
	insert := func(from, to int, what string) { spots = append(spots, guard.Spot{Pos: from, End: to, Insert: what}) }
	for _, table := range at.tables {
		first, last, err := t.Name(int(table.Location), table.Relname)
		switch {
		case err != nil:
			return nil, err
		case !table.relation.Ruled():
			spots = append(spots, guard.Spot{Relation: table.relation.Relation, Pos: t.Pos(first), End: t.End(last)})
			if table.Alias == nil {
				spots[len(spots)-1].Alias = t.Raw(last)
			}
			continue
		case at.sampled[table.RangeVar]:
			return nil, guard.Refuse(exec.ReasonRows, "a sample of %s would be one of other rows too", table.Relname)
		case !table.Inh && len(table.relation.Holds) > 0:
			return nil, guard.Refuse(exec.ReasonRows, "%s has its rows in tables that inherit from it, which ONLY leaves out", table.Relname)
		case !table.Inh && t.Word(first-1) != "only":
			return nil, guard.Refuse(exec.ReasonRows, "ONLY stands before a bracket: name %s without it", table.Relname)
		}
		before := first - 1
		if !table.Inh {
			before--
		}
		if t.Word(before) == "table" { // TABLE t
			insert(t.Pos(before), t.End(before), "SELECT * FROM")
		}
		if !table.Inh {
			insert(t.Pos(first-1), t.End(first-1), "")
		}
		spot := guard.Spot{Relation: table.relation.Relation, Pos: t.Pos(first), End: t.End(last)}
		if table.Alias == nil {
			spot.Alias = t.Raw(last)
		}
		spots = append(spots, spot)
		if t.Word(last+1) == "*" { // the tables that inherit from it, of which there are none
			insert(t.Pos(last+1), t.End(last+1), "")
		}
	}
	for _, col := range at.columns {
		qualifier := col.Path
		if !col.Star {
			qualifier = col.Path[:len(col.Path)-1]
			// One that the statement defines too could mean that, in the row around a splice.
			if name := col.Path[len(col.Path)-1]; hiddenColumns[name] && (!w.defined[name] || slices.ContainsFunc(w.n.Sources, func(o guard.Source) bool {
				return o.Relation != nil && o.Relation.Ruled() &&
					(len(qualifier) == 0 && o.Select == col.Select || len(qualifier) > 0 && o.Alias == qualifier[len(qualifier)-1])
			})) {
				return nil, guard.Refuse(exec.ReasonRows, "%s tells where rows are stored, other ones too", name)
			}
		}
		if len(qualifier) < 2 {
			continue
		}
		i, ok := t.At(col.pos)
		if !ok || len(qualifier) > 2 || !w.n.Same(qualifier[1], func(a, b string) bool { return a == b }) {
			return nil, guard.Refuse(exec.ReasonRows, "%s has a schema in front: write it with an alias of the table", strings.Join(col.Path, "."))
		}
		insert(t.Pos(i), t.Pos(i+2), "")
	}
	for _, g := range at.groups {
		if pos, columns := w.grouped(g); columns != "" {
			insert(pos, pos, columns)
		}
	}
	slices.SortStableFunc(spots, func(a, b guard.Spot) int { return a.Pos - b.Pos })
	return spots, nil
}

// ungroupable are types, by OID, that the engine has no equality for: json, xml and the geometric ones.
var ungroupable = []uint32{114, 142, 600, 601, 602, 603, 604, 628, 718}

// grouped returns what a GROUP BY over the primary key of a table lacks where the table stands behind a splice, whose key
// the engine does not know: the other columns that the statement names, and where to write them. Groups stay as they are.
func (w *walk) grouped(g groupAt) (pos int, columns string) {
	var in []guard.Source // of the same FROM
	for _, o := range w.n.Sources {
		if o.Select == g.number {
			in = append(in, o)
		}
	}
	keys := make([][]string, 0, len(g.GroupClause)) // columns that are grouped
	for i, item := range g.GroupClause {
		column, at := item.GetColumnRef(), item.GetColumnRef().GetLocation()
		if n := item.GetAConst().GetIval(); n != nil && int(n.Ival) <= len(g.TargetList) && n.Ival > 0 {
			column, at = g.TargetList[n.Ival-1].GetResTarget().GetVal().GetColumnRef(), item.GetAConst().Location
		}
		if i == 0 {
			pos = int(at)
		}
		if path := names(column.GetFields()); len(path) == 1 && !slices.ContainsFunc(in, func(o guard.Source) bool { return o.Relation == nil || o.Relation.Has(path[0]) }) {
			for _, target := range g.TargetList { // no column is called so: it is one of the result
				if target.GetResTarget().GetName() == path[0] {
					column = target.GetResTarget().GetVal().GetColumnRef()
				}
			}
		}
		if path := names(column.GetFields()); len(path) > 0 && len(path) == len(column.GetFields()) {
			keys = append(keys, path)
		} else if i == 0 || item.GetGroupingSet() != nil {
			return 0, ""
		}
	}
	// means reports whether a column as a key writes it is for sure that of a source.
	means := func(path []string, of guard.Source, column string) bool {
		if path[len(path)-1] != column {
			return false
		}
		if len(path) > 1 {
			return path[len(path)-2] == of.Alias && !slices.ContainsFunc(in, func(o guard.Source) bool { return o != of && o.Alias == of.Alias })
		}
		return !slices.ContainsFunc(in, func(o guard.Source) bool { return o != of && (o.Relation == nil || o.Relation.Has(column)) })
	}
	for _, o := range in {
		if o.Relation == nil || o.Renamed || o.Joined {
			continue
		}
		r := o.Relation.Own.(*relation)
		if r.table == nil || len(r.table.PrimaryKey) == 0 || slices.ContainsFunc(r.table.PrimaryKey, func(key string) bool {
			return !slices.ContainsFunc(keys, func(path []string) bool { return means(path, o, key) })
		}) {
			continue
		}
		for _, c := range r.columns {
			named := slices.ContainsFunc(w.n.Refs, func(ref guard.Ref) bool {
				if ref.Star {
					return len(ref.Path) == 0 && ref.Select == g.number || len(ref.Path) > 0 && ref.Path[len(ref.Path)-1] == o.Alias
				}
				n := len(ref.Path)
				return ref.Path[n-1] == c.name && (n == 1 || ref.Path[n-2] == o.Alias)
			})
			if named && !slices.Contains(r.table.PrimaryKey, c.name) && !slices.Contains(ungroupable, c.of) && !o.Relation.Denies(c.name) {
				l := Dialect{}.Language()
				columns += l.Quote(o.Alias) + "." + l.Quote(c.name) + ", "
			}
		}
	}
	return pos, columns
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
			out[i] = fmt.Append([]byte{}, v) // an empty text is none that is NULL
		}
	}
	return out
}

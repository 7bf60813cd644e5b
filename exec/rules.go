package exec

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// placed are statements, by their text, into which the rules were written and that the engine accepted. The values of
// the rules' parameters do not matter for that.
var placed = &snapshot.Derived[string, *Statement]{
	Reach: snapshot.OfPolicy, Size: func(text string, _ *Statement) int { return 4096 + 20*len(text) },
}

// judgeWithRules judges a statement as it is written, and then with the rules about rows in it.
func (h *held) judgeWithRules(ctx context.Context, a *Statement) error {
	if !h.db.policy.Scoped() {
		return h.judge(ctx, a)
	}
	kept := len(a.Args) == 0 && !a.Ours
	if k, ok := placed.Known(h.at, a.SQL()); ok && kept && k.Catalog == h.catalog {
		*a = *k
		if a.ruled == nil {
			return h.judge(ctx, a)
		}
		ruled := *a.ruled
		var err error
		if ruled.Splice, err = ruled.Splice.With(h.db.scope.Params); err != nil {
			return err
		}
		ruled.Args, a.ruled = ruled.Splice.Args, &ruled
		return h.judge(ctx, &ruled)
	}
	err := h.judge(ctx, a)
	if err == nil {
		var open bool
		a.order, a.settled, open = a.Catalog.Open(a.Statement, a.Names, h.db.ruled)
		a.ruled, err = h.spliced(ctx, a, h.db.policy.Fence == "always" || !open)
		if err != nil && len(a.order) > 0 && IsRejection(err) { // the engine does not take the order there
			if err = h.finish(ctx); err == nil {
				h.used, a.order, a.settled = true, nil, false
				a.ruled, err = h.spliced(ctx, a, true)
			}
		}
	}
	if err == nil && kept {
		c := *a
		placed.Keep(h.at, a.SQL(), &c)
	}
	return err
}

// spliced returns a statement, which was admitted as it is written, with the rules about rows in it, admitted too; nil
// if it reads no table that has one.
func (h *held) spliced(ctx context.Context, a *Statement, fenced bool) (*Statement, error) {
	s, err := h.db.splice(ctx, h.GuardedConn, a, h.db.scope.Params, fenced)
	if err != nil {
		return nil, h.classify(err)
	}
	if len(s.Splice.Ranges) == 0 {
		return nil, nil
	}
	return s, h.judge(ctx, s)
}

// splice writes the rules into a statement, and has the second look.
func (db *DB) splice(ctx context.Context, conn GuardedConn, a *Statement, params map[string]any,
	fenced bool) (*Statement, error) {
	c, ok := conn.Conn.(RowFilterConn)
	if !ok {
		return nil, guard.Refuse("guard", "the connection is not read through rules about rows")
	}
	spots, err := c.Spots(ctx, a)
	if err != nil {
		return nil, err
	}
	spots = append(spots, a.order...)
	slices.SortStableFunc(spots, func(a, b guard.TablePosition) int { return a.Pos - b.Pos })
	o := guard.RewriteOptions{
		RewriteRules: db.ruled, Params: params, Fenced: fenced, Pinned: !a.settled, Own: a.Args, Compared: conn.Compared,
		View: func(v *guard.Relation) (string, []string, []guard.TablePosition, error) {
			return db.viewQuery(ctx, c, a.Catalog, v)
		},
	}
	splice, err := a.Catalog.Splice(a.SQL(), spots, o)
	if err != nil {
		return nil, err
	}
	s := &Statement{Statement: db.language.Text.Parse(splice.Text), Args: splice.Args, Ours: a.Ours, Catalog: a.Catalog,
		Splice: splice}
	return s, c.Placed(ctx, s)
}

// viewQuery returns the query of a view, for the place where it is written out.
func (db *DB) viewQuery(ctx context.Context, c RowFilterConn, catalog *Catalog, v *guard.Relation) (string, []string,
	[]guard.TablePosition, error) {
	t, ok := catalog.Schema.Lookup(v.Schema, v.Name)
	if !ok || v.Definition == "" {
		return "", nil, nil, guard.Refuse("rows", "the view %s has no text into which rules could be written", v.Name)
	}
	columns := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		columns[i] = column.Name
	}
	query := catalog.Text.Parse(catalog.ViewQuery(v.Definition))
	if db.language.Backticks && !catalog.Text.DoubleQuotedStrings {
		// In backticks it is a name: in double quotes it may be a string, and mean a column where it is written out.
		query = catalog.Text.Parse(inBackticks(query, slices.DeleteFunc(slices.Clone(query.Columns()),
			func(r sqlshape.ColumnRef) bool {
				return r.Quote != '"' || r.Qualifier != ""
			})))
	}
	spots, err := c.Spots(ctx, &Statement{Statement: query, Ours: true, Catalog: catalog, In: v.Schema})
	return query.SQL(), columns, spots, err
}

// tryRules has the engine look at each rule, and at each view that is read through rules, alone: what is missing must
// not be found in the statement around them. A view that cannot be read so is refused.
func (db *DB) tryRules(ctx context.Context, o GuardedConn, c *Catalog) error {
	params := map[string]any{}
	for _, r := range db.rules {
		for _, name := range r.Params {
			params[name] = nil
		}
	}
	try := func(r *guard.Relation) error {
		text := "SELECT * FROM " + db.ruled.QuoteSchema(r.Schema) + "." + db.ruled.Quote(r.Name)
		if r.Hides() {
			text = "SELECT 1 FROM " + db.ruled.QuoteSchema(r.Schema) + "." + db.ruled.Quote(r.Name)
		}
		a := &Statement{Statement: db.language.Text.Parse(text), Ours: true, Catalog: c}
		var err error
		if a.Names, err = o.Conn.Read(ctx, a); err != nil {
			return err
		}
		if a.Names == nil {
			a.Names = &guard.Names{}
		}
		s, err := db.splice(ctx, o, a, params, false)
		if err != nil {
			return err
		}
		for _, wall := range db.walls {
			if err := wall(ctx, o.Conn, s); err != nil {
				return db.dialect.Classify(err)
			}
		}
		return nil
	}
	for _, views := range []bool{false, true} {
		for _, r := range c.Relations {
			if r.View != views || !r.Ruled() || r.Refused != nil || !r.Allowed() {
				continue
			}
			readable := func() bool { _, ok := c.Schema.Lookup(r.Schema, r.Name); return ok }
			switch err := try(r); {
			case err == nil:
			case !IsRejection(err):
				return err
			case !readable(): // by the user, so that the rule is about another table of that name
				r.Refused = guard.NotReadable(r.Name)
			case r.View:
				r.Refused = guard.Refuse("rows", "the view %s cannot be read through the rules of its tables: %v", r.Name, err)
			default:
				return &PolicyError{Unknown: []string{fmt.Sprintf("Rows: %q: %v", r.Name, err)}}
			}
		}
	}
	return nil
}

// runs returns the statement that runs in place of a.
func (a *Statement) runs() *Statement {
	if a.ruled != nil {
		return a.ruled
	}
	return a
}

// read runs a statement that was admitted, and returns its rows. With rules about rows, an error may be about a row
// that the rules hide: then only that of a second run is told, behind a fence. What the engine warns of is not told: it
// may warn of a row that a rule hides, while it reads it or asks the rule.
func (h *held) read(ctx context.Context, a *Statement, b Bounds) (*result.Table, error) {
	open := a.ruled != nil && !a.ruled.Splice.Fenced
	if a.ruled != nil { // as it is decided by the statement: that it had to run again is not told
		trace.FromContext(ctx).Set("fenced", !open)
	}
	if open && h.sink != nil { // it cannot begin again behind its first row
		if _, err := h.fence(ctx, a); err != nil {
			return nil, err
		}
		open = false
	}
	t, warnings, err := h.attempt(ctx, a.runs(), b, a.quiet || a.ruled != nil)
	var invalid *InvalidError
	if open && err != nil {
		switch {
		case ctx.Err() != nil: // that it ended is all that is told of an error
			if errors.As(err, &invalid) {
				return nil, ctx.Err()
			}
			return t, err
		case h.unfit:
			return nil, unavailable{errors.New("exec: the database failed while it ran a statement with rules about rows")}
		}
		fenced, ferr := h.fence(ctx, a)
		if ferr != nil {
			return nil, ferr
		}
		t, _, err = h.attempt(ctx, fenced, b, true)
	}
	if a.ruled != nil && errors.As(err, &invalid) { // in another order of its conditions it may run
		err = guard.Refuse("rows", "it fails where the rules about rows come first: %s", invalid.Message)
	}
	for _, text := range warnings {
		trace.FromContext(ctx).Warn("engine-warning", redact.Credentials(text))
	}
	return t, err
}

// fence returns the statement that runs in place of a, behind a fence.
func (h *held) fence(ctx context.Context, a *Statement) (*Statement, error) {
	if err := h.finish(ctx); err != nil { // an engine may need another transaction
		return nil, err
	}
	h.used, h.admitted = true, a
	fenced, err := h.spliced(ctx, a, true)
	if err == nil {
		a.ruled = fenced // a further run begins there
	}
	return fenced, err
}

// attempt runs a statement once. Of one that is quiet nobody asks for warnings.
func (h *held) attempt(ctx context.Context, a *Statement, b Bounds, quiet bool) (t *result.Table, warnings []string,
	err error) {
	rows, err := h.Run(ctx, a, b)
	if err != nil {
		return nil, nil, h.classify(err)
	}
	if t, err = h.keep(a, rows, b); err != nil {
		return nil, nil, err
	}
	if rows.Warnings != nil && !h.unfit && !quiet {
		if warnings, err = rows.Warnings(ctx); err != nil {
			return nil, nil, h.db.unblamed(err)
		}
	}
	return t, warnings, nil
}

// plan explains a statement that was admitted. An error may be about what the rules hide, so it is that of the
// statement behind a fence.
func (h *held) plan(ctx context.Context, a *Statement) (Plan, error) {
	p, err := h.Explain(ctx, a.runs())
	if err = h.classify(err); err != nil && a.ruled != nil && !a.ruled.Splice.Fenced && ctx.Err() == nil && !h.unfit {
		fenced, ferr := h.fence(ctx, a)
		if ferr != nil {
			return Plan{}, ferr
		}
		p, err = h.Explain(ctx, fenced)
		err = h.classify(err)
	}
	if err != nil {
		return Plan{}, err
	}
	if most := h.db.limits.EngineCost; most > 0 && p.EngineCost > most {
		err = &LimitError{Limit: "engine-cost", Max: fmt.Sprint(most)}
	}
	for i, row := range p.Rows {
		p.Rows[i].Scans = a.scanned(row.Scans)
	}
	return h.told(a, p), err
}

// told returns the part of a plan that users may see. An engine estimates and chooses by statistics of all rows. So
// where rules hide some, of us or of the database by the settings of a scope, it is the tables alone. Where columns are
// denied, an index may be over one, and a condition of row security may name one; where tables are denied, row security
// may read one: it is the tables and the cost. SQLite has no row security and no conditions in its plan, which names no
// index where columns are denied.
func (h *held) told(a *Statement, p Plan) Plan {
	ruled, denies := a.ruled != nil || len(h.db.settings()) > 0, h.db.policy.Restricts()
	if p.Nodes == nil && (ruled || denies && len(p.Rows) > 0) {
		scans := p.Scans()
		if p.Rows, p.Reduced = []PlanRow{}, true; ruled {
			p.EngineCost, p.EngineRows, scans = 0, 0, nil
		}
		for i, r := range a.reads {
			name := a.named(r.Relation)
			row := PlanRow{ID: i + 1, Detail: "reads " + name.String()}
			if slices.Contains(scans, name) {
				row.Scans = []schema.TableName{name}
			}
			p.Rows = append(p.Rows, row)
		}
	}
	for i := range p.Rows {
		if p.Nodes != nil && len(h.db.policy.DenyColumns) > 0 {
			p.Rows[i].Detail = indexName.ReplaceAllString(p.Rows[i].Detail, "INDEX")
		}
	}
	return p
}

// indexName is the name of an index, which may have blanks and line breaks in it, and what stands behind it.
var indexName = regexp.MustCompile(`(?s)\bINDEX .*`)

// named is the name of a relation, without a schema that is the default one.
func (s *Statement) named(r *guard.Relation) schema.TableName {
	if r.Schema == s.Catalog.Schema.Default {
		return schema.TableName{Name: r.Name}
	}
	return schema.TableName{Schema: r.Schema, Name: r.Name}
}

// scanned are the tables of s that an engine's plan calls by the names. One without a schema may be of any, and one of
// a partition or child stands for the table that shows its rows.
func (s *Statement) scanned(names []schema.TableName) (tables []schema.TableName) {
	var is func(r *guard.Relation, name schema.TableName, equal func(a, b string) bool) bool
	is = func(r *guard.Relation, name schema.TableName, equal func(a, b string) bool) bool {
		return equal(r.Name, name.Name) && (name.Schema == "" || equal(r.Schema, name.Schema)) ||
			slices.ContainsFunc(r.Holds, func(part *guard.Relation) bool { return is(part, name, equal) })
	}
	for _, name := range names {
		for _, equal := range []func(a, b string) bool{func(a, b string) bool { return a == b }, schema.EqualFold} {
			before := len(tables)
			for _, r := range s.reads {
				if !r.Relation.View && is(r.Relation, name, equal) {
					tables = append(tables, s.named(r.Relation))
				}
			}
			if len(tables) > before {
				break
			}
		}
	}
	return tables
}

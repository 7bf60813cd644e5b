package trino

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// view is what the guard knows of a view.
type view struct {
	looked  bool
	tables  []table // that lie under it
	refused error   // why it may not be read; nil: it may
}

// permit decides on the tables that the server says a statement reads.
func (h *held) permit(ctx context.Context, a *admitted) error {
	p := h.guard.config.Policy
	if !p.Restricts() {
		for _, t := range a.tables {
			if !h.may(t) {
				return hidden(t.name)
			}
		}
		return nil
	}
	under, err := h.throughViews(ctx, a.spelt.tables)
	if err != nil {
		return err
	}
	for _, t := range a.tables {
		if !h.may(t) {
			return hidden(t.name)
		}
		if !a.spelt.tables[t.name] && !slices.Contains(under, t) {
			return refuse(exec.ReasonTable, "the server reads "+t.name+", which the statement does not name and none of its views explains")
		}
	}
	return h.closed(ctx, a.tables)
}

// throughViews looks at every view that a statement may name, and returns what lies under them. A view that
// may not be read, or that reads what may not be, is refused whole: it reads with the rights of its owner.
func (h *held) throughViews(ctx context.Context, tables map[string]bool) (under []table, err error) {
	views, err := h.viewsOf(ctx)
	if err != nil {
		return nil, err
	}
	g := h.guard
	var found []table
	g.mu.Lock()
	for t := range views {
		if tables[t.name] && !slices.Contains(h.judging, t) {
			found = append(found, t)
		}
	}
	g.mu.Unlock()
	slices.SortFunc(found, byName)
	for _, t := range found {
		g.mu.Lock()
		v := views[t]
		g.mu.Unlock()
		if !v.looked {
			v.looked = true
			v.tables, v.refused = h.judge(ctx, t)
			if v.refused != nil && !errors.As(v.refused, new(*exec.RefusedError)) {
				return nil, v.refused
			}
			g.mu.Lock()
			views[t] = v
			g.mu.Unlock()
		}
		if v.refused != nil {
			return nil, v.refused
		}
		under = append(under, v.tables...)
	}
	return under, nil
}

// judge decides on a view: the server itself has to let this user run its definition, if the policy denies columns.
func (h *held) judge(ctx context.Context, t table) (tables []table, err error) {
	if !h.may(t) {
		return nil, hidden(t.name)
	}
	p := h.guard.config.Policy
	no := func(why string) error { return refuse(exec.ReasonTable, "the view "+t.name+" "+why) }
	if tables, err = h.inputs(ctx, "SELECT * FROM "+t.quoted()); err != nil {
		if exec.IsRejection(err) {
			err = no("cannot be read")
		}
		return nil, err
	}
	for _, under := range tables {
		if !h.may(under) {
			return nil, no("reads a table that may not be read")
		}
	}
	if len(p.DenyColumns) == 0 {
		return tables, nil
	}
	var definition string
	query := "SELECT view_definition FROM " + Dialect{}.Quote(t.catalog) + ".information_schema.views WHERE table_schema = " + literal(t.schema) + " AND table_name = " + literal(t.name)
	if err := h.text(ctx, query, &definition); err != nil {
		return nil, err
	}
	if definition == "" {
		return nil, no("has a definition that this user may not see, so nobody knows which columns it reads")
	}
	w := speller{tokens: slices.Collect(sqltext.Trino().Parse(definition).Tokens())}
	inner := w.relations()
	own := *h
	own.judging = append(slices.Clip(h.judging), t)
	if _, err := own.throughViews(ctx, inner); err != nil {
		return nil, err
	}
	own.session = append(slices.Clip(h.session), sql.Named(catalogHeader, t.catalog), sql.Named(schemaHeader, t.schema))
	again, err := own.inputs(ctx, definition)
	switch {
	case err != nil && exec.IsRejection(err):
		return nil, no("reads what this user may not read")
	case err != nil:
		return nil, err
	case !slices.Equal(again, tables):
		return nil, no("reads other tables than its definition names here")
	}
	return tables, h.closed(ctx, tables)
}

// closed refuses to work where the server itself would let a denied column of these tables be read.
func (h *held) closed(ctx context.Context, tables []table) error {
	if len(h.guard.config.Policy.DenyColumns) == 0 {
		return nil
	}
	columns, err := h.columnsOf(ctx, tables)
	if err != nil {
		return err
	}
	return h.verify(ctx, columns)
}

// verify makes sure that the server refuses the denied ones of some columns.
func (h *held) verify(ctx context.Context, columns map[table][]string) error {
	g := h.guard
	for _, t := range slices.SortedFunc(maps.Keys(columns), byName) {
		for _, name := range columns[t] {
			if !h.may(t) || g.config.Policy.AllowsColumn(h.at.label(t), t.name, name) {
				continue
			}
			g.mu.Lock()
			g.fresh()
			denied := g.denied[column{t, name}]
			g.mu.Unlock()
			var err error
			if !denied {
				denied, err = h.probe(ctx, t, name)
			}
			switch {
			case err != nil:
				return err
			case !denied:
				return &exec.UnguardedError{
					Reason: fmt.Sprintf("the policy denies %s.%s, and the server lets this user read it; nothing but the server's own access control can hold columns back", t.name, name),
					Remedy: "give the server the rules that trino.AccessRules makes of the policy, and open the pool as the user of these rules",
				}
			}
			g.mu.Lock()
			g.denied[column{t, name}] = true
			g.mu.Unlock()
		}
	}
	return nil
}

// probe reports whether the server refuses this user a column of a table; any column where name is "". A column or table
// that is not there is not refused.
func (h *held) probe(ctx context.Context, t table, name string) (denied bool, err error) {
	item := "1"
	if name != "" {
		item = Dialect{}.Quote(name)
	}
	var valid string
	err = h.text(ctx, "EXPLAIN (TYPE VALIDATE) SELECT "+item+" FROM "+t.quoted(), &valid)
	var refused *exec.RefusedError
	switch {
	case errors.As(err, &refused) && (refused.Reason == exec.ReasonColumn || refused.Reason == exec.ReasonTable):
		return true, nil
	case errors.As(err, new(*exec.InvalidError)):
		return false, nil
	}
	return false, err
}

// known looks the names of the policy up, once. What is denied may be hidden from this user by the server, so that the
// catalog does not have it: then the server has to say that it refuses it.
func (g *guard) known(ctx context.Context, h *held) error {
	p := g.config.Policy
	g.mu.Lock()
	checked := g.checked
	g.mu.Unlock()
	if checked || !p.Restricts() {
		return nil
	}
	listed := map[table][]string{}
	for _, catalog := range g.dialect.catalogs(h.at.catalog) {
		if err := h.list(ctx, catalog, mentioned(p), listed); err != nil {
			return err
		}
	}
	var relations []relation
	for t, columns := range listed {
		relations = append(relations, relation{h.at.label(t), t.name, columns})
	}
	var unknown []string
	for _, e := range absent(p, relations) {
		switch refused, err := h.refuses(ctx, e, listed); {
		case err != nil:
			return err
		case !refused:
			unknown = append(unknown, e.String())
		}
	}
	if len(unknown) > 0 {
		return &exec.PolicyError{Unknown: unknown}
	}
	if err := h.verify(ctx, listed); err != nil {
		return err
	}
	g.mu.Lock()
	g.checked = true
	g.mu.Unlock()
	return nil
}

// path cuts a name of a policy into its parts, in lower case.
func path(name string) (parts []string) {
	for t := range sqltext.Trino().Tokens(name) {
		if t.Text != "." {
			parts = append(parts, strings.ToLower(sqltext.Trino().Value(t)))
		}
	}
	return parts
}

// mentioned is a condition for the tables and columns that a policy names. The tables of a catalog may be many.
func mentioned(p exec.Policy) string {
	var tables, columns []string
	for _, name := range slices.Concat(p.AllowTables, p.DenyTables) {
		parts := path(name)
		tables = append(tables, literal(parts[len(parts)-1]))
	}
	for _, name := range p.DenyColumns {
		if parts := path(name); len(parts) > 1 {
			tables = append(tables, literal(parts[len(parts)-2]))
		} else {
			columns = append(columns, literal(parts[0]))
		}
	}
	switch in := func(list []string) string { return " IN (" + strings.Join(list, ", ") + ")" }; {
	case len(columns) == 0:
		return " AND table_name" + in(tables)
	case len(tables) == 0:
		return " AND column_name" + in(columns)
	default:
		return " AND (table_name" + in(tables) + " OR column_name" + in(columns) + ")"
	}
}

// relation is a table or view as policies call it.
type relation struct {
	schema, name string
	columns      []string
}

// entry is one name of a policy.
type entry struct {
	field, text string
	column      bool // it ends in the name of a column
}

// String is the form of an exec.PolicyError.
func (e entry) String() string { return e.field + ": " + strconv.Quote(e.text) }

// absent returns the entries of a policy that name none of the relations, in order.
func absent(p exec.Policy, relations []relation) (out []entry) {
	names := func(e entry, r relation) bool {
		if !e.column {
			return !exec.Policy{DenyTables: []string{e.text}}.AllowsTable(r.schema, r.name)
		}
		return slices.ContainsFunc(r.columns, func(c string) bool {
			return !exec.Policy{DenyColumns: []string{e.text}}.AllowsColumn(r.schema, r.name, c)
		})
	}
	for _, l := range []struct {
		field   string
		entries []string
	}{{"AllowTables", p.AllowTables}, {"DenyTables", p.DenyTables}, {"DenyColumns", p.DenyColumns}} {
		for _, text := range l.entries {
			e := entry{l.field, text, l.field == "DenyColumns"}
			if !slices.ContainsFunc(relations, func(r relation) bool { return names(e, r) }) {
				out = append(out, e)
			}
		}
	}
	return out
}

// mostProbes bounds the questions about one entry of a policy that the catalog does not have.
const mostProbes = 200

// refuses reports whether the server refuses what an entry of the policy names, in some schema of the listed tables.
func (h *held) refuses(ctx context.Context, e entry, listed map[table][]string) (bool, error) {
	path := path(e.text)
	name := ""
	if e.column {
		path, name = path[:len(path)-1], path[len(path)-1]
	}
	asked := map[table]bool{{h.at.catalog, h.at.schema, ""}: true}
	if len(path) == 0 { // a column of any table
		listed = map[table][]string{}
		for _, catalog := range h.guard.dialect.catalogs(h.at.catalog) {
			if err := h.list(ctx, catalog, "", listed); err != nil {
				return false, err
			}
		}
	}
	for t := range listed {
		if len(path) > 0 {
			t.name = ""
		}
		asked[t] = true
	}
	for t := range asked {
		switch len(path) {
		case 1:
			t.name = path[0]
		case 2:
			t.schema, t.name = path[0], path[1]
		case 3:
			t = table{path[0], path[1], path[2]}
		}
		if t.name == "" || len(asked) > mostProbes {
			continue
		}
		if denied, err := h.probe(ctx, t, name); err != nil || denied {
			return denied, err
		}
	}
	return false, nil
}

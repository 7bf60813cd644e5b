package trino

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	under, err := h.throughViews(ctx, a.spelt.names)
	if err != nil {
		return err
	}
	for _, t := range a.tables {
		if !h.may(t) {
			return hidden(t.name)
		}
		if !a.spelt.names[t.name] && !slices.Contains(under, t) {
			return refuse(exec.ReasonTable, "the server reads "+t.name+", which the statement does not name and none of its views explains")
		}
	}
	return h.closed(ctx, a.tables)
}

// throughViews looks at every view whose name is a word of the statement, and returns what lies under them. A view that
// may not be read, or that reads what may not be, is refused whole: it reads with the rights of its owner.
func (h *held) throughViews(ctx context.Context, names map[string]bool) (under []table, err error) {
	views, err := h.viewsOf(ctx)
	if err != nil {
		return nil, err
	}
	g := h.guard
	var found []table
	g.mu.Lock()
	for t := range views {
		if names[t.name] {
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
	s := sqltext.Trino().Parse(definition)
	inner := map[string]bool{}
	for token := range s.Tokens() {
		if token.Kind == sqltext.Word || token.Kind == sqltext.QuotedName {
			inner[strings.ToLower(sqltext.Trino().Value(token))] = true
		}
	}
	if delete(inner, t.name); len(inner) > 0 {
		if _, err := h.throughViews(ctx, inner); err != nil {
			return nil, err
		}
	}
	own := *h
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
	for _, t := range tables {
		for _, name := range columns[t] {
			if h.guard.config.Policy.AllowsColumn(h.at.label(t), t.name, name) {
				continue
			}
			if err := h.verify(ctx, column{t, name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// verify makes sure that the server refuses a column.
func (h *held) verify(ctx context.Context, c column) error {
	g := h.guard
	g.mu.Lock()
	_, known := g.denied[c]
	g.mu.Unlock()
	if known {
		return nil
	}
	switch denied, err := h.probe(ctx, c.table, c.name); {
	case err != nil:
		return err
	case !denied:
		return &exec.UnguardedError{
			Reason: fmt.Sprintf("the policy denies %s.%s, and the server lets this user read it; nothing but the server's own access control can hold columns back", c.table.name, c.name),
			Remedy: "give the server the rules that trino.AccessRules makes of the policy, and open the pool as the user of these rules",
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.denied[c] = struct{}{}
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
		if err := h.list(ctx, catalog, "", listed); err != nil {
			return err
		}
	}
	var unknown []string
	for _, l := range []struct {
		field   string
		entries []string
		parts   int // of the name of a column
		allows  func(entry string, t table, column string) bool
	}{
		{"AllowTables", p.AllowTables, 0, func(e string, t table, _ string) bool {
			return exec.Policy{DenyTables: []string{e}}.AllowsTable(h.at.label(t), t.name)
		}},
		{"DenyTables", p.DenyTables, 0, func(e string, t table, _ string) bool {
			return exec.Policy{DenyTables: []string{e}}.AllowsTable(h.at.label(t), t.name)
		}},
		{"DenyColumns", p.DenyColumns, 1, func(e string, t table, c string) bool {
			return exec.Policy{DenyColumns: []string{e}}.AllowsColumn(h.at.label(t), t.name, c)
		}},
	} {
		for _, entry := range l.entries {
			found := false
			for t, columns := range listed {
				found = found || l.parts == 0 && !l.allows(entry, t, "") || slices.ContainsFunc(columns, func(c string) bool { return !l.allows(entry, t, c) })
			}
			var err error
			if !found {
				found, err = h.refuses(ctx, entry, l.parts, listed)
			}
			if err != nil {
				return err
			}
			if !found {
				unknown = append(unknown, l.field+": "+strconv.Quote(entry))
			}
		}
	}
	if len(unknown) > 0 {
		return &exec.PolicyError{Unknown: unknown}
	}
	var tables []table
	g.mu.Lock()
	g.fresh()
	for t, columns := range listed {
		g.columns[t] = columns
		tables = append(tables, t)
	}
	g.mu.Unlock()
	slices.SortFunc(tables, byName)
	tables = slices.DeleteFunc(tables, func(t table) bool { return !h.may(t) })
	if err := h.closed(ctx, tables); err != nil {
		return err
	}
	g.mu.Lock()
	g.checked = true
	g.mu.Unlock()
	return nil
}

// mostProbes bounds the questions about one entry of a policy that the catalog does not have.
const mostProbes = 200

// refuses reports whether the server refuses what an entry of the policy names, in some schema of the listed tables.
// parts is 1 where it ends in the name of a column.
func (h *held) refuses(ctx context.Context, entry string, parts int, listed map[table][]string) (bool, error) {
	var path []string
	for t := range sqltext.Trino().Tokens(entry) {
		if t.Text != "." {
			path = append(path, strings.ToLower(sqltext.Trino().Value(t)))
		}
	}
	name := ""
	if parts == 1 {
		path, name = path[:len(path)-1], path[len(path)-1]
	}
	asked := map[table]bool{{h.at.catalog, h.at.schema, ""}: true}
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

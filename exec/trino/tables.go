package trino

import (
	"context"
	"strings"
)

// literal writes a string.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// list adds the tables of a catalog, with their columns in order, that this user may see and that fulfil a condition.
func (h *held) list(ctx context.Context, catalog, condition string, into map[table][]string) error {
	query := "SELECT table_schema, table_name, column_name FROM " + Dialect{}.Quote(catalog) + ".information_schema.columns WHERE table_schema <> 'information_schema'" +
		condition + " ORDER BY 1, 2, ordinal_position"
	return each(ctx, h.ours(), query, func(scan func(...any) error) error {
		t, column := table{catalog: catalog}, ""
		if err := scan(&t.schema, &t.name, &column); err != nil {
			return err
		}
		into[t] = append(into[t], column)
		return nil
	})
}

// ours is h for texts of our own about the catalog.
func (h *held) ours() *held {
	own := *h
	own.reads = true
	return &own
}

// columnsOf returns the columns of tables, from what the guard knows or the server says.
func (h *held) columnsOf(ctx context.Context, tables []table) (map[table][]string, error) {
	g := h.guard
	out := map[table][]string{}
	missing := map[string][]table{} // by catalog
	g.mu.Lock()
	g.fresh()
	for _, t := range tables {
		if columns, ok := g.columns[t]; ok {
			out[t] = columns
		} else {
			missing[t.catalog] = append(missing[t.catalog], t)
		}
	}
	g.mu.Unlock()
	for catalog, tables := range missing {
		var schemas, names []string
		for _, t := range tables {
			schemas, names = append(schemas, literal(t.schema)), append(names, literal(t.name))
		}
		found := map[table][]string{}
		condition := " AND table_schema IN (" + strings.Join(schemas, ", ") + ") AND table_name IN (" + strings.Join(names, ", ") + ")"
		if err := h.list(ctx, catalog, condition, found); err != nil {
			return nil, err
		}
		g.mu.Lock()
		g.fresh()
		for _, t := range tables {
			g.columns[t], out[t] = found[t], found[t]
		}
		g.mu.Unlock()
	}
	return out, nil
}

// viewsOf returns all views that this user may see.
func (h *held) viewsOf(ctx context.Context) (map[table]view, error) {
	g := h.guard
	g.mu.Lock()
	g.fresh()
	views := g.views
	g.mu.Unlock()
	if views != nil {
		return views, nil
	}
	views = map[table]view{}
	for _, catalog := range h.guard.dialect.catalogs(h.at.catalog) {
		query := "SELECT table_schema, table_name FROM " + Dialect{}.Quote(catalog) + ".information_schema.tables WHERE table_type = 'VIEW'"
		err := each(ctx, h.ours(), query, func(scan func(...any) error) error {
			t := table{catalog: catalog}
			err := scan(&t.schema, &t.name)
			views[t] = view{}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	g.mu.Lock()
	g.views = views
	g.mu.Unlock()
	return views, nil
}

// byName orders tables.
func byName(a, b table) int { return strings.Compare(a.quoted(), b.quoted()) }

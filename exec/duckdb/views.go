package duckdb

import (
	"context"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// parseViews has the engine parse the definition of each view. One that it cannot parse is refused later.
func (c *catalog) parseViews(ctx context.Context, q bridge.Queryer) error {
	for _, r := range c.sorted() {
		text := query(r.definition)
		if !r.view || text == "" {
			continue
		}
		raw := ""
		err := each(ctx, q, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", func(scan func(...any) error) error { return scan(&raw) }, text)
		if err != nil {
			return err
		}
		if r.tree, err = readTree(raw); err != nil {
			r.tree = nil
		}
		r.added = sqltext.DuckDB().Parse(text).Expand(c.expansion)
	}
	return nil
}

// query is the SELECT of a view: CREATE VIEW name (columns) AS SELECT …;
func query(definition string) string {
	depth, end := 0, len(definition)
	d := sqltext.DuckDB()
	from := -1
	for t := range d.Parse(definition).Tokens() {
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case from < 0 && depth == 0 && t.Kind == sqltext.Word && schema.EqualFold(t.Text, "as"):
			from = t.Pos + len(t.Text)
		case depth == 0 && t.Text == ";":
			end = t.Pos
		}
	}
	if from < 0 || end < from {
		return ""
	}
	return definition[from:end]
}

// look decides on a view by its definition, and on those under it first. A view that may not be read whole is refused
// whole. What its owner reads from files it may: they are not of the schema.
func (c *catalog) look(r *relation) {
	if r.named != nil || r.refused != nil || r.reading {
		return
	}
	r.reading = true
	defer func() { r.reading = false }()
	refuse := func(detail string) {
		r.refused = &exec.RefusedError{Reason: exec.ReasonTable, Detail: "the view " + r.name + " " + detail}
	}
	if r.tree == nil {
		refuse("has a definition that the guard cannot read")
		return
	}
	w := walker{catalog: c, view: func(under *relation) {
		if under.reading {
			refuse("reads itself")
			return
		}
		c.look(under)
	}}
	n, err := w.statement(r.tree.Statements[0])
	if err == nil && r.refused == nil {
		err = c.permit(n)
	}
	switch {
	case r.refused != nil:
	case err != nil:
		detail := err.Error()
		if refused, ok := err.(*exec.RefusedError); ok {
			detail = refused.Detail
		}
		refuse("reads or calls what may not be: " + detail)
	default:
		r.named = n
	}
}

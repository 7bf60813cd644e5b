package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// traceQuery reads what the optimizer wrote down while it prepared the last statement.
const traceQuery = "SELECT QUERY, MISSING_BYTES_BEYOND_MAX_MEM_SIZE, INSUFFICIENT_PRIVILEGES, JSON_EXTRACT(TRACE, '$**.expanded_query') FROM information_schema.OPTIMIZER_TRACE"

// traced refuses the statement that was prepared last where the server itself reads a denied column for it: it writes
// out stars, NATURAL, USING and views in its trace. It knows columns that the catalog does not have yet.
func (h *held) traced(ctx context.Context, text string, n *named) error {
	aliases := h.aliases(n)
	refuse := func(detail string) error {
		return &exec.RefusedError{Reason: exec.ReasonColumn, Detail: detail}
	}
	var (
		query, expanded       sql.NullString
		missing, unprivileged int
		found                 bool
	)
	err := each(ctx, h.conn, traceQuery, func(scan func(...any) error) error {
		found = true
		return scan(&query, &missing, &unprivileged, &expanded)
	})
	switch {
	case err != nil:
		return unblamed(err)
	case unprivileged != 0:
		views, err := h.onlyViews(ctx, n)
		if err != nil {
			return unblamed(err)
		}
		if views { // and none shows a denied column: there is nothing that the statement could read
			return nil
		}
		return refuse("the server does not tell this user what a statement over views reads that are another user's: name no tables beside them, or run them as SQL SECURITY INVOKER")
	case !found || missing > 0 || !expanded.Valid || query.String != text:
		return refuse("the server does not tell what the statement reads, and a column of its tables may not be read")
	}
	var queries []string
	if err := json.Unmarshal([]byte(expanded.String), &queries); err != nil || len(queries) == 0 {
		return refuse("the server does not tell what the statement reads in a form that the guard knows")
	}
	for _, q := range queries {
		var before [2]string // the tokens before, names in lower case
		for t := range sqltext.MySQL().Parse(q).Tokens() {
			this := t.Text
			if t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
				this = sqltext.MySQL().Value(t)
				if before[1] == "." && h.denies(aliases, lower(before[0]), this) {
					return refuse("the server would read " + before[0] + "." + this + ", which may not be read")
				}
			} else if t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
				continue
			}
			before = [2]string{before[1], this}
		}
	}
	return nil
}

// onlyViews reports whether a statement names nothing but views without a column that is denied, which the server still
// defines as the catalog has them, and those under them: permit looked at each of their names, and the server writes
// stars, NATURAL and USING out where it keeps a definition.
func (h *held) onlyViews(ctx context.Context, n *named) (only bool, err error) {
	kept := map[string]string{} // definitions by name
	var all []*relation
	for _, r := range n.relations {
		if !r.view || r.named == nil || len(r.denied) > 0 {
			return false, nil
		}
		all = append(all, r)
	}
	for i := 0; i < len(all); i++ {
		if r := all[i]; r.view {
			kept[r.name] = r.definition
			for _, under := range r.named.relations {
				if under.view && under.named == nil {
					return false, nil
				}
				if !slices.Contains(all, under) {
					all = append(all, under)
				}
			}
		}
	}
	err = each(ctx, h.conn, viewsQuery, func(scan func(...any) error) error {
		var name, definition, rest sql.NullString
		err := scan(&name, &definition, &rest)
		if before, ok := kept[name.String]; ok && before == definition.String && before != "" {
			delete(kept, name.String)
		}
		return err
	})
	return err == nil && len(n.relations) > 0 && len(kept) == 0, err
}

// aliases returns what names stand for relations in a statement and in the views that it reads, in lower case; nil stands
// for anything else.
func (h *held) aliases(n *named) map[string][]*relation {
	found := map[string][]*relation{}
	var add func(n *named)
	add = func(n *named) {
		for _, s := range n.reads.Sources {
			var r *relation
			if s.Relation != nil {
				r = h.catalog.relations[h.catalog.key(s.Relation.Name)]
			}
			found[lower(s.Alias)] = append(found[lower(s.Alias)], r)
		}
		for _, r := range n.relations {
			if r.named != nil {
				add(r.named)
			}
		}
	}
	add(n)
	return found
}

// denies reports whether qualifier.column may be a denied column. A qualifier that the statement does not have may stand
// for any table.
func (h *held) denies(aliases map[string][]*relation, qualifier, column string) bool {
	denied := func(r *relation) bool {
		return r != nil && (r.denied[lower(column)] || !h.guard.config.Policy.AllowsColumn(h.at.database, r.name, column))
	}
	if relations, ok := aliases[qualifier]; ok {
		return slices.ContainsFunc(relations, denied)
	}
	for _, relations := range aliases {
		if slices.ContainsFunc(relations, denied) {
			return true
		}
	}
	return false
}

package mysql

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// look decides on a view by its definition, which the server writes out with all names qualified, and on those under it
// first. A view that may not be read whole is refused whole.
func (c *catalog) look(r *relation, definitions map[string]string) {
	if r.named != nil || r.refused != nil || r.reading {
		return
	}
	r.reading = true
	defer func() { r.reading = false }()
	refuse := func(detail string) {
		r.refused = &exec.RefusedError{Reason: exec.ReasonTable, Detail: "the view " + r.name + " " + detail}
	}
	text := definitions[r.name]
	if text == "" {
		refuse("has a definition that this user may not see, so nobody knows what it reads: GRANT SHOW VIEW ON " +
			Dialect{}.Quote(c.place.database) + ".* TO the user, or leave the view out")
		return
	}
	// The server stores and reads definitions by the rules of the default sql_mode.
	parsed, err := parse(text, 0)
	if err != nil {
		refuse("has a definition that the guard cannot read")
		return
	}
	w := walker{catalog: c, view: func(under *relation) {
		if under.reading {
			refuse("reads itself")
			return
		}
		c.look(under, definitions)
	}}
	n, err := w.statement(parsed)
	if err == nil && r.refused == nil {
		err = c.permit(n)
	}
	switch {
	case r.refused != nil:
	case err != nil:
		refuse("reads or calls what may not be: " + detailOf(err))
	default:
		r.named, r.definition = n, text
		r.added = sqltext.MySQL().Parse(text).Expand(c.expansion)
	}
}

// detailOf is the text of a refusal without the words around it.
func detailOf(err error) string {
	if refused, ok := err.(*exec.RefusedError); ok {
		return refused.Detail
	}
	return err.Error()
}

// expansion tells what a view adds where it is written out.
func (c *catalog) expansion(database, name string) (sqltext.Expansion, bool) {
	r := c.relations[c.key(name)]
	if r == nil || !r.view || !c.isCurrent(database) {
		return sqltext.Expansion{}, false
	}
	return r.added, true
}

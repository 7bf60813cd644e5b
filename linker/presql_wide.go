package linker

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Wide keeps a table whole up to so many columns: if the statement reads it, and if it does not.
const (
	narrowRead  = 4
	narrowAdded = 5
)

// minPrefix is the length of the shortest word that counts as the beginning of a name.
const minPrefix = 4

// widen adds the tables that PreSQL.Wide describes. The preliminary SQL reads the first drafted of links.
func widen(in Input, links schema.Links, drafted int) schema.Links {
	asked := askedWords(in, true)
	add := func(t *schema.Table) {
		links = merge(links, schema.Links{Tables: []schema.TableLink{t.TableName().Link(keyOf(t)...)}})
	}
	begun := func(name string) bool {
		for w := range asked {
			if isBegun(name, w) {
				return true
			}
		}
		return false
	}
	for i := range in.Schema.Tables {
		if t := &in.Schema.Tables[i]; isTouched(t.Name, asked) || begun(t.Name) {
			add(t)
		}
	}
	small, _ := in.Snapshot.Graph(in.Schema).Restrict(tablesOnly(links))
	covered := map[string]bool{}
	for i := range small.Tables {
		for _, c := range small.Tables[i].Columns {
			covered[stemmed(c.Name)] = true
		}
	}
	for i := range in.Schema.Tables {
		t := &in.Schema.Tables[i]
		if slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
			return len(words.OfName(c.Name)) > 1 && isNamed(c.Name, asked) && !covered[stemmed(c.Name)]
		}) {
			add(t)
		}
	}
	if drafted == 1 {
		t, _ := in.Schema.Lookup(links.Tables[0].Schema, links.Tables[0].Table)
		for _, k := range t.ForeignKeys {
			if to, ok := in.Schema.Lookup(k.RefSchema, k.RefTable); ok {
				add(to)
			}
		}
	}
	return links
}

// addAskedColumns adds the columns of linked tables that the question asks for. The statement reads the first drafted
// of links.
func (p PreSQL) addAskedColumns(in Input, links schema.Links, drafted int) schema.Links {
	asked := askedWords(in, true)
	isAsked := func(t *schema.Table, read bool, c schema.Column) bool {
		if isNamed(c.Name, asked) || isNamed(c.Title, asked) {
			return true
		}
		narrow := narrowAdded
		if read {
			narrow = narrowRead
		}
		return p.Wide && (len(t.Columns) <= narrow || isTouched(c.Name, asked) || isTouched(c.Title, asked) || read &&
			isLabel(c.Name))
	}
	small, _ := in.Snapshot.Graph(in.Schema).Restrict(tablesOnly(links)) // with bridges: their columns may be asked for
	for i := range small.Tables {
		t := &small.Tables[i]
		at := slices.IndexFunc(links.Tables, func(l schema.TableLink) bool {
			return sameTable(l.Schema, l.Table, t.Schema, t.Name)
		})
		if at >= 0 && len(links.Tables[at].Columns) == 0 {
			continue // all of them
		}
		read := at >= 0 && at < drafted
		var found []string
		for _, c := range t.Columns {
			if isAsked(t, read, c) {
				found = append(found, c.Name)
			}
		}
		switch {
		case at >= 0:
			links.Tables[at].Columns = union(links.Tables[at].Columns, found)
		case len(found) > 0:
			links.Tables = append(links.Tables, t.TableName().Link(found...))
		}
	}
	return links
}

// tablesOnly leaves out the columns, so that every table has all of its columns.
func tablesOnly(l schema.Links) schema.Links {
	l.Tables = slices.Clone(l.Tables)
	for i := range l.Tables {
		l.Tables[i].Columns = nil
	}
	return l
}

// isTouched reports whether any word of a name is asked for.
func isTouched(name string, asked map[string]bool) bool {
	return slices.ContainsFunc(words.Stems(name), func(w string) bool { return asked[w] && !words.IsPlain(w) })
}

// isBegun reports whether a word of a name begins with the word asked for, as orderdetails begins with order.
func isBegun(name, asked string) bool {
	return len(asked) >= minPrefix && !words.IsPlain(asked) &&
		slices.ContainsFunc(words.OfName(name), func(w string) bool {
			return len(asked) < len(w) && strings.HasPrefix(w, asked)
		})
}

// isLabel reports whether a column is what people call a row by.
func isLabel(name string) bool {
	words := words.OfName(name)
	return len(words) > 0 && words[len(words)-1] == "name"
}

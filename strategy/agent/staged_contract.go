package agent

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// contract is the select list that a question for a list spells out, in columns of the schema; nil: it spells none out.
// Names and titles of the schema are all that it is read from.
type contract []string

// readContract reads the fields that a question enumerates ("codes and names of products") or has behind "with their",
// or, with nameOnly, the display name that stands for a list of things ("list customers").
func readContract(q doubt.QuestionFeatures, s *schema.Schema, nameOnly bool) contract {
	if q.Asks != "list" || q.Everything || len(q.Phrases) == 0 {
		return nil
	}
	if len(q.Phrases) > 1 {
		if len(q.Theirs) > 0 {
			return nil
		}
		return resolve(q.Phrases, tableIn(stems(q.Text), s))
	}
	first := stems(q.Phrases[0])
	about := tableIn(first, s)
	if about == nil || len(first) != len(words.Stems(about.Name)) {
		return nil
	}
	display := displayName(about)
	if nameOnly && len(q.Theirs) == 0 {
		// The question begins with the thing, or with "list" or "which" and speaks of no other table: where it does, more
		// than names is often wanted.
		all := stems(q.Text)
		if slices.Equal(all[:len(first)], first) || q.Has("list", "which") && tableIn(all, without(s, about)) == nil {
			return display
		}
		return nil
	}
	if fields := resolve(q.Theirs, about); display != nil && fields != nil {
		return append(display, fields...)
	}
	return nil
}

// tableIn is the table whose name stands first in words.
func tableIn(in []string, s *schema.Schema) *schema.Table {
	for at := range in {
		for i := range s.Tables {
			if name := words.Stems(s.Tables[i].Name); len(name) > 0 && at+len(name) <= len(in) &&
				slices.Equal(in[at:at+len(name)], name) {
				return &s.Tables[i]
			}
		}
	}
	return nil
}

// without is s without one of its tables.
func without(s *schema.Schema, table *schema.Table) *schema.Schema {
	return &schema.Schema{Tables: slices.DeleteFunc(slices.Clone(s.Tables), func(t schema.Table) bool {
		return t.TableName() == table.TableName()
	})}
}

// resolve is the columns that phrases name; nil unless each names exactly one, or the display name.
func resolve(phrases []string, about *schema.Table) (columns contract) {
	if about == nil {
		return nil
	}
	entity := words.Stems(about.Name)
	for _, p := range phrases {
		full := slices.DeleteFunc(stems(p), func(w string) bool {
			return slices.Contains([]string{"distinct", "different", "all", "the"}, w)
		})
		own := full
		if len(full) > len(entity) && slices.Equal(full[:len(entity)], entity) {
			own = full[len(entity):]
		}
		exact := columnsOf(about, func(name []string) bool { return slices.Equal(name, full) || slices.Equal(name, own) })
		ends := columnsOf(about, func(name []string) bool { return endsIn(name, own) })
		switch {
		case len(own) == 0:
			return nil
		case len(exact) == 1:
			columns = append(columns, exact[0])
		case slices.Equal(own, []string{"name"}) && displayName(about) != nil:
			columns = append(columns, displayName(about)...)
		case len(exact) == 0 && len(ends) == 1:
			columns = append(columns, ends[0])
		default:
			return nil
		}
	}
	return columns
}

// displayName is what a row is called: the column "customer name" or "name" of customers, first and last name, or the
// only column whose name ends in "name"; nil: nobody can tell.
func displayName(t *schema.Table) contract {
	own := append(words.Stems(t.Name), "name")
	is := func(words ...string) []string {
		return columnsOf(t, func(name []string) bool { return slices.Equal(name, words) })
	}
	person := append(is("first", "name"), is("last", "name")...)
	for _, found := range [][]string{
		is(own...), is("name"), columnsOf(t, func(name []string) bool { return endsIn(name, own[len(own)-1:]) }),
	} {
		switch {
		case len(found) == 1:
			return found
		case len(person) == 2:
			return person
		}
	}
	return nil
}

// columnsOf are the columns whose name, or title, in stems is one that a question means.
func columnsOf(t *schema.Table, meant func(name []string) bool) (names []string) {
	for _, c := range t.Columns {
		if meant(words.Stems(c.Name)) || c.Title != "" && meant(stems(c.Title)) {
			names = append(names, c.Name)
		}
	}
	return names
}

func endsIn(name, end []string) bool {
	return len(name) >= len(end) && slices.Equal(name[len(name)-len(end):], end)
}

// stems are the words of a text in the singular.
func stems(text string) []string {
	list := words.Of(text)
	for i := range list {
		list[i] = words.Stem(list[i])
	}
	return list
}

// rule doubts a select list that is not the contract.
func (c contract) rule() doubt.Rule {
	return doubt.Rule{
		Name: "contract", Weight: 3,
		Source: "who names the fields of a list wants these, in this order",
		Broken: func(in doubt.Input) (string, bool) {
			return "other columns than the question names", !slices.EqualFunc(in.Outline.Items, c, names)
		},
	}
}

func names(item sqlshape.SelectItem, column string) bool {
	return strings.EqualFold(item.Column, column)
}

// project moves and drops plain columns so that a select list keeps the contract; nil where it has not all of them, or
// has something that is no plain column.
func (c contract) project(items []sqlshape.SelectItem) (kept []string) {
	for _, item := range items {
		if item.Column == "" {
			return nil
		}
	}
	for _, column := range c {
		at := slices.IndexFunc(items, func(item sqlshape.SelectItem) bool { return names(item, column) })
		if at < 0 {
			return nil
		}
		kept = append(kept, items[at].Text)
	}
	return kept
}

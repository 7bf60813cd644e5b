package guard

import (
	"fmt"
	"slices"
)

// pastRules refuses each table of Rows and Shared through which rows are read past a rule, at any depth, and returns
// what is wrong with the policy. No view is among them: it is read through the rules of its tables.
func (c *Catalog) pastRules(p Policy) (wrong []string) {
	if !p.Scoped() {
		return nil
	}
	refuse := func(r *Relation, why string, args ...any) {
		r.Refused = Refuse("rows", "%s has rows that a rule is about, and is read without it", r.Name)
		wrong = append(wrong, r.path()+": "+fmt.Sprintf(why, args...))
	}
	ruled := c.fromRuled(func(r, held *Relation) {
		refuse(r, "its rows are those of %s too, which has another rule: give it the same one, "+
			"or take a partition out of Rows", held.path())
	})
	for _, r := range c.Relations {
		if r.View || !p.Allows(r) {
			continue
		}
		for _, held := range r.Holds {
			if !held.Part && !p.Allows(held) {
				refuse(r, "it has the rows of %s, which is in neither Rows nor Shared: give that the same rule, "+
					"or name it in Shared too", held.path())
			}
		}
		switch {
		case len(r.rules) == 0 && ruled[r] != nil:
			refuse(r, "it has rows of %s, which has a rule: take it out of Shared, or give it a rule in Rows", ruled[r].path())
		case r.Hidden && r.Unruly != "":
			refuse(r, "it is %s, and could show what may not be read: leave it out of the policy", r.Unruly)
		}
	}
	return wrong
}

// fromRuled returns the relations that have rows of one with a rule, and that one. differ is called for two with other
// rules.
func (c *Catalog) fromRuled(differ func(r, held *Relation)) map[*Relation]*Relation {
	ruled := map[*Relation]*Relation{}
	for _, r := range c.Relations {
		todo := []*Relation{r}
		for ; len(r.rules) > 0 && len(todo) > 0; todo = todo[1:] {
			held := todo[0]
			if ruled[held] == r {
				continue
			}
			ruled[held], todo = r, append(todo, held.Holds...)
			if len(held.rules) > 0 && !slices.EqualFunc(r.rules, held.rules, func(a, b *Rule) bool { return a.Text == b.Text }) {
				differ(r, held)
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, r := range c.Relations {
			if ruled[r] != nil {
				continue
			}
			from := slices.Clone(r.Holds)
			for _, read := range r.reads() {
				from = append(from, read.Relation)
			}
			if i := slices.IndexFunc(from, func(u *Relation) bool { return ruled[u] != nil }); i >= 0 {
				ruled[r], grown = ruled[from[i]], true
			}
		}
	}
	return ruled
}

func (r *Relation) path() string { return r.Schema + "." + r.Name }

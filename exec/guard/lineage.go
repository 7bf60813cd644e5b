package guard

import (
	"fmt"
	"slices"
)

// pastRules refuses each table of Rows and Shared through which rows are read past a rule, at any depth, and returns what is
// wrong with the policy. No view is among them: it is read through the rules of its tables.
func (c *Catalog) pastRules(p Policy) (wrong []string) {
	above := map[*Relation][]*Relation{}
	for _, r := range c.Relations {
		for _, held := range r.Holds {
			above[held] = append(above[held], r)
		}
	}
	for _, r := range c.Relations {
		if r.View || !p.Scoped() || !p.Allows(r) || r.Unruly != "" && len(r.rules) > 0 { // putRules says the last
			continue
		}
		why, field := p.unequal(r), "Rows"
		if len(r.rules) == 0 {
			why, field = p.unruled(r, above), "Shared"
		}
		if why == "" && r.Hidden && r.Unruly != "" {
			why = "it is " + r.Unruly + ", and could show what may not be read: leave it out of the policy"
		}
		if why != "" {
			r.Refused = Refuse(ReasonRows, "%s has rows that a rule is about, and is read without it", r.Name)
			wrong = append(wrong, fmt.Sprintf("%s: %q: %s", field, r.Schema+"."+r.Name, why))
		}
	}
	return wrong
}

// unequal says why a table with a rule has rows that are read by another one, or by none.
func (p Policy) unequal(r *Relation) string {
	for _, held := range closure(r, func(r *Relation) []*Relation { return r.Holds })[1:] {
		same := slices.EqualFunc(r.rules, held.rules, func(a, b *Rule) bool { return a.Text == b.Text })
		switch listed := p.Allows(held); {
		case same || held.Part && !listed:
		case held.Part:
			return fmt.Sprintf("its partition %s.%s has another rule or is shared: leave that out of the policy, or give it the same rule", held.Schema, held.Name)
		default:
			return fmt.Sprintf("it has the rows of %s.%s, which has another rule or none: give that the same rule", held.Schema, held.Name)
		}
	}
	return ""
}

// unruled says why a table without a rule has rows that a rule is about.
func (p Policy) unruled(r *Relation, above map[*Relation][]*Relation) string {
	for _, from := range closure(r, (*Relation).sources) {
		for _, of := range closure(from, func(r *Relation) []*Relation { return above[r] }) {
			if len(of.rules) > 0 {
				return fmt.Sprintf("it has rows of %s.%s, which has a rule: take it out of Shared, or give it a rule in Rows", of.Schema, of.Name)
			}
		}
		for _, held := range from.Holds {
			if !held.Part && !p.Allows(held) {
				return fmt.Sprintf("it has the rows of %s.%s, which is in neither Rows nor Shared: name that in Shared too", held.Schema, held.Name)
			}
		}
	}
	return ""
}

// sources are the relations whose rows stand in r.
func (r *Relation) sources() []*Relation {
	all := slices.Clone(r.Holds)
	for _, read := range r.reads() {
		all = append(all, read.Relation)
	}
	return all
}

// closure returns r and all to which steps lead from it.
func closure(r *Relation, steps func(*Relation) []*Relation) []*Relation {
	all, seen := []*Relation{r}, map[*Relation]bool{r: true}
	for i := 0; i < len(all); i++ {
		for _, next := range steps(all[i]) {
			if !seen[next] {
				seen[next] = true
				all = append(all, next)
			}
		}
	}
	return all
}

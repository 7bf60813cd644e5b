package vote

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// StatementRules returns the rules on the SQL: more_columns, star, sum, negation,
// group_bare, count_top.
func StatementRules() []Rule {
	return []Rule{
		{
			Name:       "more_columns",
			Source:     "people name what they want to see; gains most of all rules and loses most, so report it apart",
			ReadsWords: true,
			Broken:     moreColumns,
		},
		{
			Name:       "star",
			Source:     "people name what they want to see; * is for who asks for everything",
			ReadsWords: true,
			Broken: func(in RuleInput) (string, bool) {
				return "all columns selected, some asked", in.Outline.Star && !in.Question.Everything
			},
		},
		{
			Name:       "sum",
			Source:     "a total is a SUM or a COUNT; seen to help in one template family only, so report it apart",
			ReadsWords: true,
			Broken: func(in RuleInput) (string, bool) {
				f := in.Outline.Functions
				adds := slices.Contains(f, "SUM") || slices.Contains(f, "COUNT") || slices.Contains(f, "TOTAL")
				return "a total asked, nothing added up", in.Question.Sum && !adds
			},
		},
		{
			Name:       "negation",
			Source:     "a statement that excludes something answers a question that says so",
			ReadsWords: true,
			Broken: func(in RuleInput) (string, bool) {
				return "something excluded that was not asked for", !in.Question.Negation && excludes(in)
			},
		},
		{
			Name:   "group_bare",
			Source: "a number a group without the group tells nobody what it is of",
			Broken: groupBare,
		},
		{
			Name:       "count_top",
			Source:     "a number of things answers a question that asks for one",
			ReadsWords: true,
			Broken: func(in RuleInput) (string, bool) {
				q := in.Question
				asked := q.Count || q.Each || q.Percent || q.Sum
				return "a count selected that was not asked for", slices.Contains(in.Outline.Aggregates, "COUNT") && !asked
			},
		},
	}
}

func moreColumns(in RuleInput) (string, bool) {
	q := in.Question
	if in.Table == nil || q.Columns == 0 || q.Everything || len(in.Table.Columns) <= q.Columns {
		return "", false
	}
	// Who asks for orders, not for their numbers, asks for things and leaves open
	// what tells one from the other: a key and a name, a first and a last name.
	asked := q.Columns
	seen := make(map[string]bool)
	for _, t := range in.Dialect.Tables(in.SQL) {
		w := sqltext.SplitName(t.Name)
		if len(w) == 0 || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		if slices.Contains(q.Things, sqltext.Stem(w[len(w)-1])) {
			asked++
		}
	}
	if twoNames(in.Outline.Items) && !q.Has("first/last/middle/forename/forenames/surname/surnames/given/family") {
		asked++
	}
	return "more columns than asked", len(in.Table.Columns) > asked
}

// twoNames reports whether the name of a person is selected in two columns, which
// is one thing for who asks for a name.
func twoNames(items []sqltext.SelectItem) bool {
	first, last := false, false
	for _, item := range items {
		for _, w := range sqltext.SplitName(item.Column) {
			switch w {
			case "first", "fore", "forename", "firstname", "fname", "given":
				first = true
			case "last", "sur", "surname", "lastname", "lname", "family":
				last = true
			}
		}
	}
	return first && last
}

// excludes reports whether the statement excludes something. IS NOT NULL does
// not: careful authors write it where the question takes values for granted.
func excludes(in RuleInput) bool {
	o := in.Outline
	if o.Words["EXCEPT"] || o.Operators["<>"] || o.IsNull {
		return true
	}
	if !o.Words["NOT"] {
		return false
	}
	not := false // the word before is NOT
	for t := range in.Dialect.Tokens(in.SQL) {
		switch t.Kind {
		case sqltext.Space, sqltext.Comment:
			continue
		}
		if not && !strings.EqualFold(t.Text, "null") {
			return true
		}
		not = t.Kind == sqltext.Word && strings.EqualFold(t.Text, "not")
	}
	return not
}

func groupBare(in RuleInput) (string, bool) {
	o := in.Outline
	if len(o.GroupBy) == 0 || len(o.Aggregates) == 0 || o.Star {
		return "", false
	}
	for _, item := range o.Items {
		if len(item.Aggregates) == 0 { // a column, or an expression over one
			return "", false
		}
	}
	return "numbers of groups without the groups", true
}

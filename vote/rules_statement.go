package vote

import "slices"

// StatementRules returns the rules on the SQL: star, sum, negation, group_bare,
// count_top.
func StatementRules() []Rule {
	return []Rule{
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
				o := in.Outline
				excludes := o.Words["NOT"] || o.Words["EXCEPT"] || o.Operators["<>"] || o.IsNull
				return "something excluded that was not asked for", excludes && !in.Question.Negation
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

// Package askedrules has the doubt rules of the staged agent.
package askedrules

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// Asked returns rules that hold the shape of a statement and of its result against what the question asks for
// (doubt.QuestionFeatures.Asks): value_rows, no_aggregate, no_group, no_order, limit and aggregate. The default rules
// do not have them. Their weights come from agent.Staged.
func Asked() []doubt.Rule {
	const source = "the checks of an agent's ladder; see docs/lab/agent.md for what they are worth"
	rule := func(name, asks string, weight float64, detail string, broken func(doubt.Input) bool) doubt.Rule {
		return doubt.Rule{
			Name: name, ReadsWords: true, Weight: weight, Source: source,
			Possible: func(q doubt.QuestionFeatures, _ vote.Candidate) bool { return asks == "" || q.Asks == asks },
			Broken: func(in doubt.Input) (string, bool) {
				return detail, (asks == "" || in.Question.Asks == asks) && broken(in)
			},
		}
	}
	rows := rule("value_rows", "value", 2, "the question asks for one number, and the answer is not one row",
		func(in doubt.Input) bool {
			return len(in.Table.Rows) != 1
		})
	rows.OnResult = true
	return []doubt.Rule{
		rows,
		rule("no_aggregate", "value", 3, "one number asked, nothing aggregated", func(in doubt.Input) bool {
			return !calls(in, "COUNT", "SUM", "TOTAL", "AVG", "MIN", "MAX")
		}),
		rule("no_group", "groups", 3, "numbers by group asked, nothing grouped", func(in doubt.Input) bool {
			return !in.Statement.Uses("GROUP") && !in.Statement.Uses("OVER") && !in.Statement.Uses("DISTINCT")
		}),
		rule("no_order", "ranking", 3, "a ranking asked, nothing ordered", func(in doubt.Input) bool {
			return !in.Statement.Uses("ORDER") && !calls(in, "MIN", "MAX")
		}),
		rule("limit", "", 2, "rows cut off that were not said to be too many", func(in doubt.Input) bool {
			return in.Outline.Limit && !in.Question.Sorted
		}),
		rule("aggregate", "list", 1, "a list asked, aggregated to one row", func(in doubt.Input) bool {
			return len(in.Outline.Aggregates) > 0 && len(in.Outline.GroupBy) == 0
		}),
	}
}

// calls reports whether a statement calls one of these functions, which are in upper case.
func calls(in doubt.Input, functions ...string) bool {
	return slices.ContainsFunc(in.Outline.Functions, func(f string) bool { return slices.Contains(functions, f) })
}

// Absent returns a rule that a value which the question names stands in the statement: in one of its texts, whatever
// the case, or as a number. It is called value_absent and weighs 2.
func Absent(value string) doubt.Rule {
	return doubt.Rule{
		Name: "value_absent", Weight: 2,
		Source: "who names a value wants it used",
		Broken: func(in doubt.Input) (string, bool) {
			for t := range in.Statement.Tokens() {
				// SQLite takes "x" for a text where no column is called so.
				written := t.Kind == sqltext.String || t.Kind == sqltext.Number || t.Kind == sqltext.QuotedName
				if written && strings.Contains(strings.ToLower(in.Statement.Dialect().Value(t)), strings.ToLower(value)) {
					return "", false
				}
			}
			return "a value that the question names is not used", true
		},
	}
}

package doubt

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/intent"
	"github.com/texttosql/texttosql/vote"
)

// checkedRules are the rules on what the checks of package exec found in a statement: division, unjoined, or_and,
// bare_column, null_in_list, date, constant (see exec.SuspiciousResultCheck), name_as_string, no_table,
// absent_value. A Pipeline without rules has these, since they are about mistakes and not about the question.
func checkedRules() []Rule {
	return append(slices.Clone(oddRules()), []Rule{
		{
			Name:   "name_as_string",
			Source: "a misspelt column name is a constant to SQLite, so its rows say nothing",
			Broken: func(in Input) (string, bool) {
				return "a name that no column has, taken for a string", in.has(checks.String)
			},
		},
		{
			Name:   "no_table",
			Source: "an answer about data comes from a table, not from the model",
			Broken: func(in Input) (string, bool) {
				// Lists of constants are rare, and a vote may stop sooner without a doubt of them.
				few := in.Table == nil || len(in.Table.Rows) <= 1
				return "no table is read", few && in.has(checks.NoTable)
			},
			Possible: func(_ QuestionFeatures, c vote.Candidate) bool { return c.Rows <= 1 },
		},
		{
			Name: "absent_value",
			Source: "a result without a value, because a column holds none of the texts it is compared with, " +
				"was right one time in thirty",
			Weight: 2,
			Broken: func(in Input) (string, bool) {
				detail, found := in.finding(checks.Absent)
				return cmp.Or(detail, "a column holds none of the texts it is compared with"), found
			},
			Possible: func(_ QuestionFeatures, c vote.Candidate) bool { return c.Empty || c.AllNull || c.Zero },
		},
	}...)
}

// oddRules doubt what exec.SuspiciousResultCheck found, a rule for each finding. It is proved by the result of another
// form, so that equal results agree.
var oddRules = sync.OnceValue(func() (rules []Rule) {
	for _, name := range strings.Fields("division unjoined or-and bare-column null-in-list date constant") {
		finding, weight := checks.Odd+name, 1.0
		if name == "division" || name == "date" {
			weight = 2
		}
		rules = append(rules, Rule{
			Name: strings.ReplaceAll(name, "-", "_"), Weight: weight, OnResult: true,
			Source: "all samples of a model get it wrong in the same way; docs/lab/traps.md has what it is worth",
			Broken: func(in Input) (string, bool) {
				detail, found := in.finding(finding)
				return detail, found && !intent.Excuses(in.Question.Text, finding)
			},
		})
	}
	return rules
})

// finding returns the detail of a finding of a check.
func (in Input) finding(rule string) (detail string, found bool) {
	for _, f := range in.Findings {
		if f.Rule == rule {
			return f.Detail, true
		}
	}
	return "", false
}

// has reports whether a check has this finding.
func (in Input) has(rule string) bool {
	_, found := in.finding(rule)
	return found
}

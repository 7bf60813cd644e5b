package doubt

import (
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/vote"
)

// Checked returns the rules on what the checks of package exec found in a statement: name_as_string, no_table,
// absent_value. A Pipeline without rules has these, since they are about mistakes and not about the question.
func Checked() []Rule {
	return []Rule{
		{
			Name:   "name_as_string",
			Source: "a misspelt column name is a constant to SQLite, so its rows say nothing",
			Broken: func(in Input) (string, bool) {
				return "a name that no column has, taken for a string", in.has(exec.FindingString)
			},
		},
		{
			Name:   "no_table",
			Source: "an answer about data comes from a table, not from the model",
			Broken: func(in Input) (string, bool) {
				// Lists of constants are rare, and a vote may stop sooner without a doubt of them.
				few := in.Table == nil || len(in.Table.Rows) <= 1
				return "no table is read", few && in.has(exec.FindingNoTable)
			},
			Possible: func(_ QuestionFeatures, c vote.Candidate) bool { return c.Rows <= 1 },
		},
		{
			Name:   "absent_value",
			Source: "a result without a value, because a column holds none of the texts it is compared with, was right one time in thirty",
			Weight: 2,
			Broken: func(in Input) (string, bool) {
				return "a column holds none of the texts it is compared with", in.has(exec.FindingAbsent)
			},
			Possible: func(_ QuestionFeatures, c vote.Candidate) bool { return c.Empty || c.AllNull || c.Zero },
		},
	}
}

// has reports whether a check has this finding.
func (in Input) has(finding string) bool {
	return slices.ContainsFunc(in.Findings, func(f vote.Finding) bool { return f.Rule == finding })
}

package vote

import (
	"github.com/texttosql/texttosql/sqltext"
)

// ByResult puts candidates with equal results together, as self-consistency over executions does (Wang et al., ICLR
// 2023). A candidate that was not executed abstains. The rows of a result that was cut at a limit cannot be compared,
// so such a candidate votes with its normalised text.
func ByResult(c Candidate) (string, bool) {
	if c.Truncated {
		text, ok := ByText(c)
		return "text:" + text, ok
	}
	return c.Fingerprint, c.Fingerprint != ""
}

// ByPlan puts candidates with equal plan signatures together. A plan replaces the result if statements may not run.
// About a tenth of the pairs with equal plans return different rows. A candidate that was not explained abstains.
func ByPlan(c Candidate) (string, bool) { return c.Plan, c.Plan != "" }

// ByText puts candidates with equal normalised text together, by the lexical rules of SQLite: see
// [sqltext.Statement.Normalize]. A candidate without SQL abstains.
func ByText(c Candidate) (string, bool) {
	text := c.Parsed(sqltext.SQLite()).Normalize()
	return text, text != ""
}

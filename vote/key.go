package vote

import (
	"github.com/texttosql/texttosql/sqltext"
)

// Key returns what a candidate votes for: candidates of the same key are one cluster. ok is false where the candidate
// has nothing to vote with, so that it abstains. A Key is a pure function. [Majority] never asks it about a candidate
// that is rejected.
type Key func(Candidate) (key string, ok bool)

// ByResult puts candidates with equal results together, as self-consistency over executions does (Wang et al., ICLR
// 2023). A candidate that was not executed abstains. A result that was cut at a limit equals no other by its rows, so
// such a candidate votes with its normalised text.
func ByResult(c Candidate) (string, bool) {
	if c.Truncated {
		text, ok := ByText(c)
		return "text:" + text, ok
	}
	return c.Fingerprint, c.Fingerprint != ""
}

// ByPlan puts candidates with equal plan signatures together. A plan is a proxy for a result, where nothing may be
// executed: about a tenth of the pairs with equal plans return different rows. A candidate that was not explained
// abstains.
func ByPlan(c Candidate) (string, bool) { return c.Plan, c.Plan != "" }

// ByText puts candidates of equal normalised text together, by the lexing rules of SQLite: see
// [sqltext.Statement.Normalize]. A candidate without SQL abstains.
func ByText(c Candidate) (string, bool) {
	text := c.Parsed(sqltext.SQLite()).Normalize()
	return text, text != ""
}

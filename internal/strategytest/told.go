package strategytest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/strategy"
)

// Told writes an outcome for a golden file: the answer, its votes, links, notes, steps and report.
func Told(out *strategy.Outcome, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "error: %v\n", err)
	if out == nil {
		return b.String()
	}
	ballot := out.Ballot
	fmt.Fprintf(&b, "%s\n%.3f, %d saved: %s\n", out.SQL, out.Confidence, out.Saved, ballot.Explain())
	for _, c := range ballot.Clusters {
		fmt.Fprintf(&b, "  cluster %v, best %d, weight %.3g, share %.3g, score %.3g: %s\n", c.Members, c.Best, c.Weight,
			c.Share, c.Score, c.SQL)
	}
	for _, a := range ballot.Abstained {
		fmt.Fprintf(&b, "  no vote %d: %s\n", a.Candidate, a.Why)
	}
	for _, note := range out.Notes {
		fmt.Fprintf(&b, "  note: %s\n", note)
	}
	for _, step := range out.Steps {
		fmt.Fprintf(&b, "  step %.500s\n", fmt.Sprintf("%+v", step))
	}
	rest, _ := json.Marshal([]any{out.Links, out.Report})
	return b.String() + "  links and report " + string(rest) + "\n"
}

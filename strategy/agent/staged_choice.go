package agent

import (
	"cmp"
	"slices"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/askedrules"
	"github.com/texttosql/texttosql/vote"
)

// Rules returns the checks of Staged that need only the question, the statement and its result. Staged adds a check
// for each value that a question names, and one for the columns that it spells out.
func (Staged) Rules() doubt.Rules {
	empty, bare := ruleOf("empty"), ruleOf("group_bare")
	empty.Weight = 1
	return doubt.Rules{List: append(askedrules.Asked(), bare, empty)}
}

func ruleOf(name string) doubt.Rule {
	all := doubt.Rules{}.With().List
	return all[slices.IndexFunc(all, func(r doubt.Rule) bool { return r.Name == name })]
}

// penalty is what the findings of a candidate weigh together.
func penalty(c vote.Candidate) (sum float64) {
	for _, f := range c.Findings {
		sum += max(f.Doubt, 0)
	}
	return sum
}

// decisive is a vote.Majority.Penalty that no number of votes makes up for.
const decisive = 1_000

// choice elects the answer of one step: the result that is doubted least, then that with most votes, with the fewest
// select items, of the earliest sample. A result is doubted as much as its least doubted member, which represents it.
type choice struct {
	vote.Majority
	votes func(vote.Candidate) bool // whether a candidate is of the step
}

// Count counts the votes.
func (c choice) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	best := map[string]int{} // by key
	for i, x := range candidates {
		key, ok := c.Key(x)
		if x.Rejected != "" || !ok || !c.votes(x) {
			continue
		}
		if at, seen := best[key]; !seen || cmp.Or(cmp.Compare(penalty(x), penalty(candidates[at])),
			c.items(x)-c.items(candidates[at])) < 0 {
			best[key] = i
		}
	}
	level := slices.Clone(candidates)
	for i := range level {
		key, _ := c.Key(level[i])
		if at, ok := best[key]; ok {
			level[i].Findings = candidates[at].Findings
		}
	}
	represents := func(x vote.Candidate) vote.Candidate {
		key, _ := c.Key(x)
		return candidates[best[key]]
	}
	m := c.Majority
	m.Penalty, m.MaxDoubt = decisive, 1
	m.Weight = func(x vote.Candidate) float64 {
		if c.votes(x) {
			return 1
		}
		return 0
	}
	m.Tie = func(a, b vote.Candidate) int { return c.items(represents(a)) - c.items(represents(b)) }
	ballot, err := m.Count(level)
	for i := range ballot.Clusters {
		cluster := &ballot.Clusters[i]
		if at, ok := best[cluster.Key]; ok {
			cluster.Best, cluster.SQL = at, candidates[at].SQL
		}
	}
	return ballot, err
}

func (c choice) items(x vote.Candidate) int { return len(x.Parsed(c.Dialect).Outline().Items) }
